#!/usr/bin/python
"""Check, as an ordinary user in a fresh login, that ROCm and PyTorch work on this host."""

from __future__ import annotations

DOCUMENTATION = r"""
module: rocm_verify
short_description: Check as a user that ROCm and PyTorch work
description:
  - Runs what a user would run, as that user and in a fresh login (so that new groups and the login shell's PATH
    count), ordered so that the first failure is the cause. What depends on a check that failed is not run.
  - What needs a GPU is reported as C(not run) with the reason where the host has none, and so is what needs a tool
    that is not installed; neither is counted as passed.
  - Settings of the user such as C(HSA_OVERRIDE_GFX_VERSION) are taken away from the checks and named.
  - Changes nothing but the kept test program in /var/cache/gpufleet.rocm; everything else lives in a temporary folder
    of the user and is removed.
version_added: 0.1.0
author: The gpufleet authors (@gpufleet)
options:
  user:
    description: The user to check as.
    type: str
    default: root
  path:
    description:
      - Directories in which the login shell must find the tools, best first.
      - Empty means that they may be anywhere on the PATH, or in /opt/rocm/bin.
    type: list
    elements: str
    default: []
  compiler:
    description: Whether hipcc must be there. Otherwise the checks that need it are not run where it is not.
    type: bool
    default: false
  offload_targets:
    description: GPU targets (gfx names) for which the test program is compiled, besides those that rocminfo lists.
    type: list
    elements: str
    default: []
  link_options:
    description: Options that hipcc needs so that a program finds ROCm's libraries.
    type: list
    elements: str
    default: []
  cuda_source:
    description: Source text of the test program, in CUDA.
    type: str
    required: true
  cmake_lists:
    description: Text of the CMakeLists.txt that builds the converted program.
    type: str
    required: true
  gpus:
    description: PCI addresses of the AMD GPUs that the host shows and that are meant for ROCm.
    type: list
    elements: str
    default: []
  no_gpu:
    description: Why GPU checks cannot run here; empty where they can.
    type: str
    default: ""
  python:
    description: Interpreter with PyTorch. Empty means that PyTorch is not checked.
    type: str
    default: ""
  python_required:
    description: Whether that interpreter must exist. Otherwise its checks are not run where it does not.
    type: bool
    default: true
  torch_version:
    description: Wanted version of PyTorch, with its local part. Empty takes any.
    type: str
    default: ""
  torch_hip:
    description: ROCm version (X.Y) that the PyTorch wheel was built for. Empty takes what the wheel's version says.
    type: str
    default: ""
  torch_script:
    description: Source text of the script that asks PyTorch.
    type: str
    required: true
  bandwidth:
    description: Also measure copies from the host to each GPU and on each GPU, with PyTorch.
    type: bool
    default: false
  minimum_host_bandwidth:
    description: GB/s below which the copy from the host fails the check.
    type: float
    default: 0
  minimum_device_bandwidth:
    description: GB/s below which the copy on a GPU (read and written bytes) fails the check.
    type: float
    default: 0
  all_reduce:
    description: Also sum over all GPUs with RCCL, with PyTorch.
    type: bool
    default: false
  reuse:
    description:
      - Run the HIP program of an earlier check again, without compiling it, where no package, tool, library or source
        that goes into it has changed since. The evidence says so.
    type: bool
    default: false
  timeout:
    description: Seconds for one command of a check.
    type: int
    default: 300
  gpu_timeout:
    description: Seconds for what PyTorch does on one GPU.
    type: int
    default: 120
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
    python: /opt/pytorch-rocm/bin/python
    cuda_source: "{{ lookup('ansible.builtin.file', 'vector_add.cu') }}"
    cmake_lists: "{{ lookup('ansible.builtin.file', 'CMakeLists.txt') }}"
    torch_script: "{{ lookup('ansible.builtin.file', 'torch_check.py') }}"
"""

