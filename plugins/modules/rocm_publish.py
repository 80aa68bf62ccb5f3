"""Documentation of the action ``gpufleet.rocm.rocm_publish``, which runs on the controller and has no module."""

from __future__ import annotations

DOCUMENTATION = r"""
module: rocm_publish
author: The gpufleet authors (@gpufleet)
version_added: 0.1.0
short_description: Write what is told about a fleet and each of its hosts
description:
  - Writes one JSON file per host on the controller, and files about the whole fleet; docs/report.md describes what is
    in them.
  - Hosts of the inventory that the run left out keep in the files about the whole fleet what the last ones say of them.
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
  formats:
    description:
      - Files about the whole fleet, of C(json), C(html), C(junit) and C(prometheus). Empty means none.
      - C(json) is also what the next run compares with. C(prometheus) is left out of plans and of check mode.
    type: raw
    default: [json, html]
  files:
    description: >-
      Names of those files, format to path; relative ones are below O(folder). Those that are not given are
      C(fleet/report.json), C(fleet/report.html), C(fleet/report.xml) and C(fleet/report.prom).
    type: raw
    default: {}
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
    formats: [json, html, prometheus]
    files:
      prometheus: /var/lib/prometheus/node-exporter/rocm_fleet.prom
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
files:
  description: The files about the whole fleet.
  type: list
  elements: str
  returned: always
table:
  description: The table of the fleet, also where a file could not be written.
  type: str
  returned: always
"""
