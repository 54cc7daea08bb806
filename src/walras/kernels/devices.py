"""The devices of kernels: the CPU, or a GPU through torch, which is loaded only on request."""

from __future__ import annotations

import importlib.util
import re

import scipy.sparse as sp

from walras.errors import EngineError, InputError
from walras.extras import install_hint
from walras.kernels.schur.elimination import CpuElimination, Elimination
from walras.kernels.schur.sparse import Patterns
from walras.types import Floats, Longs

CPU = "cpu"
_NAMES = re.compile(r"cpu|cuda(:\d+)?")


def check_device(name: object) -> None:
    """Refuse a device that does not exist before any computation.

    Args:
        name: ``cpu``, ``cuda`` or ``cuda:1``, ``cuda:2``, ...

    Raises:
        InputError: Another name.
        EngineError: torch is not installed, or it finds no such GPU.
    """
    if not isinstance(name, str) or not _NAMES.fullmatch(name):
        raise InputError(
            f"is {name!r}",
            where="setting device",
            allowed="'cpu', 'cuda', or 'cuda:' and a GPU's number",
            remedy="choose one of these",
        )
    if name == CPU:
        return
    if importlib.util.find_spec("torch") is None:
        raise EngineError(
            "torch is not installed",
            where=f"setting device={name!r}",
            allowed="'cpu' without torch",
            remedy=f"{install_hint('torch')}, or use device='cpu'",
        )
    import torch  # noqa: PLC0415 (an extra, and two seconds)

    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    wanted = int(name.partition(":")[2] or 0)
    if wanted >= count:
        raise EngineError(
            f"torch {torch.__version__} finds {count or 'no'} GPU{'s' if count > 1 else ''}",
            where=f"setting device={name!r}",
            allowed="'cpu'" + "".join(f", 'cuda:{k}'" for k in range(count)),
            remedy="use device='cpu', or install a driver and a torch built for CUDA",
        )


def eliminate_on(
    device: str,
    ptr: Longs,
    local: Floats,
    narrow: sp.csc_array,
    threads: int,
    patterns: Patterns,
) -> Elimination:
    """The elimination of a form's blocks on a device that has been checked by :func:`check_device`.

    Args:
        device: ``cpu``, ``cuda`` or ``cuda:1``, ...
        ptr: (blocks + 1,) first column of each block.
        local: (slots, n) coefficients of the local rows.
        narrow: CSC (narrow rows, n).
        threads: Threads of the kernels on the CPU.
        patterns: Where the CPU's symbolic factors are kept from form to form.
    """
    if device == CPU:
        return CpuElimination(ptr, local, narrow, threads, patterns)
    from walras.kernels.gpu.interior import TorchElimination  # noqa: PLC0415 (loads torch)

    return TorchElimination(ptr, local, narrow, device)
