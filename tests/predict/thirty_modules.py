"""More than thirty small modules of ten kinds, each with its arguments, to count the work of."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.nn import functional, utils
from torch.nn.utils import parametrizations


class Does(nn.Module):
    """A function of its layers and its arguments."""

    def __init__(self, function: Callable[..., Any], *layers: nn.Module) -> None:
        super().__init__()
        self.layers = nn.ModuleList(layers)
        self.function = function

    def forward(self, *inputs: Any, **named: Any) -> Any:
        return self.function(self.layers, *inputs, **named)


class LowRank(nn.Module):
    """Weights that are computed: a matrix and a product of two thin ones."""

    def __init__(self) -> None:
        super().__init__()
        self.whole = nn.Parameter(torch.zeros(8, 8))
        self.down, self.up = nn.Parameter(torch.zeros(8, 2)), nn.Parameter(torch.zeros(2, 8))

    def forward(self, x: Any) -> Any:
        return functional.linear(x, self.whole + self.down @ self.up)


class ComputedFilter(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(6, 3, 3, 3))

    def forward(self, x: Any) -> Any:
        return functional.conv2d(x, self.weight - self.weight.mean((1, 2, 3), keepdim=True))


class Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any, w: Any) -> Any:
        return x @ w

    @staticmethod
    def backward(ctx: Any, slope: Any) -> Any:
        return slope, None


class Force(nn.Module):
    """A gradient within forward, as energy models take it."""

    def __init__(self) -> None:
        super().__init__()
        self.energy = nn.Linear(8, 4, bias=False)

    def forward(self, x: Any) -> Any:
        with torch.enable_grad():
            x = x.detach().requires_grad_(True)
            return torch.autograd.grad(self.energy(x).sum(), x)[0]


def without_gradients(layers: Any, x: Any) -> Any:
    with torch.no_grad():
        x = layers[0](x)
    return layers[1](x)


def in_half(layers: Any, x: Any) -> Any:
    with torch.autocast("cpu", dtype=torch.bfloat16):
        x = layers[0](x)
    return layers[1](x.float())


def in_inference(layers: Any, x: Any) -> Any:
    with torch.inference_mode():
        x = layers[0](x)
    return layers[1](x)


def backbone() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten()
    )


def old(norm: Callable[[nn.Module], nn.Module], layer: nn.Module) -> nn.Module:
    """A norm of weights by a hook before forward, which torch deprecates."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return norm(layer)


def floats(*shape: int) -> Any:
    return torch.zeros(shape)


def doubles(*shape: int) -> Any:
    return torch.zeros(shape, dtype=torch.float64)


def steps(layer: type[nn.Module], **options: Any) -> nn.Module:
    return layer(8, 12, dtype=torch.float64, **options)  # 64-bit: no fused kernel, all is counted


attention = functional.scaled_dot_product_attention

