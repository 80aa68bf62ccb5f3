"""Documentation of the action ``gpufleet.rocm.rocm_read_log``, which runs on the controller and has no module."""

from __future__ import annotations

DOCUMENTATION = r"""
module: rocm_read_log
author: The gpufleet authors (@gpufleet)
version_added: 0.1.0
short_description: Read a text file of the controller for a diagnosis
description:
  - Reads a text in UTF-8 or UTF-16 of up to 2 MiB. A file that is missing, empty, binary, compressed or larger fails
    with one message.
options:
  path:
    description: The file.
    type: str
    required: true
attributes:
  check_mode:
    description: Runs the same in check mode, since it changes nothing.
    support: full
"""

EXAMPLES = r"""
- name: Read the kernel log that a user sent
  gpufleet.rocm.rocm_read_log:
    path: dmesg.txt
  register: log
"""

RETURN = r"""
text:
  description: The text.
  type: str
  returned: success
"""
