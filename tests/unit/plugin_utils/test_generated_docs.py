"""The generated pages: up to date, and --check notices when they are not."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).resolve().parents[3] / "docs" / "generate.py"


@pytest.fixture(name="generate", scope="module")
def _generate() -> ModuleType:
    spec = importlib.util.spec_from_file_location("docs_generate", SCRIPT)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_pages_are_up_to_date() -> None:
    done = subprocess.run([sys.executable, str(SCRIPT), "--check"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_missing_or_changed_page_is_noticed(generate: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "gpus.md").write_text("old\n", encoding="utf-8")
    (tmp_path / "releases.md").write_text(generate.PAGES["releases.md"](), encoding="utf-8")
    assert generate.stale_pages(tmp_path) == ["gpus.md", "pytorch.md"]


def test_tables_are_rectangular(generate: ModuleType) -> None:
    for page in generate.PAGES.values():
        columns = 0
        for line in page().splitlines():
            if line.startswith("| ---"):
                assert line.count("---") == columns, line
            elif line.startswith("|"):
                columns = columns or line.count(" | ") + 1
                assert line.count(" | ") + 1 == columns, line
            else:
                columns = 0
