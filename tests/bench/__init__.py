"""Measurements, run by hand: ``python -m tests.bench.<name>`` from the top folder."""
