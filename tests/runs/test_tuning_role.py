"""The role rocm_tuning in real ansible-playbook runs on a host below a folder: apply, again, and take back."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PLAYBOOK = Path(sys.executable).parent / "ansible-playbook"
GPU = "/sys/bus/pci/devices/0000:05:00.0"
GOVERNORS = "/sys/devices/system/cpu/cpufreq"
HOST = {
    f"{GPU}/vendor": "0x1002",
    f"{GPU}/device": "0x74a0",
    f"{GPU}/class": "0x120000",
    "/proc/cmdline": "ro quiet",
    "/proc/sys/kernel/numa_balancing": "1",
    "/proc/sys/vm/compaction_proactiveness": "0",
    "/proc/sys/vm/compact_unevictable_allowed": "1",
    f"{GOVERNORS}/policy0/scaling_governor": "schedutil",
    f"{GOVERNORS}/policy0/scaling_available_governors": "performance schedutil",
    f"{GOVERNORS}/policy1/scaling_governor": "powersave",
    f"{GOVERNORS}/policy1/scaling_available_governors": "performance powersave",
    "/boot/grub/grub.cfg": "\tlinux\t/vmlinuz ro quiet",
    "/usr/sbin/update-grub": "",
}
# Writes the menu as Debian's does: from the files of /etc/default/grub.d.
UPDATE_GRUB = """#!/bin/sh
if [ -e {home}/broken ]; then echo "grub-mkconfig: out of space" >&2; exit 1; fi
GRUB_CMDLINE_LINUX=
for file in {home}/etc/default/grub.d/*.cfg; do [ -e "$file" ] && . "$file"; done
printf '\\tlinux\\t/vmlinuz ro quiet%s\\n' "$GRUB_CMDLINE_LINUX" > {home}/boot/grub/grub.cfg
"""
SYSTEMD = """
import os
from ansible.module_utils.basic import AnsibleModule
module = AnsibleModule({"name": {}, "enabled": {"type": "bool"}, "daemon_reload": {"type": "bool"}})
name, wants = module.params["name"], "HOME/etc/systemd/system/multi-user.target.wants"
if not name:
    module.exit_json(changed=False)
assert os.path.exists("HOME/etc/systemd/system/" + name), "Could not find the requested service " + name
os.makedirs(wants, exist_ok=True)
if module.params["enabled"]:
    os.symlink("../" + name, wants + "/" + name)
else:
    os.unlink(wants + "/" + name)
module.exit_json(changed=True)
"""
# Every place of the host that code or role names.
PLACES = re.compile(r"(?<=[\"' ])/(?:proc|sys|etc|boot|usr/sbin|var/lib)/")


class Machine:
    """A host below a folder, and a copy of the collection that looks for everything there."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.host = home / "host"
        for path, value in HOST.items():
            place = self.host / path[1:]
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(value + "\n")
        (home / "bin").mkdir()
        (home / "bin/update-grub").write_text(UPDATE_GRUB.format(home=self.host))
        (home / "bin/update-grub").chmod(0o755)
        collection = home / "collections/ansible_collections/gpufleet/rocm"
        for name in ("plugins", "roles", "meta", "playbooks"):
            shutil.copytree(ROOT / name, collection / name)
        shutil.copy(ROOT / "galaxy.yml", collection)
        (collection / "plugins/modules/systemd_service.py").write_text(SYSTEMD.replace("HOME", str(self.host)))
        utils = collection / "plugins/module_utils"
        files = [utils / f"{name}.py" for name in ("performance", "tuning_files", "paths", "sysfs")]
        for file in [*files, *(collection / "roles/rocm_tuning").glob("*/*.yml")]:
            text = PLACES.sub(lambda match: f"{self.host}{match[0]}", file.read_text())
            text = text.replace("virtualization.gather(host)", '{"kind": "none", "name": ""}')
            text = text.replace("ansible.builtin.systemd_service:", "gpufleet.rocm.systemd_service:")
            text = text.replace("'/etc/default/grub[.]d/'", "'.*/etc/default/grub[.]d/'")
            file.write_text(re.sub(r" +(?:owner|group): root\n", "", text))

    def tree(self) -> dict[str, str]:
        """Every file of the host, by its own path."""
        files = (path for path in self.host.rglob("*") if path.is_file())
        return {f"/{path.relative_to(self.host)}": path.read_text().strip() for path in sorted(files)}

    def run(self, *options: str, **variables: object) -> str:
        """Run the playbook; the output with the recap at its end."""
        extra = json.dumps({"ansible_become": False, "rocm_tuning_unconfirmed": True, **variables})
        command = [str(PLAYBOOK), "-i", "apu-1,", "-c", "local", "gpufleet.rocm.tuning", "-e", extra, *options]
        environment = {
            **os.environ,
            "PATH": f"{self.home}/bin:{os.environ['PATH']}",
            "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"),
            "ANSIBLE_COLLECTIONS_PATH": str(self.home / "collections"),
            "ANSIBLE_HOME": str(self.home / "home"),
            "ANSIBLE_PYTHON_INTERPRETER": sys.executable,
            "ANSIBLE_NOCOLOR": "1",
        }
        done = subprocess.run(command, cwd=self.home, env=environment, text=True, capture_output=True, check=False)
        self.code = done.returncode
        return done.stdout + done.stderr


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def changed(output: str) -> int:
    found = re.search(r"changed=(\d+)", output)
    assert found, output
    return int(found[1])


