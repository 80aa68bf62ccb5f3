"""A STAND-IN for PyTorch, made by the gpufleet sandbox: it computes on Python lists and drives no GPU.

It reports like the real package: versions, HIP build, GPUs. GPUs are available only where /dev/kfd can be opened
for reading and writing; their names and targets come from /run/gpufleet-sandbox/gpus.json, for instance
[{"name": "AMD Instinct MI250", "arch": "gfx90a:sramecc+:xnack-", "memory": 68702699520}].
Runs on Python 3.8 and later, as the wheels' names promise.
"""

from __future__ import annotations

from . import cuda, version
from ._tensor import Tensor, arange, device, full, ones, rand, tensor, zeros
from .version import __version__

__all__ = [
    "Tensor",
    "__version__",
    "allclose",
    "arange",
    "cuda",
    "device",
    "full",
    "matmul",
    "mm",
    "ones",
    "rand",
    "randn",
    "tensor",
    "version",
    "zeros",
]

randn = rand
float32 = "torch.float32"
float16 = "torch.float16"


def matmul(left: Tensor, right: Tensor) -> Tensor:
    """Matrix product."""
    return left @ right


mm = matmul


def allclose(left: Tensor, right: Tensor, rtol: float = 1e-05, atol: float = 1e-08) -> bool:
    """Whether all elements are near each other."""
    return all(map(lambda a, b: abs(a - b) <= atol + rtol * abs(b), left.flat(), right.flat()))
