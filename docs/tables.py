"""The pages with the tables of the matrix: releases.md, gpus.md, pytorch.md."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ansible_collections.gpufleet.rocm.plugins.plugin_utils import matrix, systems
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.addresses import UPSTREAM
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.doubts import fields_in_doubt
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.errors import DecisionError
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.matrix import Row
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.releases import driver_build, resolve_release
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.torch_wheels import resolve_torch
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.versions import Version, parse

NOTICE = "<!-- Written by `python -m docs.generate` from plugins/plugin_utils/data; edit the data instead. -->"
STATUSES = """\
**confirmed**: AMD's or PyTorch's own repository or documentation says so. **third-party**: only seen in other
people's scripts, images or issues. **inferred**: follows from confirmed rows, not itself seen. **conflicting**: two
sources disagree. **unconfirmed**: could not be checked. No address was opened while the facts were collected."""
NONE = "-"


def releases_page() -> str:
    """Releases with their addresses, then systems and kernels."""
    parts = [
        "# ROCm releases",
        NOTICE,
        STATUSES,
        "Requests are exact: `6.4` means 6.4.0. The highest number is neither always the newest release nor always "
        "one for production: 7.9 to 7.13 are previews, 7.2.2 updates only a few packages of 7.2.1.",
        table(
            ["Version", "Released", "Kind", "User space", "Driver", "DKMS module", "Graphics", "Status", "Source"],
            (_release_cells(number, row) for number, row in matrix.releases().items()),
        ),
        "## Notes and doubts",
        "\n".join(_release_notes()),
        "## Systems and kernels",
        "A system that a group does not name has no packages of those releases.",
        table(["Releases", "System", "Kernels", "Status", "Source"], _support_cells()),
        "## Versions that were never published for apt",
        table(
            ["Version", "Reason", "Status", "Source"],
            (
                [row["version"], row["reason"], row["status"], _sources(row)]
                for row in matrix.table("releases")["unpublished"]
            ),
        ),
        "## Numbers that only a driver has",
        table(
            ["Number", "User space", "Status", "Source"],
            (
                [row["version"], row["release"], row["status"], _sources(row)]
                for row in matrix.table("releases")["driver_only"]
            ),
        ),
        "## Drivers",
        "The build field is part of the package versions. The kernels that AMD lists are under systems above, those "
        "on which a driver is known not to build below.",
        table(
            ["Driver", "Released", "DKMS module", "Build field", "Status", "Source", "Note"],
            (_driver_cells(row) for row in matrix.table("drivers")["drivers"]),
        ),
        table(
            ["Drivers", "Do not build on", "Status", "Source"],
            (
                [", ".join(row["drivers"]), _failing_kernel(row), row["status"], _sources(row)]
                for row in matrix.table("drivers")["failures"]
            ),
        ),
        "## Signing keys",
        table(["Key", "Fingerprint", "Status", "Source", "Note"], map(_key_cells, matrix.table("keys")["keys"])),
        "Reports of signatures by another key:",
        table(
            ["Repository", "Signed by", "Status", "Source", "Note"],
            (
                [UPSTREAM[row["base"]], f"`{row['signed_by']}`", row["status"], _sources(row), row["note"]]
                for key in matrix.table("keys")["keys"]
                for row in key.get("reports", ())
            ),
        ),
        "## Drivers and user space",
        "What AMD's table says about mixing; a driver always serves the release that it came with.",
        table(
            ["Driver", "User space", "Status", "Source"],
            (
                [row["driver"], ", ".join(row["user_space"]), row["status"], _sources(row)]
                for row in matrix.table("compatibility")["lines"]
            ),
        ),
        "## Old names",
        table(
            ["Name", "Package today", "Answer", "Status", "Source"],
            (
                [f"`{row['name']}`", f"`{row['package']}`", row["answer"], row["status"], _sources(row)]
                for row in matrix.table("packages")["renamed"]
            ),
        ),
        "## Packages",
        "What to name in `rocm_packages`; LINE is the release line, such as 10.0.",
        table(
            ["Name", "Up to 7.2 or from 7.12 on", "Since", "Contents", "Status", "Source"],
            map(_package_cells, matrix.table("packages")["meta"]),
        ),
        "## Sources",
        _source_table(("releases", "drivers", "os", "compatibility", "packages", "keys")),
    ]
    return page(parts)


def gpus_page() -> str:
    """GPUs by family, then targets per release."""
    parts = [
        "# GPUs",
        NOTICE,
        STATUSES,
        "GPUs are recognised by PCI device id (vendor 1002). *Since* is the first release that supports a GPU, "
        "*until* the first that no longer does.",
    ]
    for family, title in (("instinct", "Instinct"), ("radeon", "Radeon"), ("ryzen", "Integrated")):
        gpus = [row for row in matrix.table("gpus")["gpus"] if row["family"] == family]
        header = ["GPU", "Target", "PCI ids", "Virtual functions", "Since", "Until", "Status", "Source", "Note"]
        parts += [f"## {title}", table(header, map(_gpu_cells, gpus))]
    parts += [
        "## Targets per release",
        table(["Releases", "Targets"], _target_cells()),
        "## Sources",
        _source_table(("gpus",)),
    ]
    return page(parts)


def pytorch_page() -> str:
    """Wheel sets, the index that each release gets, and AMD's own tables."""
    parts = [
        "# PyTorch wheels",
        NOTICE,
        STATUSES,
        "PyTorch publishes an index for some ROCm versions only. A host gets the nearest one at or below its release.",
        "## Sets",
        table(
            ["torch", "torchvision", "torchaudio", "Indexes", "Python", "Status", "Source", "Note"],
            map(_wheel_cells, reversed(matrix.table("pytorch")["wheels"])),
        ),
        "## Default per release",
        "The newest set of the nearest index, by Python version.",
        table(["ROCm", "Index", *(f"Python {python}" for python in PYTHONS)], _default_cells()),
        "## AMD's own places",
        "For releases from *since* up to, not with, *until*.",
        table(
            ["Address", "Since", "Until", "GPU families", "For pip", "Status", "Source", "Note"],
            map(_place_cells, matrix.table("pytorch")["amd_indexes"]),
        ),
        "## Versions that AMD lists",
        "From AMD's compatibility tables; the indexes above are PyTorch's own builds and reach further.",
        table(
            ["ROCm", "PyTorch", "Status", "Source"],
            (
                [", ".join(row["rocm"]), row["torch"], row["status"], _sources(row)]
                for row in matrix.table("pytorch")["amd_listed"]
            ),
        ),
        "## Sources",
        _source_table(("pytorch",)),
    ]
    return page(parts)