def test_apply_again_and_take_back(machine: Machine) -> None:
    before = machine.tree()
    listed = ["numa-balancing", "memory-compaction", "cpu-governor"]
    checked = machine.run("--check", "--diff", rocm_tuning_apply=listed)
    assert machine.code == 0, checked
    assert machine.tree() == before
    assert changed(checked) > 0
    # Check mode says what a run would do, before there is anything to show a difference of.
    assert "write 0 into" in checked

    first = machine.run(rocm_tuning_apply=listed)
    assert machine.code == 0, first
    after = machine.tree()
    assert {after[path] for path in after if path.endswith("scaling_governor")} == {"performance"}
    assert (after["/proc/sys/kernel/numa_balancing"], after["/proc/sys/vm/compaction_proactiveness"]) == ("0", "20")
    assert json.loads(after["/var/lib/gpufleet.rocm/tuning.json"])["cpu-governor"] == {
        f"{machine.host}{GOVERNORS}/policy0/scaling_governor": "schedutil",
        f"{machine.host}{GOVERNORS}/policy1/scaling_governor": "powersave",
    }

    second = machine.run(rocm_tuning_apply=listed)
    assert (machine.code, changed(second)) == (0, 0), second
    assert machine.tree() == after

    back = machine.run(rocm_tuning_state="absent", rocm_tuning_apply=listed)
    assert machine.code == 0, back
    assert machine.tree() == before
    assert changed(machine.run(rocm_tuning_state="absent")) == 0


def as_mi300x(machine: Machine) -> Machine:
    (machine.host / GPU[1:] / "device").write_text("0x74a1\n")
    return machine


def test_the_boot_menu_takes_the_iommu_along_and_off(machine: Machine) -> None:
    before = as_mi300x(machine).tree()
    output = machine.run(rocm_tuning_apply=["iommu-passthrough"])
    assert machine.code == 0, output
    assert machine.tree()["/boot/grub/grub.cfg"].endswith("ro quiet iommu=pt")
    assert "A reboot is left to do." in output
    assert changed(machine.run(rocm_tuning_apply=["iommu-passthrough"])) == 0
    output = machine.run()
    assert machine.code == 0, output
    assert machine.tree() == before


@pytest.mark.parametrize("fault", ["update-grub fails", "another file sets the variable anew"])
def test_a_boot_menu_that_does_not_take_it_leaves_no_setting(machine: Machine, fault: str) -> None:
    as_mi300x(machine)
    folder = machine.host / "etc/default/grub.d"
    folder.mkdir(parents=True)
    if fault == "update-grub fails":
        (machine.host / "broken").touch()
    else:
        (folder / "99-site.cfg").write_text("GRUB_CMDLINE_LINUX=\n")
    output = machine.run(rocm_tuning_apply=["iommu-passthrough"])
    assert machine.code == 2
    assert "Next: run update-grub on the host" in output
    assert not (folder / "99-gpufleet-rocm.cfg").exists()


def test_what_is_not_applied_is_said(machine: Machine) -> None:
    before = machine.tree()
    # As `-e rocm_tuning_unconfirmed=false` has it: a text.
    output = machine.run(rocm_tuning_apply=["iommu-passthrough", "cpu-governor"], rocm_tuning_unconfirmed="false")
    assert (machine.code, changed(output)) == (0, 0)
    assert "AMD's guides do not ask for it with Instinct MI300A" in output
    assert "rocm_tuning_unconfirmed: true applies it all the same" in output
    assert machine.tree() == before


def test_a_wrong_setting_is_refused_before_anything_is_read(machine: Machine) -> None:
    output = machine.run(rocm_tuning_apply=["turbo"])
    assert machine.code == 2
    assert "value of rocm_tuning_apply must be one or more of" in output