MODULES: dict[str, tuple[Callable[[], nn.Module], tuple[Any, ...]]] = {
    "convolution 1d": (lambda: nn.Conv1d(3, 8, 5, stride=2), (floats(2, 3, 30),)),
    "convolution groups": (lambda: nn.Conv2d(8, 12, 3, groups=4), (floats(2, 8, 9, 9),)),
    "convolution one channel": (lambda: nn.Conv2d(1, 32, 3), (floats(2, 1, 9, 9),)),
    "convolution 3d": (lambda: nn.Conv3d(2, 4, 3), (floats(1, 2, 6, 6, 6),)),
    "convolution unbatched": (lambda: nn.Conv2d(3, 4, 3, dilation=2), (floats(3, 9, 9),)),
    "transposed": (lambda: nn.ConvTranspose2d(6, 4, 3, stride=2), (floats(2, 6, 5, 5),)),
    "transposed groups": (lambda: nn.ConvTranspose1d(6, 6, 3, groups=6), (floats(2, 6, 5),)),
    "linear": (lambda: nn.Linear(8, 3), (floats(4, 5, 8),)),
    "linear stack": (lambda: nn.Sequential(backbone(), nn.Linear(8, 4)), (floats(2, 3, 9, 9),)),
    "matmul": (lambda: Does(lambda _, a, b: a @ b), (floats(2, 3, 4, 5), floats(5, 6))),
    "matmul added": (lambda: Does(lambda _, c, a, b: torch.baddbmm(c, a, b)),
                     (floats(2, 4, 6), floats(2, 4, 5), floats(2, 5, 6))),
    "einsum batch": (lambda: Does(lambda _, a, b: torch.einsum("bij,bjk->bik", a, b)),
                     (floats(2, 10, 6), floats(2, 6, 10))),
    "einsum attention": (lambda: Does(lambda _, q, k: torch.einsum("bqhd,bkhd->bhqk", q, k)),
                         (floats(2, 5, 3, 4), floats(2, 7, 3, 4))),
    "einsum outer": (lambda: Does(lambda _, a, b: torch.einsum("i,j,ij->", a, b, a[:, None] * b)),
                     (floats(6), floats(7))),
    "tensordot": (lambda: Does(lambda _, a, b: torch.tensordot(a, b, 2)),
                  (floats(3, 4, 5), floats(4, 5, 6))),
    "attention multi-head": (lambda: nn.MultiheadAttention(16, 4, batch_first=True),
                             (floats(2, 5, 16),) * 3),
    "attention encoder": (lambda: nn.TransformerEncoderLayer(16, 4, 32, batch_first=True),
                          (floats(2, 5, 16),)),
    "attention both": (lambda: nn.Transformer(16, 2, 1, 1, 32, batch_first=True),
                       (floats(2, 5, 16), floats(2, 4, 16))),
    "attention plain": (lambda: Does(lambda _, q, k: attention(q, k, k)),
                        (floats(2, 4, 5, 16), floats(2, 4, 7, 16))),
    "recurrent cell": (lambda: nn.LSTMCell(8, 12), (floats(4, 8),)),
    "recurrent gated cell": (lambda: nn.GRUCell(8, 12), (floats(4, 8),)),
    "recurrent": (lambda: steps(nn.LSTM, num_layers=2), (doubles(7, 2, 8),)),
    "recurrent both ways": (lambda: steps(nn.GRU, bidirectional=True), (doubles(7, 2, 8),)),
    "recurrent projected": (lambda: steps(nn.LSTM, proj_size=4), (doubles(7, 2, 8),)),
    "recurrent plain": (lambda: steps(nn.RNN, batch_first=True), (doubles(2, 7, 8),)),
    "normed weight": (lambda: parametrizations.weight_norm(nn.Conv2d(3, 6, 3)),
                      (floats(2, 3, 9, 9),)),
    "normed spectrum": (lambda: parametrizations.spectral_norm(nn.Conv2d(3, 6, 3)),
                        (floats(2, 3, 9, 9),)),
    "normed weight by a hook": (lambda: old(utils.weight_norm, nn.Conv1d(3, 6, 3)),
                                (floats(2, 3, 9),)),
    "normed spectrum by a hook": (lambda: old(utils.spectral_norm, nn.Linear(8, 8)),
                                  (floats(4, 8),)),
    "normed orthogonal": (lambda: parametrizations.orthogonal(nn.Linear(8, 8)), (floats(4, 8),)),
    "computed low rank": (LowRank, (floats(4, 8),)),
    "computed filter": (ComputedFilter, (floats(2, 3, 9, 9),)),
    "frozen": (lambda: Does(without_gradients, backbone(), nn.Linear(8, 4)),
               (floats(2, 3, 18, 18),)),
    "half precision": (lambda: Does(in_half, nn.Linear(8, 8), nn.Linear(8, 4)), (floats(4, 8),)),
    "inference": (lambda: Does(in_inference, nn.Linear(8, 8), nn.Linear(8, 4)), (floats(4, 8),)),
    "own function": (lambda: Does(lambda m, x: Product.apply(x, m[0].weight),
                                  nn.Linear(8, 8, bias=False)), (floats(4, 8),)),
    "mapped": (lambda: Does(lambda m, x: torch.vmap(m[0])(x), nn.Linear(8, 4)),
               (floats(4, 8),)),
    "traced": (lambda: torch.fx.symbolic_trace(nn.Sequential(nn.Linear(8, 4), nn.ReLU())),
               (floats(4, 8),)),
    "embedding": (lambda: nn.Sequential(nn.Embedding(10, 8), nn.Linear(8, 4)),
                  (torch.zeros(2, 5, dtype=torch.long),)),
}  # fmt: skip
