"""Conversion, compilation, CMake and the run, with stand-ins for the tools."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ansible_collections.gpufleet.rocm.plugins.module_utils import kept_program, verify_hip
from ansible_collections.gpufleet.rocm.plugins.module_utils.verify_hip import Build
from ansible_collections.gpufleet.rocm.plugins.module_utils.verify_report import Report
from tests.unit.module_utils.logins import ShellLogin

FILES = Path(__file__).resolve().parents[3] / "roles" / "rocm_verify" / "files"
SOURCES = verify_hip.sources((FILES / "vector_add.cu").read_text(), (FILES / "CMakeLists.txt").read_text())
SUMS = "echo 'device 0: 1048576 sums correct'\necho 'device 1: 1048576 sums correct'"
# Writes a program; every option that is not -o FILE is looked at by the tests through the log.
HIPCC = """echo "$@" >> {log}
while [ $# -gt 0 ]; do [ "$1" = -o ] && out=$2; case $1 in *.hip) cat "$1" > /dev/null || exit 1;; esac; shift; done
cp {program} "$out"
"""
PERL = "sed -e 's/cuda_runtime.h/hip\\/hip_runtime.h/' -e 's/cuda/hip/g' \"$1\""
CLANG_FAILS = "echo 'cannot find CUDA installation' >&2; exit 1"
CMAKE = """case "$*" in
  --version) echo 'cmake version {version}';;
  --build*) mkdir -p "$2"; cp {program} "$2/vector_add";;
  *) echo "$@" >> {log}; {configure};;
