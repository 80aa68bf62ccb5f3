"""The whole test suite, as ``./run test`` and continuous integration run it.

Fast checks come first, then the scenarios on sandbox hosts. Every step runs even after a failure, so that one run
tells everything; the time of each is printed at the end, slowest first.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from tests.browser import chromium

ROOT = Path(__file__).resolve().parents[1]
BIN = Path(sys.executable).parent
COLLECTION = "collections/ansible_collections/gpufleet/rocm"


@dataclass(frozen=True)
class Step:
    """One command of the suite.

    ``group`` is fast (seconds, no hosts), hosts (needs the sandbox, or minutes) or machine (needs the virtual machine,
    and runs only when it is asked for by name).
    """

    name: str
    group: str
    command: tuple[str, ...]
    # Programs of which one must be there; without any the step is not run, and said not to be.
    programs: tuple[str, ...] = ()


def python(*arguments: str) -> tuple[str, ...]:
    """A module run with the interpreter of this environment."""
    return (sys.executable, *arguments)


def tool(name: str, *arguments: str) -> tuple[str, ...]:
    """A command of this environment."""
    return (str(BIN / name), *arguments)


STEPS = (
    Step("yamllint", "fast", tool("yamllint", "--strict", ".")),
    Step("ruff check", "fast", tool("ruff", "check", ".")),
    Step("ruff format", "fast", tool("ruff", "format", "--check", ".")),
    Step("mypy", "fast", tool("mypy", f"{COLLECTION}/plugins", "sandbox", "tests", "docs")),
    Step("ansible-lint", "fast", tool("ansible-lint")),
    Step("generated documentation", "fast", python("-m", "docs.generate", "--check")),
    Step("unit tests", "fast", python("-m", "pytest", "tests/unit", "--durations=5")),
    # Real ansible-playbook runs with stand-ins for what touches a host.
    Step("playbook runs", "hosts", python("-m", "pytest", "tests/runs", "--durations=5")),
    Step("page in a browser", "hosts", python("-m", "pytest", "tests/browser", "--durations=5"), chromium.PROGRAMS),
    Step("sandbox servers", "hosts", python("-m", "sandbox", "upstream")),
    *(
        Step(f"molecule {name}", "hosts", tool("molecule", "test", "--scenario-name", name))
        for name in ("default", "noble-7.2", "core-10", "focal-5.7", "debian-12")
    ),
    Step("molecule vm", "machine", tool("molecule", "test", "--scenario-name", "vm")),
    Step("integration tests", "hosts", python("-m", "pytest", "tests/integration", "-vv", "--durations=10")),
)


def main(arguments: list[str] | None = None) -> int:
    """Run the chosen steps; the exit code is the number of failed ones, at most 100."""
    parser = argparse.ArgumentParser(prog="./run test", description=__doc__)
    parser.add_argument("--fast", action="store_true", help="only the checks that need no hosts")
    parser.add_argument("--only", metavar="TEXT", help="only steps whose name contains TEXT")
    options = parser.parse_args(arguments)
    if options.only:
        named = [step for step in STEPS if options.only in step.name]
        steps = [step for step in named if step.group != "machine" or "vm" in options.only]
    else:
        steps = [step for step in STEPS if step.group == "fast" or (step.group == "hosts" and not options.fast)]
    os.chdir(ROOT)
    environment = {
        **os.environ,
        "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}",
        "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"),
    }
    idle = [step for step in steps if step.programs and not any(map(shutil.which, step.programs))]
    results = [(step, *run(step, environment)) for step in steps if step not in idle]
    print("\nSteps, slowest first:")
    for step, code, seconds in sorted(results, key=lambda result: -result[2]):
        print(f"  {seconds:7.1f} s  {'passed' if code == 0 else f'FAILED (exit {code})'}  {step.name}")
    for step in idle:
        print(f"            not run  {step.name}: found none of {', '.join(step.programs)}")
    failed = sum(1 for _, code, _ in results if code)
    print(f"\nsteps: {len(results) - failed} passed, {failed} failed" + (f", {len(idle)} not run" if idle else ""))
    return min(failed, 100)


def run(step: Step, environment: dict[str, str]) -> tuple[int, float]:
    """Run one step with its output shown; return exit code and seconds."""
    shown = " ".join((Path(step.command[0]).name, *step.command[1:]))
    print(f"\n=== {step.name}: {shown}", flush=True)
    started = time.monotonic()
    code = subprocess.run(step.command, env=environment, cwd=ROOT, stdin=subprocess.DEVNULL, check=False).returncode
    seconds = time.monotonic() - started
    print(f"=== {step.name}: {'passed' if code == 0 else f'exit {code}'} after {seconds:.1f} s", flush=True)
    return code, seconds


if __name__ == "__main__":
    sys.exit(main())
