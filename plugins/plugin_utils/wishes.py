"""The operator's wishes, checked and brought into one form.

The variables and their defaults live in ``roles/rocm_plan``; here they become typed values, and a bad value becomes
one clear refusal instead of a traceback half-way through a run.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from ansible_collections.gpufleet.rocm.plugins.plugin_utils.addresses import SECRET
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.errors import DecisionError
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.findings import overridable

DRIVER_MODES = ("auto", "dkms", "inbox", "none")
VERSIONS = ("version", "driver_version", "pytorch_version")
MIRRORS = ("radeon", "amd", "amd_stable", "pytorch")
# Debian policy 5.6.7, plus the version suffix of side-by-side packages.
PACKAGE_NAME = re.compile(r"[a-z0-9][a-z0-9+.-]+")
# What adduser accepts, plus the dots, capitals and trailing $ of directory services.
USER_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.@-]*\$?")
URL = re.compile(r"https?://[A-Za-z0-9._~:/@%\[\]-]+")
ABSOLUTE_PATH = re.compile(r"(?:/[A-Za-z0-9._+@-]+)+/?")
TASK_FILE = re.compile(r"[^\x00-\x1f{}]+\.ya?ml")
BATCH = re.compile(r"[1-9]\d*|(?:[1-9]\d?|100)%")
FINGERPRINT = re.compile(r"[0-9A-F]{40}|[0-9A-F]{64}")


@dataclass(frozen=True)
class Wishes:
    """What the operator wants of one host; see ``roles/rocm_plan/meta/argument_specs.yml`` for each field."""

    version: Any = "6.0"
    driver_mode: str = "auto"
    driver_version: str | None = None
    packages: tuple[str, ...] = ()
    users: tuple[str, ...] = ()
    pytorch: bool = True
    pytorch_version: str | None = None
    pytorch_venv: str = "/opt/pytorch-rocm"
    ld_library_path: bool = False
    reboot_ok: bool = False
    hold: bool = False
    # Sizes of the batches; empty means what the playbook prefers.
    serial: tuple[str, ...] = ()
    max_fail_percentage: int = 0
    drain_tasks: str | None = None
    restore_tasks: str | None = None
    # A number means exactly that many, True at least one, None no expectation.
    expect_gpus: int | bool | None = None
    verify_user: str | None = None
    mirrors: Mapping[str, str] = field(default_factory=dict)
    key_fingerprints: Mapping[str, str] = field(default_factory=dict)
    allow: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Plain data for the plan and the report."""
        plain = asdict(self)
        for name in ("packages", "users", "serial", "allow"):
            plain[name] = list(plain[name])
        return plain


def parse_wishes(raw: Mapping[str, Any]) -> Wishes:
    """Check the raw variables (keys without the ``rocm_`` prefix) and return them typed.

    Raises DecisionError ``wish-invalid`` for the first value that cannot be used.
    """
    raw = {**raw, **{name: said(raw[name]) for name in VERSIONS if name in raw}}
    mode = str(raw.get("driver_mode", "auto"))
    if mode not in DRIVER_MODES:
        raise _invalid("rocm_driver_mode", mode, "one of " + ", ".join(DRIVER_MODES))
    allow = _names(raw, "allow", re.compile(r"[a-z0-9-]+"), "a list of decision ids")
    for id in allow:
        if id not in overridable():
            raise _invalid("rocm_allow", id, "ids that can be overridden: " + ", ".join(overridable()))
    return Wishes(
        version=raw.get("version", Wishes.version),
        driver_mode=mode,
        driver_version=_text(raw, "driver_version", re.compile(r"\d+(\.\d+){1,3}"), "a version such as 30.30.1"),
        packages=_names(raw, "packages", PACKAGE_NAME, "a list of package names"),
        users=_names(raw, "users", USER_NAME, "a list of user names"),
        pytorch=_flag(raw, "pytorch", True),
        pytorch_version=_text(raw, "pytorch_version", re.compile(r"\d+(\.\d+){1,3}"), "a version such as 2.3.0"),
        pytorch_venv=(_text(raw, "pytorch_venv", ABSOLUTE_PATH, "an absolute path") or Wishes.pytorch_venv).rstrip("/"),
        ld_library_path=_flag(raw, "ld_library_path", False),
        reboot_ok=_flag(raw, "reboot_ok", False),
        hold=_flag(raw, "hold", False),
        serial=_batches(raw),
        max_fail_percentage=_percentage(raw, "max_fail_percentage"),
        drain_tasks=_text(raw, "drain_tasks", TASK_FILE, "the path of a task file"),
        restore_tasks=_text(raw, "restore_tasks", TASK_FILE, "the path of a task file"),
        expect_gpus=_count(raw),
        verify_user=_text(raw, "verify_user", USER_NAME, "a user name"),
        mirrors=_mapping(raw, "mirrors", URL, "a URL (http or https, no spaces)", MIRRORS),
        key_fingerprints=_mapping(raw, "key_fingerprints", FINGERPRINT, "40 hexadecimal digits", ("radeon", "amd")),
        allow=allow,
    )


