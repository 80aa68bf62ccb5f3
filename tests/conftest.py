"""Let the tests import the collection from the checkout, as Ansible does."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
for folder in (ROOT, ROOT / "collections"):
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
