"""Disk space, interpreters, virtual environments, ROCm trees and owned files."""

import hashlib

import pytest

from ansible_collections.gpufleet.rocm.plugins.module_utils import disk, installs, owned_files, paths, pythons, venv
from ansible_collections.gpufleet.rocm.plugins.module_utils.accounts import Accounts
from tests.unit.module_utils.tree import MakeHost, Tree


def test_space_is_that_of_the_nearest_parent(make_host: MakeHost) -> None:
    host = make_host({"/opt/venvs": None})
    assert disk.nearest_existing(host, "/opt/venvs/a/b") == "/opt/venvs"
    assert disk.nearest_existing(host, "/data/x") == "/"
    facts = disk.gather(host, ["/opt/venvs/a", "/opt"])
    assert list(facts) == ["/", "/opt", "/var", "/boot", "/tmp", "/home", "/opt/venvs/a"]
    space = facts["/opt/venvs/a"]
    assert isinstance(space, dict)
    assert 0 < space["free_mb"] <= space["total_mb"]


def test_pythons(make_host: MakeHost) -> None:
    host = make_host(
        {
            "/usr/bin/python3": "-> python3.10",
            "/usr/bin/python3.10": "",
            "/usr/bin/python3.9": "",
            "/usr/bin/python3.12": "-> /usr/bin/gone",
            "/usr/bin/python3-config": "",
            "/usr/bin/python3.10-config": "",
            "/usr/lib/python3.9/ensurepip/__init__.py": "",
        }
    )
    assert pythons.gather(host) == [
        {"path": "/usr/bin/python3.10", "version": "3.10", "default": True, "venv": False},
        {"path": "/usr/bin/python3.9", "version": "3.9", "default": False, "venv": True},
    ]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("torch-2.3.0+rocm6.0.dist-info", ("torch", "2.3.0+rocm6.0")),
        ("pytorch_triton_rocm-2.3.0.dist-info", ("pytorch-triton-rocm", "2.3.0")),
        ("nvidia_cublas_cu12-12.1.3.1.dist-info", ("nvidia-cublas-cu12", "12.1.3.1")),
        ("Jinja2-3.1.dist-info", ("jinja2", "3.1")),
        ("torch", None),
        ("torch-2.3.0.egg-info", None),
    ],
)
def test_distribution(name: str, expected: tuple[str, str] | None) -> None:
    assert venv.distribution(name) == expected


def test_venv(make_host: MakeHost) -> None:
    site = "/opt/venvs/torch/lib/python3.10/site-packages/"
    host = make_host(
        {
            "/opt/venvs/torch/pyvenv.cfg": "home = /usr/bin\nversion = 3.10.12\n",
            "/opt/venvs/torch/lib64": "-> lib",
            site + "torch-2.3.0+rocm6.0.dist-info/METADATA": "",
            site + "~orch-2.2.0.dist-info/METADATA": "",
            site + "jinja2-3.1.dist-info/METADATA": "",
            "/opt/venvs/torch/bin/python": "",
            site + "pip-22.0.2.dist-info/METADATA": "",
            "/opt/venvs/halved/pyvenv.cfg": "version = 3.10.12\n",
            "/opt/venvs/notes/todo": "",
        }
    )
    packages = {"torch": "2.3.0+rocm6.0", "pip": "22.0.2"}
    nothing: dict[str, object] = {"exists": False, "usable": False, "python": None, "packages": {}}
    assert venv.gather(host, [f"/opt/venvs/{name}" for name in ("torch/", "halved", "none", "notes")]) == [
        {
            "path": "/opt/venvs/torch",
            "exists": True,
            "usable": True,
            "occupied": False,
            "python": "3.10",
            "packages": packages,
        },
        {
            "path": "/opt/venvs/halved",
            "exists": True,
            "usable": False,
            "occupied": False,
            "python": "3.10",
            "packages": {},
        },
        {"path": "/opt/venvs/none", "occupied": False, **nothing},
        {"path": "/opt/venvs/notes", "occupied": True, **nothing},
    ]


