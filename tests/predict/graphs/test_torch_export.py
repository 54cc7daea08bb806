"""Task graphs of torch modules: ten published architectures, and what cannot be followed."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
import pytest
import torch
from tests.predict.architectures import ARCHITECTURES, LanguageModel
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from walras.errors import InputError
from walras.predict import FEATURES, closed_form, from_torch


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_an_architecture_is_read_operator_by_operator(name: str) -> None:
    make, example, published = ARCHITECTURES[name]
    with torch.device("meta"):
        module, data = make(), example()
    graph = from_torch(module, data)
    params = sum(p.numel() for p in module.parameters())
    assert graph.params.sum() == params
    assert published in (params, None)
    assert graph.batch == 2
    # Every operator but the inputs is fed, and the output stands at the end of the longest path.
    assert set(np.flatnonzero(graph.depth == 0)) == {
        k for k, kind in enumerate(graph.kinds) if kind == "input"
    }
    assert graph.kinds[int(graph.depth.argmax())] == "output"
    assert "other" not in graph.kinds
    if "LSTM" not in name:
        assert graph.macs.sum() == _counted(module.eval(), data) / 2
    row = closed_form([graph])
    assert row.shape == (1, len(FEATURES))
    assert row[0, FEATURES.index("log params")] == pytest.approx(np.log1p(params))


def _counted(module: nn.Module, data: Any) -> int:
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        module(data)
    return int(counter.get_total_flops())


def test_a_recurrent_network_multiplies_every_matrix_once_a_step() -> None:
    graph = from_torch(LanguageModel(words=100, width=8), torch.zeros(3, 5, dtype=torch.long))
    lstm = graph.kinds.index("recurrent")
    assert graph.macs[lstm] == 3 * 5 * 2 * (4 * 8 * 8 + 4 * 8 * 8)
    # The output shares the embedding's weights: they count once.
    assert graph.params[graph.kinds.index("embedding")] == 800
    assert graph.params[graph.kinds.index("linear")] == 100


def test_kinds_of_convolutions() -> None:
    module = nn.Sequential(
        nn.Conv2d(4, 4, 1), nn.Conv2d(4, 4, 3), nn.Conv2d(4, 4, 3, groups=4), nn.Conv2d(4, 4, 5)
    )
    graph = from_torch(module, torch.zeros(1, 4, 16, 16))
    assert graph.kinds[1:-1] == ("conv1x1", "conv3x3", "depthwise", "conv")


def test_twice_the_batch_is_twice_the_work() -> None:
    module = ARCHITECTURES["LeNet-5"][0]()
    one, two = (from_torch(module, torch.zeros(n, 1, 32, 32)) for n in (1, 2))
    assert one.kinds == two.kinds
    np.testing.assert_array_equal(2 * one.macs, two.macs)
    np.testing.assert_array_equal(one.params, two.params)


def test_the_modules_mode_is_left_as_it_was() -> None:
    module = nn.Sequential(nn.Linear(3, 3), nn.Dropout())
    for training in (True, False):
        module.train(training)
        from_torch(module, torch.zeros(2, 3))
        assert module.training is training


class Branching(nn.Module):
    def forward(self, x: Any) -> Any:
        return x if x.sum() > 0 else -x


@pytest.mark.parametrize(
    ("module", "data", "message"),
    [
        (nn.Linear(3, 2), torch.zeros(2, 5), "cannot follow"),
        (Branching(), torch.zeros(2), "cannot follow"),
        (nn.Linear(3, 2), "text", "cannot follow"),
        (len, torch.zeros(2), "torch.nn.Module"),
    ],
)
def test_a_module_that_cannot_be_followed(module: Any, data: Any, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        from_torch(module, data)
    assert caught.value.remedy


def test_an_input_that_does_not_fit_is_one_error_and_nothing_else(
    capfd: pytest.CaptureFixture[str],
) -> None:
    """Torch logs a traceback of its own to stderr before it raises."""
    logger = logging.getLogger("torch._subclasses.fake_tensor")
    handler = logging.StreamHandler()
    logger.addHandler(handler)
    try:
        for module, data in (
            (nn.Linear(4, 3), torch.zeros(2, 5)),
            (nn.Conv2d(3, 8, 3), torch.zeros(1, 4, 9, 9)),
        ):
            with pytest.raises(InputError, match="cannot follow"):
                from_torch(module, data)
    finally:
        logger.removeHandler(handler)
    assert capfd.readouterr() == ("", "")
    assert not logger.disabled


def test_a_tensor_that_is_no_attribute_is_a_constant() -> None:
    outside = torch.full((3,), 2.0)

    class Scaled(nn.Module):
        def forward(self, x: Any) -> Any:
            return torch.relu(x * outside)

    graph = from_torch(Scaled(), torch.zeros(4, 3))
    assert graph.kinds[0] == "input"
    assert graph.params.sum() == 0


def test_what_is_written_through_a_view_belongs_to_the_tensor() -> None:
    class Scaled(nn.Module):
        def forward(self, x: Any) -> Any:
            y = torch.tanh(x)
            y[0].mul_(2.0)
            y[1].add_(x[0])
            return y

    graph = from_torch(Scaled(), torch.zeros(2, 3))
    above, waiting = set(), [graph.kinds.index("output")]
    while waiting:
        here = waiting.pop()
        above.add(here)
        waiting += [int(a) for a, b in graph.edges if b == here and int(a) not in above]
    assert above == set(range(len(graph))), "every operator feeds the output"


def test_the_batch_is_the_first_axis_of_the_first_tensor_that_has_one() -> None:
    class Both(nn.Module):
        def forward(self, scale: Any, x: Any = None) -> Any:
            return scale if x is None else scale * x

    scalar = torch.tensor(2.0)
    assert from_torch(Both(), (scalar,)).batch == 1
    assert from_torch(Both(), (scalar, torch.zeros(5, 3))).batch == 5


def test_only_what_depends_on_data_is_said_to() -> None:
    class Wrong(nn.Module):
        def forward(self, x: Any) -> Any:
            return x @ torch.zeros(7, 7)

    class Choosing(nn.Module):
        def forward(self, x: Any) -> Any:
            return x if x.sum() > 0 else -x

    with pytest.raises(InputError) as raised:
        from_torch(Wrong(), torch.zeros(4, 3))
    assert "depends on its data" not in str(raised.value).split("allowed")[0]
    with pytest.raises(InputError, match="depends on its data"):
        from_torch(Choosing(), torch.zeros(4, 3))
