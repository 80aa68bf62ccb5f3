#!/usr/bin/python
"""Ansible module: one read of a host for every ROCm decision."""

from __future__ import annotations

DOCUMENTATION = r"""
module: rocm_facts
short_description: Read what a host has of ROCm
description:
  - Reads once everything that decides what to do about ROCm on a host, and returns it as C(ansible_facts.rocm).
    That is the system and kernel, GPUs, driver, packages, apt sources, pins and keys, the files this collection
    writes, users, disk space and Python environments.
  - Changes nothing and needs nothing on the host but Python. A tool that is missing or fails leaves an empty value.
    When apt is asked it may renew its own package cache.
  - Run it with C(become). Without root, other users' files, device nodes and firmware variables stay unread.
version_added: 0.1.0
author: The gpufleet authors (@gpufleet)
options:
  root:
    description:
      - Directory of the host's file system. Anything but V(/) describes a copied or mounted tree from its files
        alone. No command is run then, and nothing of the machine itself is reported but the space where the tree is.
    type: path
    default: /
  users:
    description: Names of users to look up. Their start-up files and running sessions are looked at too.
    type: list
    elements: str
    default: []
  venvs:
    description: Absolute paths of Python virtual environments, existing or not.
    type: list
    elements: path
    default: []
attributes:
  check_mode:
    description: Runs the same in check mode, since it changes nothing.
    support: full
  diff_mode:
    description: There is never a difference to show.
    support: none
  facts:
    description: Returns C(ansible_facts.rocm).
    support: full
"""

EXAMPLES = r"""
- name: Read the host
  gpufleet.rocm.rocm_facts:
    users: [alice]
    venvs: [/opt/venvs/torch]
  become: true

- name: Say which GPUs there are
  ansible.builtin.debug:
    msg: "{{ ansible_facts['rocm']['gpus'] | selectattr('vendor', 'eq', '1002') | map(attribute='device') }}"

- name: Read a mounted image
  gpufleet.rocm.rocm_facts:
    root: /mnt/image
  become: true
"""

