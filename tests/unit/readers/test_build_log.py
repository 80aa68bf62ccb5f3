"""The decisive lines of a build log."""

from __future__ import annotations

import pytest

from ansible_collections.gpufleet.rocm.plugins.plugin_utils.readers.build_log import decisive_lines

COMPILER = """DKMS make.log for amdgpu-6.12.12-2147987.24.04 for kernel 6.14.0-24-generic (x86_64)
  CC [M]  amd/amdgpu/amdgpu_drv.o
/tmp/amd.x/amd/amdgpu/amdgpu_dm.c:12:3: warning: unused variable 'error' [-Wunused-variable]
\x1b[01mamd/amdgpu/amdgpu_dm.c:7:9: \x1b[31merror:\x1b[m too many arguments to function 'drm_dp_add_payload_part2'
cc1: some warnings being treated as errors
make[3]: *** [scripts/Makefile.build:207: amdgpu_dm.o] Error 1
make: *** [Makefile:240: __sub-make] Error 2
"""


@pytest.mark.parametrize(
    ("log", "lines"),
    [
        (
            COMPILER,
            ["amd/amdgpu/amdgpu_dm.c:7:9: error: too many arguments to function 'drm_dp_add_payload_part2'"],
        ),
        ("a.c:1:10: fatal error: linux/x.h: No such file\n", ["a.c:1:10: fatal error: linux/x.h: No such file"]),
        (
            'ERROR: modpost: "kfd_x" [amdgpu.ko] undefined!\nmake: *** Error 1\n',
            ['ERROR: modpost: "kfd_x" [amdgpu.ko] undefined!'],
        ),
        ("  LD x\nmake[1]: *** [all] Error 2\n", ["make[1]: *** [all] Error 2"]),
        ("checking for gcc\nKilled\n", ["checking for gcc", "Killed"]),
        ("a.c:1: error: x\n" * 3 + "b.c:1: error: y\n", ["a.c:1: error: x", "b.c:1: error: y"]),
        ("", []),
    ],
)
def test_lines(log: str, lines: list[str]) -> None:
    assert decisive_lines(log) == lines


def test_the_first_complaints_count() -> None:
    log = "".join(f"a.c:{number}: error: x\n" for number in range(9))
    assert decisive_lines(log, limit=2) == ["a.c:0: error: x", "a.c:1: error: x"]
