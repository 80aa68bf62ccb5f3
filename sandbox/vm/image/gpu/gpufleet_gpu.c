// SPDX-License-Identifier: GPL-2.0
/*
 * A PCI bus of its own with the two functions of one Instinct MI250: QEMU has no device of that vendor, class and id.
 * There are no registers behind it; a driver can bind and nothing more.
 */
#include <linux/module.h>
#include <linux/pci.h>

#define DOMAIN 1
#define FUNCTIONS 2

/* The header of configuration space: device 740c of vendor 1002, revision 1 of class 0380, no resources. */
static const u32 header[16] = { 0x740c1002, 0x00000000, 0x03800001 };

static struct resource bus_numbers = { .name = "gpufleet", .end = 0, .flags = IORESOURCE_BUS };
static struct pci_sysdata host = { .domain = DOMAIN, .node = NUMA_NO_NODE };
static struct pci_bus *root;

static int read_config(struct pci_bus *bus, unsigned int devfn, int where, int size, u32 *value)
{
	u32 word = where < sizeof(header) ? header[where / 4] : 0;

	if (PCI_FUNC(devfn) || PCI_SLOT(devfn) >= FUNCTIONS) {
		*value = ~0;
		return PCIBIOS_DEVICE_NOT_FOUND;
	}
	*value = word >> 8 * (where % 4) & (size == 4 ? ~0U : (1U << 8 * size) - 1);
	return PCIBIOS_SUCCESSFUL;
}

static int write_config(struct pci_bus *bus, unsigned int devfn, int where, int size, u32 value)
{
	return PCIBIOS_SUCCESSFUL;
}

static struct pci_ops ops = { .read = read_config, .write = write_config };

static int __init start(void)
{
	LIST_HEAD(resources);

	pci_add_resource(&resources, &bus_numbers);
	pci_lock_rescan_remove();
	root = pci_scan_root_bus(NULL, 0, &ops, &host, &resources);
	if (root)
		pci_bus_add_devices(root);
	pci_unlock_rescan_remove();
	if (!root)
		pci_free_resource_list(&resources);
	return root ? 0 : -ENODEV;
}

static void __exit stop(void)
{
	pci_lock_rescan_remove();
	pci_stop_root_bus(root);
	pci_remove_root_bus(root);
	pci_unlock_rescan_remove();
}

module_init(start);
module_exit(stop);

MODULE_DESCRIPTION("Stand-in of the gpufleet sandbox for one Instinct MI250");
MODULE_LICENSE("GPL");
