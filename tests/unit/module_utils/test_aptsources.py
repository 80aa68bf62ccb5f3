"""Source entries in both styles."""

import pytest

from ansible_collections.gpufleet.rocm.plugins.module_utils import aptsources
from tests.unit.module_utils.tree import MakeHost

ROCM = "https://repo.radeon.com/rocm/apt/6.0"


@pytest.mark.parametrize(
    ("uri", "amd"),
    [
        ("https://repo.radeon.com/rocm/apt/6.0", True),
        ("http://repo.radeon.com/rocm/apt/debian/", True),
        ("https://repo.radeon.com/amdgpu/30.30/ubuntu", True),
        ("https://user:secret@repo.radeon.com:443/anything", True),
        ("https://repo.amd.com/rocm/packages/ubuntu2404", True),
        ("https://stable.repo.amd.com/rocm/core/packages/ubuntu2404/", True),
        ("https://archives.repo.amd.com/rocm/", True),
        ("http://10.77.0.1:8600/repo.radeon.com/rocm/apt/6.0", True),
        ("http://mirror.local/rocm/apt/6.0", True),
        ("http://mirror.local/amdgpu/6.0/ubuntu", True),
        ("http://mirror.local/amdgpu/latest/ubuntu", True),
        ("http://mirror.local/graphics/7.2/ubuntu", True),
        ("file:/srv/mirror/rocm/core/packages/ubuntu2404", True),
        ("http://mirror.local/ubuntu", False),
        ("http://mirror.local/amdgpu-tools/ubuntu", False),
        ("https://repo.radeon.com.example.org/ubuntu", False),
        ("https://notrepo.amd.com/ubuntu", False),
        ("http://ppa.example.net/graphics-drivers/ppa/ubuntu", False),
        ("no-uri", False),
    ],
)
def test_is_amd(uri: str, amd: bool) -> None:
    assert aptsources.is_amd(uri) is amd


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (
            f"deb [arch=amd64 signed-by=/etc/apt/keyrings/rocm.gpg] {ROCM} jammy main",
            (["deb"], ROCM, "jammy", ["main"], ["amd64"], "/etc/apt/keyrings/rocm.gpg", True),
        ),
        (
            f"deb [ arch=amd64,i386  signed-by=/k.gpg ] {ROCM} jammy main proprietary # note",
            (["deb"], ROCM, "jammy", ["main", "proprietary"], ["amd64", "i386"], "/k.gpg", True),
        ),
        (f"deb {ROCM}/ ubuntu main", (["deb"], ROCM + "/", "ubuntu", ["main"], [], None, True)),
        (f"deb-src {ROCM} jammy main", (["deb-src"], ROCM, "jammy", ["main"], [], None, True)),
        (f"deb {ROCM} ./", (["deb"], ROCM, "./", [], [], None, True)),
        (
            f"#  deb [arch=amd64] {ROCM} jammy main",
            (["deb"], ROCM, "jammy", ["main"], ["amd64"], None, False),
        ),
        (
            f"# deb {ROCM} noble main # disabled on upgrade to noble",
            (["deb"], ROCM, "noble", ["main"], [], None, False),
        ),
        (
            "deb https://user:secret@repo.radeon.com/rocm/apt/6.0 jammy main",
            (["deb"], ROCM, "jammy", ["main"], [], None, True),
        ),
        (f"deb [trusted=yes] {ROCM} jammy main", (["deb"], ROCM, "jammy", ["main"], [], None, True)),
    ],
)
def test_one_line(line: str, expected: tuple[object, ...]) -> None:
    (entry,) = aptsources.parse_list("\n" + line + "\n")
    keys = ("types", "uri", "suite", "components", "architectures", "signed_by", "enabled")
    assert tuple(entry[key] for key in keys) == expected
    assert (entry["line"], entry["form"]) == (2, "list")