esac"""


class World:
    """A folder with the sources, and the stand-in tools."""

    def __init__(self, folder: Path) -> None:
        self.login = ShellLogin(folder / "bin")
        self.work = folder / "work"
        self.work.mkdir()
        self.log = folder / "log"
        self.program = self.login.program("added", SUMS)
        for name, text in SOURCES.items():
            (self.work / name).write_text(text)
        self.tools = {"rocminfo": "/opt/rocm/bin/rocminfo"}
        self.report = Report()

    def tool(self, name: str, script: str = "true", **words: str) -> None:
        for word, value in {"log": str(self.log), "program": self.program, **words}.items():
            script = script.replace(f"{{{word}}}", value)
        self.tools[name] = self.login.program(name, script)

    def check(
        self, targets: tuple[str, ...] = ("gfx90a",), no_gpu: str = "", agents: int = 2, reuse: bool = False
    ) -> None:
        self.report = Report()
        build = Build(str(self.work), SOURCES, list(targets), ["-Wl,-rpath,/opt/rocm/lib"], self.tools)
        verify_hip.check_hip(self.report, self.login, build, no_gpu, agents, reuse, keep=True)

    def results(self) -> dict[str, str]:
        return {str(row["id"]): str(row["status"]) for row in self.report.checks}

    def evidence(self, name: str) -> str:
        return next(str(row["evidence"]) for row in self.report.checks if row["id"] == name)


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.setattr(kept_program.KeptProgram.__init__, "__defaults__", (str(tmp_path / "cache"),))
    made = World(tmp_path)
    made.tool("hipcc", HIPCC)
    made.tool("hipify-perl", PERL)
    return made


def test_the_source_is_cuda_and_its_other_form_is_not() -> None:
    assert "#include <cuda_runtime.h>" in SOURCES["vector_add.cu"]
    converted = SOURCES[verify_hip.BY_NAME]
    assert "cuda" not in converted
    assert "#include <hip/hip_runtime.h>" in converted
    assert len(re.findall(r"hipMemcpy\(", converted)) == 3


def test_all_of_it(world: World) -> None:
    world.tool("cmake", CMAKE, version="3.25.1", configure="true")
    world.tool("make")
    world.check(("gfx90a", "gfx942"))
    assert world.results() == {
        "hipify": "passed",
        "hip-compile-gfx90a": "passed",
        "hip-compile-gfx942": "passed",
        "hip-compile-together": "passed",
        "hip-run": "passed",
        "hip-cmake": "passed",
    }
    assert world.evidence("hipify") == "hipify-perl: no name of CUDA is left"
    assert world.evidence("hip-run") == "right sums on 2 GPUs"
    assert world.evidence("hip-cmake") == "built, and its sums are right"
    lines = world.log.read_text().splitlines()
    assert "--offload-arch=gfx90a --offload-arch=gfx942" in lines[2]
    assert "-Wl,-rpath,/opt/rocm/lib" in lines[2]
    assert "-DCMAKE_HIP_ARCHITECTURES=gfx90a;gfx942" in lines[3]


def test_hipify_clang_is_preferred_where_it_works(world: World) -> None:
    world.tool("hipify-clang", PERL + ' > "$3"')
    world.check()
    assert world.evidence("hipify").startswith("hipify-clang: no name of CUDA is left")
    world.tool("hipify-clang", CLANG_FAILS)
    world.check()
    assert world.results()["hipify"] == "passed"
    assert "cannot find CUDA installation" in world.evidence("hipify")


def test_a_conversion_that_leaves_names_of_cuda_fails_and_stops_the_rest(world: World) -> None:
    world.tool("hipify-perl", PERL.replace("'s/cuda/hip/g'", "'s/cudaMalloc/hipMalloc/'"))
    world.check()
    assert world.results() == {
        "hipify": "failed",
        "hip-compile": "not run",
        "hip-run": "not run",
        "hip-cmake": "not run",
    }
    assert "cudaGetLastError" in world.evidence("hipify")
    assert {world.evidence(name) for name in ("hip-compile", "hip-run", "hip-cmake")} == {"because of hipify"}


def test_without_hipify_and_cmake_the_compiler_is_tried_all_the_same(world: World) -> None:
    del world.tools["hipify-perl"]
    world.check()
    assert world.results() == {
        "hipify": "not run",
        "hip-compile-gfx90a": "passed",
        "hip-run": "passed",
        "hip-cmake": "not run",
    }
    assert world.report.good
    assert "install hipify-clang" in str(world.report.checks[0]["remedy"])


def test_a_host_with_the_runtime_alone_fails_nothing(world: World) -> None:
    del world.tools["hipcc"]
    world.check()
    assert set(world.results().values()) == {"not run"}
    assert world.evidence("hip-run") == "hipcc is not installed"


def test_a_compiler_that_must_be_there_is_named_as_the_cause(world: World) -> None:
    del world.tools["hipcc"]
    report = Report()
    report.failed("login-path", "nothing")
    build = Build(str(world.work), SOURCES, ["gfx90a"], [], world.tools)
    verify_hip.check_hip(report, world.login, build, "", 1, reuse=False, keep=False)
    assert {row["evidence"] for row in report.checks[1:]} == {"because of login-path"}


def test_a_failed_compilation_names_its_target(world: World) -> None:
    world.tool("hipcc", 'case "$*" in *gfx942*) echo "error: cannot find ROCm device library"; exit 1;; esac\n' + HIPCC)
    world.check(("gfx90a", "gfx942"))
    assert world.results()["hip-compile-gfx942"] == "failed"
    assert world.evidence("hip-run") == "because of hip-compile-gfx942"
    assert world.report.checks[2]["finding"] == "device-library-missing"


@pytest.mark.parametrize(
    ("script", "agents", "finding"),
    [
        ("echo 'no device'; exit 1", 2, "hip-no-device"),
        ("echo 'device 0: 1048576 sums correct'", 2, None),
        ("true", 1, None),
        (SUMS + "; exit 1", 2, None),
        ("echo 'x: error while loading shared libraries: libamdhip64.so.6'; exit 127", 2, "rocm-library-missing"),
    ],
)
def test_a_run_that_is_not_right_on_every_gpu_fails(
    world: World, script: str, agents: int, finding: str | None
) -> None:
    world.program = world.login.program("added", script)
    world.tool("hipcc", HIPCC)
    world.check(agents=agents)
    row = next(row for row in world.report.checks if row["id"] == "hip-run")
    assert (row["status"], row["finding"]) == ("failed", finding)


def test_without_a_gpu_the_programs_are_built_alone(world: World) -> None:
    world.tool("cmake", CMAKE, version="3.21.0", configure="true")
    world.tool("ninja")
    world.check(no_gpu="no GPU", agents=0)
    assert world.results()["hip-run"] == "not run"
    assert world.evidence("hip-cmake") == "built, and not tried: no GPU"


@pytest.mark.parametrize(
    ("version", "configure", "status", "evidence"),
    [
        ("3.16.3", "true", "not run", "cmake is 3.16; HIP needs 3.21"),
        (
            "4.0.1",
            "echo 'The ROCm root does not contain the HIP runtime CMake\n  package'; exit 1",
            "not run",
            "package",
        ),
        ("3.28.3", "echo 'CMake Error: no CMAKE_HIP_COMPILER'; exit 1", "failed", "no CMAKE_HIP_COMPILER"),
    ],
)
def test_cmake(world: World, version: str, configure: str, status: str, evidence: str) -> None:
    world.tool("cmake", CMAKE, version=version, configure=configure)
    world.tool("make")
    world.check()
    assert world.results()["hip-cmake"] == status
    assert evidence in world.evidence("hip-cmake")


def test_what_was_compiled_is_run_again_without_compiling(world: World) -> None:
    world.check()
    first = world.results()
    world.log.unlink()
    world.check(reuse=True)
    assert world.results() == first
    assert not world.log.exists()
    assert "nothing of it changed since" in world.evidence("hip-compile-gfx90a")
    assert world.evidence("hip-run") == "right sums on 2 GPUs"
    world.check(("gfx942",), reuse=True)
    assert world.log.exists()


def test_what_failed_is_not_kept(world: World) -> None:
    world.tool("cmake", CMAKE, version="3.28.3", configure="exit 1")
    world.tool("make")
    world.check()
    world.log.unlink()
    world.check(reuse=True)
    assert world.log.exists()
