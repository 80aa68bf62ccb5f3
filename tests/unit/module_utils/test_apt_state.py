"""apt's lists, policy and pins."""

import pytest

from ansible_collections.gpufleet.rocm.plugins.module_utils import aptlists, aptpins, aptpolicy
from tests.unit.module_utils.tree import MakeHost


@pytest.mark.parametrize(
    ("uri", "suite", "stem"),
    [
        ("https://repo.radeon.com/rocm/apt/6.0", "jammy", "repo.radeon.com_rocm_apt_6.0_dists_jammy"),
        ("https://repo.radeon.com/rocm/apt/6.0/", "jammy", "repo.radeon.com_rocm_apt_6.0_dists_jammy"),
        (
            "http://10.77.0.1:8600/repo.radeon.com/amdgpu/6.0/ubuntu",
            "jammy",
            "10.77.0.1:8600_repo.radeon.com_amdgpu_6.0_ubuntu_dists_jammy",
        ),
        ("http://user:pw@mirror.local/rocm_apt", "jammy", "mirror.local_rocm%5fapt_dists_jammy"),
        ("file:/srv/mirror/rocm/apt/6.0", "jammy", "_srv_mirror_rocm_apt_6.0_dists_jammy"),
        ("http://mirror.local/flat", "./", "mirror.local_flat_."),
        ("http://mirror.local/~x", "stable", "mirror.local_%7ex_dists_stable"),
    ],
)
def test_file_stem(uri: str, suite: str, stem: str) -> None:
    assert aptlists.file_stem(uri, suite) == stem


@pytest.mark.parametrize(
    ("name", "indexed"),
    [
        ("h_rocm_dists_jammy_main_binary-amd64_Packages", True),
        ("h_rocm_dists_jammy_main_binary-amd64_Packages.lz4", True),
        ("h_rocm_dists_jammy_main_source_Sources", True),
        ("h_rocm_dists_jammy_InRelease", False),
        ("h_rocm_dists_jammy-updates_main_binary-amd64_Packages", False),
        ("h_rocm_dists_jammy_universe_binary-amd64_Packages", False),
        ("h_rocm_apt_dists_jammy_main_binary-amd64_Packages", False),
    ],
)
def test_has_index(name: str, indexed: bool) -> None:
    assert aptlists.has_index([name], "https://h/rocm", "jammy", ["main"]) is indexed


@pytest.mark.parametrize(
    ("text", "origin"),
    [
        ("Origin: repo.radeon.com\nLabel: x\n", "repo.radeon.com"),
        ("-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA512\n\nOrigin: AMD ROCm\n", "AMD ROCm"),
        ("Label: x\nSHA256:\n 00 1 main\nOrigin: late\n", None),
        ("Origin:\n", None),
        ("", None),
    ],
)
def test_origin(text: str, origin: str | None) -> None:
    assert aptlists.parse_origin(text) == origin


def test_origins_come_from_either_release_file(make_host: MakeHost) -> None:
    origins = aptlists.Origins(
        make_host(
            {
                "/var/lib/apt/lists/h_a_dists_s_InRelease": "Origin: A\n",
                "/var/lib/apt/lists/h_b_dists_s_Release": "Origin: B\n",
            }
        )
    )
    found = [origins.get("http://h/" + name, "s") for name in ("a", "b", "c", "a")]
    assert found == ["A", "B", None, "A"]


POLICY = """rocminfo:
  Installed: 1.0.0.60000-91~22.04
  Candidate: 5.0.0-1
  Version table:
     5.0.0-1 500
        500 http://archive.example.org/ubuntu jammy/universe amd64 Packages
 *** 1.0.0.60000-91~22.04 500
        500 https://repo.radeon.com/rocm/apt/6.0 jammy/main amd64 Packages
        100 /var/lib/dpkg/status
linux-headers-6.8.0-41-generic:
  Installed: (none)
  Candidate: 6.8.0-41.41~22.04.1
  Version table:
     6.8.0-41.41~22.04.1 500
        500 http://archive.example.org/ubuntu jammy-updates/main amd64 Packages
hipcc:
  Installed: 5.7.1-3
  Candidate: 5.7.1-3
  Version table:
 *** 5.7.1-3 100
        100 /var/lib/dpkg/status
linux-modules-extra-6.8.0-41-generic:
  Installed: (none)
  Candidate: (none)
  Version table:
"""


def test_policy() -> None:
    found = aptpolicy.parse(POLICY)
    assert found == {
        "rocminfo": ("5.0.0-1", [("https://repo.radeon.com/rocm/apt/6.0", "jammy")]),
        "linux-headers-6.8.0-41-generic": ("6.8.0-41.41~22.04.1", []),
        "hipcc": ("5.7.1-3", []),
        "linux-modules-extra-6.8.0-41-generic": (None, []),
    }


@pytest.mark.parametrize("text", ["", "N: Unable to locate package x\n", "rubbish\n  Candidate: 1\n"])
def test_policy_of_nothing(text: str) -> None:
    assert aptpolicy.parse(text) == {}


def test_pins(make_host: MakeHost) -> None:
    host = make_host(
        {
            "/etc/apt/preferences": "Explanation: x\nPackage: *\nPin: release n=jammy-backports\nPin-Priority: 100\n\n"
            "Package: rocm* hip*\nPin: release a=stable\nPin-Priority: high\n",
            "/etc/apt/preferences.d/rocm-pin-600": "Package: *\nPin: release o=repo.radeon.com\nPin-Priority: 600\n",
            "/etc/apt/preferences.d/mirror.pref": 'Package: *\nPin: origin "mirror.local"\nPin-Priority: -1\n',
            "/etc/apt/preferences.d/rocm.bak": "Package: *\nPin: release o=repo.radeon.com\nPin-Priority: 1\n",
            "/etc/apt/preferences.d/nodejs": "Package: nodejs\nPin: origin deb.example.net\nPin-Priority: 600\n",
        }
    )
    found = [
        (pin["file"], pin["package"], pin["pin"], pin["priority"]) for pin in aptpins.gather(host, ["mirror.local"])
    ]
    assert found == [
        ("/etc/apt/preferences", "rocm* hip*", "release a=stable", None),
        ("/etc/apt/preferences.d/mirror.pref", "*", 'origin "mirror.local"', -1),
        ("/etc/apt/preferences.d/rocm-pin-600", "*", "release o=repo.radeon.com", 600),
    ]
