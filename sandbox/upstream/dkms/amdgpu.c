// SPDX-License-Identifier: GPL-2.0
/* A stand-in for AMD's driver: it drives nothing, but builds, loads, has a version and makes /dev/kfd. */
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>

static const struct file_operations kfd_fops = {
	.owner = THIS_MODULE,
};

static struct miscdevice kfd = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "kfd",
	.mode = 0660,
	.fops = &kfd_fops,
};

module_misc_device(kfd);

MODULE_DESCRIPTION("Stand-in of the gpufleet sandbox for the amdgpu driver");
MODULE_LICENSE("GPL");
MODULE_VERSION("@MODULE_VERSION@");
