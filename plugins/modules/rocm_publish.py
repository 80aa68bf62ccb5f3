"""Documentation of the action ``gpufleet.rocm.rocm_publish``, which runs on the controller and has no module."""

from __future__ import annotations

DOCUMENTATION = r"""
module: rocm_publish
author: The gpufleet authors (@gpufleet)
version_added: 0.1.0
short_description: Write what is told about each host of a fleet as JSON
description:
  - Writes one file per host on the controller; docs/report.md describes its content.
  - Hands the outcome to the callback P(gpufleet.rocm.exit_status#callback), and as C(rocm_outcome) to any other that
    reads custom statistics.
options:
  fleet:
    description: Result of the filter P(gpufleet.rocm.fleet_plan#filter) or P(gpufleet.rocm.fleet_report#filter).
    type: dict
    required: true
  folder:
    description: Folder on the controller; it is made where it is missing.
    type: path
    required: true
  suffix:
    description: What stands between host name and C(.json), such as C(.plan).
    type: str
    default: ""
attributes:
  check_mode:
    description: Writes in check mode too, since no host is touched.
    support: full
"""

EXAMPLES = r"""
- name: Write one report per host
  gpufleet.rocm.rocm_publish:
    fleet: "{{ hostvars | gpufleet.rocm.fleet_report(ansible_play_hosts_all) }}"
    folder: reports
  run_once: true
"""

RETURN = r"""
folder:
  description: Where the files are.
  type: str
  returned: always
attention:
  description: Hosts that need attention, name to reason.
  type: dict
  returned: always
table:
  description: The table of the fleet, also where a file could not be written.
  type: str
  returned: always
"""
