#!/usr/bin/python
"""Read the texts of a host that say what is wrong with ROCm there."""

from __future__ import annotations

DOCUMENTATION = r"""
module: rocm_diagnose
short_description: Read the texts of a host that say what is wrong with ROCm
description:
  - Reads what the module M(gpufleet.rocm.rocm_facts) does not. That is the kernel log of this boot and the one before,
    what DKMS and apt said last, and what a new login of a user gets from ROCm's tools, compiler, libraries and PyTorch.
  - Passwords and tokens in the texts are masked. Long texts lose their middle.
  - Changes nothing. A tool that is missing or fails only leaves its text out, or says so in it.
version_added: 0.1.0
author: The gpufleet authors (@gpufleet)
options:
  user:
    description: The user whose login is looked at. Empty means root.
    type: str
    default: ""
  gpus:
    description: Whether the host has AMD GPUs. Without, no program is run that needs one.
    type: bool
    default: true
  python:
    description: Interpreter whose PyTorch is asked. Empty means none.
    type: str
    default: ""
attributes:
  check_mode:
    description: Runs the same in check mode, since it changes nothing.
    support: full
"""

EXAMPLES = r"""
- name: Read what is said about ROCm
  gpufleet.rocm.rocm_diagnose:
    user: ada
    python: /opt/pytorch-rocm/bin/python
  become: true
  register: said

- name: Show what the kernel says against the driver
  ansible.builtin.debug:
    msg: "{{ (said.texts | selectattr('name', 'eq', 'kernel_log') | first).text | gpufleet.rocm.dmesg_problems }}"
"""

RETURN = r"""
texts:
  description:
    - Those that are not empty, each with C(name), C(source) (the command or file) and C(text).
    - C(name) is V(problem) where a part could not be read.
  returned: always
  type: list
  elements: dict
"""

from typing import Callable

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.gpufleet.rocm.plugins.module_utils import diagnose_texts
from ansible_collections.gpufleet.rocm.plugins.module_utils.host import Host
from ansible_collections.gpufleet.rocm.plugins.module_utils.verify_login import Login


def main() -> None:
    """Entry point."""
    module = AnsibleModule(
        argument_spec={
            "user": {"type": "str", "default": ""},
            "gpus": {"type": "bool", "default": True},
            "python": {"type": "str", "default": ""},
        },
        supports_check_mode=True,
    )
    user, gpus, python = (module.params[name] for name in ("user", "gpus", "python"))
    host, texts = Host("/"), diagnose_texts.Texts()
    parts: list[tuple[str, Callable[[], None]]] = [
        ("logs", lambda: diagnose_texts.read_logs(texts, host)),
        ("login", lambda: diagnose_texts.read_login(texts, host, Login(user or "root", 60), gpus, python)),
        ("performance", lambda: diagnose_texts.read_performance(texts, host)),
    ]
    for name, read in parts:
        try:
            read()
        except Exception as error:
            # A host in a state nobody thought of must still be diagnosed as far as possible.
            texts.add("problem", name, "%s: %s" % (type(error).__name__, error))
    module.exit_json(changed=False, texts=texts.rows)


if __name__ == "__main__":
    main()
