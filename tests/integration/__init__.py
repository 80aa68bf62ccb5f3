"""Tests on sandbox hosts over SSH."""
