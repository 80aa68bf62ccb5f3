"""Text of files: exact content, refused injections, and the profile script in real shells."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.gpufleet.rocm.plugins.plugin_utils import render
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.errors import DecisionError

HEADER = "# Managed by gpufleet.rocm; local changes are overwritten.\n"
SOURCE = {
    "name": "rocm",
    "file": "/etc/apt/sources.list.d/rocm.sources",
    "uri": "https://repo.radeon.com/rocm/apt/6.0",
    "suite": "jammy",
    "components": ["main"],
    "architectures": ["amd64"],
    "keyring": "/etc/apt/keyrings/rocm.asc",
}
PIN = {"file": "/etc/apt/preferences.d/rocm-pin-600", "origin": "repo.radeon.com", "priority": 600}
SHELLS = [shell for shell in ("dash", "bash", "zsh") if shutil.which(shell)]


def test_an_apt_source() -> None:
    assert render.deb822_source(SOURCE) == HEADER + (
        "Types: deb\n"
        "URIs: https://repo.radeon.com/rocm/apt/6.0\n"
        "Suites: jammy\n"
        "Components: main\n"
        "Architectures: amd64\n"
        "Signed-By: /etc/apt/keyrings/rocm.asc\n"
    )


def test_a_pin() -> None:
    assert render.apt_pin(PIN) == HEADER + "Package: *\nPin: release o=repo.radeon.com\nPin-Priority: 600\n"


def test_the_linker_configuration() -> None:
    assert render.ld_so_conf(["/opt/rocm/lib", "/opt/rocm/lib64"]) == HEADER + "/opt/rocm/lib\n/opt/rocm/lib64\n"


def test_constraints() -> None:
    packages = {"torch": "2.3.0+rocm6.0", "torchvision": "0.18.0+rocm6.0"}
    assert render.constraints(packages) == HEADER + "torch==2.3.0+rocm6.0\ntorchvision==0.18.0+rocm6.0\n"


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("uri", "https://x/\nTrusted: yes"),
        ("uri", "https://x/ https://y/"),
        ("uri", ""),
        ("uri", None),
        ("suite", "jammy\rTrusted: yes"),
        ("suite", "jammy/"),
        ("suite", "jammy\u2028x"),
        ("components", []),
        ("components", "main"),
        ("components", ["main\nTrusted: yes"]),
        ("components", ["main", 1]),
        ("architectures", None),
        ("keyring", "rocm.asc"),
        ("keyring", "/etc/a b"),
        ("keyring", "/etc/a\x00b"),
    ],
)
def test_a_source_takes_no_extra_field(key: str, value: object) -> None:
    with pytest.raises(DecisionError) as caught:
        render.deb822_source({**SOURCE, key: value})
    assert caught.value.id == "wish-invalid"
    assert str(caught.value).isprintable()


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("origin", "a\nPackage: x"),
        ("origin", "a,n=jammy"),
        ("origin", "*"),
        ("origin", None),
        ("priority", "600"),
        ("priority", True),
        ("priority", 99999),
        ("priority", 6.5),
    ],
)
def test_a_pin_takes_no_extra_field(key: str, value: object) -> None:
    with pytest.raises(DecisionError):
        render.apt_pin({**PIN, key: value})


@pytest.mark.parametrize("directory", ["opt/rocm", "/opt/$(id)", "/opt/a b", "/a;b", "/a:b", "/a\nb", "/a'b", "", None])
def test_directories_are_plain_paths(directory: Any) -> None:
    with pytest.raises(DecisionError):
        render.profile_script([directory])
    with pytest.raises(DecisionError):
        render.ld_so_conf([directory])


@pytest.mark.parametrize(
    "packages",
    [
        {"torch": "2.3.0\nevil==1"},
        {"torch": "2.3.0 # x"},
        {"to rch": "1.0"},
        {"-r": "1.0"},
        {"torch": ""},
        {"torch": None},
    ],
)
def test_constraints_take_no_extra_line(packages: Any) -> None:
    with pytest.raises(DecisionError):
        render.constraints(packages)


def test_a_single_text_is_not_a_list_of_directories() -> None:
    with pytest.raises(DecisionError):
        render.ld_so_conf("/opt/rocm/lib")


def line_count(call: Callable[[], str]) -> int:
    """Lines of the text, 0 where it was refused."""
    try:
        return call().count("\n")
    except DecisionError:
        return 0


@given(st.text())
def test_no_text_adds_a_line(text: str) -> None:
    assert line_count(lambda: render.deb822_source({**SOURCE, "uri": text})) in (0, 7)
    assert line_count(lambda: render.deb822_source({**SOURCE, "components": [text]})) in (0, 7)
    assert line_count(lambda: render.apt_pin({**PIN, "origin": text})) in (0, 4)
    assert line_count(lambda: render.constraints({"torch": text})) in (0, 2)
    assert line_count(lambda: render.ld_so_conf([text])) in (0, 2)


@pytest.fixture(name="tree")
def _tree(tmp_path: Path) -> Path:
    """Two directories that exist and one that does not."""
    for name in ("bin", "opencl", "lib"):
        (tmp_path / name).mkdir()
    return tmp_path


def run(shell: str, script: str, directory: Path, after: str, **environment: str) -> str:
    """Source the script twice under `set -eu`, then run `after`; standard error must stay empty."""
    file = directory / "rocm.sh"
    file.write_text(script, encoding="utf-8")
    program = shutil.which(shell)
    assert program
    done = subprocess.run(
        [program, "-c", f"set -eu\n. '{file}'\n. '{file}'\n{after}"],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    return done.stdout


@pytest.mark.parametrize("shell", SHELLS)
def test_the_profile_puts_existing_directories_first_and_once(shell: str, tree: Path) -> None:
    wanted = [str(tree / name) for name in ("bin", "missing", "opencl")]
    script = render.profile_script(wanted)
    after = 'printf \'%s|%s|%s\' "$PATH" "${LD_LIBRARY_PATH-none}" "${rocm_directory-none}"'
    output = run(shell, script, tree, after, PATH="/usr/bin:/bin")
    assert output == f"{tree}/bin:{tree}/opencl:/usr/bin:/bin|none|none"


@pytest.mark.parametrize("shell", SHELLS)
def test_the_profile_leaves_an_existing_entry_where_it_is(shell: str, tree: Path) -> None:
    output = run(shell, render.profile_script([f"{tree}/bin"]), tree, 'printf %s "$PATH"', PATH=f"/usr/bin:{tree}/bin")
    assert output == f"/usr/bin:{tree}/bin"


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize(("before", "suffix"), [(None, ""), ("/old", ":/old")])
def test_the_library_path_is_set_on_request(shell: str, tree: Path, before: str | None, suffix: str) -> None:
    script = render.profile_script([f"{tree}/bin"], [f"{tree}/lib"])
    environment = {"PATH": "/usr/bin:/bin"} | ({"LD_LIBRARY_PATH": before} if before else {})
    output = run(shell, script, tree, "env", **environment)
    assert f"LD_LIBRARY_PATH={tree}/lib{suffix}" in output.splitlines()


@pytest.mark.parametrize("shell", SHELLS)
def test_an_absent_library_directory_leaves_nothing_behind(shell: str, tree: Path) -> None:
    script = render.profile_script([f"{tree}/bin"], [f"{tree}/missing"])
    assert "LD_LIBRARY_PATH" not in run(shell, script, tree, "env", PATH="/usr/bin:/bin")


def test_the_profile_does_not_mention_the_library_path_by_default() -> None:
    assert "LD_LIBRARY_PATH" not in render.profile_script(["/opt/rocm/bin"])
    assert "LD_LIBRARY_PATH" not in render.profile_script(["/opt/rocm/bin"], [])


def test_every_file_says_who_owns_it() -> None:
    texts = [
        render.deb822_source(SOURCE),
        render.apt_pin(PIN),
        render.profile_script(["/opt/rocm/bin"]),
        render.ld_so_conf([]),
        render.constraints({}),
    ]
    assert all(text.startswith(HEADER) and text.endswith("\n") for text in texts)