@pytest.mark.parametrize(
    "line",
    [
        "",
        "# a comment",
        "# deb is a word in this comment",
        "deb",
        "deb http://x",
        "rpm http://x y",
        "deb [open http://x y",
    ],
)
def test_lines_that_are_no_entry(line: str) -> None:
    assert aptsources.parse_list(line) == []


DEB822 = """# written by hand
Types: deb deb-src
URIs: https://repo.radeon.com/rocm/apt/6.0
 https://repo.radeon.com/rocm/apt/6.1
Suites: jammy noble
Components: main
# a comment inside
Architectures: amd64 i386
Signed-By: /etc/apt/keyrings/rocm.asc

Enabled: No
types: deb
uris: https://repo.radeon.com/amdgpu/6.0/ubuntu
suites: jammy
components: main
signed-by:
 -----BEGIN PGP PUBLIC KEY BLOCK-----
 .
 mDMEaw7mSBYJKwYBBAHaRw8BAQ
 -----END PGP PUBLIC KEY BLOCK-----
"""


def test_deb822() -> None:
    entries = aptsources.parse_deb822(DEB822)
    assert [(entry["line"], entry["uri"], entry["suite"], entry["enabled"]) for entry in entries] == [
        (2, ROCM, "jammy", True),
        (2, ROCM, "noble", True),
        (2, "https://repo.radeon.com/rocm/apt/6.1", "jammy", True),
        (2, "https://repo.radeon.com/rocm/apt/6.1", "noble", True),
        (11, "https://repo.radeon.com/amdgpu/6.0/ubuntu", "jammy", False),
    ]
    assert entries[0]["types"] == ["deb", "deb-src"]
    assert entries[0]["architectures"] == ["amd64", "i386"]
    assert entries[0]["signed_by"] == "/etc/apt/keyrings/rocm.asc"
    assert entries[4]["signed_by"] == aptsources.INLINE_KEY


@pytest.mark.parametrize("text", ["", "\n\n", "no colon\n", " folded: first\n", "Types: deb\nURIs: x\n"])
def test_deb822_without_an_entry(text: str) -> None:
    assert aptsources.parse_deb822(text) == []


def test_gather(make_host: MakeHost) -> None:
    own = f"Types: deb\nURIs: {ROCM}\nSuites: jammy\nComponents: main\n"
    line = f"deb {ROCM} jammy main\n"
    host = make_host(
        {
            "/etc/apt/sources.list": "deb http://archive.example.org/ubuntu jammy main\n" + line,
            "/etc/apt/sources.list.d/amd.list": "# deb http://archive.example.org/ubuntu jammy main\n" + line,
            "/etc/apt/sources.list.d/off.sources": own.replace(ROCM, "http://archive.example.org/ubuntu")
            + f"Enabled: no\n\n{own}",
            "/etc/apt/sources.list.d/quiet.sources": f"Enabled: no\n{own}",
            "/etc/apt/sources.list.d/rocm.sources": own,
            "/etc/apt/sources.list.d/ubuntu.sources": own.replace(ROCM, "http://archive.example.org/ubuntu"),
            "/etc/apt/sources.list.d/amdgpu": line,
            "/etc/apt/sources.list.d/bad name.list": line,
            "/etc/apt/sources.list.d/rocm.list.save": line,
            "/etc/apt/sources.list.d/old.sources.disabled": own,
        }
    )
    found = aptsources.gather(host)
    assert [(entry["file"], entry["enabled"], entry["other_entries"]) for entry in found] == [
        ("/etc/apt/sources.list", True, True),
        ("/etc/apt/sources.list.d/amd.list", True, False),
        ("/etc/apt/sources.list.d/amdgpu", False, False),
        ("/etc/apt/sources.list.d/bad name.list", False, False),
        ("/etc/apt/sources.list.d/off.sources", True, False),
        ("/etc/apt/sources.list.d/quiet.sources", False, False),
        ("/etc/apt/sources.list.d/rocm.sources", True, False),
    ]
