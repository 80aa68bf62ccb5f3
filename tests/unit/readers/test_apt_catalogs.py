"""Every language that apt has: what its catalogs on this host make of a message is read like the English original."""

from __future__ import annotations

import gettext
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from ansible_collections.gpufleet.rocm.plugins.filter.apt_problems import apt_problems

LOCALES = Path("/usr/share/locale")
DOMAINS = ("apt", "libapt-pkg6.0", "libapt-pkg7.0")
LANGUAGES = sorted({path.parent.parent.name for path in LOCALES.glob("*/LC_MESSAGES/apt.mo")})
_CONVERSION = re.compile(r"%(?:(\d+)\$)?(?:llu|lu|[a-z])")

SITE = "https://repo.radeon.com/rocm/apt/6.5"
RELEASE = f"{SITE} noble InRelease"
FETCH = f"E: Failed to fetch {SITE}/dists/noble/main/binary-amd64/Packages.gz  "
LOCK = "/var/lib/dpkg/lock-frontend"
LISTS = "/etc/apt/sources.list.d"

# What stands before the message, the message as apt's sources have it, what is put in, the reading
MESSAGES: list[tuple[str, str, tuple[str, ...], str]] = [
    ("E: ", "Unable to locate package %s", ("rocm-hip-sdk",), "package-not-found"),
    ("E: ", "Couldn't find package %s", ("rocm-hip-sdk",), "package-not-found"),
    ("E: ", "Couldn't find any package by glob '%s'", ("rocm-hip-sdk6.0",), "package-not-found"),
    ("E: ", "Couldn't find any package by regex '%s'", ("rocm-hip-sdk6.0",), "package-not-found"),
    ("E: ", "Unsupported file %s given on commandline", ("./amdgpu-install.deb",), "package-not-found"),
    ("E: ", "Unable to locate package %s", ("linux-headers-6.8.0-41-generic",), "headers-missing"),
    ("E: ", "Package '%s' has no installation candidate", ("rocm-dkms",), "package-no-candidate"),
    ("E: ", "Version '%s' for '%s' was not found", ("6.4.0.60400-47~24.04", "rocm-core"), "package-version-missing"),
    (" app : Depends: libpython3.10 ", "but it is not installable", (), "suite-mismatch"),
    ("E: ", "Unable to correct problems, you have held broken packages.", (), "unmet-dependencies"),
    (
        "E: ",
        "Error, pkgProblemResolver::Resolve generated breaks, this may be caused by held packages.",
        (),
        "unmet-dependencies",
    ),
    ("E: ", "The repository '%s' does not have a Release file.", (f"{SITE} noble Release",), "repo-path-missing"),
    ("E: ", "The repository '%s' no longer has a Release file.", (f"{SITE} noble Release",), "repo-path-missing"),
    ("E: ", "The repository '%s' is not signed.", (RELEASE,), "repo-unsigned"),
    ("E: ", "The repository '%s' is no longer signed.", (RELEASE,), "repo-unsigned"),
    (FETCH, "Hash Sum mismatch", (), "mirror-out-of-sync"),
    (f"Err:1 {SITE} noble/main amd64 Packages\n  ", "Hash Sum mismatch", (), "mirror-out-of-sync"),
    (FETCH, "File has unexpected size (%llu != %llu). Mirror sync in progress?", ("2", "1"), "mirror-out-of-sync"),
    (
        "E: ",
        "Release file for %s is not valid yet (invalid for another %s)."
        " Updates for this repository will not be applied.",
        (f"{SITE}/dists/noble/InRelease", "3h 2min 1s"),
        "clock-wrong",
    ),
    (
        "E: ",
        "Release file for %s is expired (invalid since %s). Updates for this repository will not be applied.",
        (f"{SITE}/dists/noble/InRelease", "1d 2h"),
        "repo-expired",
    ),
    (
        "E: ",
        "Repository '%s' changed its '%s' value from '%s' to '%s'",
        (RELEASE, "Label", "a", "b"),
        "repo-info-changed",
    ),
    ("W: ", "Conflicting distribution: %s (expected %s but got %s)", (RELEASE, "noble", "jammy"), "suite-mismatch"),
    (
        "W: ",
        "Skipping acquire of configured file '%s' as repository '%s' doesn't have the component '%s'"
        " (component misspelt in sources.list?)",
        ("mian/binary-amd64/Packages", RELEASE, "mian"),
        "repo-path-missing",
    ),
    (
        "E: ",
        "Conflicting values set for option %s regarding source %s %s: %s != %s",
        ("Signed-By", f"{SITE}/", "noble", "/etc/apt/keyrings/a.gpg", "/etc/apt/keyrings/b.asc"),
        "signed-by-conflict",
    ),
    (
        "W: ",
        "Target %s (%s) is configured multiple times in %s and %s",
        ("Packages", "main/binary-amd64/Packages", f"{LISTS}/a.list:1", f"{LISTS}/b.sources:1"),
        "source-duplicate",
    ),
    (
        "N: ",
        "Ignoring file '%s' in directory '%s' as it has no filename extension",
        ("rocm", f"{LISTS}/"),
        "source-file-ignored",
    ),
    ("E: ", "Malformed entry %u in list file %s (%s)", ("1", f"{LISTS}/rocm.list", "Suite"), "source-malformed"),
    ("E: ", "Type '%s' is not known on line %u in source list %s", ("x", "1", f"{LISTS}/a.list"), "source-malformed"),
    (f"W: {SITE}/dists/noble/InRelease  ", "Could not resolve '%s'", ("repo.radeon.com",), "repo-unreachable"),
    (
        f"W: {SITE}/dists/noble/InRelease  ",
        "Temporary failure resolving '%s'",
        ("repo.radeon.com",),
        "repo-unreachable",
    ),
    (
        f"Err:1 {RELEASE}\n  ",
        "Could not connect to %s:%s (%s), connection timed out",
        ("repo.radeon.com", "443", "192.0.2.1"),
        "repo-unreachable",
    ),
    ("E: ", "The method driver %s could not be found.", ("/usr/lib/apt/methods/https",), "apt-https-missing"),
    ("E: ", "You don't have enough free space in %s.", ("/var/cache/apt/archives/",), "disk-space"),
    ("E: ", "Could not get lock %s", (LOCK,), "apt-locked"),
    ("E: ", "Unable to acquire the dpkg frontend lock (%s), is another process using it?", (LOCK,), "apt-locked"),
    ("E: ", "Unable to lock the administration directory (%s), is another process using it?", (LOCK,), "apt-locked"),
    ("E: ", "Unable to acquire the dpkg frontend lock (%s), are you root?", (LOCK,), "root-required"),
    ("E: ", "Unable to lock the administration directory (%s), are you root?", (LOCK,), "root-required"),
    ("E: ", "Executing dpkg failed. Are you root?", (), "root-required"),
    (
        "E: ",
        "dpkg was interrupted, you must manually run '%s' to correct the problem. ",
        ("sudo dpkg --configure -a",),
        "dpkg-broken",
    ),
    (
        "E: ",
        "The package %s needs to be reinstalled, but I can't find an archive for it.",
        ("rock-dkms",),
        "dpkg-broken",
    ),
    ("E: ", "Sub-process %s returned an error code (%u)", ("/usr/bin/dpkg", "1"), "dpkg-broken"),
    (
        "N: ",
        "Skipping acquire of configured file '%s' as repository '%s' doesn't support architecture '%s'",
        ("main/binary-i386/Packages", RELEASE, "i386"),
        "",
    ),
    ("N: ", "Updating from such a repository can't be done securely, and is therefore disabled by default.", (), ""),
]
# As good as not found; titles that are no messages.
NEAR = ("Can not find", "Unable to find a source package", "No packages found", "Broken packages")


