"""Operators of torch's ATen library: their kind, and the work that torch's counter leaves out."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

Shape = tuple[int, ...]

_NAMES: Mapping[str, str] = {
    "linear": "linear",
    "conv": "convolution conv_transpose1d conv_transpose2d conv_transpose3d conv_tbc",
    "matmul": "matmul mm bmm addmm addbmm baddbmm einsum mv addmv dot vdot inner outer tensordot "
    "linalg_multi_dot bilinear",
    "attention": "scaled_dot_product_attention _scaled_dot_product_flash_attention_for_cpu",
    "norm": "batch_norm layer_norm group_norm instance_norm rms_norm _weight_norm "
    "native_layer_norm native_group_norm _native_batch_norm_legit_no_training linalg_vector_norm "
    "normalize",
    "activation": "relu gelu silu sigmoid tanh hardswish hardsigmoid hardtanh elu leaky_relu prelu "
    "mish relu6 softplus selu celu glu clamp clamp_min threshold logsigmoid",
    "softmax": "softmax log_softmax _softmax _log_softmax",
    "add": "add sub rsub",
    "multiply": "mul div pow sqrt rsqrt exp neg square log abs sin cos",
    "concat": "cat stack concat",
    "embedding": "embedding embedding_bag index index_select gather",
    "recurrent": "lstm gru rnn_tanh rnn_relu lstm_cell gru_cell rnn_tanh_cell rnn_relu_cell "
    "mkldnn_rnn_layer _cudnn_rnn",
    "reduce": "mean sum amax amin max min argmax argmin var std cumsum prod logsumexp",
    "pool": "max_pool1d max_pool2d max_pool3d avg_pool1d avg_pool2d avg_pool3d "
    "adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool2d "
    "max_pool2d_with_indices",
    "upsample": "upsample_nearest1d upsample_nearest2d upsample_bilinear2d upsample_bicubic2d "
    "upsample_nearest3d upsample_trilinear3d pixel_shuffle pixel_unshuffle",
    "reshape": "view reshape flatten transpose permute unsqueeze squeeze contiguous select slice "
    "expand chunk split split_with_sizes unbind unflatten t pad constant_pad_nd roll clone repeat "
    "_unsafe_view movedim narrow expand_as view_as tile swapaxes flip",
    "identity": "dropout alias detach to _to_copy lift_fresh_copy type_as feature_dropout",
}
_KIND = {name: kind for kind, names in _NAMES.items() for name in names.split()}
_CONVOLUTIONS = ("conv1d", "conv2d", "conv3d")


def kind_of(name: str, inputs: Sequence[Shape]) -> str:
    """Kind of an operator, one of :data:`~walras.predict.graphs.graph.KINDS`.

    Args:
        name: Its name in ATen, without overload.
        inputs: Shapes of the tensors it takes, in order.
    """
    name = name.removesuffix("_")
    if name in _CONVOLUTIONS and len(inputs) > 1:
        data, weight = inputs[:2]
        kernel = weight[2:]
        channels = data[-1 - len(kernel)]
        if weight[1] == 1 < channels:  # each filter sees one of several channels
            return "depthwise"
        sizes = set(kernel)
        return "conv1x1" if sizes == {1} else "conv3x3" if sizes == {3} else "conv"
    return _KIND.get(name, "other")


def _attention(query: Shape, key: Shape, value: Shape, *_: Any, **__: Any) -> int:
    """Scores q·k, then their weights times v."""
    return 2 * math.prod(query[:-1]) * key[-2] * (query[-1] + value[-1])


def _recurrent(data: Shape, *rest: Any, **_: Any) -> int:
    """Every matrix once a step and sample; the matrices stand in a list."""
    lists = [part for part in rest if isinstance(part, list | tuple)]
    matrices: list[Shape] = [shape for part in lists for shape in part if _is_matrix(shape)]
    return 2 * math.prod(data[:-1]) * sum(math.prod(shape) for shape in matrices)


def _is_matrix(shape: Any) -> bool:
    return isinstance(shape, tuple | list) and len(shape) == 2


def _recurrent_layer(data: Shape, first: Shape, second: Shape, *_: Any, **__: Any) -> int:
    return 2 * math.prod(data[:-1]) * (math.prod(first) + math.prod(second))


def _bilinear(one: Shape, other: Shape, weight: Shape, *_: Any, **__: Any) -> int:
    """Each output: every pair of inputs."""
    return 2 * math.prod(one[:-1]) * math.prod(weight)


def _vector(one: Shape, other: Shape, *_: Any, **__: Any) -> int:
    return 2 * math.prod(one)


def _add_vector(added: Shape, one: Shape, other: Shape, *_: Any, **__: Any) -> int:
    return 2 * math.prod(one)


_ATEN = torch.ops.aten
WHOLE: Mapping[Any, Callable[..., int]] = {
    _ATEN.scaled_dot_product_attention: _attention,
    _ATEN.bilinear: _bilinear,
    _ATEN.lstm: _recurrent,
    _ATEN.gru: _recurrent,
    _ATEN.rnn_tanh: _recurrent,
    _ATEN.rnn_relu: _recurrent,
}
"""Floating-point operations, two a multiply-add, of operators that torch's counter takes apart and
loses: from the shapes of what they take."""

PARTS: Mapping[Any, Callable[..., int]] = {
    _ATEN._scaled_dot_product_flash_attention_for_cpu: _attention,
    _ATEN.mkldnn_rnn_layer: _recurrent_layer,
    _ATEN.mv: _vector,
    _ATEN.dot: _vector,
    _ATEN.vdot: _vector,
    _ATEN.addmv: _add_vector,
}
"""The same of operators that it does not know."""
