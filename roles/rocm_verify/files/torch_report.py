"""Print, as one JSON line, what the PyTorch of this environment says about itself and its GPUs."""

import json

import torch

available = torch.cuda.is_available()
print(
    json.dumps(
        {
            "version": torch.__version__,
            "hip": torch.version.hip,
            "cuda": torch.version.cuda,
            "available": available,
            "devices": [torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())] if available else [],
        }
    )
)
