"""A STAND-IN for PyTorch, made by the gpufleet sandbox: it computes on Python lists and drives no GPU.

It reports like the real package: versions, HIP build, GPUs. GPUs are available only where /dev/kfd can be opened
for reading and writing; their names and targets come from /run/gpufleet-sandbox/gpus.json, for instance
[{"name": "AMD Instinct MI250", "arch": "gfx90a:sramecc+:xnack-", "memory": 68702699520}].
"""

from . import cuda, version
from ._tensor import Tensor, arange, device, full, ones, rand, tensor, zeros
from .version import __version__

__all__ = [
    "Tensor",
    "__version__",
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


def matmul(left, right):
    """Matrix product."""
    return left @ right


mm = matmul


def allclose(left, right, rtol=1e-05, atol=1e-08):
    """Whether all elements are near each other."""
    pairs = zip(left.flat(), right.flat())
    return all(abs(a - b) <= atol + rtol * abs(b) for a, b in pairs)