@cache
def catalog(language: str) -> dict[str, str]:
    """All messages of apt in one language."""
    found: dict[str, str] = {}
    for domain in DOMAINS:
        path = LOCALES / language / "LC_MESSAGES" / f"{domain}.mo"
        if path.exists():
            with path.open("rb") as file:
                messages = gettext.GNUTranslations(file)._catalog  # type: ignore[attr-defined]
            found.update({key: text for key, text in messages.items() if isinstance(key, str) and key and text})
    return found


def filled(message: str, values: tuple[str, ...]) -> str:
    """A message with values in place of its conversions, numbered or in their order."""
    rest = iter(values)
    return _CONVERSION.sub(lambda match: values[int(match[1]) - 1] if match[1] else next(rest, "it"), message)


def ids(text: str) -> list[str]:
    return [problem["id"] for problem in apt_problems(text)]


@pytest.mark.parametrize(("before", "message", "values", "id"), MESSAGES)
def test_the_original(before: str, message: str, values: tuple[str, ...], id: str) -> None:
    assert ids(before + filled(message, values)) == ([id] if id else [])


@pytest.mark.parametrize("language", LANGUAGES or [pytest.param("", marks=pytest.mark.skip("no catalogs of apt here"))])
def test_a_language(language: str) -> None:
    translated = catalog(language)
    wrong = {}
    for before, message, values, id in MESSAGES:
        if message in translated:
            text = before + filled(translated[message], values)
            if ids(text) != ([id] if id else []):
                wrong[text] = ids(text)
    assert wrong == {}


def others(language: str) -> Iterator[tuple[str, str]]:
    """The messages that mean none of the above, in both languages."""
    known = {message for _, message, _, _ in MESSAGES}
    for message, text in catalog(language).items():
        if message not in known and not message.startswith(NEAR):
            values = ("x",) * 9
            yield f"E: {filled(message, values)}", f"E: {filled(text, values)}"


@pytest.mark.parametrize("language", LANGUAGES or [pytest.param("", marks=pytest.mark.skip("no catalogs of apt here"))])
def test_what_apt_says_otherwise(language: str) -> None:
    pairs = list(others(language))
    translated = {problem["evidence"] for problem in apt_problems("\n".join(text for _, text in pairs))}
    assert [
        (original, text)
        for original, text in pairs
        if not translated.isdisjoint(text.split("\n")) and ids(text) != ids(original)
    ] == []
