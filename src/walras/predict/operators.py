"""Operators of torch's ATen library: their kind, and the work that each does."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

Shape = tuple[int, ...]

_NAMES: Mapping[str, str] = {
    "linear": "linear",
    "matmul": "matmul mm bmm addmm baddbmm einsum mv dot bilinear",
    "attention": "scaled_dot_product_attention",
    "norm": "batch_norm layer_norm group_norm instance_norm rms_norm native_layer_norm "
    "native_group_norm _native_batch_norm_legit_no_training linalg_vector_norm normalize",
    "activation": "relu gelu silu sigmoid tanh hardswish hardsigmoid hardtanh elu leaky_relu prelu "
    "mish relu6 softplus selu celu glu clamp clamp_min threshold logsigmoid",
    "softmax": "softmax log_softmax _softmax _log_softmax",
    "add": "add sub rsub",
    "multiply": "mul div pow sqrt rsqrt exp neg square log abs sin cos",
    "concat": "cat stack concat",
    "embedding": "embedding embedding_bag index index_select gather",
    "recurrent": "lstm gru rnn_tanh rnn_relu lstm_cell gru_cell rnn_tanh_cell",
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
}  # fmt: skip
_KIND = {name: kind for kind, names in _NAMES.items() for name in names.split()}
_CONVOLUTIONS = ("conv1d", "conv2d", "conv3d", "convolution")
_TRANSPOSED = ("conv_transpose1d", "conv_transpose2d", "conv_transpose3d")


def kind_of(name: str, weight: Shape | None) -> str:
    """Kind of an operator, one of :data:`~walras.predict.graph.KINDS`.

    Args:
        name: Its name in ATen, without overload.
        weight: Shape of its first parameter, if any.
    """
    name = name.removesuffix("_")
    if name in _TRANSPOSED:
        return "conv"
    if name in _CONVOLUTIONS and weight is not None:
        if weight[1] == 1 and weight[0] > 1:
            return "depthwise"
        size = set(weight[2:])
        return {1: "conv1x1", 3: "conv3x3"}.get(size.pop(), "conv") if len(size) == 1 else "conv"
    return _KIND.get(name, "conv" if name in _CONVOLUTIONS else "other")


def macs_of(
    name: str, inputs: Sequence[Shape], output: Shape, weights: Sequence[Shape]
) -> float:  # fmt: skip
    """Multiply-accumulate operations of an operator; 0 for those that only add, compare or move.

    Args:
        name: Its name in ATen, without overload.
        inputs: Shapes of all tensors it takes, parameters among them, in order.
        output: Shape of its first output.
        weights: Shapes of its parameters.
    """
    name = name.removesuffix("_")
    if name in _CONVOLUTIONS:  # each output: the kernel over the inputs of its group
        return math.prod(output) * math.prod(inputs[1][1:])
    if name in _TRANSPOSED:  # each input goes through the kernel
        return math.prod(inputs[0]) * math.prod(inputs[1][1:])
    kind = _KIND.get(name)
    if kind == "linear":
        return math.prod(output) * inputs[1][-1]
    if kind == "matmul" and len(inputs) > 1:
        first = inputs[1] if name in ("addmm", "baddbmm") else inputs[0]
        return math.prod(output) * first[-1]
    if kind == "attention":  # scores q·k, then their weights times v
        query, key, value = inputs[:3]
        return math.prod(query[:-1]) * key[-2] * (query[-1] + value[-1])
    if kind == "recurrent":  # every matrix once a step and sample
        steps = math.prod(inputs[0][:-1])
        return steps * sum(math.prod(shape) for shape in weights if len(shape) == 2)
    return 0.0
