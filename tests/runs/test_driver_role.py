"""The role rocm_driver in real ansible-playbook runs, where every command that would touch a machine is a stand-in."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.unit.documents import plan_of
from tests.unit.facts_builder import bare_server, booted, carried_out, dkms, merged, package

ROOT = Path(__file__).resolve().parents[2]
PLAYBOOK = Path(sys.executable).parent / "ansible-playbook"
KERNEL, NEXT = "5.15.0-105-generic", "5.15.0-119-generic"
NEW, OLD = "1:6.3.6.60000-1697589.22.04", "1:6.2.4.50700-1652687.22.04"
PACKAGES = ("amdgpu-dkms", "amdgpu-dkms-firmware")
# Folders of a host that the role looks into or writes to; here they are below a folder of the test.
FOLDERS = (
    "/boot",
    "/usr/bin/lsinitramfs",
    "/etc/modprobe.d",
    "/var/lib/gpufleet.rocm",
    "/var/lib/dkms",
    "/var/cache/apt/archives",
)

# The commands, all in one: what they are told is logged, what they know is in state.json.
COMMAND = r"""#!{python}
import json, os, pathlib, re, sys
home = pathlib.Path("{home}")
name, arguments = os.path.basename(sys.argv[0]), sys.argv[1:]
state = json.loads((home / "state.json").read_text())
with (home / "log").open("a") as log:
    print(name, *arguments, file=log)
packages, modules = state["packages"], state["modules"]


def dkms_version(version):
    return re.sub(r"\.\d{{5}}-", "-", version.partition(":")[2])


def build(kernel):
    version = packages["amdgpu-dkms"]
    if version in state["failing"]:
        folder = home / "var/lib/dkms/amdgpu" / dkms_version(version) / "build"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "make.log").write_text("CC [M] a.o\namdgpu.c:7:3: error: too few arguments\nmake: *** Error 2\n")
        (home / "etc/modprobe.d/blacklist-amdgpu.conf").write_text("blacklist amdgpu\n")
        save()
        print("Error! Bad return status for module build on kernel: %s (x86_64)" % kernel)
        sys.exit("Consult /var/lib/dkms/amdgpu/%s/build/make.log for more information." % dkms_version(version))
    modules[kernel] = dkms_version(version)


def save():
    (home / "state.json").write_text(json.dumps(state))


def install(wanted):
    packages.update(wanted)
    for kernel in state["built_by_package"]:
        build(kernel)


def purge(names):
    for one in names:
        packages.pop(one, None)
    modules.clear()


if name == "apt":
    request = json.loads(arguments[0])
    if request["state"] == "absent":
        purge(request["name"])
    else:
        names = [one.partition("=")[0] for one in request["name"]]
        versions = [one.partition("=")[2] for one in request["name"]]
        if any(version and "*" not in version for version in versions):
            sys.exit("E: Version not found")
        for one in names:
            if one.startswith("amdgpu"):
                version = state["offered"].replace(":", "%3a")
                (home / "var/cache/apt/archives" / ("%s_%s_all.deb" % (one, version))).touch()
        install(dict.fromkeys(names, state["offered"]))
elif name == "dpkg-query" and arguments[0] == "--listfiles":
    print("/usr/src/amdgpu-%s/dkms.conf" % dkms_version(packages["amdgpu-dkms"]))
elif name == "dpkg-query":
    known = [one for one in arguments[2:] if one in packages]
    for one in known:
        values = {{"Package": one, "Version": packages[one], "Architecture": "all", "db:Status-Status": "installed"}}
        line = re.sub(r"\$\{{(.*?)\}}", lambda match: values[match[1]], arguments[1].partition("=")[2])
        sys.stdout.write(line.replace("\\n", "\n"))
    sys.exit(0 if len(known) == len(arguments[2:]) else 1)
elif name == "dpkg" and arguments[0] == "--install":
    files = [os.path.basename(path).split("_") for path in arguments[1:]]
    install({{file[0]: file[1].replace("%3a", ":") for file in files}})
