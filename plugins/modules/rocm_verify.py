#!/usr/bin/python
"""Check, as an ordinary user in a fresh login, that ROCm and PyTorch work on this host."""

from __future__ import annotations

DOCUMENTATION = r"""
module: rocm_verify
short_description: Check as a user that ROCm and PyTorch work
description:
  - Runs what a user would run, as that user and in a fresh login (so that new groups and the login shell's PATH
    count), ordered so that the first failure is the cause.
  - What needs a GPU is reported as C(not run) with the reason where the host has none; it is never counted as passed.
  - Changes nothing but the kept test program in /var/cache/gpufleet.rocm; everything else lives in a temporary folder
    of the user and is removed.
version_added: 0.1.0
author: The gpufleet authors (@gpufleet)
options:
  user:
    description: The user to check as. Empty means the user behind sudo, else root.
    type: str
    default: ""
  path:
    description: Directories in which the login shell must find the tools, best first.
    type: list
    elements: str
    default: [/opt/rocm/bin]
  offload_targets:
    description: GPU targets (gfx names) for which the test program is compiled.
    type: list
    elements: str
    default: []
  link_options:
    description: Options that hipcc needs so that a program finds ROCm's libraries.
    type: list
    elements: str
    default: []
  hip_source:
    description: Source text of the HIP test program.
    type: str
    required: true
  gpus:
    description: Number of AMD GPUs that the host shows on its PCI bus.
    type: int
    default: 0
  no_gpu:
    description: Why GPU checks cannot run here; empty where they can.
    type: str
    default: ""
  venv:
    description: Virtual environment with PyTorch; empty skips the PyTorch checks.
    type: str
    default: ""
  torch_packages:
    description: Wanted distributions and exact versions.
    type: dict
    default: {}
  torch_hip:
    description: ROCm version (X.Y) that the PyTorch wheel was built for.
    type: str
    default: ""
  torch_script:
    description: Python source that prints what PyTorch reports, as one JSON line.
    type: str
    default: ""
  reuse:
    description:
      - Run the HIP program of an earlier check again, without compiling it, where no package, tool, library or source
        that goes into it has changed since. The evidence says so.
    type: bool
    default: false
  timeout:
    description: Seconds for one check.
    type: int
    default: 300
attributes:
  check_mode:
    description: Runs the same in check mode, and keeps no program.
    support: full
"""

EXAMPLES = r"""
- name: Verify as the user ada
  gpufleet.rocm.rocm_verify:
    user: ada
    offload_targets: [gfx90a]
    hip_source: "{{ lookup('ansible.builtin.file', 'vector_add.hip') }}"
"""

RETURN = r"""
checks:
  description: Every check in order, each with C(id), C(status) (passed, failed, not run), C(evidence) and C(seconds).
  returned: always
  type: list
  elements: dict
passed:
  description: Whether no check failed.
  returned: always
  type: bool
user:
  description: The user who was checked.
  returned: always
  type: str
"""

import json
import os
import pwd
import re
import shlex
import shutil
import stat
import subprocess
import tempfile
import time
from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.gpufleet.rocm.plugins.module_utils.kept_program import KeptProgram, fingerprint

ANSI = re.compile(r"\x1b\[[0-9;]*m")
PASSED = "passed"
FAILED = "failed"
NOT_RUN = "not run"
# Settings of a user's own that would answer for the host.
UNSET = "unset HSA_OVERRIDE_GFX_VERSION LD_LIBRARY_PATH HIP_VISIBLE_DEVICES ROCR_VISIBLE_DEVICES CUDA_VISIBLE_DEVICES"


