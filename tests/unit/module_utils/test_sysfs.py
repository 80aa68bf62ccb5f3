"""GPUs on the bus, compute nodes and the loaded driver."""

from pathlib import Path

import pytest

from ansible_collections.gpufleet.rocm.plugins.module_utils import sysfs
from ansible_collections.gpufleet.rocm.plugins.module_utils.accounts import Accounts
from tests.unit.module_utils.tree import MakeHost

PCI = "/sys/bus/pci/devices/"


def function(
    address: str, vendor: str, device: str, pci_class: str, driver: str = "", **files: str
) -> dict[str, str | bytes | None]:
    base = PCI + address + "/"
    tree: dict[str, str | bytes | None] = {
        base + "vendor": f"0x{vendor}\n",
        base + "device": f"0x{device}\n",
        base + "class": f"0x{pci_class}00\n",
    }
    if driver:
        tree[base + "driver"] = "-> ../../../../bus/pci/drivers/" + driver
    for name, content in files.items():
        tree[base + name] = content
    return tree


def test_only_displays_and_accelerators_of_any_vendor(make_host: MakeHost) -> None:
    host = make_host(
        {
            **function("0000:00:00.0", "1022", "14a4", "0600"),
            **function("0000:03:00.0", "1a03", "2000", "0300", "ast"),
            **function("0000:2f:00.0", "1002", "740c", "0380", "amdgpu", numa_node="1\n"),
            **function("0000:2f:00.1", "1002", "ab28", "0403", "snd_hda_intel"),
            # An AMD network processor shows class 1200 too; its vendor is Pensando.
            **function("0000:61:00.0", "1dd8", "1002", "1200"),
        }
    )
    found = sysfs.gpus(host)
    assert [(gpu["vendor"], gpu["device"], gpu["class"], gpu["driver"], gpu["numa_node"]) for gpu in found] == [
        ("1a03", "2000", "0300", "ast", None),
        ("1002", "740c", "0380", "amdgpu", 1),
        ("1dd8", "1002", "1200", None, None),
    ]


def test_a_hypervisor_host_shows_its_drivers(make_host: MakeHost) -> None:
    host = make_host(
        {
            **function("0000:0c:00.0", "1002", "74a1", "1200", "gim", numa_node="-1\n"),
            **function("0000:0c:02.0", "1002", "74b5", "1200", "vfio-pci", physfn="-> ../0000:0c:00.0"),
        }
    )
    found = [(gpu["driver"], gpu["virtual_function"], gpu["numa_node"]) for gpu in sysfs.gpus(host)]
    assert found == [("gim", False, None), ("vfio-pci", True, None)]


def test_damaged_bus_entries_are_survived(make_host: MakeHost) -> None:
    host = make_host({PCI + "0000:01:00.0/class": "rubbish\n", PCI + "0000:02:00.0/class": "0x030000\n"})
    assert [(gpu["address"], gpu["vendor"]) for gpu in sysfs.gpus(host)] == [("0000:02:00.0", None)]


@pytest.mark.parametrize(
    ("number", "name"),
    [
        (90402, "gfx942"),
        (90010, "gfx90a"),
        (90500, "gfx950"),
        (90008, "gfx908"),
        (100300, "gfx1030"),
        (110501, "gfx1151"),
        (120001, "gfx1201"),
        (0, None),
        (9, None),
        (999999999999, None),
        (991717, None),
    ],
)
def test_gfx_name(number: int, name: str | None) -> None:
    assert sysfs.gfx_name(number) == name


CPU = "cpu_cores_count 96\nsimd_count 0\nsimd_per_cu 0\ngfx_target_version 0\ndevice_id 0\nlocation_id 0\n"
MI300X_CPX = """cpu_cores_count 0
simd_count 152
array_count 4
cu_per_simd_array 10
simd_per_cu 4
gfx_target_version 90402
vendor_id 4098
device_id 29857
location_id {location}
domain 0
drm_render_minor {minor}
"""
VEGA_OLD_KERNEL = "simd_count 256\nsimd_per_cu 4\nvendor_id 4098\ndevice_id 26720\nlocation_id 6400\n"


