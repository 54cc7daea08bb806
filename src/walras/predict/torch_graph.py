"""The task graph of a torch module, by torch.export; nothing is computed, only shapes."""

from __future__ import annotations

import math
import operator
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch

from walras.errors import InputError
from walras.predict.graph import TaskGraph
from walras.predict.operators import Shape, kind_of, macs_of


def from_torch(module: Any, example_input: Any) -> TaskGraph:
    """The operators of a torch module on an input, with the work, parameters and sizes of each.

    Parameters shared by several operators count at the first. The module's mode is left as it was.

    Args:
        module: A ``torch.nn.Module``.
        example_input: A tensor, or a tuple of the module's arguments; the first axis of the first
            tensor is the batch.

    Raises:
        InputError: It is no module, or torch.export cannot follow it.
    """
    if not isinstance(module, torch.nn.Module):
        raise InputError(
            f"is {type(module).__name__}", where="module", allowed="a torch.nn.Module",
            remedy="pass an instance of your network",
        )  # fmt: skip
    arguments = example_input if isinstance(example_input, tuple) else (example_input,)
    training = module.training
    module.eval()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # on how export treats attributes, none of our concern
            program = torch.export.export(module, arguments, strict=False)
    except (RuntimeError, TypeError, ValueError, AttributeError, IndexError, KeyError) as error:
        reason = str(error).strip().splitlines()
        raise InputError(
            f"torch.export cannot follow it: {reason[0] if reason else type(error).__name__}",
            where=f"module {type(module).__name__}",
            allowed="a module whose path does not depend on its data, and a fitting example input",
            remedy="check the input's shape, or build the TaskGraph by hand",
        ) from error  # fmt: skip
    finally:
        module.train(training)
    reading = _Reading(_parameters(program))
    for node in program.graph.nodes:
        reading.take(node, program)
    return reading.graph(_batch(arguments))


def _parameters(program: Any) -> dict[str, Shape]:
    signature = program.graph_signature
    return {
        name: tuple(program.state_dict[target].shape)
        for name, target in signature.inputs_to_parameters.items()
    }


def _batch(arguments: Sequence[Any]) -> int:
    first = next((a for a in arguments if isinstance(a, torch.Tensor) and a.dim()), None)
    return 1 if first is None else int(first.shape[0])


@dataclass
class _Reading:
    """Operators read so far; ``stands_for`` maps a node of the program to operators of ours."""

    parameters: dict[str, Shape]
    kinds: list[str] = field(default_factory=list)
    macs: list[float] = field(default_factory=list)
    params: list[float] = field(default_factory=list)
    elements: list[float] = field(default_factory=list)
    edges: list[tuple[int, int]] = field(default_factory=list)
    stands_for: dict[str, tuple[int, ...]] = field(default_factory=dict)
    counted: set[str] = field(default_factory=set)

    def take(self, node: Any, program: Any) -> None:
        """Read one node of the program."""
        if node.op == "placeholder":
            if node.name in program.graph_signature.user_inputs:
                self._add(node, "input", 0.0, 0.0)
        elif node.op == "output":
            self._add(node, "output", 0.0, 0.0)
        elif node.op == "call_function":
            made = node.target is not operator.getitem and bool(_shapes(node))
            if not made or not (self._sources(node) or self._weights(node)):
                # Part of a tuple, a number, or a constant such as a state of zeros.
                self.stands_for[node.name] = self._sources(node)
            else:
                self._operator(node)

    def _operator(self, node: Any) -> None:
        name = str(node.target).split(".")[1] if "." in str(node.target) else str(node.target)
        weights = self._weights(node)
        shapes = [self.parameters[w] for w in weights]
        fresh = [w for w in weights if w not in self.counted]
        self.counted.update(fresh)
        inputs = [_shapes(n)[0] for n in node.all_input_nodes if _shapes(n)]
        # A tensor that enters twice stands once among a node's inputs.
        inputs += inputs[-1:] * 2
        macs = macs_of(name, inputs, _shapes(node)[0], shapes)
        learned = sum(math.prod(self.parameters[w]) for w in fresh)
        self._add(node, kind_of(name, shapes[0] if shapes else None), macs, float(learned))

    def _weights(self, node: Any) -> list[str]:
        return [n.name for n in node.all_input_nodes if n.name in self.parameters]

    def _add(self, node: Any, kind: str, macs: float, params: float) -> None:
        here = len(self.kinds)
        self.kinds.append(kind)
        self.macs.append(macs)
        self.params.append(params)
        self.elements.append(float(sum(math.prod(shape) for shape in _shapes(node))))
        self.edges += [(source, here) for source in self._sources(node)]
        self.stands_for[node.name] = (here,)

    def _sources(self, node: Any) -> tuple[int, ...]:
        found = (s for n in node.all_input_nodes for s in self.stands_for.get(n.name, ()))
        return tuple(dict.fromkeys(found))

    def graph(self, batch: int) -> TaskGraph:
        """What was read, as a task graph."""
        return TaskGraph(
            tuple(self.kinds), np.array(self.macs), np.array(self.params), np.array(self.elements),
            np.array(self.edges, dtype=np.int64), batch,
        )  # fmt: skip


def _shapes(node: Any) -> list[Shape]:
    """Shapes of a node's outputs; none where it yields no tensor."""
    value = node.meta.get("val")
    values = value if isinstance(value, tuple | list) else (value,)
    return [tuple(int(s) for s in v.shape) for v in values if hasattr(v, "shape")]
