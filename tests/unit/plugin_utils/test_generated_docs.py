"""The generated pages: up to date, and --check notices when they are not."""

from __future__ import annotations

from pathlib import Path

from docs import generate


def test_pages_are_up_to_date() -> None:
    assert generate.stale_pages(generate.ROOT) == []


def test_a_missing_or_changed_page_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/gpus.md").write_text("old\n", encoding="utf-8")
    (tmp_path / "docs/releases.md").write_text(generate.PAGES["docs/releases.md"](), encoding="utf-8")
    assert generate.stale_pages(tmp_path) == [name for name in generate.PAGES if name != "docs/releases.md"]


def test_tables_are_rectangular() -> None:
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
