#!/usr/bin/python
"""Ansible module: what decides how fast a host with AMD GPUs is."""

from __future__ import annotations

DOCUMENTATION = r"""
module: rocm_performance
short_description: Read the settings that decide how fast a host with AMD GPUs is
description:
  - Reads NUMA balancing, the IOMMU, huge pages, governors, PCIe links, power caps, clocks and partitions from /proc and
    /sys, and what the role C(gpufleet.rocm.rocm_tuning) changed of them.
  - Runs no tool of ROCm and changes nothing. The filter C(gpufleet.rocm.performance) judges the answer.
version_added: 0.1.0
author: The gpufleet authors (@gpufleet)
options:
  root:
    description:
      - Directory of the host's file system. Anything but V(/) describes a captured tree from its files alone.
    type: path
    default: /
attributes:
  check_mode:
    description: Runs the same in check mode, since it changes nothing.
    support: full
  diff_mode:
    description: There is never a difference to show.
    support: none
"""

EXAMPLES = r"""
- name: Read what decides the speed of the host
  gpufleet.rocm.rocm_performance:
  register: speed
  become: true

- name: Say what AMD's guides have otherwise
  ansible.builtin.debug:
    msg: "{{ (speed.readings | gpufleet.rocm.performance).findings | map(attribute='message') }}"
"""

RETURN = r"""
readings:
  description: The readings. What does not exist or cannot be read is null, a list of such is empty.
  returned: always
  type: dict
  contains:
    schema:
      description: Version of this structure.
      type: int
      sample: 1
    virtualization:
      description: C(kind) is one of V(none), V(container), V(vm), V(wsl). C(name) is as systemd-detect-virt has it.
      type: dict
      sample: {kind: none, name: ""}
    cpu_vendor:
      description: The processor's vendor as it names itself.
      type: str
      sample: AuthenticAMD
    cmdline:
      description: The kernel command line.
      type: str
      sample: root=/dev/sda1 ro iommu=pt
    numa_nodes:
      description: Number of NUMA nodes.
      type: int
      sample: 2
    values:
      description: Kernel parameters by their file.
      type: dict
      sample: {/proc/sys/kernel/numa_balancing: "1", /proc/sys/vm/compaction_proactiveness: "20",
               /proc/sys/vm/compact_unevictable_allowed: "1"}
    hugepages:
      description: When transparent huge pages are used.
      type: str
      sample: madvise
    iommu_units:
      description: Number of IOMMUs that the kernel uses; null where it does not tell.
      type: int
      sample: 8
    governors:
      description: Each governor of the processor with the files that hold it, and what C(available) all of these offer.
      type: list
      elements: dict
      sample: [{governor: schedutil, available: [performance, schedutil],
                paths: [/sys/devices/system/cpu/cpufreq/policy0/scaling_governor]}]
    gpus:
      description:
        - AMD's display and accelerator functions, with the fields of C(ansible_facts.rocm.gpus) and these.
        - C(iommu) is the kind of IOMMU domain, V(identity) where addresses pass through.
        - C(link) is that between card and slot. C(device) and C(port) are its ends, C(speed) is in GT/s.
        - C(power) is in microwatts, C(level) the performance level, C(sclk) the clock of the cores in MHz.
      type: list
      elements: dict
      sample: [{address: "0000:05:00.0", vendor: "1002", device: 74a1, class: "1200", driver: amdgpu,
                virtual_function: false, numa_node: 0, iommu: identity,
                link: {device: "0000:05:00.0", port: "0000:04:00.0", speed: 32.0, width: 16, max_speed: 32.0,
                       max_width: 16, port_max_speed: 32.0, port_max_width: 16},
                power: {cap: 750000000, default: 750000000, max: 750000000}, level: auto,
                sclk: {now: 132, max: 2100}, compute_partition: SPX, memory_partition: NPS1}]
    grub:
      description:
        - C(available) is whether update-grub and the menu that it writes are there, C(passthrough) whether that menu
          passes addresses through the IOMMU.
      type: dict
      sample: {available: true, passthrough: false}
    enabled:
      description: Units of the role C(gpufleet.rocm.rocm_tuning) that run at boot.
      type: list
      elements: str
      sample: [gpufleet-rocm-cpu-governor.service]
    files:
      description: Contents of the files of the role C(gpufleet.rocm.rocm_tuning) by path, null where there is none.
      type: dict
      sample: {/etc/default/grub.d/99-gpufleet-rocm.cfg: null}
    record:
      description: What the role found before it changed a setting, by setting and file.
      type: dict
      sample: {numa-balancing: {/proc/sys/kernel/numa_balancing: "1"}}
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.gpufleet.rocm.plugins.module_utils.host import Host
from ansible_collections.gpufleet.rocm.plugins.module_utils.performance import gather


def main() -> None:
    """Read the option, gather, and return."""
    module = AnsibleModule(argument_spec={"root": {"type": "path", "default": "/"}}, supports_check_mode=True)
    module.exit_json(changed=False, readings=gather(Host(module.params["root"])))


if __name__ == "__main__":
    main()
