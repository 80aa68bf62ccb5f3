// SPDX-License-Identifier: GPL-2.0
/*
 * A stand-in for AMD's driver: it binds to GPUs and drives nothing. It has a version and makes /dev/kfd, a device of
 * class kfd, so that udev's rules apply to it.
 */
#include <linux/device.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/version.h>

/* A driver that is not written for older kernels fails on them as real ones do: by the compiler's words. */
#if @OLDER_KERNELS@ && LINUX_VERSION_CODE < KERNEL_VERSION(6, 4, 0)
#define make_class(name) class_create(THIS_MODULE, name)
#else
#define make_class(name) class_create(name)
#endif

#define AMD_GPU(class_code) \
	{ PCI_DEVICE(PCI_VENDOR_ID_ATI, PCI_ANY_ID), .class = (class_code) << 8, .class_mask = 0xffffff }
#define PROCESSING_ACCELERATOR 0x1200

static const struct pci_device_id gpus[] = {
	AMD_GPU(PCI_CLASS_DISPLAY_VGA),
	AMD_GPU(PCI_CLASS_DISPLAY_OTHER),
	AMD_GPU(PROCESSING_ACCELERATOR),
	{ }
};
MODULE_DEVICE_TABLE(pci, gpus);

static int probe(struct pci_dev *gpu, const struct pci_device_id *id)
{
	return 0;
}

static struct pci_driver driver = {
	.name = "amdgpu",
	.id_table = gpus,
	.probe = probe,
};

static const struct file_operations kfd_operations = {
	.owner = THIS_MODULE,
};

static struct class *kfd_class;
static int kfd_major;

static int __init start(void)
{
	struct device *kfd;
	int failure;

	kfd_major = register_chrdev(0, "kfd", &kfd_operations);
	if (kfd_major < 0)
		return kfd_major;
	kfd_class = make_class("kfd");
	failure = PTR_ERR_OR_ZERO(kfd_class);
	if (failure)
		goto no_class;
	kfd = device_create(kfd_class, NULL, MKDEV(kfd_major, 0), NULL, "kfd");
	failure = PTR_ERR_OR_ZERO(kfd);
	if (failure)
		goto no_device;
	failure = pci_register_driver(&driver);
	if (!failure)
		return 0;
	device_destroy(kfd_class, MKDEV(kfd_major, 0));
no_device:
	class_destroy(kfd_class);
no_class:
	unregister_chrdev(kfd_major, "kfd");
	return failure;
}

static void __exit stop(void)
{
	pci_unregister_driver(&driver);
	device_destroy(kfd_class, MKDEV(kfd_major, 0));
	class_destroy(kfd_class);
	unregister_chrdev(kfd_major, "kfd");
}

module_init(start);
module_exit(stop);

MODULE_DESCRIPTION("Stand-in of the gpufleet sandbox for the amdgpu driver");
MODULE_LICENSE("GPL");
MODULE_VERSION("@MODULE_VERSION@");