RETURN = r"""
ansible_facts:
  description: The facts.
  returned: always
  type: dict
  contains:
    rocm:
      description:
        - State of the host. A value that does not exist or cannot be read is null, a list of such is empty. Texts end
          after 4096 characters; passwords and tokens in them are replaced by C(***).
      returned: always
      type: dict
      contains:
        schema:
          description: Version of this structure. It rises when a key changes its meaning, not when one is added.
          type: int
          sample: 1
        os:
          description:
            - The distribution from os-release, with C(id), C(id_like), C(version_id), C(codename), C(pretty_name).
            - C(base_id) and C(base_codename) name the archive that a derivative is built on. They are null where
              os-release does not tell.
          type: dict
          sample: {id: linuxmint, id_like: [ubuntu, debian], version_id: "21.3", codename: virginia,
                   base_id: ubuntu, base_codename: jammy, pretty_name: Linux Mint 21.3}
        architecture:
          description: Machine name as the kernel gives it.
          type: str
          sample: x86_64
        kernel:
          description:
            - The running kernel, with C(release), C(series), C(flavour) (last field), C(cmdline), and C(mainline)
              (whether it is a mainline build of Ubuntu).
            - C(installed) holds the releases with an image in /boot, newest first, none in a container. C(next_boot)
              is the one that GRUB is set to, else the newest.
            - C(headers) and C(modules_extra) have C(package), C(installed) and the C(candidate) version in apt.
              Headers count as installed when /lib/modules/RELEASE/build leads to a directory. C(next) has the same two
              for the kernel that boots next, and is null where that is the running one.
          type: dict
          sample: {release: 6.8.0-41-generic, series: "6.8", flavour: generic, mainline: false,
                   installed: [6.8.0-44-generic, 6.8.0-41-generic], next_boot: 6.8.0-44-generic,
                   cmdline: "root=/dev/sda1 ro iommu=pt",
                   headers: {package: linux-headers-6.8.0-41-generic, installed: true, candidate: 6.8.0-41.41},
                   modules_extra: {package: linux-modules-extra-6.8.0-41-generic, installed: false, candidate: null},
                   next: {headers: {package: linux-headers-6.8.0-44-generic, installed: true, candidate: 6.8.0-44.44},
                          modules_extra: {package: linux-modules-extra-6.8.0-44-generic, installed: false,
                                          candidate: null}}}
        secure_boot:
          description: One of V(enabled), V(disabled), V(unknown). Checks switched off in shim count as disabled.
          type: str
          sample: disabled
        virtualization:
          description: C(kind) is one of V(none), V(container), V(vm), V(wsl). C(name) is as systemd-detect-virt has it.
          type: dict
          sample: {kind: vm, name: kvm}
        gpus:
          description:
            - Display and accelerator functions on the PCI bus (classes 03xx and 1200), of every vendor.
            - Ids are four hexadecimal digits. C(virtual_function) tells of a function that this host itself has split
              off a card. In a guest it is false, the device id tells there.
          type: list
          elements: dict
          sample: [{address: "0000:2f:00.0", vendor: "1002", device: 740c, class: "0380", driver: amdgpu,
                    virtual_function: false, numa_node: 0}]
        driver:
          description:
            - C(loaded), C(version) and C(srcversion) tell of the module in the kernel. Only AMD's build has a version.
            - C(on_disk) is the module that would be loaded for the running kernel.
            - C(dkms) holds the entries of all DKMS modules. C(state) is DKMS's word, or V(broken) for a directory
              without its source, which stops every dkms command.
            - C(sources) are the versions of amdgpu in DKMS whose source an installed package ships.
            - C(signing_key) is the certificate with which DKMS signs, the C(name) that modinfo shows for it, and
              whether the firmware has it C(enrolled).
            - C(blacklist) holds the lines that keep amdgpu from loading, and the package that owns the file.
          type: dict
          sample: {loaded: true, version: 6.3.6, srcversion: 0123456789ABCDEF01234567,
                   on_disk: {path: /lib/modules/6.8.0-41-generic/updates/dkms/amdgpu.ko, version: 6.3.6,
                             srcversion: 0123456789ABCDEF01234567},
                   dkms: [{module: amdgpu, version: 6.3.6-1697589.22.04, kernel: 6.8.0-41-generic, arch: x86_64,
                           state: installed, warning: null}],
                   sources: [6.3.6-1697589.22.04],
                   signing_key: {path: /var/lib/shim-signed/mok/MOK.der, name: gpu-1 Secure Boot Module Signature key,
                                 enrolled: false},
                   blacklist: [{file: /etc/modprobe.d/blacklist-amdgpu.conf, line: 1, text: blacklist amdgpu,
                                package: null}]}
        boot:
          description:
            - C(id) is the kernel's random name of this boot.
            - C(last) is what the role rocm_driver wrote before its latest reboot, the C(id) of the boot that ended and
              the srcversion of the C(module) that the next one was to load.
          type: dict
          sample: {id: 4b3c6a5e-0d0f-4c4e-9a53-3f1b5f0f3a10,
                   last: {id: 9d1e4c0a-7f57-4f4f-8c0e-2f6f1d7f3b21, module: 0123456789ABCDEF01234567}}
        holds:
          description: Packages that the role rocm_driver put on hold, as it recorded them.
          type: list
          elements: str
          sample: [amdgpu-dkms, linux-image-generic]
        drained:
          description: Whether a run took the host out of service and did not give it back, as it noted on the host.
          type: bool
          sample: false
        kfd:
          description:
            - The compute device /dev/kfd, and the GPUs of its topology.
            - C(nodes) has one row for each card, that of its first node. C(partitions) is the number of its nodes.
              C(gfx) is null on kernels that do not publish it. C(location_id) has bus, device and function of PCI.
          type: dict
          sample: {present: true, mode: "0660", owner: root, group: render,
                   nodes: [{node: 2, gfx: gfx90a, device: 740c, simd_count: 416, compute_units: 104,
                            location_id: 12032, domain: 0, render_minor: 128, partitions: 1}]}
        render_nodes:
          description: Device nodes /dev/dri/renderD*, one row with the C(minors) of all that have the same rights.
          type: list
          elements: dict
          sample: [{minors: [128, 129], mode: "0660", owner: root, group: render}]
        packages:
          description:
            - Installed packages of the ROCm stack and the driver, whoever built them, and the few beside them that
              matter (dkms, firmware, headers, kernel metapackages, python3-venv, unattended-upgrades, Proxmox).
            - C(amd) tells whether AMD built it, by its version, its name or what its repository declares.
          type: dict
          sample: {rocminfo: {version: 1.0.0.60000-91~22.04, held: false, amd: true}}
        dpkg_broken:
          description: Packages of any kind that dpkg has not brought to a clean end. Triggers that wait are no fault.
          type: list
          elements: dict
          sample: [{package: linux-image-6.8.0-44-generic, status: half-configured}]
        unattended_upgrades:
          description:
            - Whether the package unattended-upgrades is C(installed), and C(enabled) in apt's configuration and by its
              timer. C(file) is where apt's switch for it is set.
            - C(kernel_excluded) tells whether it cannot bring a new kernel, because the package blacklist or a hold
              stops each of the metapackages for it.
          type: dict
          sample: {installed: true, enabled: true, kernel_excluded: false, file: /etc/apt/apt.conf.d/20auto-upgrades}
        apt:
          description:
            - C(sources) has AMD's entries, one for each pair of URI and suite, without credentials. A commented entry
              and one that apt ignores count as not C(enabled). C(indexed) tells whether apt has its package index.
              C(other_entries) tells whether the file holds enabled entries that are not AMD's.
            - C(pins) has the preferences about AMD's origins, their mirrors or packages of the stack.
            - C(keyrings) has those that AMD's entries use, those named after ROCm and, of the keyrings that apt trusts
              for every repository, those with AMD's key. C(expires) is the earliest date. C(form) is one of
              V(armored), V(binary), V(missing), V(invalid).
          type: dict
          sample: {sources: [{file: /etc/apt/sources.list.d/rocm.sources, line: 1, form: deb822, types: [deb],
                              uri: "https://repo.radeon.com/rocm/apt/6.0", suite: jammy, components: [main],
                              architectures: [amd64], signed_by: /etc/apt/keyrings/rocm.asc, enabled: true,
                              other_entries: false, indexed: true}],
                   pins: [{file: /etc/apt/preferences.d/rocm-pin-600, package: "*",
                           pin: release o=repo.radeon.com, priority: 600}],
                   keyrings: [{path: /etc/apt/keyrings/rocm.asc,
                               fingerprints: [CA8BB4727A47B4D09B4EE8969386B48A1A693C5C],
                               expires: "2026-08-01", form: armored}]}
        files:
          description: The files that this collection writes, by path, null where there is none.
          type: dict
          sample: {/etc/profile.d/rocm.sh: {sha256: 3f0a..., mode: "0644", owner: root, group: root},
                   /etc/ld.so.conf.d/rocm.conf: null}
        rocm:
          description:
            - C(link) is the tree that /opt/rocm leads to, in the newer layout the one that /opt/rocm/core leads to.
            - C(installs) are all trees, with a null C(version) for one that has no version file.
            - C(alternatives) are those of update-alternatives behind either link. C(automatic) ones lead to the
              candidate with the highest priority.
          type: dict
          sample: {link: /opt/rocm-6.0.0, installs: [{path: /opt/rocm-6.0.0, version: 6.0.0-91}],
                   alternatives: [{name: rocm, link: /opt/rocm, automatic: true,
                                   candidates: [{path: /opt/rocm-6.0.0, priority: 60000}]}]}
        ldconfig:
          description: HIP and HSA libraries in the loader's cache.
          type: dict
          sample: {libamdhip64.so.6: /opt/rocm/lib/libamdhip64.so.6}
        groups:
          description: The groups V(render) and V(video).
          type: dict
          sample: {render: {gid: 109, members: [alice]}, video: {gid: 44, members: []}}
        users:
          description: The users asked for, null for one that does not exist. The primary group comes first.
          type: dict
          sample: {alice: {uid: 1000, home: /home/alice, shell: /bin/bash, groups: [alice, render]}, typo: null}
        sessions:
          description:
            - Users asked for with a login session that is older than their groups. C(missing) are those of the groups
              V(render) and V(video) that the user has and a process of the session lacks.
          type: list
          elements: dict
          sample: [{user: alice, missing: [render, video]}]
        environment:
          description:
            - Variables of ROCm and of the loader that are set in files every login reads or the users asked for have in
              their homes, not expanded. A C(PATH) is among them only if it names a tree of one ROCm version.
          type: list
          elements: dict
          sample: [{variable: HSA_OVERRIDE_GFX_VERSION, value: 10.3.0, file: /etc/environment}]
        disk:
          description: Space by path in MiB, of the nearest existing parent. What is reserved for root is not free.
          type: dict
          sample: {/opt: {free_mb: 51200, total_mb: 102400}}
        python:
          description:
            - Interpreters /usr/bin/python3.N, newest first. C(default) marks the one behind python3. C(venv) tells
              whether it can make a virtual environment with pip.
          type: list
          elements: dict
          sample: [{path: /usr/bin/python3.10, version: "3.10", default: true, venv: true}]
        venvs:
          description:
            - The virtual environments asked for, with the packages in them that concern GPUs.
            - C(usable) means an interpreter and pip are there, C(occupied) that something else lies at the path.
          type: list
          elements: dict
          sample:
            - path: /opt/venvs/torch
              exists: true
              usable: true
              occupied: false
              python: "3.10"
              packages: {torch: 2.3.0+rocm6.0, pip: 22.0.2}
        problems:
          description: Parts that could not be read, and the first error of apt.
          type: list
          elements: dict
          sample: [{section: apt, message: "E: The list of sources could not be read."}]
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.gpufleet.rocm.plugins.module_utils.gather import gather


def main() -> None:
    """Read the options, gather, and return."""
    module = AnsibleModule(
        argument_spec={
            "root": {"type": "path", "default": "/"},
            "users": {"type": "list", "elements": "str", "default": []},
            "venvs": {"type": "list", "elements": "path", "default": []},
        },
        supports_check_mode=True,
    )
    options = module.params
    module.exit_json(
        changed=False,
        ansible_facts={"rocm": gather(options["root"], options["users"], options["venvs"])},
    )


if __name__ == "__main__":
    main()
