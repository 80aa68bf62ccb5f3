"""Measurements, run by hand: ``python -m tests.bench.<name>`` from the top folder."""

import sys
from pathlib import Path

# They import the collection from the checkout, as Ansible does.
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "collections"))