elif name == "dpkg" and arguments[0] == "--get-selections":
    print("%s\t%s" % (arguments[1], "hold" if arguments[1] in state["held"] else "install"))
elif name == "dpkg" and arguments[0] == "--set-selections":
    one, selection = sys.stdin.read().split()
    state["held"] = [held for held in state["held"] if held != one] + ([one] if selection == "hold" else [])
elif name == "dkms" and arguments[0] == "status":
    for kernel, version in modules.items():
        print("amdgpu/%s, %s, x86_64: installed" % (version, kernel))
elif name == "dkms" and arguments[0] == "install":
    build(arguments[arguments.index("-k") + 1])
elif name == "modinfo":
    kernel = arguments[arguments.index("-k") + 1]
    if "-F" in arguments:
        print("SRC")
    elif kernel in modules:
        print("filename:       /lib/modules/%s/updates/dkms/amdgpu.ko" % kernel)
        print("version:        %s" % modules[kernel].partition("-")[0])
        print("signer:         %s" % state["signer"])
    else:
        print("filename:       /lib/modules/%s/kernel/drivers/gpu/drm/amd/amdgpu/amdgpu.ko" % kernel)
elif name == "lsinitramfs":
    print("usr/lib/modules/x/updates/dkms/amdgpu.ko")
elif name == "dmesg":
    print("amdgpu 0000:2f:00.0: amdgpu: PCI rejects atomics")
save()
"""
NAMES = ("apt", "dpkg", "dpkg-query", "dkms", "modinfo", "depmod", "update-initramfs", "lsinitramfs", "dmesg")
# Runs the stand-in of apt where the real module would run apt; a reboot gives the host the facts that are to follow it.
APT = """
import json
from ansible.module_utils.basic import AnsibleModule
module = AnsibleModule({name: {"type": kind} for name, kind in {
    "name": "list", "state": "str", "purge": "bool", "lock_timeout": "int", "allow_downgrade": "bool"}.items()})
code, output, errors = module.run_command(["apt", json.dumps(module.params)])
if code:
    module.fail_json(msg="apt failed", stdout=output, stderr=errors)
module.exit_json(changed=True)
"""
REBOOT = """
import pathlib
from ansible.module_utils.basic import AnsibleModule
module = AnsibleModule({"reboot_timeout": {"type": "int"}, "msg": {}})
pathlib.Path("%s/rebooted").touch()
module.exit_json(changed=True, rebooted=True)
"""
FACTS = """
import json, pathlib
from ansible.plugins.action import ActionBase


class ActionModule(ActionBase):
    def run(self, tmp=None, task_vars=None):
        home = pathlib.Path("%s")
        answers = json.loads((home / "facts.json").read_text())
        when = "rebooted" if (home / "rebooted").exists() else "after" if (home / "log").exists() else "before"
        return {"ansible_facts": {"rocm": answers[when]}}
"""
PROBE = """
from ansible.plugins.action import ActionBase


class ActionModule(ActionBase):
    def run(self, tmp=None, task_vars=None):
        return {"urls": {}, "keys": {}}
"""
# The local connection under another name: the role never reboots the machine that Ansible runs on.
NEAR = """
DOCUMENTATION = "name: near\\nshort_description: local\\ndescription: local\\nauthor: gpufleet\\noptions: {}"
from ansible.plugins.connection.local import Connection as Local


class Connection(Local):
    transport = "gpufleet.rocm.near"
