"""Whatever a tree holds, reading it changes nothing, asks nothing of this machine and ends with documented facts."""

from __future__ import annotations

import grp
import json
import os
import pwd
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ansible_collections.gpufleet.rocm.plugins.module_utils import packages
from ansible_collections.gpufleet.rocm.plugins.module_utils.gather import gather
from ansible_collections.gpufleet.rocm.plugins.module_utils.host import Host
from tests.unit.contract import violations
from tests.unit.module_utils import hosts
from tests.unit.module_utils.tree import write_tree

USERS = ["alice", "bob", "typo"]
LIMIT = 30_000


def read(root: Path | str) -> dict[str, Any]:
    return gather(str(root), USERS, [hosts.VENV])


def everything(root: Path) -> dict[str, tuple[object, ...]]:
    """What could change in a tree: kind, owner, size, times, contents."""
    found: dict[str, tuple[object, ...]] = {}
    for folder, folders, files in os.walk(root):
        for name in [".", *folders, *files]:
            path = Path(folder) / name
            status = path.lstat()
            content: object = None
            if path.is_symlink():
                content = path.readlink()
            elif path.is_file():
                content = path.read_bytes()
            times = (status.st_mtime_ns, status.st_ctime_ns)
            found[str(path)] = (status.st_mode, status.st_uid, status.st_gid, status.st_size, times, content)
    return found


@pytest.mark.parametrize("name", hosts.HOSTS)
def test_reading_changes_nothing(tmp_path: Path, name: str) -> None:
    write_tree(tmp_path, {**hosts.HOSTS[name](), **hosts.processes(2)})
    before = everything(tmp_path)
    read(tmp_path)
    assert everything(tmp_path) == before


def test_a_tree_is_read_without_this_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No command, no name service, and no file outside the tree."""

    def refuse(*arguments: object, **_options: object) -> None:
        raise AssertionError(f"asked this machine: {arguments}")

    write_tree(tmp_path, {**hosts.gpu_server(), **hosts.processes(2)})
    for module, names in (
        (subprocess, ["Popen"]),
        (os, ["uname", "getgrouplist"]),
        (pwd, ["getpwnam", "getpwuid"]),
        (grp, ["getgrnam", "getgrgid"]),
    ):
        for name in names:
            monkeypatch.setattr(module, name, refuse)
    for name in ("open", "listdir", "stat", "statvfs"):
        original = getattr(os, name)

        def inside(path: object, *arguments: Any, original: Any = original, **options: Any) -> Any:
            assert str(path).startswith(str(tmp_path)), path
            return original(path, *arguments, **options)

        monkeypatch.setattr(os, name, inside)
    facts = read(tmp_path)
    monkeypatch.undo()
    assert facts["problems"] == []
    assert len(facts["kfd"]["nodes"]) == 8


@pytest.mark.parametrize(
    "names", [["open"], ["listdir"], ["stat"], ["readlink"], ["open", "listdir", "stat", "readlink"]]
)
def test_nothing_may_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, names: list[str]) -> None:
    def refuse(path: object, *_arguments: object, **_options: object) -> None:
        raise PermissionError(13, "Permission denied", path)

    write_tree(tmp_path, {**hosts.gpu_server(), **hosts.processes(2)})
    host = Host(str(tmp_path))
    for name in names:
        monkeypatch.setattr(os, name, refuse)
    monkeypatch.setattr("ansible_collections.gpufleet.rocm.plugins.module_utils.gather.Host", lambda _root: host)
    facts = read(tmp_path)
    monkeypatch.undo()
    assert violations(facts) == []
    assert facts["problems"] == []


def test_what_unusual_hosts_are_taken_for(tmp_path: Path) -> None:
    found = {}
    for name in ("container", "wsl", "mint", "broken-dpkg"):
        write_tree(tmp_path / name, hosts.HOSTS[name]())
        found[name] = read(tmp_path / name)
    assert found["container"]["virtualization"] == {"kind": "container", "name": "docker"}
    assert found["wsl"]["virtualization"]["kind"] == "wsl"
    assert (found["mint"]["os"]["id"], found["mint"]["os"]["base_codename"]) == ("linuxmint", "noble")
    broken = found["broken-dpkg"]
    assert broken["dpkg_broken"] == [
        {"package": "amdgpu-dkms", "status": "half-installed"},
        {"package": "linux-image-" + hosts.NEXT_RELEASE, "status": "half-configured"},
    ]
    assert [row["state"] for row in broken["driver"]["dkms"]] == ["broken"]


def test_huge_files_cost_little(tmp_path: Path) -> None:
    write_tree(tmp_path, hosts.huge_files())
    assert len(json.dumps(read(tmp_path))) < 2 * LIMIT


@pytest.mark.parametrize("name", ["server", "partitions", "core", "two-stacks"])
def test_a_full_server_stays_small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Eight cards with a whole SDK; also as 64 devices, with packages of every GPU target, and with two releases."""
    write_tree(tmp_path, hosts.HOSTS[name]())
    monkeypatch.setattr(
        Host, "run", lambda _host, argv, **_options: (0, hosts.policy(argv[2:]), "") if argv[0] == "apt-cache" else None
    )
    facts = read(tmp_path)
    assert set(hosts.CORE_STACK if name == "core" else hosts.STACK) < set(facts["packages"])
    assert all(facts["packages"][name]["amd"] for name in facts["packages"] if packages.in_stack(name))
    assert [row["partitions"] for row in facts["kfd"]["nodes"]] == [8 if name == "partitions" else 1] * 8
    assert len(json.dumps(facts)) < LIMIT


