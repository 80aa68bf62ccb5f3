"""Whether the wheel index has what is to be installed: the wanted versions, for the Python of the host."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ansible_collections.gpufleet.rocm.plugins.plugin_utils.findings import Findings
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.rules.needs import (
    GONE,
    healthy,
    needs_wheels,
    told,
    unneeded,
)
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.stages import questions
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.stages.situation import Situation

Stages = Mapping[str, Mapping[str, Any]]
Answer = Mapping[str, Any]

# cp310-cp310, cp39-abi3, py3-none; the ABI cp313t is that of free-threaded builds.
TAG = re.compile(r"(?P<kind>cp|py)(?P<major>\d)(?P<minor>\d*)-(?P<abi>\w+)")


def pages(situation: Situation, stages: Stages, findings: Findings) -> None:
    """Every page must answer and hold a wheel that fits; one finding of a kind names them all."""
    answered = list(_answers(situation))
    failing = {url: told(answer) for url, _, answer in answered if not healthy(answer)}
    if not needs_wheels(stages):
        unneeded(failing, findings)
        return
    if failing:
        gone = all(answer["status"] in GONE for url, _, answer in answered if url in failing)
        findings.add(
            "repo-path-missing" if gone else "repo-unreachable",
            found="; ".join(f"{url} answers {answer}" for url, answer in failing.items()),
            expected="the page of wheels (200)",
            remedy="check rocm_pytorch_version and rocm_mirror_pytorch, network and proxy of this host; then run again",
        )
        return
    _name_missing(situation, answered, findings)


def _answers(situation: Situation) -> Iterator[tuple[str, str, Answer]]:
    """Address, '<project> <version>' and answer of every page that was asked for."""
    found = situation.probe.get("wheels", {})
    for question in questions(situation)["wheels"]:
        if question["url"] in found:
            yield question["url"], f"{question['project']} {question['version']}", found[question["url"]]


def _name_missing(situation: Situation, answered: list[tuple[str, str, Answer]], findings: Findings) -> None:
    if not situation.torch:
        return
    python, index = situation.torch["interpreter_version"], situation.torch["index_url"]
    absent = {wheel: answer["versions"] for _, wheel, answer in answered if not answer["tags"]}
    unfit = {
        wheel: answer["tags"]
        for _, wheel, answer in answered
        if answer["tags"] and not any(fits(tag, python) for tag in answer["tags"])
    }
    if absent:
        findings.add(
            "torch-no-index",
            found=f"{index} has no wheel of "
            + "; ".join(
                f"{wheel} (only {', '.join(versions)})" if versions else f"{wheel} (its page names no wheel)"
                for wheel, versions in absent.items()
            ),
            expected="wheels of " + ", ".join(f"{name} {at}" for name, at in situation.torch["packages"].items()),
            remedy="complete the mirror (rocm_mirror_pytorch), or set rocm_pytorch_version to one that the index has",
        )
    if unfit:
        findings.add(
            "python-no-wheel",
            found=f"{index} has " + "; ".join(f"{wheel} for {', '.join(tags)} only" for wheel, tags in unfit.items()),
            expected=f"wheels for Python {python}",
            remedy="complete the mirror (rocm_mirror_pytorch), or make another Python available on the host",
        )


def fits(tag: str, python: str) -> bool:
    """Whether a wheel with this tag runs on a Python version such as '3.10'."""
    major, minor = (int(part) for part in python.split(".")[:2])
    for name in tag.partition("-")[0].split("."):
        match = TAG.fullmatch(f"{name}-{tag.partition('-')[2]}")
        if not match or int(match["major"]) != major:
            continue
        older = int(match["minor"] or 0) <= minor
        if match["kind"] == "py":
            return older
        if (match["abi"] == "abi3" and older) or match["abi"] == f"cp{major}{minor}":
            return True
    return False
