"""Ask the PyTorch of this interpreter what it is, let every GPU compute, and print the answer as one line of JSON.

Needs nothing but Python 3.8 and torch. Everything that touches a GPU or loads a library happens in processes of its
own with a time limit, so that a GPU that hangs is named instead of hanging the whole check. Exit status 1 where
something is wrong. With --any-backend a PyTorch for NVIDIA GPUs computes too, and the answer says what it is.
"""

import argparse
import contextlib
import datetime
import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile
import time

IMPORT_LIMIT = 180
# So many GPUs compute at the same time.
WIDTH = 8
SIZE = 256
BANDWIDTH_BYTES = 256 * 1024 * 1024
REPEATS = 5
LIBRARY = re.compile(r"(lib(?:amdhip64|hsa-runtime64|rocblas|hipblaslt|MIOpen|rccl|cudart|cublas|nccl))[-.]\S*so")


def loaded_libraries(maps):
    """Name without version -> real paths of the GPU libraries among the mappings of a process."""
    found = {}
    for line in maps:
        path = line.rstrip("\n").split(None, 5)[5:]
        match = LIBRARY.match(os.path.basename(path[0])) if path else None
        if match:
            found.setdefault(match.group(1), set()).add(os.path.realpath(path[0]))
    return {name: sorted(paths) for name, paths in sorted(found.items())}


