"""dpkg's database, also half-way through a transaction."""

from ansible_collections.gpufleet.rocm.plugins.module_utils import dpkg
from tests.unit.module_utils.tree import MakeHost

STATUS = """Package: rocminfo
Status: install ok installed
Priority: optional
Architecture: amd64
Version: 1.0.0.60000-91~22.04
Description: a tool
 Status: no field, a line of the text
 .
 Version: neither

Package: linux-image-6.8.0-44-generic
Status: install ok half-configured
Architecture: amd64
Version: 6.8.0-44.44

Package: amdgpu-install
Status: deinstall ok config-files
Architecture: all
Version: 6.0.60000-1697589.22.04

Package: torn
Status: install reinstreq installed
Architecture: amd64
Version: 1

Package: waiting
Status: hold ok triggers-awaited
Architecture: amd64
Version: 2

Package: dpkg
Status: install ok installed
Architecture: amd64
Version: 1.21.1

Package: never-there
Status: purge ok not-installed
Architecture: amd64
"""


def test_records() -> None:
    packages = {package.name: package for package in dpkg.parse_status(STATUS)}
    assert packages["rocminfo"] == dpkg.Package(
        "rocminfo", "amd64", "1.0.0.60000-91~22.04", "install", "ok", "installed"
    )
    assert packages["waiting"].want == "hold"
    assert packages["never-there"].version == ""
    assert dpkg.native_architecture(list(packages.values())) == "amd64"


def test_broken() -> None:
    assert dpkg.broken(dpkg.parse_status(STATUS)) == [
        {"package": "linux-image-6.8.0-44-generic", "status": "half-configured"},
        {"package": "torn", "status": "installed"},
    ]


def test_records_without_a_name_or_state_are_left_out() -> None:
    assert dpkg.parse_status("Package: a\n\nStatus: install ok installed\n\nrubbish\n\n\n") == []


def test_the_journal_of_an_interrupted_dpkg_wins(make_host: MakeHost) -> None:
    host = make_host(
        {
            "/var/lib/dpkg/status": STATUS,
            "/var/lib/dpkg/updates/0001": "Package: rocminfo\nStatus: install ok unpacked\nArchitecture: amd64\n"
            "Version: 1.0.0.60100-82~22.04\n",
            "/var/lib/dpkg/updates/0010": "Package: rocminfo\nStatus: install ok half-configured\n"
            "Architecture: amd64\nVersion: 1.0.0.60100-82~22.04\n",
            "/var/lib/dpkg/updates/tmp.i": "Package: rocminfo\n",
        }
    )
    package = next(package for package in dpkg.read(host) if package.name == "rocminfo")
    assert (package.version, package.status) == ("1.0.0.60100-82~22.04", "half-configured")


def test_owners(make_host: MakeHost) -> None:
    host = make_host(
        {
            "/var/lib/dpkg/info/amdgpu-dkms.list": "/.\n/etc/modprobe.d/blacklist-radeon.conf\n/usr\n",
            "/var/lib/dpkg/info/libc6:amd64.list": "/etc/ld.so.conf\n/etc/ld.so.conf.d\n",
            # The package was built before /lib became a link to /usr/lib.
            "/var/lib/dpkg/info/gim.list": "/.\n/lib/modprobe.d/gim.conf\n",
            "/var/lib/dpkg/info/amdgpu-dkms.md5sums": "/etc/modprobe.d/blacklist-amdgpu.conf\n",
        }
    )
    wanted = ["/etc/modprobe.d/blacklist-radeon.conf", "/etc/ld.so.conf", "/usr/lib/modprobe.d/gim.conf"]
    strangers = ["/etc/modprobe.d/blacklist-amdgpu.conf", "/radeon.conf"]
    assert dpkg.owners(host, wanted + strangers) == dict(zip(wanted, ["amdgpu-dkms", "libc6", "gim"], strict=True))


def test_a_host_without_dpkg(make_host: MakeHost) -> None:
    host = make_host({"/etc": None})
    assert dpkg.read(host) == []
    assert dpkg.owners(host, ["/etc/x"]) == {}
