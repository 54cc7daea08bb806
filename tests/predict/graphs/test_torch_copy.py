"""The work of modules of ten kinds against torch's own counter; the module stays as it was."""

from __future__ import annotations

import threading
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import torch
from tests.predict.thirty_modules import MODULES, Force, backbone
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from walras.errors import InputError
from walras.predict import from_torch


def counted(module: nn.Module, *inputs: Any) -> float:
    """Multiply-adds that torch counts where the module really runs, attention taken apart."""
    module.eval()
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        counter = FlopCounterMode(display=False)
        with sdpa_kernel(SDPBackend.MATH), torch.no_grad(), counter:
            module(*inputs)
    finally:
        torch.backends.mha.set_fastpath_enabled(True)
    return float(counter.get_total_flops() / 2)


@pytest.mark.parametrize("name", MODULES)
def test_work_is_what_torch_counts(name: str) -> None:
    make, inputs = MODULES[name]
    module = make()
    graph = from_torch(module, inputs)
    assert graph.macs.sum() == counted(module, *inputs)
    assert graph.params.sum() == sum(p.numel() for p in module.parameters())
    assert graph.kinds.count("input") == len(inputs)
    assert graph.kinds[-1] == "output"
    assert graph.depth[-1] == graph.depth.max() > 0


def test_a_gradient_within_forward_is_work() -> None:
    graph = from_torch(Force(), torch.zeros(2, 8))
    assert graph.macs.sum() == 2 * (2 * 8 * 4)
    assert graph.params.sum() == 32


