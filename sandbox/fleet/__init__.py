"""A fleet of bare systemd containers that are reached over SSH, with GPUs given as a bound PCI tree."""
