"""What goes wrong after the plan: the host keeps a working apt, the reason is named, and a plain rerun converges."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from sandbox.fleet import hosts
from sandbox.upstream import faults
from tests.integration.conftest import Target, make_target

ROCM = "/repo.radeon.com/rocm/apt/6.0/"
FAULTS = [
    (f"{ROCM}dists/", "foreign-signature"),
    (f"{ROCM}dists/jammy/main/", "wrong-size"),
    ("/repo.radeon.com/rocm/rocm.gpg.key", "expired-key"),
    (f"{ROCM}pool/", "tampered"),
    ("/download.pytorch.org/whl/rocm6.0/torch-", "404"),
]


@pytest.fixture(scope="module")
def victim(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    """A host that gets a fresh start before each fault."""
    yield from make_target("test-victim", "10.77.0.33", "cpu", tmp_path_factory.mktemp("victim"))


@pytest.mark.parametrize(("prefix", "kind"), FAULTS, ids=[f"{kind} {prefix}" for prefix, kind in FAULTS])
def test_failure_names_its_reason_and_a_rerun_converges(victim: Target, prefix: str, kind: str) -> None:
    hosts.reset(victim.host.name)
    # A hardened host: what root makes is for root, unless a role says otherwise.
    victim.shell("echo 'Defaults umask=0077, umask_override' > /etc/sudoers.d/umask")
    faults.add(prefix, kind)
    run = victim.play()
    assert run.code == {"failed": 2, "refused": 3}[run.report["state"]], run.output[-3000:]
    assert run.report["reason"]
    if "/dists/" in prefix:
        assert not victim.shell("ls /etc/apt/sources.list.d | grep rocm || true")
    faults.clear()
    assert victim.shell("apt-get update 2>&1 | grep -E '^(W|E):' || true") == ""
    assert victim.shell("dpkg --audit") == ""
    again = victim.play()
    assert again.code == 0, again.output[-3000:]
    assert again.report["state"] == "done"


def test_packages_of_the_distribution_give_way(victim: Target) -> None:
    """Its rocminfo and hipcc sort higher, so that a pin of 600 alone would leave them."""
    hosts.reset(victim.host.name)
    victim.shell("apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -q -y rocminfo hipcc")
    run = victim.play(rocm_pytorch=False)
    assert run.code == 0, run.output[-3000:]
    assert ".60000-" in victim.shell("dpkg-query -W -f '${Version} ' rocminfo hipcc")
    assert victim.play(rocm_pytorch=False).report["state"] == "in sync"


def test_a_damaged_environment_is_made_anew(victim: Target) -> None:
    victim.play()
    victim.shell("rm -rf /opt/pytorch-rocm/lib")
    run = victim.play()
    assert (run.code, run.report["state"]) == (0, "done"), run.output[-3000:]
