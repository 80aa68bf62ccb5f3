#!/usr/bin/python
"""Ansible module: one read of a host for every ROCm decision."""

from __future__ import annotations

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.gpufleet.rocm.plugins.module_utils.gather import gather


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "root": {"type": "path", "default": "/"},
            "users": {"type": "list", "elements": "str", "default": []},
            "venvs": {"type": "list", "elements": "path", "default": []},
        },
        supports_check_mode=True,
    )
    options = module.params
    module.exit_json(
        changed=False,
        ansible_facts={"rocm": gather(options["root"], options["users"], options["venvs"])},
    )


if __name__ == "__main__":
    main()