@pytest.mark.parametrize(
    ("module", "inputs", "macs"),
    [
        (nn.Bilinear(5, 6, 7), (torch.zeros(2, 5), torch.zeros(2, 6)), 2 * 5 * 6 * 7),
        (nn.LSTM(8, 12), (torch.zeros(7, 2, 8),), 7 * 2 * 48 * (8 + 12)),
    ],
)
def test_work_that_torch_s_counter_loses(module: nn.Module, inputs: Any, macs: int) -> None:
    class Wrapped(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = module

        def forward(self, *given: Any) -> Any:
            return self.inner(*given)

    assert from_torch(Wrapped(), inputs).macs.sum() == macs


def test_products_with_vectors_are_work() -> None:
    class Vector(nn.Module):
        def forward(self, a: Any, x: Any) -> Any:
            return torch.dot(a @ x, x) + torch.addmv(x, a, x)

    graph = from_torch(Vector(), (torch.zeros(6, 6), torch.zeros(6)))
    assert graph.macs.sum() == 36 + 6 + 36


def test_one_channel_is_not_depthwise() -> None:
    assert from_torch(nn.Conv2d(1, 32, 3), torch.zeros(1, 1, 9, 9)).kinds[1] == "conv3x3"
    assert from_torch(nn.Conv2d(4, 8, 3, groups=4), torch.zeros(4, 9, 9)).kinds[1] == "depthwise"
    assert from_torch(nn.Conv2d(1, 1, (1, 3)), torch.zeros(1, 1, 9, 9)).kinds[1] == "conv"


class Keywords(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(8, 8)

    def forward(self, x: Any, *, mask: Any = None, scale: float = 1.0) -> Any:
        y = self.layer(x) * scale
        return {"scores": y if mask is None else y @ mask}


class OfBatch(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(8, 8)

    def forward(self, batch: Any) -> Any:
        return self.layer(batch["x"]) @ batch["more"]["mask"]


@dataclass
class Pair:
    x: Any
    mask: Any


class OfPair(nn.Module):
    def forward(self, pair: Pair) -> Any:
        return Pair(pair.x @ pair.mask, [pair.x])


X, MASK = torch.zeros(4, 8), torch.zeros(8, 8)


def test_arguments_by_name_and_in_dictionaries() -> None:
    wanted = 4 * 8 * 8 * 2
    module = Keywords()
    for graph in (
        from_torch(module, X, {"mask": MASK}),
        from_torch(module, X, mask=MASK, scale=2.0),
        from_torch(module, (X,), kwargs={"mask": MASK}),
        from_torch(module, x=X, mask=MASK),
        from_torch(module, {"x": X, "mask": MASK}),
        from_torch(OfBatch(), {"x": X, "more": {"mask": MASK}}),
        from_torch(OfBatch(), ({"x": X, "more": {"mask": MASK}},)),
        from_torch(OfBatch(), batch={"x": X, "more": {"mask": MASK}}),
    ):
        assert graph.macs.sum() == wanted
        assert (graph.batch, graph.kinds.count("input")) == (4, 2)
        assert len(graph.edges) in (4, 5)
    found = from_torch(OfPair(), Pair(X, MASK))
    assert found.macs.sum() == 4 * 8 * 8
    assert {tuple(edge) for edge in found.edges.tolist()} == {(0, 2), (1, 2), (2, 3), (0, 3)}


class Remembers(nn.Module):
    """All that a forward may change of its module."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(8, 8)
        self.norm = nn.BatchNorm1d(8)
        self.drop = nn.Dropout()
        self.lock = threading.Lock()
        self.calls, self.seen, self.cache = 0, [torch.ones(1)], {"last": torch.ones(1)}
        self.register_buffer("state", torch.ones(4, 8))

    def forward(self, x: Any) -> Any:
        with self.lock:
            self.calls += 1
            y = self.drop(self.norm(self.layer(x)))
            self.state[:] = y
            self.seen.append(y)
            self.cache["last"] = self.new = y
            self.layer.weight.requires_grad_(False)
            torch.rand(3)
            return self.state + 1


class FrozenNorm(nn.Module):
    """A norm kept in eval mode within a net that trains, by its own train()."""

    def __init__(self) -> None:
        super().__init__()
        self.body = backbone()

    def train(self, mode: bool = True) -> FrozenNorm:
        super().train(mode)
        self.body[1].eval()
        return self

    def forward(self, x: Any) -> Any:
        return self.body(x)


class Breaks(Remembers):
    def forward(self, x: Any) -> Any:
        super().forward(x)
        return x[x > 0]


def _facts(module: nn.Module) -> Any:
    """What of a module can be told apart: modes, attributes, numbers and their places."""
    parts = [
        (
            id(part),
            part.training,
            [(name, id(value)) for name, value in vars(part).items()],
            [len(hooks) for hooks in (part._forward_hooks, part._forward_pre_hooks)],
        )
        for part in module.modules()
    ]
    tensors = {**dict(module.named_parameters()), **dict(module.named_buffers())}
    numbers = [
        (name, id(t), t.requires_grad, t.grad, t._version, t.tolist())
        for name, t in tensors.items()
    ]
    own = [
        repr([getattr(module, n, None) for n in ("calls", "seen", "cache", "new")]),
        torch.is_grad_enabled(),
        torch.get_rng_state().tolist(),
        torch.backends.mha.get_fastpath_enabled(),
    ]
    return parts, numbers, own


UNCHANGED: dict[str, tuple[Any, Any]] = {
    **{name: (make, inputs) for name, (make, inputs) in MODULES.items()},
    "remembers": (Remembers, (torch.zeros(4, 8),)),
    "breaks": (Breaks, (torch.zeros(4, 8),)),
    "frozen norm": (FrozenNorm, (torch.zeros(2, 3, 9, 9),)),
    "wrong input": (lambda: nn.Sequential(nn.Linear(8, 8), nn.BatchNorm1d(8)), (MASK[:, :5],)),
    "gradient": (Force, (torch.zeros(4, 8),)),
}


@pytest.mark.parametrize("mode", ["train", "eval", "mixed"])
@pytest.mark.parametrize("name", UNCHANGED)
def test_the_module_is_unchanged(name: str, mode: str) -> None:
    make, inputs = UNCHANGED[name]
    module = make().train(mode != "eval")
    if mode == "mixed":
        for k, part in enumerate(module.modules()):
            part.training = bool(k % 2)
    before = _facts(module)
    if name in ("breaks", "wrong input"):
        with pytest.raises(InputError, match="cannot follow"):
            from_torch(module, inputs)
    else:
        from_torch(module, inputs)
    assert _facts(module) == before


def test_what_is_written_into_a_view_is_what_is_read() -> None:
    class Writes(nn.Module):
        def forward(self, x: Any) -> Any:
            y = torch.zeros_like(x)
            y[:, 0] = x.sum(1)
            return torch.relu(y)

    graph = from_torch(Writes(), torch.zeros(4, 8))
    assert graph.kinds[-1] == "output"
    assert graph.depth[-1] == graph.depth.max() >= 4  # input, sum, write, activation, output


def test_sixteen_bits_and_shared_weights_count_once() -> None:
    layer = nn.Linear(8, 8)
    graph = from_torch(nn.Sequential(layer, layer).bfloat16(), torch.zeros(4, 8).bfloat16())
    np.testing.assert_array_equal(graph.params, [0, 72, 0, 0])


def test_work_of_foreign_operators_is_said_to_be_unknown() -> None:
    @torch.library.custom_op("walras_tests::twice", mutates_args=())
    def twice(x: torch.Tensor) -> torch.Tensor:
        return 2.0 * x

    twice.register_fake(torch.empty_like)

    class Twice(nn.Module):
        def forward(self, x: Any) -> Any:
            return twice(x)

    with pytest.warns(UserWarning, match="walras_tests::twice counts as nothing"):
        graph = from_torch(Twice(), torch.zeros(4, 8))
    assert graph.kinds == ("input", "other", "output")


class Raises(nn.Module):
    def __init__(self, error: Exception) -> None:
        super().__init__()
        self.error = error

    def forward(self, x: Any) -> Any:
        raise self.error


class Shapes(nn.Module):
    def forward(self, x: Any) -> Any:
        return torch.zeros(int(x.sum()))


def scripted() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return torch.jit.script(nn.Linear(8, 8))


@pytest.mark.parametrize(
    ("module", "data", "message"),
    [
        (Breaks(), X, "depends on its data"),
        (Shapes(), X, "depends on its data"),
        (Raises(AssertionError("bad width")), X, "bad width"),
        (Raises(KeyError("ids")), X, "ids"),
        (Raises(ZeroDivisionError()), X, "ZeroDivisionError"),
        (nn.Module(), X, "forward"),
        (nn.LazyLinear(3), X, "'weight' has no shape yet"),
        (scripted(), X, "ScriptModule"),
        (nn.Sequential(scripted()), X, "ScriptModule"),
        (Keywords(), {"y": X}, "cannot follow"),
        (nn.Linear, X, "is or holds a type"),
    ],
    ids=range(11),
)
def test_what_cannot_be_followed_is_one_clear_error(module: Any, data: Any, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        from_torch(module, data)
    assert caught.value.remedy


def test_a_second_argument_that_names_nothing() -> None:
    with pytest.raises(InputError, match="kwargs: is a Tensor") as caught:
        from_torch(Keywords(), X, MASK)
    assert "tuple" in caught.value.remedy