"""


class Machine:
    """One host with its state, and a copy of the collection that only touches it."""

    def __init__(self, home: Path) -> None:
        self.home = home
        for folder in FOLDERS:
            (home / folder[1:]).mkdir(parents=True)
        (home / "bin").mkdir()
        for name in NAMES:
            (home / "bin" / name).write_text(COMMAND.format(python=sys.executable, home=home))
            (home / "bin" / name).chmod(0o755)
        collection = home / "collections/ansible_collections/gpufleet/rocm"
        for name in ("plugins", "roles", "meta"):
            shutil.copytree(ROOT / name, collection / name)
        shutil.copy(ROOT / "galaxy.yml", collection)
        plugins = collection / "plugins"
        (plugins / "connection").mkdir()
        (plugins / "connection/near.py").write_text(NEAR)
        (plugins / "modules/apt.py").write_text(APT)
        (plugins / "modules/reboot.py").write_text(REBOOT % home)
        (plugins / "action/rocm_facts.py").write_text(FACTS % home)
        (plugins / "action/rocm_probe.py").write_text(PROBE)
        stage = plugins / "plugin_utils/stages/driver.py"
        stage.write_text(stage.read_text().replace("/var/lib/dkms", f"{home}/var/lib/dkms"))
        for path in (collection / "roles").glob("*/*/*.yml"):
            text = path.read_text()
            for folder in FOLDERS:
                text = text.replace(folder, f"{home}{folder}")
            text = text.replace("path: /dev/kfd\n        timeout: 300", f"path: {home}/kfd\n        timeout: 1")
            text = text.replace("delay: 10", "delay: 1")
            text = re.sub(r" +(?:owner|group): root\n", "", text)
            for module in ("apt", "reboot"):
                text = text.replace(f"ansible.builtin.{module}:", f"gpufleet.rocm.{module}:")
            path.write_text(text)

    def run(self, facts: dict[str, Any], state: dict[str, Any], *options: str, **wishes: Any) -> Any:
        """Run the role; ``facts`` are those before, after and rebooted; the later as the earlier where not given."""
        known = {"packages": {}, "modules": {}, "failing": [], "offered": NEW, "held": [], "signer": "", **state}
        known.setdefault("built_by_package", [KERNEL])
        (self.home / "state.json").write_text(json.dumps(known))
        facts.setdefault("after", facts["before"])
        facts.setdefault("rebooted", facts["after"])
        (self.home / "facts.json").write_text(json.dumps(facts))
        play = {
            "hosts": "all",
            "gather_facts": False,
            "environment": {"PATH": f"{self.home}/bin:{os.environ['PATH']}"},
            "tasks": [
                {"ansible.builtin.include_role": {"name": "gpufleet.rocm.rocm_driver"}},
                {"ansible.builtin.debug": {"msg": "left to do: {{ rocm_driver_reboot_required }}"}},
            ],
        }
        (self.home / "play.yml").write_text(json.dumps([play]))
        variables = {
            "rocm_version": "6.0",
            "rocm_pytorch": False,
            "rocm_users": ["ada"],
            "rocm_repo_done": {},
            **wishes,
        }
        command = [str(PLAYBOOK), "-i", "gpu-1,", "play.yml", "-e", json.dumps(variables), *options]
        environment = {
            **os.environ,
            "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"),
            "ANSIBLE_COLLECTIONS_PATH": str(self.home / "collections"),
            "ANSIBLE_HOME": str(self.home / "home"),
            "ANSIBLE_ASYNC_DIR": str(self.home / "jobs"),
            "ANSIBLE_PYTHON_INTERPRETER": sys.executable,
            "ANSIBLE_NOCOLOR": "1",
        }
        done = subprocess.run(command, cwd=self.home, env=environment, text=True, capture_output=True, check=False)
        self.output = done.stdout + done.stderr
        self.code = done.returncode
        return json.loads((self.home / "state.json").read_text())

    def log(self) -> list[str]:
        """The commands that ran, without those that only look."""
        lines = (self.home / "log").read_text().splitlines()
        looks = ("dpkg-query", "modinfo", "dkms status", "dpkg --audit", "dpkg --get", "lsinitramfs", "dmesg")
        return [line for line in lines if not line.startswith(looks)]


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def bare() -> dict[str, Any]:
    """A bare server on which the repositories are set up already."""
    facts = bare_server()
    done = carried_out(facts, plan_of(facts, pytorch=False))
    return {**facts, "files": done["files"], "apt": done["apt"]}


def served(version: str = NEW, **changes: Any) -> dict[str, Any]:
    """A server that a driver of this version serves."""
    facts = bare_server()
    plan = plan_of(facts, pytorch=False)
    done = booted(carried_out(facts, plan), plan)
    return merged(done, {"packages": {name: package(name, version) for name in PACKAGES}, **changes})


def installed(version: str = NEW) -> dict[str, Any]:
    module = version.partition(":")[2].replace(".60000-", "-").replace(".50700-", "-")
    return {"packages": dict.fromkeys(PACKAGES, version), "modules": {KERNEL: module}}


def test_check_mode_names_what_a_real_run_does(machine: Machine) -> None:
    machine.run({"before": bare()}, {}, "--check", ansible_connection="local")
    assert machine.code == 0, machine.output
    assert "target: amdgpu-dkms-firmware" in machine.output
    assert not (machine.home / "log").exists()


KEY = {"path": "/var/lib/dkms/mok.pub", "name": "gpu-1 key", "enrolled": True}


def test_a_bare_server(machine: Machine) -> None:
    """Under Secure Boot, with a kernel that boots next and that the package does not build for, and a stale tree."""
    tree = machine.home / "var/lib/dkms/zfs/2.1.5"
    tree.mkdir(parents=True)
    (machine.home / f"boot/initrd.img-{NEXT}").touch()
    driver = {"signing_key": KEY, "dkms": [dkms("2.1.5", None, "broken", "zfs")]}
    facts = merged(bare(), {"kernel": {"next_boot": NEXT}, "secure_boot": "enabled", "driver": driver})
    after = {"before": facts, "after": served(driver={"loaded": False})}
    state = machine.run(after, {"signer": "gpu-1 key"}, ansible_connection="local")
    assert machine.code == 0, machine.output
    assert not tree.exists()
    assert state["modules"] == dict.fromkeys([KERNEL, NEXT], "6.3.6-1697589.22.04")
    assert machine.log()[-2:] == [
        f"dkms install -m amdgpu -v 6.3.6-1697589.22.04 -k {NEXT} --force",
        f"update-initramfs -u -k {NEXT}",
    ]
    kept = sorted(path.name for path in (machine.home / "var/lib/gpufleet.rocm/driver").iterdir())
    assert kept == sorted(f"{name}_{NEW.replace(':', '%3a')}_all.deb" for name in PACKAGES)
    assert "left to do: True" in machine.output
    assert not (machine.home / "rebooted").exists()


def test_in_sync_nothing_is_run(machine: Machine) -> None:
    machine.run({"before": served()}, installed(), ansible_connection="local")
    assert machine.code == 0, machine.output
    assert "changed=0" in machine.output
    assert "left to do: False" in machine.output
    assert not (machine.home / "log").exists()


def test_a_first_driver_that_does_not_build_leaves_the_kernels_own(machine: Machine) -> None:
    state = machine.run({"before": bare()}, {"failing": [NEW]}, ansible_connection="local")
    assert machine.code == 2
    assert not set(PACKAGES) & set(state["packages"])
    assert not list((machine.home / "etc/modprobe.d").iterdir())
    assert f"update-initramfs -u -k {KERNEL}" in machine.log()
    assert "make.log: amdgpu.c:7:3: error: too few arguments" in machine.output
    assert f"DKMS did not build amdgpu for kernel {KERNEL}" in machine.output
    assert "The host has the kernel's own driver now." in machine.output
    assert "dpkg is clean." in machine.output


def test_a_newer_driver_that_does_not_build_gives_way_to_the_former(machine: Machine) -> None:
    folder = machine.home / "var/lib/gpufleet.rocm/driver"
    folder.mkdir()
    for name in PACKAGES:
        (folder / f"{name}_{OLD.replace(':', '%3a')}_all.deb").touch()
    (machine.home / "etc/modprobe.d/amdgpu.conf").write_text("options amdgpu gpu_recovery=1\n")
    state = machine.run({"before": served(OLD)}, {**installed(OLD), "failing": [NEW]}, ansible_connection="local")
    assert machine.code == 2
    assert state["packages"] | dict.fromkeys(PACKAGES, OLD) == state["packages"]
    assert state["modules"] == {KERNEL: "6.2.4-1652687.22.04"}
    assert [path.name for path in (machine.home / "etc/modprobe.d").iterdir()] == ["amdgpu.conf"]
    assert f"The host has amdgpu-dkms {OLD} and amdgpu-dkms-firmware {OLD} now." in machine.output


def test_a_former_driver_that_is_nowhere_any_more_gives_way_to_the_kernels_own(machine: Machine) -> None:
    state = machine.run({"before": served(OLD)}, {**installed(OLD), "failing": [NEW]}, ansible_connection="local")
    assert machine.code == 2
    assert not set(PACKAGES) & set(state["packages"])
    assert "The host has the kernel's own driver now." in machine.output


def test_secure_boot_wants_the_enrolled_key(machine: Machine) -> None:
    facts = merged(bare(), {"secure_boot": "enabled", "driver": {"signing_key": KEY}})
    machine.run({"before": facts}, {"signer": "somebody else"}, ansible_connection="local")
    assert machine.code == 2
    assert "signed by somebody else" in machine.output
    assert "The host has the kernel's own driver now." in machine.output


def test_holds_are_recorded_and_lifted(machine: Machine) -> None:
    kernel = {"linux-generic": package("linux-generic", "5.15.0.105.102")}
    facts = served(packages=kernel)
    state = machine.run({"before": facts}, installed(), ansible_connection="local", rocm_hold=True)
    assert machine.code == 0, machine.output
    assert state["held"] == ["linux-generic", *PACKAGES]
    record = machine.home / "var/lib/gpufleet.rocm/holds"
    assert record.read_text().split() == state["held"]
    held = {name: {"held": True} for name in state["held"]}
    later = merged(facts, {"packages": held, "holds": state["held"]})
    (machine.home / "log").unlink()
    state = machine.run(
        {"before": later}, {**installed(), "held": [*state["held"], "theirs"]}, ansible_connection="local"
    )
    assert machine.code == 0, machine.output
    assert state["held"] == ["theirs"]
    assert not record.exists()


REMOTE = {"ansible_connection": "gpufleet.rocm.near", "rocm_reboot_ok": True}


def test_one_reboot_loads_the_driver(machine: Machine) -> None:
    (machine.home / "kfd").touch()
    waiting = served(driver={"srcversion": "OLD"})
    machine.run({"before": bare(), "after": waiting, "rebooted": served()}, {}, **REMOTE)
    assert machine.code == 0, machine.output
    assert (machine.home / "rebooted").exists()
    record = json.loads((machine.home / "var/lib/gpufleet.rocm/reboot.json").read_text())
    assert record == {"boot_id": "1111", "module": "SRC"}
    assert "left to do: False" in machine.output


def test_a_driver_that_does_not_come_fails_with_what_the_kernel_says(machine: Machine) -> None:
    machine.run({"before": bare(), "after": served(driver={"srcversion": "OLD"})}, {}, **REMOTE)
    assert machine.code == 2
    assert "pcie-atomics: amdgpu 0000:2f:00.0: amdgpu: PCI rejects atomics" in machine.output


def test_a_reboot_in_vain_is_not_repeated(machine: Machine) -> None:
    last = {"id": "0000", "module": "A" * 24}
    machine.run({"before": served(driver={"srcversion": "OLD"}, boot={"last": last})}, installed(), **REMOTE)
    assert machine.code == 0, machine.output
    assert not (machine.home / "rebooted").exists()
    assert "left to do: False" in machine.output