def missing_libraries():
    """What the dynamic linker does not find for the libraries of torch, which need not be importable for that."""
    spec = importlib.util.find_spec("torch")
    folder = os.path.join(os.path.dirname(spec.origin), "lib") if spec and spec.origin else ""
    missing = []
    for name in ("libtorch_hip.so", "libtorch_cuda.so", "libtorch_cpu.so", "libtorch_python.so"):
        path = os.path.join(folder, name)
        if folder and os.path.exists(path):
            done = subprocess.run(["ldd", path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
            lines = done.stdout.decode("utf-8", "replace").splitlines()
            missing += [line.split()[0] for line in lines if "=> not found" in line]
    return sorted(set(missing))


def about():
    """Versions, GPUs and libraries of this PyTorch."""
    try:
        import torch
    except (ImportError, OSError, RuntimeError, AttributeError) as error:
        return {"error": "%s: %s" % (type(error).__name__, error), "missing": missing_libraries()}
    available = torch.cuda.is_available()
    answer = {
        "version": torch.__version__,
        "file": torch.__file__,
        "hip": torch.version.hip,
        "cuda": torch.version.cuda,
        "available": available,
        "reason": "" if available else why_unavailable(torch),
        "arch_list": torch.cuda.get_arch_list(),
        "devices": [],
    }
    for index in range(torch.cuda.device_count() if available else 0):
        properties = torch.cuda.get_device_properties(index)
        name = torch.cuda.get_device_name(index)
        answer["devices"].append({"index": index, "name": name, "arch": getattr(properties, "gcnArchName", "")})
    with open("/proc/self/maps") as maps:
        return dict(answer, libraries=loaded_libraries(maps))


def why_unavailable(torch):
    """What is_available() keeps to itself."""
    try:
        torch.cuda.init()
    except (RuntimeError, AssertionError) as error:
        return str(error)
    return ""


def matmul(index):
    """The same product on a GPU and on the processor."""
    import torch

    left, right = torch.rand(SIZE, SIZE), torch.rand(SIZE, SIZE)
    expected = left @ right
    gpu = torch.device("cuda:%d" % index)
    started = time.monotonic()
    product = (left.to(gpu) @ right.to(gpu)).cpu()
    seconds = round(time.monotonic() - started, 3)
    same = bool(torch.allclose(product, expected, rtol=1e-3, atol=1e-3))
    return {"ok": same, "seconds": seconds, "error": "" if same else "the product differs from the processor's"}


def bandwidth(index):
    """GB/s from pinned host memory to the GPU, and on the GPU, where reading and writing both count."""
    import torch

    gpu = torch.device("cuda:%d" % index)
    host = torch.empty(BANDWIDTH_BYTES, dtype=torch.uint8, pin_memory=True)
    source = torch.zeros(BANDWIDTH_BYTES, dtype=torch.uint8, device=gpu)
    target = torch.empty_like(source)

    def best(copy):
        times = []
        for _ in range(REPEATS):
            torch.cuda.synchronize(gpu)
            started = time.perf_counter()
            copy()
            torch.cuda.synchronize(gpu)
            times.append(time.perf_counter() - started)
        return BANDWIDTH_BYTES / min(times) / 1e9

    return {
        "ok": True,
        "host_gbps": round(best(lambda: source.copy_(host, non_blocking=True)), 1),
        "device_gbps": round(2 * best(lambda: target.copy_(source)), 1),
        "error": "",
    }


def all_reduce(rank, world, meeting, limit):
    """The sum over all GPUs by RCCL, as this rank sees it."""
    import torch
    import torch.distributed as distributed

    torch.cuda.set_device(rank)
    distributed.init_process_group(
        "nccl",
        init_method="file://" + meeting,
        rank=rank,
        world_size=world,
        timeout=datetime.timedelta(seconds=limit),
    )
    values = torch.full((1 << 20,), float(rank + 1), device="cuda:%d" % rank)
    distributed.all_reduce(values)
    same = bool((values == world * (world + 1) / 2).all().item())
    distributed.destroy_process_group()
    return {"ok": same, "error": "" if same else "the sum is wrong"}


def start(arguments):
    """A process of this script, and the file that its output goes to: a pipe would be held open by a hung one."""
    output = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the process
    command = [sys.executable, os.path.abspath(__file__), *arguments]
    return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT), output


def finish(process, output, deadline):
    """The JSON that a process printed, or what went wrong. One that cannot be killed is left behind."""
    try:
        process.wait(max(0.1, deadline - time.monotonic()))
    except subprocess.TimeoutExpired:
        process.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(5)
        return {"ok": False, "error": "no end within the time limit"}
    output.seek(0)
    lines = output.read().decode("utf-8", "replace").splitlines()
    for line in reversed(lines):
        with contextlib.suppress(ValueError):
            answer = json.loads(line)
            if isinstance(answer, dict):
                return answer
    last = next((line for line in reversed(lines) if line.strip()), "")
    return {"ok": False, "error": "exit %d: %s" % (process.returncode, last)}


def run_all(commands, limit, width=WIDTH):
    """The answers of several processes, `width` of them at a time, each with the time limit."""
    answers = []
    for first in range(0, len(commands), width):
        started = [start(command) for command in commands[first : first + width]]
        deadline = time.monotonic() + limit
        answers += [finish(process, output, deadline) for process, output in started]
    return answers


def check(options):
    """The whole answer."""
    answer = run_all([["--phase", "about"]], IMPORT_LIMIT)[0]
    answer.update(matmul=[], bandwidth=[], all_reduce=None, notes=[])
    if answer.get("error"):
        return answer
    if not answer["hip"]:
        answer["notes"].append("torch-cuda-wheel" if answer["cuda"] else "torch-cpu-wheel")
    if not answer["available"] or not (answer["hip"] or options.any_backend):
        return answer
    count = len(answer["devices"])
    answer["matmul"] = run_all([["--phase", "matmul", "--gpu", str(i)] for i in range(count)], options.limit)
    if options.bandwidth:
        # One after the other: they share the way to the host's memory.
        answer["bandwidth"] = run_all(
            [["--phase", "bandwidth", "--gpu", str(i)] for i in range(count)], options.limit, width=1
        )
    if options.all_reduce:
        with tempfile.TemporaryDirectory() as folder:
            more = ["--world", str(count), "--meeting", os.path.join(folder, "meeting"), "--limit", str(options.limit)]
            ranks = [["--phase", "all-reduce", "--gpu", str(i), *more] for i in range(count)]
            failed = [row["error"] for row in run_all(ranks, options.limit, width=max(count, 1)) if not row["ok"]]
        answer["all_reduce"] = {"ok": not failed, "ranks": count, "error": failed[0] if failed else ""}
    return answer


def healthy(answer):
    """Whether nothing is wrong with what was asked for."""
    rows = answer["matmul"] + answer["bandwidth"] + [answer["all_reduce"] or {"ok": True}]
    return not answer.get("error") and bool(answer["matmul"]) and all(row["ok"] for row in rows)


def main():
    """Command line."""
    parser = argparse.ArgumentParser(description="Check the PyTorch of this interpreter on every GPU.")
    parser.add_argument("--limit", type=int, default=120, help="seconds for one GPU (default: 120)")
    parser.add_argument("--any-backend", action="store_true", help="let a PyTorch for NVIDIA GPUs compute too")
    parser.add_argument("--bandwidth", action="store_true", help="measure copies to and on each GPU")
    parser.add_argument("--all-reduce", action="store_true", help="sum over all GPUs with RCCL")
    parser.add_argument("--phase", choices=["about", "matmul", "bandwidth", "all-reduce"], help=argparse.SUPPRESS)
    for name in ("--gpu", "--world"):
        parser.add_argument(name, type=int, help=argparse.SUPPRESS)
    parser.add_argument("--meeting", help=argparse.SUPPRESS)
    options = parser.parse_args()
    phases = {
        "about": about,
        "matmul": lambda: matmul(options.gpu),
        "bandwidth": lambda: bandwidth(options.gpu),
        "all-reduce": lambda: all_reduce(options.gpu, options.world, options.meeting, options.limit),
    }
    answer = phases[options.phase]() if options.phase else check(options)
    print(json.dumps(answer), flush=True)
    sys.exit(0 if options.phase or healthy(answer) else 1)


if __name__ == "__main__":
    main()
