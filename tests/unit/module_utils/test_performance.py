"""The readings of a host tree: links, caps, governors and what the role left, and nothing made up where files lack."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.gpufleet.rocm.plugins.module_utils import performance, tuning_files
from ansible_collections.gpufleet.rocm.plugins.module_utils.host import Host
from ansible_collections.gpufleet.rocm.plugins.modules import rocm_performance
from tests.unit.module_utils.tree import MakeHost, write_tree

ROOT_PORT = "/sys/devices/pci0000:00/0000:00:01.1"
CPU = "/sys/devices/system/cpu/cpufreq"


def device(
    path: str, vendor: str, pci_class: str, rate: str, lanes: str, **files: str
) -> dict[str, str | bytes | None]:
    """A PCI function with its link at `rate` and `lanes`, and what it can do at most unless it is given."""
    values = {"vendor": f"0x{vendor}", "device": "0x740f", "class": f"0x{pci_class}00"}
    values |= {"current_link_speed": rate, "current_link_width": lanes, "max_link_speed": rate, "max_link_width": lanes}
    tree: dict[str, str | bytes | None] = {
        f"{path}/{name.replace('__', '/')}": value + "\n" for name, value in (values | files).items()
    }
    address = path.rpartition("/")[2]
    tree[f"/sys/bus/pci/devices/{address}"] = f"-> ../../..{path.removeprefix('/sys')}"
    return tree


def server() -> dict[str, str | bytes | None]:
    """One MI210: its GPU hangs behind two bridges on the card, and the slot has eight lanes."""
    gpu = f"{ROOT_PORT}/0000:01:00.0/0000:02:00.0/0000:03:00.0"
    return {
        **device(ROOT_PORT, "1022", "0604", "16.0 GT/s PCIe", "8"),
        **device(f"{ROOT_PORT}/0000:01:00.0", "1002", "0604", "16.0 GT/s PCIe", "8", max_link_width="16"),
        **device(f"{ROOT_PORT}/0000:01:00.0/0000:02:00.0", "1002", "0604", "16.0 GT/s PCIe", "16"),
        **device(
            gpu,
            "1002",
            "0380",
            "16.0 GT/s PCIe",
            "16",
            iommu_group__type="DMA-FQ",
            power_dpm_force_performance_level="auto",
            pp_dpm_sclk="0: 500Mhz \n1: 800Mhz *\n2: 1700Mhz ",
            current_compute_partition="SPX",
            hwmon__hwmon3__power1_cap="250000000",
            hwmon__hwmon3__power1_cap_default="300000000",
        ),
        "/proc/cpuinfo": "processor\t: 0\nvendor_id\t: AuthenticAMD\nflags\t: fpu\n",
        "/proc/cmdline": "BOOT_IMAGE=/vmlinuz ro quiet\n",
        "/proc/sys/kernel/numa_balancing": "1\n",
        "/sys/devices/system/node/node0": None,
        "/sys/devices/system/node/node1": None,
        "/sys/devices/system/node/online": "0-1\n",
        "/sys/kernel/mm/transparent_hugepage/enabled": "always [madvise] never\n",
        "/sys/class/iommu/ivhd0": None,
        f"{CPU}/policy0/scaling_governor": "schedutil\n",
        f"{CPU}/policy0/scaling_available_governors": "performance schedutil\n",
        f"{CPU}/policy1/scaling_governor": "schedutil\n",
        f"{CPU}/policy1/scaling_available_governors": "performance powersave schedutil\n",
        f"{CPU}/boost": "1\n",
        "/usr/sbin/update-grub": "#!/bin/sh\n",
        "/boot/grub/grub.cfg": "\tlinux\t/vmlinuz-6.8.0-44-generic root=/dev/sda1 ro quiet\n",
    }


def test_a_server(make_host: MakeHost) -> None:
    found: dict[str, Any] = performance.gather(make_host(server()))
    (gpu,) = found["gpus"]
    # The link of the GPU itself has sixteen lanes; that of the card, which is two bridges above, has eight.
    assert gpu["link"] == {
        "device": "0000:01:00.0",
        "port": "0000:00:01.1",
        "speed": 16.0,
        "width": 8,
        "max_speed": 16.0,
        "max_width": 16,
        "port_max_speed": 16.0,
        "port_max_width": 8,
    }
    assert gpu["power"] == {"cap": 250000000, "default": 300000000, "max": None}
    assert gpu["sclk"] == {"now": 800, "max": 1700}
    assert (gpu["iommu"], gpu["level"], gpu["compute_partition"]) == ("DMA-FQ", "auto", "SPX")
    assert gpu["memory_partition"] is None
    assert (found["cpu_vendor"], found["numa_nodes"], found["iommu_units"]) == ("AuthenticAMD", 2, 1)
    assert (found["hugepages"], found["values"]["/proc/sys/kernel/numa_balancing"]) == ("madvise", "1")
    paths = [f"{CPU}/policy{number}/scaling_governor" for number in (0, 1)]
    assert found["governors"] == [{"governor": "schedutil", "available": ["performance", "schedutil"], "paths": paths}]
    assert found["grub"] == {"available": True, "passthrough": False}


def test_an_empty_host_is_unknown_throughout(make_host: MakeHost) -> None:
    found: dict[str, Any] = performance.gather(make_host({"/sys": None}))
    assert (found["cmdline"], found["hugepages"], found["iommu_units"], found["cpu_vendor"]) == (None,) * 4
    assert (found["gpus"], found["governors"], found["enabled"], found["record"]) == ([], [], [], {})
    assert set(found["values"].values()) | set(found["files"].values()) == {None}
    assert found["grub"] == {"available": False, "passthrough": None}


def test_a_copied_tree_without_links_has_no_slot(make_host: MakeHost) -> None:
    base = "/sys/bus/pci/devices/0000:03:00.0"
    tree = device(base, "1002", "0380", "16.0 GT/s PCIe", "16")
    del tree[base]
    found: dict[str, Any] = performance.gather(make_host(tree))
    (gpu,) = found["gpus"]
    assert (gpu["link"]["width"], gpu["link"]["port"], gpu["link"]["port_max_width"]) == (16, None, None)


def test_what_the_role_left_is_read(make_host: MakeHost) -> None:
    unit = "gpufleet-rocm-cpu-governor.service"
    record = {"numa-balancing": {"/proc/sys/kernel/numa_balancing": "1"}}
    host = make_host(
        {
            tuning_files.FILES["cpu-governor"]: "[Unit]\n",
            f"{tuning_files.WANTS}/{unit}": f"-> {tuning_files.SYSTEMD}/{unit}",
            tuning_files.RECORD: json.dumps(record),
        }
    )
    found: dict[str, Any] = performance.gather(host)
    assert (found["enabled"], found["record"]) == ([unit], record)
    assert found["files"][tuning_files.FILES["cpu-governor"]] == "[Unit]\n"


@pytest.mark.parametrize(
    ("line", "passes"),
    [
        ("\tlinux\t/vmlinuz root=/dev/sda1 ro iommu=pt", True),
        ("        linux   /boot/vmlinuz iommu=pt quiet", True),
        ("\tlinux\t/vmlinuz amd_iommu=pt", False),
        ("\tlinux\t/vmlinuz iommu=ptx", False),
        ("# linux /vmlinuz iommu=pt", False),
    ],
)
def test_the_boot_menu(make_host: MakeHost, line: str, passes: bool) -> None:
    host = make_host({tuning_files.GRUB_CONFIG: f"set default=0\n{line}\n"})
    assert performance.grub(host) == {"available": False, "passthrough": passes}


@pytest.mark.parametrize(
    ("text", "rate"),
    [("32.0 GT/s PCIe", 32.0), ("2.5 GT/s", 2.5), ("8 GT/s", 8.0), ("Unknown", None), ("", None), (None, None)],
)
def test_speeds(text: str | None, rate: float | None) -> None:
    assert performance.speed(text) == rate


@pytest.mark.parametrize(
    ("text", "lanes"), [("16", 16), ("1", 1), ("0", None), ("255", None), ("x16", None), (None, None)]
)
def test_widths(text: str | None, lanes: int | None) -> None:
    assert performance.width(text) == lanes


@given(st.text())
def test_no_text_is_too_strange(text: str) -> None:
    performance.speed(text)
    performance.width(text)
    assert set(performance.clocks(text)) == {"now", "max"}
    assert isinstance(performance.record(text), dict)


@given(
    st.recursive(
        st.none() | st.integers() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
    )
)
def test_a_damaged_record_is_none(content: Any) -> None:
    found = performance.record(json.dumps(content))
    assert all(isinstance(value, str) for was in found.values() for value in was.values())


def test_the_module_returns_what_it_documents(tmp_path: Path) -> None:
    write_tree(tmp_path, server())
    request = json.dumps({"ANSIBLE_MODULE_ARGS": {"root": str(tmp_path)}})
    code = "from ansible_collections.gpufleet.rocm.plugins.modules.rocm_performance import main; main()"
    command = [sys.executable, "-c", code]
    environment = {"PYTHONPATH": str(Path(__file__).parents[3] / "collections")}
    done = subprocess.run(command, input=request, text=True, capture_output=True, check=False, env=environment)
    readings = json.loads(done.stdout)["readings"]
    documented = yaml.safe_load(rocm_performance.RETURN)["readings"]["contains"]
    assert set(readings) == set(documented)
    assert set(readings["gpus"][0]) == set(documented["gpus"]["sample"][0])
    for part in ("link", "power", "sclk"):
        assert set(readings["gpus"][0][part]) == set(documented["gpus"]["sample"][0][part])
    for part in ("grub", "values"):
        assert set(readings[part]) == set(documented[part]["sample"])


def test_a_live_host_is_read_without_root() -> None:
    assert performance.gather(Host("/"))["schema"] == performance.SCHEMA
