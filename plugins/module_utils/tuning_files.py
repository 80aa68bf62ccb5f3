"""What the role rocm_tuning writes on a host, by setting: read, compared and removed under the same name."""

from __future__ import annotations

from ansible_collections.gpufleet.rocm.plugins.module_utils.paths import STATE_DIR

GRUB_FOLDER = "/etc/default/grub.d"
GRUB_COMMAND = "/usr/sbin/update-grub"
GRUB_CONFIG = "/boot/grub/grub.cfg"
# What the values were before the role changed them.
RECORD = STATE_DIR + "/tuning.json"

SYSTEMD = "/etc/systemd/system"
WANTS = SYSTEMD + "/multi-user.target.wants"
UNITS = {
    "gpufleet-rocm-cpu-governor.service": "cpu-governor",
    "gpufleet-rocm-transparent-hugepages.service": "transparent-hugepages",
}

FILES = {
    "numa-balancing": "/etc/sysctl.d/90-gpufleet-rocm-numa-balancing.conf",
    "memory-compaction": "/etc/sysctl.d/90-gpufleet-rocm-memory-compaction.conf",
    # Sorts behind the files of cloud images, which set the variables that it adds to.
    "iommu-passthrough": GRUB_FOLDER + "/99-gpufleet-rocm.cfg",
    **{setting: SYSTEMD + "/" + unit for unit, setting in UNITS.items()},
}
