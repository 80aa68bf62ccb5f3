"""What the package servers answered, and the keys."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any

from ansible_collections.gpufleet.rocm.plugins.module_utils import paths
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.findings import Findings
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.matrix import older_driver
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.rules.needs import (
    GONE,
    healthy,
    needed_sources,
    told,
    unneeded,
)
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.stages import questions, release_file
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.stages.situation import Situation

Stages = Mapping[str, Mapping[str, Any]]

COMMON_KEYRINGS = "/etc/apt/trusted.gpg"  # the file, and the folder with .d
EXPIRY_NOTICE = datetime.timedelta(days=30)


def answers(situation: Situation, stages: Stages, findings: Findings) -> None:
    """Every repository that this run fetches something from must answer."""
    needed = [release_file(source) for source in needed_sources(situation, stages)]
    failing: dict[str, str] = {}
    for url in questions(situation)["urls"]:
        answer = situation.probe["urls"].get(url)
        if answer is None or healthy(answer):
            continue
        if url not in needed:
            failing[url] = told(answer)
        elif answer["status"] in GONE:
            findings.add(
                "repo-path-missing",
                found=f"{url} answers {answer['status']}",
                expected="the repository of the wanted release (200)",
                remedy="check rocm_version and the rocm_mirror_* variables; then run again"
                + _other_driver(situation, url),
            )
        else:
            findings.add(
                "repo-unreachable",
                found=f"{url} gives {told(answer)}",
                expected="an answer of 200",
                remedy="check network, proxy and mirror from this host; then run again",
            )
    unneeded(failing, findings)


def _other_driver(situation: Situation, url: str) -> str:
    """AMD has published user space days before its driver (ROCm/ROCm#6156): name the newest one below it."""
    driver = next((source for source in situation.sources if source["name"] == "amdgpu"), None)
    if driver is None or not url.startswith(driver["uri"]):
        return ""
    older = older_driver(situation.release["driver"]["version"], situation.release["version"])
    return f"; or set rocm_driver_version: '{older}'" if older else ""


def keys(situation: Situation, stages: Stages, findings: Findings) -> None:
    """The key that a server hands out must be the pinned one, and must be there where one is to be written."""
    needed = {source["keyring"] for source in needed_sources(situation, stages)}
    for key in situation.keys:
        answer = situation.probe["keys"].get(key["url"])
        if answer is None:
            continue
        if answer["fingerprints"] and answer["fingerprints"] != [key["fingerprint"]]:
            findings.add(
                "key-mismatch",
                found=f"{key['url']} holds {', '.join(answer['fingerprints'])}",
                expected=key["fingerprint"],
                remedy="find out who changed the key; only then pin it in rocm_key_fingerprints",
            )
        elif answer.get("expires") and answer["expires"] < situation.today and key["path"] in needed:
            findings.add(
                "key-expired-on-server",
                found=f"{key['url']} holds a key that expired on {answer['expires']}",
                expected="a valid key; apt accepts nothing that is signed with this one",
                remedy="wait for the renewed key, or use a mirror that has it (rocm_mirror_*)",
            )
        elif not answer["content"] and any(file["path"] == key["path"] for file in stages["repo"]["keys"]):
            findings.add(
                "repo-path-missing" if answer["status"] in (200, *GONE) else "repo-unreachable",
                found=f"{key['url']} gives {told(answer)}",
                expected="the signing key",
                remedy="check rocm_mirror_* and the network from this host; then run again",
            )


def expiry(situation: Situation, _stages: Stages, findings: Findings) -> None:
    """Keys that have expired, or will soon, on the host and on the server: AMD renews them late."""
    soon = (datetime.date.fromisoformat(situation.today) + EXPIRY_NOTICE).isoformat()
    ours = {key["path"] for key in situation.keys}
    dates = {row["path"]: row["expires"] for row in situation.facts["apt"]["keyrings"] if row["path"] in ours}
    for key in situation.keys:
        date = situation.probe["keys"].get(key["url"], {}).get("expires")
        dates[key["url"]] = date if date and date >= situation.today else None
    for place, date in dates.items():
        if date and date < situation.today:
            findings.add(
                "key-expired",
                found=f"the key in {place} expired on {date}",
                expected="a valid key",
                remedy="nothing to do: the renewed key is fetched when the server has it",
            )
        elif date and date <= soon:
            findings.add(
                "key-expiring",
                found=f"the key in {place} expires on {date}",
                expected=f"a key that is valid for another {EXPIRY_NOTICE.days} days",
                remedy="run again before that day: the renewed key is fetched when the server has it",
            )


def pins(situation: Situation, _stages: Stages, findings: Findings) -> None:
    """Preferences of others about the same packages: they may keep ours away or let the distribution's win."""
    ours = (paths.ROCM_PIN, paths.REPLACE_PIN)
    foreign = [row for row in situation.facts["apt"]["pins"] if row["file"] not in ours]
    if foreign:
        findings.add(
            "pin-foreign",
            found="; ".join(
                f"{row['file']} gives {row['package']!r} priority {row['priority']} ({row['pin']})" for row in foreign
            ),
            expected="this product's own pin alone, where AMD's packages are concerned",
            remedy="look which version wins (apt-cache policy rocm-core amdgpu-dkms); take out what lets another win",
        )


def common_keyring(situation: Situation, _stages: Stages, findings: Findings) -> None:
    """AMD's key among those that apt trusts for every repository."""
    known = {key["fingerprint"] for key in situation.release["keys"]}
    for row in situation.facts["apt"]["keyrings"]:
        if row["path"].startswith(COMMON_KEYRINGS) and known & set(row["fingerprints"]):
            findings.add(
                "key-in-trusted-gpg",
                found=f"AMD's key is in {row['path']}, trusted for every repository",
                expected=f"the key in {paths.KEYRINGS_DIR} alone, named by the source that uses it",
                remedy=f"take it out of {row['path']} once no other source needs it",
            )