@pytest.mark.parametrize(
    ("tree", "link", "found"),
    [
        ({"/opt": None}, None, []),
        (
            {
                "/opt/rocm": "-> /etc/alternatives/rocm",
                "/etc/alternatives/rocm": "-> /opt/rocm-6.0.0",
                "/opt/rocm-6.0.0/.info/version": "6.0.0-91\n",
                "/opt/rocm-5.7.0/lib": None,
                "/opt/rocm-6": "-> rocm-6.0.0",
                "/opt/rocm-notes.txt": "",
            },
            "/opt/rocm-6.0.0",
            [("/opt/rocm-5.7.0", None), ("/opt/rocm-6.0.0", "6.0.0-91")],
        ),
        ({"/opt/rocm": "-> rocm-3.7.0"}, "/opt/rocm-3.7.0", []),
        (
            {
                "/opt/rocm/core": "-> /etc/alternatives/rocm-core",
                "/etc/alternatives/rocm-core": "-> /opt/rocm/core-10.0",
                "/opt/rocm/core-10.0/.info/version": "10.0.0\n",
                "/opt/rocm/core-7.14/bin": None,
                "/opt/rocm/core-10": "-> core-10.0",
                "/opt/rocm/extras-10": None,
            },
            "/opt/rocm/core-10.0",
            [("/opt/rocm/core-10.0", "10.0.0"), ("/opt/rocm/core-7.14", None)],
        ),
        ({"/opt/rocm/.info/version": "5.0.0-49\n"}, None, [("/opt/rocm", "5.0.0-49")]),
    ],
    ids=["none", "legacy", "dangling", "core", "directory"],
)
def test_installs(make_host: MakeHost, tree: Tree, link: str | None, found: list[tuple[str, str | None]]) -> None:
    fact = installs.gather(make_host(tree))
    listed = fact["installs"]
    assert isinstance(listed, list)
    assert (fact["link"], [(entry["path"], entry["version"]) for entry in listed]) == (link, found)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "auto\n/opt/rocm\n\n/opt/rocm-6.0.0\n60000\n/opt/rocm-6.4.2\n60402\n\n",
            (True, [("/opt/rocm-6.0.0", 60000), ("/opt/rocm-6.4.2", 60402)]),
        ),
        (
            "manual\n/opt/rocm/core\ncore-bin\n/opt/rocm/bin\n\n/opt/rocm/core-7.14\n714\n/opt/rocm/core-7.14/bin\n"
            "/opt/rocm/core-10.0\n1000\n\n\n",
            (False, [("/opt/rocm/core-7.14", 714), ("/opt/rocm/core-10.0", 1000)]),
        ),
        ("auto\n/usr/bin/awk\n\n/usr/bin/mawk\n5\n\n", None),
        ("auto\n/opt/rocm\n", None),
        ("\n\n\n", None),
        ("auto\n/opt/rocm\n\n/opt/rocm-6.0.0\nmany\n", (True, [])),
        ("", None),
    ],
    ids=["two", "slaves", "another", "cut", "blank", "no-number", "empty"],
)
def test_alternatives(make_host: MakeHost, text: str, expected: tuple[bool, list[tuple[str, int]]] | None) -> None:
    found = installs.alternatives(make_host({"/var/lib/dpkg/alternatives/rocm": text}))
    rows = [(row["automatic"], [tuple(candidate.values()) for candidate in _rows(row)]) for row in found]
    assert rows == ([expected] if expected else [])


def _rows(row: dict[str, object]) -> list[dict[str, object]]:
    candidates = row["candidates"]
    assert isinstance(candidates, list)
    return candidates


def test_ldconfig() -> None:
    text = """412 libs found in cache `/etc/ld.so.cache'
\tlibhsa-runtime64.so.1 (libc6,x86-64) => /opt/rocm/lib/libhsa-runtime64.so.1
\tlibhsa-runtime64.so.1 (libc6,x86-64) => /usr/lib/x86_64-linux-gnu/libhsa-runtime64.so.1
\tlibamdhip64.so.6 (libc6,x86-64) => /opt/rocm/lib/libamdhip64.so.6
\tlibc.so.6 (libc6,x86-64, OS ABI: Linux 3.2.0) => /lib/x86_64-linux-gnu/libc.so.6
Cache generated by: ldconfig (Ubuntu GLIBC 2.35-0ubuntu3) stable release version 2.35
"""
    assert installs.parse_ldconfig(text) == {
        "libhsa-runtime64.so.1": "/opt/rocm/lib/libhsa-runtime64.so.1",
        "libamdhip64.so.6": "/opt/rocm/lib/libamdhip64.so.6",
    }


def test_owned_files(make_host: MakeHost) -> None:
    host = make_host({paths.PROFILE: "# ours\n", "/opt/v/constraints.txt": "torch==2.3.0\n", paths.ROCM_PIN: None})
    facts = owned_files.gather(host, Accounts(host), ["/opt/v"])
    assert list(facts) == [*paths.OWNED_FILES, "/opt/v/constraints.txt"]
    own = facts[paths.PROFILE]
    assert isinstance(own, dict)
    assert own["sha256"] == hashlib.sha256(b"# ours\n").hexdigest()
    assert own["mode"] == "0644"
    # A directory in the place of a file is not that file.
    assert facts[paths.ROCM_PIN] is None
