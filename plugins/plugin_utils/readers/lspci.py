"""AMD GPUs in the output of lspci, in any of the forms that people pass on.

A GPU is a display controller (class 03xx) or a processing accelerator (1200) of vendor 1002. Where lspci printed ids
(-nn, -n) they decide; only a line without ids is judged by the vendor's name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ansible_collections.gpufleet.rocm.plugins.module_utils.sysfs import is_gpu_class
from ansible_collections.gpufleet.rocm.plugins.module_utils.text import bare_lines
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.gpus import AMD_VENDOR
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.matrix import gpu_by_device, table
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.readers.lspci_tree import leaves

_HEX4 = "[0-9a-f]{4}"
_ADDRESS = r"(?:[0-9a-f]{4,8}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]"
# "IOMMU Group 13 ", "Group: 16 ", "node1: ", "12:" from grep -n, bullets; then the address, with -P and -PP a path.
_FUNCTION = re.compile(
    r"^[^\w\[-]*(?:\d{1,3}[:-]|[\w.-]+: +)?(?:(?:IOMMU )?group:?\s*\d+\W*)?"
    rf"(?:\[(?P<early>{_HEX4}:{_HEX4})\]\s*)?(?:\[\w\]\s*)?"
    rf"(?P<address>{_ADDRESS}(?:/(?:[0-9a-f]{{2}}:)?[0-9a-f]{{2}}\.[0-7])*)\s+(?P<text>\S.*)$",
    re.IGNORECASE,
)
_IDS = re.compile(rf"\[({_HEX4}):({_HEX4})\]", re.IGNORECASE)
_WRAPPED_IDS = re.compile(rf"\[({_HEX4}):({_HEX4})\]\s*(?:[(\[]|$)", re.IGNORECASE)
_NUMERIC = re.compile(rf"^(?:class )?\[?({_HEX4})\]?: (?:device )?({_HEX4}):({_HEX4})\b", re.IGNORECASE)
_CLASS_CODE = re.compile(rf"\[?\b({_HEX4})\]?$", re.IGNORECASE)
_UNNAMED = re.compile(rf"\bDevice ({_HEX4})\b", re.IGNORECASE)
_QUOTED = re.compile(r'"([^"]*)"')
_LAST_ID = re.compile(rf"(?:^|\[)({_HEX4})\]?$", re.IGNORECASE)
_DRIVER = re.compile(r"^\W*Kernel driver in use:\s*(\S+)")
# An indented line of -v or -k: "Subsystem: ...", "Memory at ...", "Capabilities: ...".
_DETAIL = re.compile(r"^\s+(?:[A-Z][\w /-]*:|Memory at|I/O ports|Expansion ROM)")
_SLOT = re.compile(rf"^{_ADDRESS}$", re.IGNORECASE)
_RECORD = re.compile(r"^(\w+):\s+(.*)$")
_CLASSES = {
    "vga compatible controller": "0300",
    "xga compatible controller": "0301",
    "3d controller": "0302",
    "display controller": "0380",
    "processing accelerators": "1200",
}
# How lists of PCI ids called vendor 1002 over the years; 1022, the processors, is "Advanced Micro Devices, Inc. [AMD]".
_AMD_NAME = re.compile(r"^(?:ATI Technologies|AMD/ATI|Advanced Micro Devices\b.{0,12}(?:\[AMD/ATI\]|nee ATI))")
# Functions of a card that are no GPU, for the tree form, which names no class.
_NO_GPU = re.compile(r"audio|hdmi|usb|ucsi|i2c|serial|bridge|switch|\bport\b", re.IGNORECASE)


@dataclass
class Function:
    """One PCI function as far as the text tells; ids are lower-case hex digits."""

    address: str
    vendor: str | None
    device: str | None
    pci_class: str | None
    driver: str | None = None
    gpu: bool = False

    def merge(self, other: Function) -> None:
        """Take what another line about the same function adds."""
        self.device = self.device or other.device
        self.pci_class = self.pci_class or other.pci_class
        self.driver = self.driver or other.driver


def read_gpus(text: str) -> list[dict[str, Any]]:
    """AMD GPUs in the order of the text, each address once: ``[{address, vendor, device, class, driver,
    virtual_function}]``.

    ``address`` is as lspci printed it (the last part of a path, if that is complete). ``device`` is None where lspci
    knew a name and printed no id, ``class`` is None in the tree form, ``virtual_function`` is None without an id
    and for an unknown one.
    """
    lines = bare_lines(text)
    found: dict[str, list[Function]] = {}
    for function in [*_listed(lines), *_records(lines), *_tree(lines)]:
        if not function.gpu:
            continue
        same = found.setdefault(_key(function.address), [])
        known = next(
            (one for one in same if not (one.device and function.device) or one.device == function.device), None
        )
        if known:
            known.merge(function)
        else:
            same.append(function)
    return [_entry(function) for functions in found.values() for function in functions]


def is_virtual(device: str | None) -> bool | None:
    """Whether a device id belongs to virtual functions; None without an id and for an id that the matrix lacks."""
    if device is None or gpu_by_device(device) is None:
        return None
    return any(device in row.get("vf", ()) for row in table("gpus")["gpus"])


def _entry(function: Function) -> dict[str, Any]:
    return {
        "address": function.address,
        "vendor": function.vendor,
        "device": function.device,
        "class": function.pci_class,
        "driver": function.driver,
        "virtual_function": is_virtual(function.device),
    }


def _key(address: str) -> str:
    """The address with its domain, which lspci leaves out where all are zero."""
    return address if address.count(":") > 1 or "/" in address else f"0000:{address}"


def _listed(lines: list[str]) -> Iterator[Function]:
    """Functions of the usual forms, one line each with indented details below."""
    current: Function | None = None
    for number, line in enumerate(lines):
        match = _FUNCTION.match(line)
        if match:
            if current:
                yield current
            following = lines[number + 1] if number + 1 < len(lines) else ""
            current = _function(match, following)
        elif current and (driver := _DRIVER.match(line)):
            current.driver = current.driver or driver.group(1)
    if current:
        yield current


def _function(match: re.Match[str], following: str) -> Function:
    address, text = _last_address(match["address"].lower()), match["text"]
    if text.startswith('"'):
        return _quoted(address, text)
    if numeric := _NUMERIC.match(text):
        pci_class, vendor, device = (part.lower() for part in numeric.groups())
        return Function(address, vendor, device, pci_class, gpu=_is_gpu(vendor, pci_class))
    name, colon, product = text.partition(": ")
    if not colon and match["early"]:
        # A script that prints the ids first separates class and product by blanks.
        name, product = next(((known, text) for known in _CLASSES if text.lower().startswith(known)), (text, text))
    pci_class = _class(name)
    ids = _IDS.findall(product) or _wrapped_ids(name, following) or _IDS.findall(f"[{match['early']}]")
    if ids:
        vendor, device = (part.lower() for part in ids[-1])
        return Function(address, vendor, device, pci_class, gpu=_is_gpu(vendor, pci_class))
    return _by_name(address, product, pci_class)


def _wrapped_ids(class_name: str, following: str) -> list[tuple[str, str]]:
    """The ids on the next line where a mail program broke the line; details and other functions are not that.

    lspci prints ids for the class and the product or for neither, and only a revision or a bracket after them.
    """
    if not _CLASS_CODE.search(class_name) or _FUNCTION.match(following) or _DETAIL.match(following):
        return []
    wrapped = _WRAPPED_IDS.search(following)
    return [(wrapped[1], wrapped[2])] if wrapped else []


def _by_name(address: str, product: str, pci_class: str | None) -> Function:
    """A function without ids; pci.ids that are too old leave the device id in the name: "Device 67df"."""
    unnamed = _UNNAMED.search(product)
    vendor = AMD_VENDOR if _AMD_NAME.match(product) else None
    device = unnamed.group(1).lower() if unnamed else None
    return Function(address, vendor, device, pci_class, gpu=_is_gpu(vendor, pci_class))


def _quoted(address: str, text: str) -> Function:
    """The form of lspci -mm: class, vendor and device in quotes, with -nn the id at the end of each."""
    fields = [*_QUOTED.findall(text), "", "", ""][:3]
    pci_class = _class(fields[0])
    ids = [_LAST_ID.search(field) for field in fields[1:]]
    vendor, device = (match.group(1).lower() if match else None for match in ids)
    if vendor is None:
        return _by_name(address, f"{fields[1]} {fields[2]}", pci_class)
    return Function(address, vendor, device, pci_class, gpu=_is_gpu(vendor, pci_class))


def _records(lines: list[str]) -> Iterator[Function]:
    """The forms of lspci -vmm and -vm: one block of "Label: value" lines for each function."""
    record: dict[str, str] = {}
    for line in [*lines, ""]:
        match = _RECORD.match(line)
        label, value = (match[1], match[2]) if match else ("", "")
        if _SLOT.match(value):
            label = "Slot"  # the older form, -vm, calls it Device like the name further down
        if match and (label != "Slot" or not record):
            record.setdefault(label, value)
            continue
        if "Slot" in record:
            yield _recorded(record)
        record = {label: value} if match else {}


def _recorded(record: Mapping[str, str]) -> Function:
    fields = (record.get(label, "") for label in ("Class", "Vendor", "Device"))
    function = _quoted(record["Slot"].lower(), " ".join(f'"{field}"' for field in fields))
    function.driver = record.get("Driver")
    return function


def _tree(lines: list[str]) -> Iterator[Function]:
    """The form of lspci -tv, which names no class: known ids decide, else the first function of a card is the GPU."""
    for address, text in leaves(lines):
        ids = _IDS.findall(text) or re.findall(rf"^({_HEX4}):({_HEX4})\b", text)
        if ids:
            vendor, device = (part.lower() for part in ids[-1])
            function = Function(address, vendor, device, None)
        else:
            function = _by_name(address, text, None)
        known = function.device is not None and gpu_by_device(function.device) is not None
        first = address.endswith(".0") and not _NO_GPU.search(text)
        function.gpu = function.vendor == AMD_VENDOR and (known or first)
        yield function


def _class(name: str) -> str | None:
    """The class code of '[0300]', '0300' or 'VGA compatible controller'; None if that is not to be told."""
    code = _CLASS_CODE.search(name)
    return code.group(1).lower() if code else _CLASSES.get(name.strip().lower())


def _is_gpu(vendor: str | None, pci_class: str | None) -> bool:
    return vendor == AMD_VENDOR and is_gpu_class(pci_class)


def _last_address(path: str) -> str:
    """The address of a path's last function; the whole path where -P left the bus numbers out."""
    first, _, last = path.rpartition("/")
    if not first or ":" not in last:
        return path
    domain = first.split(":")[0] if first.split("/")[0].count(":") > 1 else ""
    return f"{domain}:{last}" if domain else last