PYTHONS = ("3.8", "3.9", "3.10", "3.11", "3.12", "3.13", "3.14")


def _release_cells(number: Version, row: Row) -> list[str]:
    driver = matrix.drivers()[parse(row["driver"])] if row["driver"] else None
    return [
        number.full,
        row.get("released", NONE),
        row.get("kind", "production"),
        _user_space(number),
        row["driver"] or NONE,
        (driver["module"] if driver else None) or NONE,
        row.get("graphics", NONE),
        row["status"],
        _sources(row),
    ]


def _package_cells(row: Row) -> list[str]:
    name = row["name"].format(line="LINE", gfx="GFX")
    stream = {"legacy": "up to 7.2", "core": "from 7.12"}[row["stream"]]
    return [f"`{name}`", stream, row.get("since", NONE), row["contents"], row["status"], _sources(row)]


def _user_space(number: Version) -> str:
    """The address and suite as the resolver builds them, with the system left open."""
    for system in matrix.table("os")["systems"]:
        if systems.kernel_rows(number, system["codename"]):
            source = resolve_release(number.full, {"codename": system["codename"]})["sources"][0]
            uri = source["uri"].replace(system["directory"] or "\0", "SYSTEM")
            suite = source["suite"] if source["suite"] in ("ubuntu", "stable") else "CODENAME"
            return f"`{uri} {suite} main`"
    return NONE


def _release_notes() -> list[str]:
    lines = []
    for number, row in matrix.releases().items():
        doubtful = _doubts(row)
        text = ". ".join(
            [*([row["note"]] if "note" in row else []), *(["In doubt: " + "; ".join(doubtful)] if doubtful else [])]
        )
        if text:
            lines.append(f"- **{number}**: {text}.")
    return lines


def _driver_cells(row: Row) -> list[str]:
    return [
        row["version"],
        row.get("released", NONE),
        row["module"] or NONE,
        driver_build(row) or NONE,
        row["status"],
        _sources(row),
        _note(row),
    ]


def _failing_kernel(row: Row) -> str:
    return f"{row['series']}" + (f" from ABI {row['abi_from']} on" if "abi_from" in row else "")


def _key_cells(row: Row) -> list[str]:
    return [row["name"], f"`{row['fingerprint']}`", row["status"], _sources(row), _note(row)]


def _support_cells() -> list[list[str]]:
    lines = []
    for group in matrix.table("os")["support"]:
        releases = ", ".join(parse(name).directory for name in group["releases"])
        for system in matrix.table("os")["systems"]:
            kernels = [row for row in group["kernels"] if row["system"] == system["codename"]]
            if kernels:
                described = "; ".join(map(_kernel, kernels))
                lines.append([releases, systems.label(system), described, group["status"], _sources(group)])
    return lines


