"""A CUDA program becomes a HIP program, is compiled for the GPUs of the host, runs, and computes what it should."""

from __future__ import annotations

import os
import re
import shlex
from dataclasses import dataclass

from ansible_collections.gpufleet.rocm.plugins.module_utils.kept_program import KeptProgram, fingerprint
from ansible_collections.gpufleet.rocm.plugins.module_utils.verify_login import Login
from ansible_collections.gpufleet.rocm.plugins.module_utils.verify_report import FAILED, Report, tail

CMAKE = (3, 21)
# The source as it goes to hipcc where there is no hipify.
BY_NAME = "by_name.hip"
_CUDA_NAME = re.compile(r"\bcuda\w*")
_SUM = re.compile(r"^device \d+: \d+ sums correct$", re.M)
_NO_CMAKE_PACKAGE = "does not contain the HIP runtime CMake package"
_PROBLEMS = (
    (re.compile(r"error while loading shared libraries"), "rocm-library-missing"),
    (re.compile(r"no device|no ROCm-capable device"), "hip-no-device"),
    (re.compile(r"cannot find ROCm device library"), "device-library-missing"),
)


@dataclass
class Build:
    """What is compiled, with what, and where. `folder` belongs to the user, with the files of `sources` in it."""

    folder: str
    sources: dict[str, str]
    targets: list[str]
    link_options: list[str]
    tools: dict[str, str]

    def path(self, name: str) -> str:
        return os.path.join(self.folder, name)


def sources(cuda_source: str, cmake_lists: str) -> dict[str, str]:
    """The files that a build starts from."""
    by_name = cuda_source.replace("cuda_runtime.h", "hip/hip_runtime.h").replace("cuda", "hip")
    return {"vector_add.cu": cuda_source, "CMakeLists.txt": cmake_lists, BY_NAME: by_name}


def check_hip(report: Report, login: Login, build: Build, no_gpu: str, agents: int, reuse: bool, keep: bool) -> None:
    """All checks of HIP, in their order; `agents` is the number of GPUs that rocminfo lists."""
    why = report.cause("login-path") if "hipcc" not in build.tools else ""
    if "hipcc" not in build.tools or not build.targets:
        why = why or ("no known GPU target" if "hipcc" in build.tools else "hipcc is not installed")
        remedy = "" if report.cause("login-path") or "hipcc" in build.tools else "install hipcc to compile HIP here"
        for name in ("hipify", "hip-compile", "hip-run", "hip-cmake"):
            report.not_run(name, why, remedy)
        return
    prefix = os.path.dirname(os.path.dirname(build.tools["hipcc"]))
    words = [*sorted(build.sources.values()), login.name, *build.targets, *build.link_options]
    kept = KeptProgram(fingerprint(prefix, words))
    since = kept.since() if reuse else ""
    first = len(report.checks)
    if since:
        for row in kept.checks():
            report.add(row["id"], row["status"], "%s; of %s, nothing of it changed since" % (row["evidence"], since))
        _run(report, login, kept.path, no_gpu, agents, report.checks[first:])
        return
    program = _compile(report, login, build)
    compiled = report.checks[first:]
    _run(report, login, program, no_gpu, agents, compiled)
    _cmake(report, login, build, no_gpu)
    compiled = compiled + report.checks[-1:]
    if program and keep and all(row["status"] != FAILED for row in compiled):
        kept.keep(program, login.account.pw_uid, compiled)


def _convert(report: Report, login: Login, build: Build) -> None:
    """hipify-clang where it works (it needs CUDA's own headers), else hipify-perl."""
    source, target = build.path("vector_add.cu"), build.path("vector_add.hip")
    commands = {
        "hipify-clang": "hipify-clang %s -o %s" % (shlex.quote(source), shlex.quote(target)),
        "hipify-perl": "hipify-perl %s > %s" % (shlex.quote(source), shlex.quote(target)),
    }
    tried: list[str] = []
    for tool in [tool for tool in commands if tool in build.tools]:
        code, output = login.run(commands[tool])
        text = login.run("cat %s" % shlex.quote(target))[1]
        left = sorted(set(_CUDA_NAME.findall(text)))
        if code == 0 and not left and "hipMalloc" in text:
            report.passed("hipify", "; ".join(["%s: no name of CUDA is left" % tool, *tried]))
            return
        tried.append("%s: exit %d, left: %s %s" % (tool, code, ", ".join(left) or "nothing", tail(output, 1)))
    if tried:
        report.failed("hipify", "; ".join(tried), None, "install the hipify-clang package of this release again")
        return
    login.run("cp %s %s" % (shlex.quote(build.path(BY_NAME)), shlex.quote(target)))
    remedy = "install hipify-clang (it has hipify-perl too); from ROCm 7.14 on the package is amdrocm-hipify"
    report.not_run("hipify", "hipify is not installed; the names of CUDA were replaced by hand", remedy)