def test_partitions_of_a_card(make_host: MakeHost) -> None:
    base = "/sys/class/kfd/kfd/topology/nodes/"
    host = make_host(
        {
            base + "0/properties": CPU,
            base + "2/properties": MI300X_CPX.format(location=1280, minor=128),
            base + "10/properties": MI300X_CPX.format(location=1287, minor=135),
            base + "11/properties": "",
            base + "12/properties": MI300X_CPX.format(location=5 << 28 | 1280 + 0x2000, minor=136),
        }
    )
    assert sysfs.kfd_nodes(host) == [
        {
            "node": node,
            "gfx": "gfx942",
            "device": "74a1",
            "simd_count": 152,
            "compute_units": 38,
            "location_id": location,
            "domain": 0,
            "render_minor": minor,
            "partitions": partitions,
        }
        for node, location, minor, partitions in ((2, 1280, 128, 2), (12, 5 << 28 | 9472, 136, 1))
    ]


@pytest.mark.parametrize("shift", [0, 28], ids=["function", "upper-bits"])
def test_the_last_card_lacks_a_partition(make_host: MakeHost, shift: int) -> None:
    """As on a host where another display driver holds one of the 64 render minors."""
    base = "/sys/class/kfd/kfd/topology/nodes/"
    places = [(bus << 8) | (part << shift) for bus in (0x05, 0x26, 0xE5) for part in range(8)][:-1]
    host = make_host(
        {
            f"{base}{number}/properties": MI300X_CPX.format(location=place, minor=128 + number)
            for number, place in enumerate(places)
        }
    )
    assert [node["partitions"] for node in sysfs.kfd_nodes(host)] == [8, 8, 7]


def test_an_old_kernel_knows_no_partitions(make_host: MakeHost) -> None:
    base = "/sys/class/kfd/kfd/topology/nodes/"
    host = make_host({base + "1/properties": VEGA_OLD_KERNEL, base + "2/properties": VEGA_OLD_KERNEL})
    assert [(node["node"], node["partitions"]) for node in sysfs.kfd_nodes(host)] == [(1, 1), (2, 1)]


def test_an_old_kernel_publishes_no_target() -> None:
    node = sysfs.kfd_node(1, sysfs.kfd_properties(VEGA_OLD_KERNEL)) or {}
    assert (node["gfx"], node["device"], node["compute_units"], node["render_minor"]) == (None, "6860", 64, None)


def test_device_nodes(make_host: MakeHost) -> None:
    host = make_host({"/dev/kfd": "", "/dev/dri/renderD129": "", "/dev/dri/card0": "", "/dev/dri/renderD128": ""})
    accounts = Accounts(host)
    assert sysfs.kfd(host, accounts)["present"] is True
    assert [node["minors"] for node in sysfs.render_nodes(host, accounts)] == [[128, 129]]


def test_device_nodes_with_other_rights_stand_apart(make_host: MakeHost) -> None:
    host = make_host({f"/dev/dri/renderD{minor}": "" for minor in (128, 129, 130)})
    (Path(host.root) / "dev/dri/renderD129").chmod(0o600)
    (Path(host.root) / "dev/dri/renderD128").chmod(0o660)
    (Path(host.root) / "dev/dri/renderD130").chmod(0o660)
    found = sysfs.render_nodes(host, Accounts(host))
    assert [(node["mode"], node["minors"]) for node in found] == [("0660", [128, 130]), ("0600", [129])]


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({}, (False, None, None)),
        ({"initstate": "live\n", "srcversion": "ABC\n"}, (True, None, "ABC")),
        ({"initstate": "live\n", "version": "6.12.12\n"}, (True, "6.12.12", None)),
        ({"initstate": "coming\n", "version": "6.12.12\n"}, (False, None, None)),
        ({"parameters/noretry": "-1\n"}, (True, None, None)),
    ],
    ids=["absent", "inbox", "dkms", "loading", "built-in"],
)
def test_loaded_module(make_host: MakeHost, files: dict[str, str], expected: tuple[object, ...]) -> None:
    fact = sysfs.loaded_module(make_host({"/sys/module/amdgpu/" + name: text for name, text in files.items()}))
    assert (fact["loaded"], fact["version"], fact["srcversion"]) == expected
