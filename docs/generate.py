"""Write the generated documentation, or with --check tell whether it is up to date.

Run as ``python -m docs.generate`` from the top folder. Exit status 1 with --check when a file differs.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "collections"))

from docs import handbook, profiles, tables  # noqa: E402

PAGES: dict[str, Callable[[], str]] = {
    "docs/releases.md": tables.releases_page,
    "docs/gpus.md": tables.gpus_page,
    "docs/pytorch.md": tables.pytorch_page,
    "docs/decisions.md": handbook.decisions_page,
    "docs/report.md": handbook.report_page,
    "docs/diagnose.md": handbook.diagnose_page,
    "README.md": handbook.readme,
    "docs/tuning.md": profiles.tuning_page,
}


def stale_pages(root: Path) -> list[str]:
    """Names of generated files below `root` that are missing or differ."""
    stale = []
    for name, page in PAGES.items():
        file = root / name
        if not file.is_file() or file.read_text(encoding="utf-8") != page():
            stale.append(name)
    return stale


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description="Write the generated documentation.")
    parser.add_argument("--check", action="store_true", help="write nothing; fail when a file is out of date")
    if parser.parse_args().check:
        stale = stale_pages(ROOT)
        for name in stale:
            print(f"{name} is out of date. Next: run python -m docs.generate", file=sys.stderr)
        return 1 if stale else 0
    for name, page in PAGES.items():
        (ROOT / name).write_text(page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