RETURN = r"""
checks:
  description:
    - Every check in order, each with C(id), C(status) (passed, failed, not run), C(evidence), C(seconds), C(finding)
      (an id of the decisions, or null) and C(remedy) (what to do, or empty).
    - A check that passed can have a finding, which is then something to know and no fault.
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

import os
import shutil
import tempfile
from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.gpufleet.rocm.plugins.module_utils import verify_access, verify_hip, verify_torch
from ansible_collections.gpufleet.rocm.plugins.module_utils.host import Host
from ansible_collections.gpufleet.rocm.plugins.module_utils.verify_login import Login
from ansible_collections.gpufleet.rocm.plugins.module_utils.verify_report import Report

# Where the tools are when nothing puts them on the PATH.
USUAL_PATH = "/opt/rocm/bin"
TORCH_SCRIPT = "torch_check.py"


def work_folder(login: Login, files: dict[str, str]) -> str:
    """A temporary folder of the user, from which programs can be run, with these files.

    The files are written while the folder is still root's: nobody can put a link in their place.
    """
    places = [place for place in (tempfile.gettempdir(), "/var/tmp") if os.path.isdir(place)]
    runnable = [place for place in places if not os.statvfs(place).f_flag & os.ST_NOEXEC]
    folder = tempfile.mkdtemp(prefix="rocm-verify-", dir=(runnable or places)[0])
    for name, text in files.items():
        path = os.path.join(folder, name)
        with open(path, "w", encoding="utf-8") as handle:
            handle.write(text)
        os.chmod(path, 0o644)
    shutil.chown(folder, login.account.pw_uid, login.account.pw_gid)
    return folder


def run_checks(report: Report, login: Login, folder: str, params: dict[str, Any], keep: bool) -> None:
    """All checks in the order of their causes."""
    host, no_gpu = Host("/"), params["no_gpu"]
    verify_access.check_devices(report, login, no_gpu, host)
    nodes = verify_access.check_kfd(report, params["gpus"], host)
    tools = verify_access.check_path(report, login, params["path"], params["compiler"])
    verify_access.check_settings(report, login)
    agents = verify_access.check_rocminfo(report, login, nodes)
    build = verify_hip.Build(
        folder=folder,
        sources=verify_hip.sources(params["cuda_source"], params["cmake_lists"]),
        targets=sorted(set(params["offload_targets"]) | set(agents)),
        link_options=params["link_options"],
        tools=tools,
    )
    verify_hip.check_hip(report, login, build, no_gpu, len(agents), params["reuse"], keep)
    wanted = verify_torch.Wanted(
        python=params["python"],
        script=os.path.join(folder, TORCH_SCRIPT),
        required=params["python_required"],
        version=params["torch_version"],
        hip=params["torch_hip"],
        gpu_timeout=params["gpu_timeout"],
        bandwidth=params["bandwidth"],
        host_gbps=params["minimum_host_bandwidth"],
        device_gbps=params["minimum_device_bandwidth"],
        all_reduce=params["all_reduce"],
    )
    verify_torch.check_torch(report, login, wanted, no_gpu, agents)


def main() -> None:
    """Entry point."""
    module = AnsibleModule(
        argument_spec={
            "user": {"type": "str", "default": "root"},
            "path": {"type": "list", "elements": "str", "default": []},
            "compiler": {"type": "bool", "default": False},
            "offload_targets": {"type": "list", "elements": "str", "default": []},
            "link_options": {"type": "list", "elements": "str", "default": []},
            "cuda_source": {"type": "str", "required": True},
            "cmake_lists": {"type": "str", "required": True},
            "gpus": {"type": "list", "elements": "str", "default": []},
            "no_gpu": {"type": "str", "default": ""},
            "python": {"type": "str", "default": ""},
            "python_required": {"type": "bool", "default": True},
            "torch_version": {"type": "str", "default": ""},
            "torch_hip": {"type": "str", "default": ""},
            "torch_script": {"type": "str", "required": True},
            "bandwidth": {"type": "bool", "default": False},
            "minimum_host_bandwidth": {"type": "float", "default": 0},
            "minimum_device_bandwidth": {"type": "float", "default": 0},
            "all_reduce": {"type": "bool", "default": False},
            "reuse": {"type": "bool", "default": False},
            "timeout": {"type": "int", "default": 300},
            "gpu_timeout": {"type": "int", "default": 120},
        },
        supports_check_mode=True,
    )
    params = module.params
    try:
        login = Login(params["user"], params["timeout"], "" if params["path"] else USUAL_PATH)
    except KeyError:
        module.fail_json(
            msg="Found no user %r on this host; expected a user to verify as. "
            "Next: correct rocm_verify_user or rocm_users." % params["user"]
        )
    if os.geteuid() not in (0, login.account.pw_uid):
        module.fail_json(
            msg="The task runs as user %d; expected root, or %s itself. Next: set become: true."
            % (os.geteuid(), login.name)
        )
    report = Report()
    files = dict(
        verify_hip.sources(params["cuda_source"], params["cmake_lists"]), **{TORCH_SCRIPT: params["torch_script"]}
    )
    folder = work_folder(login, files)
    try:
        run_checks(report, login, folder, params, keep=not module.check_mode)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    module.exit_json(changed=False, user=login.name, checks=report.checks, passed=report.good)


if __name__ == "__main__":
    main()
