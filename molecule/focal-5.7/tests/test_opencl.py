"""Until 6.0 the programs of OpenCL were in a folder of their own."""

from __future__ import annotations

from typing import Any


def test_clinfo_is_found_in_its_own_folder(host: Any) -> None:
    assert host.check_output("runuser -l ada -c 'command -v clinfo'") == "/opt/rocm/opencl/bin/clinfo"


def test_host_is_ubuntu_20_04(host: Any) -> None:
    assert (host.system_info.distribution, host.system_info.release) == ("ubuntu", "20.04")