def _kernel(row: Row) -> str:
    """'6.8 GA (24.04.2)', with limits where the row has some."""
    name = " ".join(part for part in (row["series"] or "not named", row.get("flavour", "").upper()) if part)
    extra = [*row["points"]]
    extra += ["preview"] if row.get("preview") else []
    extra += [f"only {', '.join(row['only'])}"] if "only" in row else []
    extra += [f"not {', '.join(row['without'])}"] if "without" in row else []
    extra += [row["package"]] if "package" in row else []
    extra += [row["status"]] if "status" in row else []
    extra += [row["note"]] if "note" in row else []
    return f"{name} ({'; '.join(extra)})" if extra else name


def _gpu_cells(row: Row) -> list[str]:
    devices = ", ".join(row.get("pci", ())) or NONE
    revisions = f" (rev {', '.join(row['revisions'])})" if "revisions" in row else ""
    until = parse(row["until"]).directory if "until" in row else NONE
    if "deprecated" in row:
        until += f" (deprecated {parse(row['deprecated']).directory})"
    return [
        row["name"],
        row["gfx"],
        devices + revisions,
        ", ".join(row.get("vf", ())) or NONE,
        _since(row),
        until,
        row["status"],
        _sources(row),
        _note(row),
    ]


def _since(row: Row) -> str:
    """First supporting release; 'unknown' for a row that nobody could check."""
    if row["since"]:
        return parse(row["since"]).directory
    return "unknown" if row["status"] == "unconfirmed" else "not supported"


def _target_cells() -> list[list[str]]:
    """Runs of releases with the same targets."""
    runs: list[tuple[list[str], str]] = []
    for number in matrix.releases():
        targets = ", ".join(gfx if sure else f"{gfx} (in doubt)" for gfx, sure in matrix.gfx_targets(number).items())
        if runs and runs[-1][1] == targets:
            runs[-1][0].append(number.directory)
        else:
            runs.append(([number.directory], targets))
    return [[", ".join(names), targets] for names, targets in runs]


def _wheel_cells(row: Row) -> list[str]:
    return [
        row["torch"],
        row["torchvision"],
        row["torchaudio"],
        ", ".join(f"rocm{index}" for index in row["indexes"]),
        ", ".join(row["python"]),
        row["status"],
        _sources(row),
        _note(row),
    ]


def _place_cells(row: Row) -> list[str]:
    return [
        f"`{UPSTREAM[row['base']]}{row['path']}`",
        parse(row["since"]).directory,
        parse(row["until"]).directory if "until" in row else NONE,
        ", ".join(row.get("families", ())) or "all",
        f"`--{row['form']}`",
        row["status"],
        _sources(row),
        _note(row),
    ]


def _default_cells() -> list[list[str]]:
    lines = []
    for number in matrix.releases():
        index, cells = NONE, []
        for python in PYTHONS:
            try:
                wheels = resolve_torch(number.full, python)
            except DecisionError:
                cells.append(NONE)
                continue
            index = f"rocm{wheels['rocm_index']}"
            cells.append(wheels["torch"])
        lines.append([number.full, index, *cells])
    return lines


def _note(row: Row) -> str:
    """The note of a row and what is in doubt about it."""
    return "; ".join([*([row["note"]] if "note" in row else []), *_doubts(row)]) or NONE


def _doubts(row: Row) -> list[str]:
    """'suite conflicting (the reason)' per field in doubt."""
    return [f"{field} {status}" + (f" ({note})" if note else "") for field, status, note in fields_in_doubt(row)]


def _sources(row: Row) -> str:
    return ", ".join(row["source"])


def _source_table(files: Sequence[str]) -> str:
    """The sources that some data files name."""
    used = {id for file in files for id in _used(matrix.table(file))}
    rows = [row for row in matrix.table("sources")["sources"] if row["id"] in used]
    header = ["Name", "Repository or site", "Path", "Commit, branch or date"]
    return table(header, ([f"`{row['id']}`", row["repo"], row["path"], row.get("ref", NONE)] for row in rows))


def _used(value: object) -> list[str]:
    """Every source id below a table."""
    if isinstance(value, tuple):
        return [id for item in value for id in _used(item)]
    if not isinstance(value, Mapping):
        return []
    own = list(value.get("source", ()))
    return own + [id for item in value.values() for id in _used(item)]


def table(header: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """A Markdown table."""
    text = ["| " + " | ".join(header) + " |", "|" + " --- |" * len(header)]
    text += ["| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines]
    return "\n".join(text)


def page(parts: Sequence[str]) -> str:
    return "\n\n".join(parts) + "\n"
