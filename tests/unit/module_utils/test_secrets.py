"""Secrets are replaced wherever they stand, and nothing else is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.gpufleet.rocm.plugins.module_utils.secrets import masked, masked_value

HIDDEN = [
    ("https://ada:hunter2@mirror.example/rocm", "https://***@mirror.example/rocm"),
    ("http://ada:hun@ter2@mirror.example:8080/x", "http://***@mirror.example:8080/x"),
    ("http://ada:hun/ter2@mirror.example/x", "http://***@mirror.example/x"),
    ("https://hunter2@mirror.example/", "https://***@mirror.example/"),
    ("E: Failed to fetch https://a:hunter2@h/x  401", "E: Failed to fetch https://***@h/x  401"),
    ("quiet ds=nocloud;s=http://a:hunter2@h/ iommu=pt", "quiet ds=nocloud;s=http://***@h/ iommu=pt"),
    ("rd.iscsi.password=hunter2 iommu=pt", "rd.iscsi.password=*** iommu=pt"),
    ("https://h/x?token=hunter2&y=1", "https://h/x?token=***&y=1"),
    ("https://h/x?sv=1&sig=hunter2", "https://h/x?sv=1&sig=***"),
    ("Proxy-Authorization: Basic hunter2", "Proxy-Authorization: Basic ***"),
    ("api_key: 'hunter2'", "api_key: ***"),
]
SHOWN = [
    "https://repo.radeon.com/rocm/apt/6.0",
    "http://mirror.example:8080/rocm?x=1",
    "gpu-1 Secure Boot Module Signature key",
    "BOOT_IMAGE=/vmlinuz-6.8.0-41-generic root=/dev/mapper/vg-root ro iommu=pt",
    "Pin: release o=repo.radeon.com",
    "git+ssh is no address, and ada@example is none",
    "http://h/ and ada@example",
]


@pytest.mark.parametrize(("text", "expected"), HIDDEN)
def test_hidden(text: str, expected: str) -> None:
    assert masked(text) == expected


@pytest.mark.parametrize("text", SHOWN)
def test_shown(text: str) -> None:
    assert masked(text) == text


def test_the_name_of_a_variable_tells() -> None:
    assert masked_value("ROCM_MIRROR_TOKEN", "hunter2") == "***"
    assert masked_value("HIP_VISIBLE_DEVICES", "0,1") == "0,1"
    assert masked_value("ROCM_PROXY", "http://a:hunter2@h") == "http://***@h"


@given(st.text(alphabet=":/@'\" =&?tokensigh"))
def test_masking_again_changes_nothing(text: str) -> None:
    assert masked(masked(text)) == masked(text)
