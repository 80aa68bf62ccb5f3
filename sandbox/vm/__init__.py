"""A virtual machine with its own kernel, which containers cannot have: DKMS builds, loaded modules, reboots."""