def _compile(report: Report, login: Login, build: Build) -> str:
    """Compile for each target, and for all at once; returns the program for all, empty where there is none."""
    _convert(report, login, build)
    if report.checks[-1]["status"] == FAILED:
        report.not_run("hip-compile", "because of hipify")
        return ""
    programs = [_hipcc(report, login, build, "hip-compile-" + target, [target]) for target in build.targets]
    if not all(programs) or len(programs) == 1:
        return programs[0] if all(programs) else ""
    return _hipcc(report, login, build, "hip-compile-together", build.targets)


def _hipcc(report: Report, login: Login, build: Build, name: str, targets: list[str]) -> str:
    program = build.path(name)
    words = ["hipcc", "-x", "hip"] + build.link_options + ["--offload-arch=" + target for target in targets]
    words += [build.path("vector_add.hip"), "-o", program]
    code, output = login.run(" ".join(map(shlex.quote, words)))
    if code == 0 and os.path.exists(program):
        report.passed(name, "compiled by %s" % build.tools["hipcc"])
        return program
    remedy = "run hipcc as %s on a small program; the release must support %s" % (login.name, " and ".join(targets))
    report.failed(name, "hipcc exit %d: %s" % (code, tail(output)), _finding(output), remedy)
    return ""


def _finding(output: str) -> str | None:
    return next((id for pattern, id in _PROBLEMS if pattern.search(output)), None)


def _run(
    report: Report, login: Login, program: str, no_gpu: str, agents: int, compiled: list[dict[str, object]]
) -> None:
    """The program adds on every GPU and finds its sums right."""
    failed = [str(row["id"]) for row in compiled if row["status"] == FAILED]
    if not program:
        report.not_run("hip-run", "because of %s" % failed[0])
    elif no_gpu:
        report.not_run("hip-run", no_gpu)
    elif not report.blocked("hip-run", "device-access", "rocminfo"):
        code, output = login.run(shlex.quote(program))
        sums = len(_SUM.findall(output))
        if code == 0 and sums >= max(agents, 1):
            report.passed("hip-run", "right sums on %d GPU%s" % (sums, "s" if sums > 1 else ""))
        else:
            remedy = "read dmesg for amdgpu; try each GPU alone with ROCR_VISIBLE_DEVICES"
            evidence = "exit %d, right sums on %d of %d GPUs: %s" % (code, sums, agents, tail(output))
            report.failed("hip-run", evidence, _finding(output), remedy)


def cmake_version(text: str) -> tuple[int, int] | None:
    """Major and minor of `cmake --version`."""
    match = re.search(r"^cmake version (\d+)\.(\d+)", text, re.M)
    return (int(match.group(1)), int(match.group(2))) if match else None


def _cmake(report: Report, login: Login, build: Build, no_gpu: str) -> None:
    """CMake builds the same program with its own support for HIP, and that one runs too."""
    name = "hip-cmake"
    needed = "%d.%d" % CMAKE
    if report.cause("hipify") == "because of hipify":
        report.not_run(name, "because of hipify")
        return
    if "cmake" not in build.tools or not {"make", "ninja"} & set(build.tools):
        lacking = "cmake" if "cmake" not in build.tools else "make or ninja"
        report.not_run(name, "%s is not installed" % lacking, "install cmake %s or later, and make" % needed)
        return
    version = cmake_version(login.run("cmake --version")[1])
    if version is None or version < CMAKE:
        shown = "%d.%d" % version if version else "of an unknown version"
        report.not_run(name, "cmake is %s; HIP needs %s" % (shown, needed), "install a newer cmake")
        return
    generator = ["-G", "Unix Makefiles" if "make" in build.tools else "Ninja"]
    folder = build.path("cmake")
    words = ["cmake", "-S", build.folder, "-B", folder, "-DCMAKE_HIP_ARCHITECTURES=" + ";".join(build.targets)]
    words += ["-DCMAKE_EXE_LINKER_FLAGS=" + " ".join(build.link_options), *generator]
    configure, make = " ".join(map(shlex.quote, words)), "cmake --build " + shlex.quote(folder)
    code, output = login.run("%s && %s" % (configure, make))
    if _NO_CMAKE_PACKAGE in " ".join(output.split()):
        report.not_run(name, "the CMake package of HIP is not installed", "install hip-dev")
    elif code:
        report.failed(
            name,
            "exit %d: %s" % (code, tail(output, 8)),
            _finding(output),
            "hipconfig must be on the PATH; else set CMAKE_HIP_COMPILER to ROCm's clang++",
        )
    else:
        _run_cmake(report, login, os.path.join(folder, "vector_add"), no_gpu)


def _run_cmake(report: Report, login: Login, program: str, no_gpu: str) -> None:
    name = "hip-cmake"
    why = no_gpu or report.cause("device-access", "rocminfo", "hip-run")
    if why:
        report.passed(name, "built, and not tried: %s" % why)
        return
    code, output = login.run(shlex.quote(program))
    if code == 0 and _SUM.search(output):
        report.passed(name, "built, and its sums are right")
    else:
        remedy = "compare with hipcc's program: ldd and --offload-arch"
        report.failed(name, "exit %d: %s" % (code, tail(output)), _finding(output), remedy)