class Login:
    """Runs commands as a user in a fresh login."""

    def __init__(self, user: str, timeout: int) -> None:
        self.account = pwd.getpwnam(user)
        self.timeout = timeout

    def run(self, command: str) -> tuple[int, str]:
        """Return ``(exit status, combined output)`` of a shell command line; 124 after the time limit."""
        script = "%s; export LC_ALL=C.UTF-8; cd / && %s" % (UNSET, command)
        argv = ["runuser", "-l", self.account.pw_name, "-c", script]
        if os.path.basename(self.account.pw_shell) in ("nologin", "false", ""):
            argv[1:1] = ["-s", "/bin/sh"]
        try:
            done = subprocess.run(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                timeout=self.timeout,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return 124, "no end after %d s" % self.timeout
        except OSError as error:
            return 127, str(error)
        return done.returncode, done.stdout.decode("utf-8", "replace").strip()


class Report:
    """Collects the checks with their times."""

    def __init__(self) -> None:
        self.checks: list[dict[str, Any]] = []
        self.clock = time.monotonic()

    def add(self, name: str, status: str, evidence: str) -> None:
        """Record one check; its time is what passed since the one before."""
        now = time.monotonic()
        seconds = round(now - self.clock, 2)
        self.clock = now
        self.checks.append({"id": name, "status": status, "evidence": evidence, "seconds": seconds})


def tail(text: str, lines: int = 5) -> str:
    """The last lines of an output: the place where tools name the error."""
    return "\n".join(ANSI.sub("", text).splitlines()[-lines:])[-800:]


def check_path(login: Login, path: list[str]) -> tuple[str, str]:
    """The login shell finds rocminfo and hipcc in ROCm's own directory first."""
    code, output = login.run("command -v rocminfo; command -v hipcc; true")
    found = output.splitlines()
    wanted = [os.path.join(path[0], name) for name in ("rocminfo", "hipcc")] if path else []
    if code == 0 and found[-2:] == wanted:
        return (PASSED, " ".join(found[-2:]))
    return (FAILED, "found %s, expected %s" % (found or "nothing", " ".join(wanted)))


def device_nodes() -> list[str]:
    """The device nodes a HIP program opens."""
    render = "/dev/dri"
    names = sorted(os.listdir(render)) if os.path.isdir(render) else []
    return ["/dev/kfd"] + [os.path.join(render, name) for name in names if name.startswith("renderD")]


def check_devices(login: Login, no_gpu: str) -> tuple[str, str]:
    """The user may open /dev/kfd and every render node."""
    if no_gpu:
        return (NOT_RUN, no_gpu)
    nodes = device_nodes()
    missing = [node for node in nodes if not os.path.exists(node)]
    if missing:
        return (FAILED, "kfd-missing: %s does not exist" % missing[0])
    if len(nodes) == 1:
        return (FAILED, "no render node in /dev/dri")
    for node in nodes:
        code, _ = login.run("test -r %s && test -w %s" % (node, node))
        if code:
            info = os.stat(node)
            _, groups = login.run("id -nG")
            return (
                FAILED,
                "kfd-permission: %s is %s, owner %d, group %d; %s is in: %s"
                % (
                    node,
                    stat.filemode(info.st_mode),
                    info.st_uid,
                    info.st_gid,
                    login.account.pw_name,
                    groups,
                ),
            )
    return (PASSED, "%s open read-write" % ", ".join(nodes))


def check_rocminfo(login: Login, gpus: int, no_gpu: str) -> tuple[str, str]:
    """rocminfo lists as many GPU agents as the PCI bus shows functions (partitions make it more)."""
    if no_gpu:
        return (NOT_RUN, no_gpu)
    code, output = login.run("rocminfo")
    agents = sum(
        1
        for line in output.splitlines()
        if line.strip().startswith("Device Type:") and line.split(":", 1)[1].strip() == "GPU"
    )
    if code or agents < gpus:
        return (FAILED, "exit %d, %d GPU agents for %d GPUs; %s" % (code, agents, gpus, tail(output)))
    return (PASSED, "%d GPU agents" % agents)


def compile_hip(report: Report, login: Login, folder: str, params: dict[str, Any]) -> str:
    """Compile the HIP program for each GPU target, and for all of them; return the path of that one, or nothing."""
    targets = params["offload_targets"]
    hipcc = " ".join(["hipcc -x hip"] + [shlex.quote(option) for option in params["link_options"]])
    shutil.chown(folder, login.account.pw_uid, login.account.pw_gid)
    path = os.path.join(folder, "vector_add.hip")
    with open(path, "w") as handle:
        handle.write(params["hip_source"])
    os.chmod(path, 0o644)

    def build(name: str, wanted: list[str]) -> tuple[bool, str]:
        flags = " ".join("--offload-arch=" + shlex.quote(target) for target in wanted)
        program = os.path.join(folder, name)
        code, output = login.run("%s %s %s -o %s" % (hipcc, flags, shlex.quote(path), shlex.quote(program)))
        return code == 0 and os.path.exists(program), "hipcc exit %d: %s" % (code, tail(output))

    built = 0
    for target in targets:
        passed, evidence = build("vector_add." + target, [target])
        report.add("hip-compile-" + target, PASSED if passed else FAILED, "compiled" if passed else evidence)
        built += passed
    if not targets:
        report.add("hip-compile", NOT_RUN, "no known GPU target")
    if not targets or built < len(targets):
        return ""
    if len(targets) == 1:
        return os.path.join(folder, "vector_add." + targets[0])
    passed, evidence = build("vector_add", targets)
    report.add("hip-compile-together", PASSED if passed else FAILED, "one program" if passed else evidence)
    return os.path.join(folder, "vector_add") if passed else ""


def check_hip(report: Report, login: Login, folder: str, params: dict[str, Any], keep: bool) -> None:
    """The HIP program compiles for each GPU target, and runs with the right result."""
    targets, no_gpu = params["offload_targets"], params["no_gpu"]
    words = [params["hip_source"], login.account.pw_name] + targets + params["link_options"]
    prefix = os.path.dirname(params["path"][0]) if params["path"] else "/opt/rocm"
    kept = KeptProgram(fingerprint(prefix, words))
    since = kept.since() if params["reuse"] and targets else ""
    program = kept.path if since else ""
    for target in targets if since else []:
        report.add(
            "hip-compile-" + target, PASSED, "compiled on %s, and nothing that goes into it changed since" % since
        )
    if not since:
        program = compile_hip(report, login, folder, params)
        if program and keep:
            kept.keep(program, login.account.pw_uid)
    if no_gpu or not program:
        report.add("hip-run", NOT_RUN, no_gpu or "nothing was compiled")
        return
    code, output = login.run(shlex.quote(program))
    report.add("hip-run", FAILED if code else PASSED, "exit %d: %s" % (code, tail(output)))


def check_torch(report: Report, login: Login, params: dict[str, Any]) -> None:
    """PyTorch imports, is the wanted build, and sees the GPUs."""
    python = os.path.join(params["venv"], "bin", "python")
    code, output = login.run("%s -c %s" % (shlex.quote(python), shlex.quote(params["torch_script"])))
    lines = output.splitlines()
    try:
        answer = json.loads(lines[-1]) if code == 0 and lines else None
    except ValueError:
        answer = None
    if not isinstance(answer, dict):
        report.add("torch-import", FAILED, "exit %d: %s" % (code, tail(output)))
        return
    wanted = params["torch_packages"].get("torch", "")
    right = not wanted or answer["version"] == wanted
    report.add("torch-import", PASSED if right else FAILED, "torch %s, expected %s" % (answer["version"], wanted))
    hip = str(answer["hip"] or "")
    if not hip:
        kind = "torch-cuda-wheel" if answer["cuda"] else "torch-cpu-wheel"
        report.add("torch-hip", FAILED, "%s: torch.version.hip is empty" % kind)
    else:
        fits = (hip + ".").startswith(params["torch_hip"] + ".")
        report.add("torch-hip", PASSED if fits else FAILED, "HIP %s, wheel for ROCm %s" % (hip, params["torch_hip"]))
    if params["no_gpu"]:
        report.add("torch-gpu", NOT_RUN, params["no_gpu"])
        report.add("torch-devices", NOT_RUN, params["no_gpu"])
        return
    report.add(
        "torch-gpu",
        PASSED if answer["available"] else FAILED,
        "torch.cuda.is_available() is %s" % answer["available"],
    )
    names = answer["devices"]
    enough = len(names) >= params["gpus"] and all(names)
    report.add(
        "torch-devices",
        PASSED if enough else FAILED,
        ", ".join(name or "(no name)" for name in names) or "none",
    )


def main() -> None:
    """Entry point."""
    module = AnsibleModule(
        argument_spec={
            "user": {"type": "str", "default": ""},
            "path": {"type": "list", "elements": "str", "default": ["/opt/rocm/bin"]},
            "offload_targets": {"type": "list", "elements": "str", "default": []},
            "link_options": {"type": "list", "elements": "str", "default": []},
            "hip_source": {"type": "str", "required": True},
            "gpus": {"type": "int", "default": 0},
            "no_gpu": {"type": "str", "default": ""},
            "venv": {"type": "str", "default": ""},
            "torch_packages": {"type": "dict", "default": {}},
            "torch_hip": {"type": "str", "default": ""},
            "torch_script": {"type": "str", "default": ""},
            "reuse": {"type": "bool", "default": False},
            "timeout": {"type": "int", "default": 300},
        },
        supports_check_mode=True,
    )
    params = module.params
    user = params["user"] or os.environ.get("SUDO_USER") or "root"
    try:
        login = Login(user, params["timeout"])
    except KeyError:
        module.fail_json(
            msg="Found no user %r on this host; expected a user to verify as. "
            "Next: correct rocm_verify_user or rocm_users." % user
        )
    report = Report()
    report.add("login-path", *check_path(login, params["path"]))
    report.add("device-access", *check_devices(login, params["no_gpu"]))
    report.add("rocminfo", *check_rocminfo(login, params["gpus"], params["no_gpu"]))
    folder = tempfile.mkdtemp(prefix="rocm-verify-")
    try:
        check_hip(report, login, folder, params, keep=not module.check_mode)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if params["venv"]:
        check_torch(report, login, params)
    module.exit_json(
        changed=False,
        user=user,
        checks=report.checks,
        passed=all(check["status"] != FAILED for check in report.checks),
    )


if __name__ == "__main__":
    main()
