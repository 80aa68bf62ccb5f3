// SPDX-License-Identifier: GPL-2.0
/*
 * A stand-in for AMD's driver. It binds to GPUs and drives nothing; it has a version and makes /dev/kfd, as a device of
 * class kfd, so that udev's rules apply to it.
 */
#include <linux/device.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/version.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(@NEEDS_KERNEL@)
#include <linux/@NEEDS_HEADER@>
#endif

#define VENDOR 0x1002
#define ACCELERATOR 0x1200

static const struct pci_device_id devices[] = {
	{ PCI_DEVICE(VENDOR, PCI_ANY_ID), PCI_CLASS_DISPLAY_VGA << 8, ~0 },
	{ PCI_DEVICE(VENDOR, PCI_ANY_ID), PCI_CLASS_DISPLAY_OTHER << 8, ~0 },
	{ PCI_DEVICE(VENDOR, PCI_ANY_ID), ACCELERATOR << 8, ~0 },
	{ }
};
MODULE_DEVICE_TABLE(pci, devices);
