"""PyTorch's wheel index (PEP 503): whl/<index>/<project>/index.html and the wheels beside the project folders."""

from __future__ import annotations

import base64
import hashlib
import html
import io
import urllib.parse
import zipfile
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

HERE = Path(__file__).resolve().parent
DATA = HERE / "data" / "wheels.yml"
STANDIN = HERE / "standin"
MATRIX = HERE.parents[1] / "plugins" / "plugin_utils" / "data" / "pytorch.yml"
# From here on torchaudio keeps one version for several torch and cannot name one of them.
AUDIO_STAYS = (2, 12)
# Zip files carry a date; a fixed one keeps rebuilt wheels equal.
STAMP = (2024, 4, 24, 0, 0, 0)


@dataclass(frozen=True)
class Wheel:
    """One wheel: the project's file name form, full version, tag, requirements and the files inside."""

    project: str
    version: str
    tag: str
    requires: tuple[str, ...]
    files: Mapping[str, bytes]

    @property
    def file_name(self) -> str:
        """As the real files are named: torch-2.3.0+rocm6.0-cp310-cp310-linux_x86_64.whl."""
        return f"{self.project}-{self.version}-{self.tag}.whl"

    @property
    def normalised(self) -> str:
        """The project's folder in the index."""
        return self.project.lower().replace("_", "-")

    def metadata(self) -> bytes:
        """The METADATA file."""
        lines = ["Metadata-Version: 2.1", f"Name: {self.project.replace('_', '-')}", f"Version: {self.version}"]
        lines += ["Summary: Stand-in of the gpufleet sandbox", *(f"Requires-Dist: {item}" for item in self.requires)]
        return ("\n".join(lines) + "\n").encode()

    def content(self) -> bytes:
        """The zip file's bytes."""
        info = f"{self.project}-{self.version}.dist-info"
        pure = "true" if self.tag.endswith("-any") else "false"
        wheel = f"Wheel-Version: 1.0\nGenerator: gpufleet-sandbox\nRoot-Is-Purelib: {pure}\nTag: {self.tag}\n"
        members = {**self.files, f"{info}/METADATA": self.metadata(), f"{info}/WHEEL": wheel.encode()}
        record = "".join(f"{name},sha256={_digest(data)},{len(data)}\n" for name, data in members.items())
        members[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n".encode()
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, data in members.items():
                member = zipfile.ZipInfo(name, STAMP)
                member.external_attr = 0o644 << 16
                archive.writestr(member, data)
        return buffer.getvalue()


def _digest(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def _module(name: str, version: str) -> bytes:
    return f'"""A STAND-IN for {name}, made by the gpufleet sandbox."""\n\n__version__ = "{version}"\n'.encode()


def _torch_files(version: str, hip: str | None, git_version: str, arch_list: list[str]) -> dict[str, bytes]:
    files = {f"torch/{path.name}": path.read_bytes() for path in sorted((STANDIN / "torch").glob("*.py"))}
    files["torch/version.py"] = (
        f'"""Written when the wheel was built."""\n\n__version__ = {version!r}\ndebug = False\ncuda = None\n'
        f"git_version = {git_version!r}\nhip = {hip!r}\n_arch_list = {arch_list!r}\n"
    ).encode()
    return files


def wheel_sets(data: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """What belongs together, by torch: {torch, torchvision, torchaudio, tags, platform, triton, git_version}."""
    matrix: dict[str, Any] = yaml.safe_load(MATRIX.read_text())
    known = {row["torch"]: row for row in matrix["wheels"]}
    return {
        torch: {
            "platform": data["platform"],
            "git_version": "0" * 40,
            **known[torch],
            "tags": [python_tag(python) for python in known[torch]["python"]],
            **own,
        }
        for torch, own in data["sets"].items()
    }


def python_tag(python: str) -> str:
    """Interpreter and ABI: 3.11 -> cp311-cp311, 3.13t (free-threaded) -> cp313-cp313t."""
    abi = "cp" + python.replace(".", "")
    return f"{abi.removesuffix('t')}-{abi}"


def torch_wheels(name: str, index: Mapping[str, Any], row: Mapping[str, Any], arch_list: list[str]) -> Iterator[Wheel]:
    """torch, torchvision, torchaudio and, for HIP, triton, for every Python of one set on one index."""
    torch, vision, audio = (f"{row[item]}+{name}" for item in ("torch", "torchvision", "torchaudio"))
    needs = [
        "filelock",
        "typing-extensions>=4.8.0",
        "sympy",
        "networkx",
        "jinja2",
        "fsspec",
        *index.get("requires", ()),
    ]
    triton, triton_version = row["triton"].split("==")
    if index["hip"]:
        # Early sets had no triton for Python 3.12.
        marker = 'platform_system == "Linux" and platform_machine == "x86_64"'
        old = row["torch"].startswith("2.3.")
        needs.append(f"{row['triton']} ; {marker}" + (' and python_version < "3.12"' if old else ""))
    pinned = f"torch=={torch}"
    major, minor = (int(part) for part in row["torch"].split(".")[:2])
    for python in row["tags"]:
        tag = f"{python}-{row['platform']}"
        files = _torch_files(torch, index["hip"], row["git_version"], arch_list)
        yield Wheel("torch", torch, tag, tuple(needs), files)
        own = {"torchvision/__init__.py": _module("torchvision", vision)}
        yield Wheel("torchvision", vision, tag, ("numpy", pinned, "pillow!=8.3.*,>=5.3.0"), own)
        wanted = "torch" if (major, minor) >= AUDIO_STAYS else pinned
        yield Wheel("torchaudio", audio, tag, (wanted,), {"torchaudio/__init__.py": _module("torchaudio", audio)})
        if index["hip"]:
            module = {"triton/__init__.py": _module("triton", triton_version)}
            yield Wheel(triton.replace("-", "_"), triton_version, tag, ("filelock",), module)


def pure_wheels(rows: Mapping[str, Mapping[str, Any]]) -> Iterator[Wheel]:
    """The other projects that the real index carries, empty."""
    for name, row in rows.items():
        project = row.get("file", name.replace("-", "_"))
        version = str(row["version"])
        module = {"jinja2": "jinja2", "pillow": "PIL"}.get(name, name.replace("-", "_"))
        files = {f"{module}/__init__.py": _module(name, version)}
        yield Wheel(project, version, "py3-none-any", tuple(row.get("requires", ())), files)


def write_index(root: Path) -> None:
    """Write every index of the data file below `root`/whl."""
    data: dict[str, Any] = yaml.safe_load(DATA.read_text())
    sets = wheel_sets(data)
    for name, index in data["indexes"].items():
        wheels = [*pure_wheels(data["pure"])]
        for torch in index["torch"]:
            wheels += torch_wheels(name, index, sets[torch], data["arch_list"])
        _write_one(root / "whl" / name, wheels)


def _write_one(folder: Path, wheels: list[Wheel]) -> None:
    links: defaultdict[str, list[str]] = defaultdict(list)
    folder.mkdir(parents=True)
    for wheel in wheels:
        content = wheel.content()
        (folder / wheel.file_name).write_bytes(content)
        # The real index writes + as %2B too; it links from its root, which a mirror has elsewhere.
        target = f"../{urllib.parse.quote(wheel.file_name)}#sha256={hashlib.sha256(content).hexdigest()}"
        links[wheel.normalised].append(f'<a href="{target}">{html.escape(wheel.file_name)}</a><br/>')
    for project, lines in links.items():
        _page(folder / project, f"Links for {project}", lines)
    _page(folder, "", [f'<a href="{project}/">{project}</a><br/>' for project in sorted(links)])


def _page(folder: Path, title: str, lines: list[str]) -> None:
    folder.mkdir(exist_ok=True)
    heading = [f"    <h1>{title}</h1>"] if title else []
    body = [*heading, *(f"    {line}" for line in lines)]
    text = "\n".join(["<!DOCTYPE html>", "<html>", "  <body>", *body, "  </body>", "</html>", ""])
    (folder / "index.html").write_text(text)
