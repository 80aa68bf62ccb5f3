"""apt's configuration language, as far as administrators write it."""

import pytest

from ansible_collections.gpufleet.rocm.plugins.module_utils import aptconf
from tests.unit.module_utils.tree import MakeHost

SWITCH = "apt::periodic::unattended-upgrade"
LIST = "unattended-upgrade::package-blacklist"


def values(text: str) -> dict[str, list[str]]:
    settings: aptconf.Settings = {}
    aptconf.parse(text, "x", settings)
    return {name: [value for value, _file in rows] for name, rows in settings.items()}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('APT::Periodic::Unattended-Upgrade "1";', {SWITCH: ["1"]}),
        ("apt::periodic::unattended-upgrade 1 ;", {SWITCH: ["1"]}),
        ('APT::Periodic { Unattended-Upgrade "1"; };', {SWITCH: ["1"]}),
        ('APT { Periodic { Unattended-Upgrade "7"; }; };', {SWITCH: ["7"]}),
        ('APT::Periodic::Unattended-Upgrade "1";\nAPT::Periodic::Unattended-Upgrade "0";', {SWITCH: ["1", "0"]}),
        ('// APT::Periodic::Unattended-Upgrade "1";', {}),
        ('# APT::Periodic::Unattended-Upgrade "1";', {}),
        ('/* APT::Periodic::Unattended-Upgrade "1";\n*/', {}),
        ('Unattended-Upgrade::Package-Blacklist {\n  "linux-";\n//  "libc6$";\n};', {LIST: ["linux-"]}),
        ('Unattended-Upgrade::Package-Blacklist { "a"; "b" };', {LIST: ["a", "b"]}),
        (
            'Unattended-Upgrade::Package-Blacklist:: "a";Unattended-Upgrade::Package-Blacklist:: "b";',
            {LIST: ["a", "b"]},
        ),
        ('Unattended-Upgrade { Package-Blacklist { "a"; }; X "y"; };', {LIST: ["a"], "unattended-upgrade::x": ["y"]}),
        (
            'Unattended-Upgrade::Package-Blacklist { "a"; };\n#clear Unattended-Upgrade::Package-Blacklist;\n'
            'Unattended-Upgrade::Package-Blacklist { "b"; };',
            {LIST: ["b"]},
        ),
        ('Unattended-Upgrade::Package-Blacklist { "a"; };\n#clear Unattended-Upgrade;', {}),
        ('Acquire::http::Proxy "http://proxy:3128//";', {"acquire::http::proxy": ["http://proxy:3128//"]}),
        ("Acquire::http::Proxy http://proxy/x;", {"acquire::http::proxy": ["http://proxy/x"]}),
        ('}};{ "lost" "', {}),
        ('A "open;\nB "1";', {"a": ["open"], "b": ["1"]}),
    ],
)
def test_statements(text: str, expected: dict[str, list[str]]) -> None:
    assert values(text) == expected


def test_the_files_that_apt_reads_in_its_order(make_host: MakeHost) -> None:
    host = make_host(
        {
            "/etc/apt/apt.conf": 'A "main";',
            "/etc/apt/apt.conf.d/20b": 'A "second";',
            "/etc/apt/apt.conf.d/10a.conf": 'A "first";',
            "/etc/apt/apt.conf.d/30c.save": 'A "backup";',
            "/etc/apt/apt.conf.d/40 d": 'A "blank";',
        }
    )
    assert aptconf.read(host) == {
        "a": [
            ("first", "/etc/apt/apt.conf.d/10a.conf"),
            ("second", "/etc/apt/apt.conf.d/20b"),
            ("main", "/etc/apt/apt.conf"),
        ]
    }
