"""The collection as it is published: what is in it, and that it needs nothing of the checkout."""

from __future__ import annotations

import subprocess
import sys
import tarfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
GALAXY = Path(sys.executable).parent / "ansible-galaxy"
PUBLISHED = {"CHANGELOG.md", "CONTRIBUTING.md", "FILES.json", "LICENSE", "MANIFEST.json", "README.md"} | {
    "docs",
    "meta",
    "playbooks",
    "plugins",
    "roles",
}


def test_only_the_product_is_published(tmp_path: Path) -> None:
    command = [str(GALAXY), "collection", "build", "--output-path", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (archive,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(archive) as content:
        names = content.getnames()
    assert {name.split("/")[0] for name in names} == PUBLISHED
    assert not [name for name in names if name.endswith(".pyc") or (name.startswith("docs/") and name.endswith(".py"))]
