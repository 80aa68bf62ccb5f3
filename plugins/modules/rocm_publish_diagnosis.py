"""Documentation of the action ``gpufleet.rocm.rocm_publish_diagnosis``, which runs on the controller."""

from __future__ import annotations

DOCUMENTATION = r"""
module: rocm_publish_diagnosis
author: The gpufleet authors (@gpufleet)
version_added: 0.1.0
short_description: Write the diagnoses of a fleet as JSON
description:
  - Writes one file per host, C(HOST.diagnose.json), on the controller; docs/diagnose.md describes its content.
  - Hands the outcome to the callback P(gpufleet.rocm.exit_status#callback), and as C(rocm_outcome) to any other that
    reads custom statistics.
options:
  fleet:
    description: Result of the filter P(gpufleet.rocm.fleet_diagnosis#filter).
    type: dict
    required: true
  folder:
    description: Folder on the controller; it is made where it is missing.
    type: path
    required: true
attributes:
  check_mode:
    description: Writes in check mode too, since no host is touched.
    support: full
"""

EXAMPLES = r"""
- name: Write one diagnosis per host
  gpufleet.rocm.rocm_publish_diagnosis:
    fleet: "{{ hostvars | gpufleet.rocm.fleet_diagnosis(ansible_play_hosts_all) }}"
    folder: reports
  run_once: true
"""

RETURN = r"""
attention:
  description: Hosts that could not be diagnosed, name to reason.
  type: dict
  returned: always
table:
  description: The diagnoses as text, also where a file could not be written.
  type: str
  returned: always
"""
