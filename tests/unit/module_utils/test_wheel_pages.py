"""Pages of a wheel index."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.gpufleet.rocm.plugins.module_utils.wheel_pages import offers

# As PyTorch's own index writes them, and as a mirror may.
PAGE = """<!DOCTYPE html>
<html><body><h1>Links for torch</h1>
<a href="/whl/rocm6.0/torch-2.3.0%2Brocm6.0-cp310-cp310-linux_x86_64.whl#sha256=00">torch-2.3.0+rocm6.0</a><br/>
<a href="../torch-2.3.0+rocm6.0-cp311-cp311-manylinux_2_17_x86_64.manylinux2014_x86_64.whl">t</a>
<a data-requires-python="&gt;=3.8" href='https://m.example/torch-2.3.1%2Brocm6.0-1-cp310-cp310-linux_x86_64.whl?a=b'>t</a>
<a href="torch-2.3.0%2Brocm6.0-cp39-cp39-manylinux_2_28_aarch64.whl">t</a>
<a href="torch-2.3.0%2Brocm6.0-cp39-cp39-win_amd64.whl">t</a>
<a href="torch-2.3.0%2Brocm6.0.tar.gz">t</a>
<a href="torchvision-0.18.0%2Brocm6.0-cp39-cp39-linux_x86_64.whl">another project</a>
<a href="../">up</a>
"""


@pytest.mark.parametrize(
    ("page", "project", "expected"),
    [
        (PAGE, "torch", {"2.3.0+rocm6.0": ["cp310-cp310", "cp311-cp311"], "2.3.1+rocm6.0": ["cp310-cp310"]}),
        (PAGE, "torchvision", {"0.18.0+rocm6.0": ["cp39-cp39"]}),
        (PAGE, "torchaudio", {}),
        ('<A HREF="Pytorch_Triton_Rocm-3.0-py3-none-any.whl">', "pytorch-triton-rocm", {"3.0": ["py3-none"]}),
        ("", "torch", {}),
        ("<html><h1>It works!</h1></html>", "torch", {}),
    ],
)
def test_offers(page: str, project: str, expected: dict[str, list[str]]) -> None:
    assert offers(page, project) == expected


@given(st.text(alphabet="<a href=\"https://torch-1.0cp3_x86linux.whl%[]#?&;'>\n"))
def test_any_page_is_read(page: str) -> None:
    offers(page, "torch")