def said(version: Any) -> Any:
    """A version as the inventory says it, out of the list of one that keeps its type on the way."""
    return version[0] if isinstance(version, list) and len(version) == 1 else version


def _invalid(variable: str, found: object, expected: str) -> DecisionError:
    return DecisionError(
        "wish-invalid",
        found=f"{variable} is {found!r}",
        expected=expected,
        remedy=f"correct {variable} in the inventory (README, Variables)",
    )


def _names(raw: Mapping[str, Any], name: str, form: re.Pattern[str], expected: str) -> tuple[str, ...]:
    value = raw.get(name)
    if value is None or value == "":
        return ()
    if not isinstance(value, (list, tuple)):
        raise _invalid(f"rocm_{name}", value, expected)
    for item in value:
        if not isinstance(item, str) or not form.fullmatch(item):
            raise _invalid(f"rocm_{name}", item, expected)
    return tuple(dict.fromkeys(str(item) for item in value))


def _text(raw: Mapping[str, Any], name: str, form: re.Pattern[str], expected: str) -> str | None:
    value = raw.get(name)
    if value is None or value == "":
        return None
    if isinstance(value, float):
        raise _invalid(f"rocm_{name}", value, f"{expected}, in quotes: YAML reads 2.10 as 2.1")
    if not isinstance(value, (str, int)) or isinstance(value, bool) or not form.fullmatch(str(value)):
        raise _invalid(f"rocm_{name}", value, expected)
    return str(value)


def _flag(raw: Mapping[str, Any], name: str, default: bool) -> bool:
    value = raw.get(name)
    if value is None or value == "":
        return default
    words = {
        "true": True,
        "yes": True,
        "on": True,
        "1": True,
        "false": False,
        "no": False,
        "off": False,
        "0": False,
    }
    if isinstance(value, bool):
        return value
    if str(value).lower() not in words:
        raise _invalid(f"rocm_{name}", value, "true or false")
    return words[str(value).lower()]


def _batches(raw: Mapping[str, Any]) -> tuple[str, ...]:
    value = raw.get("serial")
    if value is None or value == "":
        return ()
    batches = [str(item) for item in value] if isinstance(value, (list, tuple)) else [str(value)]
    for batch in batches:
        if not BATCH.fullmatch(batch):
            raise _invalid("rocm_serial", batch, "a list of numbers of hosts and percentages such as ['1', '25%']")
    return tuple(batches)


def _percentage(raw: Mapping[str, Any], name: str) -> int:
    value = str(raw.get(name) or 0)
    if not re.fullmatch(r"\d{1,2}|100", value, re.ASCII):
        raise _invalid(f"rocm_{name}", value, "a number from 0 to 100")
    return int(value)


def _count(raw: Mapping[str, Any]) -> int | bool | None:
    value = raw.get("expect_gpus")
    if value is None or value == "":
        return None
    if str(value).lower() in ("true", "yes"):
        return True
    if str(value).lower() in ("false", "no"):
        return 0
    if not str(value).isascii() or not str(value).isdigit():
        raise _invalid("rocm_expect_gpus", value, "a number of GPUs, true or false")
    return int(value)


def _mapping(
    raw: Mapping[str, Any], name: str, form: re.Pattern[str], expected: str, known: tuple[str, ...]
) -> dict[str, str]:
    value = raw.get(name) or {}
    if not isinstance(value, Mapping):
        raise _invalid(f"rocm_{name}", value, "a mapping with keys of " + ", ".join(known))
    result = {}
    for key, item in value.items():
        if item is None or item == "":
            continue
        text = str(item).replace(" ", "").upper() if form is FINGERPRINT else str(item).rstrip("/")
        if key not in known or not form.fullmatch(text):
            raise _invalid(
                f"rocm_{name}[{key}]", SECRET.sub("//***@", str(item)), f"{expected} under one of " + ", ".join(known)
            )
        result[str(key)] = text
    return result