TREE = {**hosts.gpu_server(), **hosts.broken_dpkg(), **hosts.processes(2)}
CONTENTS = {
    name: text if isinstance(text, bytes) else text.encode()
    for name, text in TREE.items()
    if text is not None and not str(text).startswith("-> ")
}


@pytest.mark.parametrize(
    ("pattern", "replacement"),
    [
        (rb"[0-9]+", b"9" * 5000),
        (rb"[0-9]+", "\u0663\u00b2".encode()),
        (rb"[0-9]+", b"-1"),
        (rb"[0-9]+", b""),
        (rb"\n", b"\r\n"),
        (rb"\n", b" "),
        (rb"\n", b"\n\0\n"),
        (rb"(?m)^", b"\xff"),
        (rb"(?m)^", b" "),
        (rb"[:= \t]+", b":"),
        (rb"(?m)[:= \t].*$", b""),
        (rb"['\"]", b""),
        (rb"/", b"\0/"),
        (rb"(?s).*", b""),
    ],
)
def test_every_file_is_strange_in_the_same_way(tmp_path: Path, pattern: bytes, replacement: bytes) -> None:
    write_tree(tmp_path, {**TREE, **{name: re.sub(pattern, replacement, text) for name, text in CONTENTS.items()}})
    facts = read(tmp_path)
    assert facts["problems"] == []
    assert violations(facts) == []


PIECES = st.one_of(
    st.sampled_from([b"\0", b"\n\n", b"'", b'"', b"{", b"}", b"::", b"=", b"#", b"9" * 5000]), st.binary()
)


@st.composite
def changed_file(draw: st.DrawFn) -> tuple[str, bytes]:
    """One file of a server in which something is put in the place of some of its bytes, possibly several times."""
    name = draw(st.sampled_from(sorted(CONTENTS)))
    content, times = CONTENTS[name], draw(st.sampled_from([1, 1, 3]))
    start, end = sorted(draw(st.tuples(st.integers(0, len(content)), st.integers(0, len(content)))))
    return name, (content[:start] + draw(PIECES) + content[end:]) * times


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("server")
    write_tree(root, TREE)
    return root


@settings(max_examples=60, deadline=None)
@given(change=changed_file())
def test_no_file_is_too_strange(server: Path, change: tuple[str, bytes]) -> None:
    name, content = change
    write_tree(server, {name: content})
    facts = read(server)
    write_tree(server, {name: CONTENTS[name]})
    assert facts["problems"] == []
    assert violations(facts) == []
    json.dumps(facts, ensure_ascii=False).encode()


@pytest.mark.parametrize("target", [".", "/", "/gone", "/proc/90002/status"])
def test_every_file_is_a_link_to_something_else(tmp_path: Path, target: str) -> None:
    write_tree(tmp_path, {**TREE, **dict.fromkeys(CONTENTS, "-> " + target)})
    facts = read(tmp_path)
    assert facts["problems"] == []
    assert violations(facts) == []
