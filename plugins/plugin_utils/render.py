"""Text of the files that are written to a host. Values that could smuggle in another line are refused."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from ansible_collections.gpufleet.rocm.plugins.plugin_utils.errors import DecisionError

HEADER = "# Managed by gpufleet.rocm; local changes are overwritten.\n"

# What AMD's driver package says of the device nodes, for hosts whose driver came without it.
UDEV_RULE = (
    HEADER
    + 'SUBSYSTEM=="kfd", KERNEL=="kfd", GROUP="render", MODE="0660"\n'
    + 'SUBSYSTEM=="drm", KERNEL=="renderD*", GROUP="render", MODE="0660"\n'
)

_WORD = re.compile(r"[!-~]+")  # printable ASCII without space: one field, one list item
_DIRECTORY = re.compile(r"/[A-Za-z0-9._+@/-]*")  # nothing that a shell or ld.so.conf would interpret
_PACKAGE = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?")
_RELEASE = re.compile(r"[0-9][A-Za-z0-9.!_-]*(\+[A-Za-z0-9.]+)?")
_ORIGIN = re.compile(r"[A-Za-z0-9]([A-Za-z0-9 ._-]*[A-Za-z0-9])?")
_FILE = re.compile(r"/[!-~]*")

# One loop serves both variables. It runs with `set -eu`, leaves no name behind but the variable itself, and puts
# a directory to the front once. The list is walked from its end, so that its first directory ends up first.
_PROFILE_BLOCK = """\
for rocm_directory in {reversed}; do
    if [ -d "$rocm_directory" ]; then
        case ":${{{variable}:-}}:" in
            *":$rocm_directory:"*) ;;
            *) export {variable}="$rocm_directory${{{variable}:+:${variable}}}" ;;
        esac
    fi
done
unset rocm_directory
"""


def deb822_source(source: Mapping[str, object]) -> str:
    """An apt source in deb822 form from one item of a release's `sources`.

    Needs uri, suite, components, architectures and keyring. Raises DecisionError `wish-invalid`.
    """
    fields = {
        "Types": "deb",
        "URIs": _checked(_WORD, source, "uri"),
        "Suites": _checked(_WORD, source, "suite"),
        "Components": _words(source, "components"),
        "Architectures": _words(source, "architectures"),
        "Signed-By": _checked(_FILE, source, "keyring"),
    }
    if fields["Suites"].endswith("/"):
        raise _invalid("suite", source["suite"], "a suite name; a flat repository has no components")
    return HEADER + "".join(f"{name}: {value}\n" for name, value in fields.items())


def apt_pin(pin: Mapping[str, object]) -> str:
    """An apt preferences stanza from a release's `pin`. Raises DecisionError `wish-invalid`."""
    origin, priority = _checked(_ORIGIN, pin, "origin"), pin.get("priority")
    if isinstance(priority, bool) or not isinstance(priority, int) or not -32768 <= priority <= 32767:
        raise _invalid("priority", priority, "a whole number from -32768 to 32767")
    return f"{HEADER}Package: *\nPin: release o={origin}\nPin-Priority: {int(priority)}\n"


def profile_script(path_directories: Sequence[str], ld_library_path: Sequence[str] | None = None) -> str:
    """A POSIX sh profile script that puts existing directories to the front of PATH, each once.

    LD_LIBRARY_PATH is only touched when `ld_library_path` is given: it overrides what wheels bundle.
    """
    script = HEADER + _profile_block("PATH", path_directories)
    return script + _profile_block("LD_LIBRARY_PATH", ld_library_path) if ld_library_path else script


def ld_so_conf(directories: Sequence[str]) -> str:
    """A dynamic linker configuration file, one directory per line."""
    return HEADER + "".join(f"{directory}\n" for directory in _directories(directories))


def constraints(packages: Mapping[str, str]) -> str:
    """A pip constraints file that holds a wheel set together: one exact pin per package."""
    lines = []
    for name, version in packages.items():
        if not isinstance(name, str) or not _PACKAGE.fullmatch(name):
            raise _invalid("package", name, "a Python package name")
        if not isinstance(version, str) or not _RELEASE.fullmatch(version):
            raise _invalid(name, version, "a version such as 2.3.0+rocm6.0")
        lines.append(f"{name}=={version}\n")
    return HEADER + "".join(lines)


def _profile_block(variable: str, directories: Sequence[str]) -> str:
    backwards = " ".join(reversed(_directories(directories)))
    return _PROFILE_BLOCK.format(variable=variable, reversed=backwards)


def _directories(directories: Sequence[str]) -> list[str]:
    if isinstance(directories, str):
        raise _invalid("directories", directories, "a list of directories")
    for directory in directories:
        if not isinstance(directory, str) or not _DIRECTORY.fullmatch(directory):
            raise _invalid("directory", directory, "an absolute path of letters, digits and . _ + @ - /")
    return list(dict.fromkeys(directories))


def _words(values: Mapping[str, object], key: str) -> str:
    """A list of words as deb822 writes it, joined by spaces."""
    words = values.get(key)
    if isinstance(words, str) or not isinstance(words, Sequence) or not words:
        raise _invalid(key, words, "a list of at least one word")
    for word in words:
        if not isinstance(word, str) or not _WORD.fullmatch(word):
            raise _invalid(key, word, "words without spaces and control characters")
    return " ".join(words)


def _checked(pattern: re.Pattern[str], values: Mapping[str, object], key: str) -> str:
    value = values.get(key)
    if not isinstance(value, str) or not pattern.fullmatch(value):
        raise _invalid(key, value, "one value of printable ASCII that fits this field")
    return value


def _invalid(field: str, value: object, expected: str) -> DecisionError:
    shown = ascii(value)
    shown = shown if len(shown) <= 80 else f"{shown[:77]}..."
    return DecisionError("wish-invalid", f"{field} is {shown}", expected, "correct the value in the inventory")
