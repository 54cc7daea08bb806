"""The task graph of a torch module, from one pass over a copy of it that holds shapes alone."""

from __future__ import annotations

import inspect
import logging
import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch._subclasses.fake_tensor import (
    DataDependentOutputException,
    DynamicOutputShapeException,
    FakeTensorMode,
)
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import FlopCounterMode

from walras.errors import InputError
from walras.predict.graphs.graph import TaskGraph
from walras.predict.graphs.operators import PARTS, WHOLE, kind_of
from walras.predict.graphs.torch_copy import copied, tensors_in

_FOLLOWED = (
    RuntimeError, TypeError, ValueError, AttributeError, LookupError, ArithmeticError,
    AssertionError, ImportError, OSError,
)  # fmt: skip
_OWN = ("aten", "prim", "prims", "profiler")  # namespaces of torch's own operators
_SAME = ("identity", "reshape")  # of weights alone, these are the weights


def from_torch(
    module: Any, example_input: Any = (), kwargs: Mapping[str, Any] | None = None, **keywords: Any
) -> TaskGraph:
    """The operators of a torch module on an input, with the work, parameters and sizes of each.

    The module is traced on shapes in ``eval`` mode. Nothing is computed, and a copy runs, so that
    the module stays as it is. Parameters that several operators share count at the first. Work is
    half of what ``torch.utils.flop_counter`` counts, plus the recurrent, bilinear and
    matrix-vector products that it leaves out.

    Args:
        module: A ``torch.nn.Module``.
        example_input: A tensor; a tuple of the module's arguments; or a dictionary: of keyword
            arguments where its keys are names of ``forward``'s, else the one argument. The first
            axis of the first tensor is the batch.
        kwargs: Keyword arguments of ``forward``.
        keywords: The same, by name.

    Returns:
        The task graph.

    Raises:
        InputError: It is no module, its path or a shape depends on its data, or it fails on the
            input.

    Example:
        >>> import torch
        >>> from walras.predict import from_torch
        >>> graph = from_torch(torch.nn.Linear(3, 2), torch.zeros(4, 3))
        >>> graph.kinds, graph.macs.tolist(), graph.batch
        (('input', 'linear', 'output'), [0.0, 24.0, 0.0], 4)
    """
    _check(module)
    inputs = _arguments(module, example_input, kwargs, keywords)
    try:
        with _quietly():
            reading = _followed(module, inputs)
    except _FOLLOWED as error:
        lines = str(error).strip().splitlines() or [type(error).__name__]
        on_data = isinstance(error, DataDependentOutputException | DynamicOutputShapeException)
        reason = f"its path or a shape depends on its data ({lines[0]})" if on_data else lines[0]
        raise InputError(
            f"torch cannot follow it: {reason}",
            where=f"module {type(module).__name__}",
            allowed="a module whose path and shapes do not depend on its data, and a fitting input",
            remedy="check the input's shape, or build the TaskGraph by hand",
        ) from error
    if reading.foreign:
        warnings.warn(
            f"work of {', '.join(sorted(reading.foreign))} counts as nothing: torch counts that of "
            "its own operators alone",
            stacklevel=2,
        )
    return reading.graph(_batch(inputs))


def _check(module: Any) -> None:
    parts = module.modules() if isinstance(module, torch.nn.Module) else [module]
    for part in parts:
        if not isinstance(part, torch.nn.Module) or isinstance(part, torch.jit.ScriptModule):
            raise InputError(
                f"is or holds a {type(part).__name__}",
                where="module",
                allowed="a torch.nn.Module that torch.jit has not compiled",
                remedy="pass an instance of your network",
            )


Inputs = tuple[tuple[Any, ...], dict[str, Any]]
"""Arguments by position and by name."""


def _arguments(module: Any, given: Any, kwargs: Any, keywords: dict[str, Any]) -> Inputs:
    if not isinstance(kwargs, Mapping | None):
        raise InputError(
            f"is a {type(kwargs).__name__}",
            where="kwargs",
            allowed="arguments by name",
            remedy="give several arguments by position as a tuple: (first, second)",
        )
    keywords = {**(kwargs or {}), **keywords}
    if isinstance(given, Mapping) and not keywords and all(isinstance(k, str) for k in given):
        try:
            inspect.signature(module.forward).bind(**given)
        except (TypeError, ValueError):  # not its parameters, or a forward without a signature
            return (given,), {}
        return (), dict(given)
    return (given if isinstance(given, tuple) else (given,)), keywords


def _batch(inputs: Inputs) -> int:
    first = next((t for t in tensors_in(inputs) if t.dim()), None)
    return 1 if first is None else int(first.shape[0])


@contextmanager
def _quietly() -> Iterator[None]:
    """Torch's global state as it was afterwards; attention is taken apart meanwhile.

    Torch logs what does not fit with a traceback before it raises the same.
    """
    logger = logging.getLogger(FakeTensorMode.__module__)
    was_off, logger.disabled = logger.disabled, True
    fused = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        with warnings.catch_warnings(), torch.random.fork_rng(devices=[]):
            warnings.simplefilter("ignore")
            yield
    finally:
        torch.backends.mha.set_fastpath_enabled(fused)
        logger.disabled = was_off


def _followed(module: Any, inputs: Inputs) -> _Reading:
    """One pass without autograd, in which operators are whole; one with it for those that need it.

    Raises:
        RuntimeError and others: Whatever the module raises.
    """
    try:
        return _pass(module, inputs, torch.inference_mode())
    except RuntimeError as error:
        if not any(word in str(error) for word in ("grad", "nference")):
            raise
        return _pass(module, inputs, torch.enable_grad())


def _pass(module: Any, inputs: Inputs, gradients: Any) -> _Reading:
    shapes = FakeTensorMode(allow_non_fake_inputs=True)
    own, (arguments, keywords), parameters = copied(module, inputs, shapes.from_tensor)
    with suppress(NotImplementedError):  # an exported program has one mode
        own.eval()
    reading = _Reading({id(value): (name,) for name, value in parameters.items()})
    reading.sizes = {name: value.numel() for name, value in parameters.items()}
    for tensor in tensors_in((arguments, keywords)):
        reading.add("input", (tensor,), (), 0.0, ())
    with shapes, gradients, _OperatorRecorder(reading):
        found = own(*arguments, **keywords)
    reading.add("output", (), reading.sources(tuple(tensors_in(found))), 0.0, ())
    return reading


class _OperatorRecorder(TorchDispatchMode):
    """Tells a reading each operator that runs, with its work."""

    def __init__(self, reading: _Reading) -> None:
        super().__init__()
        self.reading = reading
        self.counted = FlopCounterMode(display=False)
        self.all = FlopCounterMode(display=False, custom_mapping=dict(PARTS))

    def __torch_dispatch__(
        self, operator: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        given = list(tensors_in((args, kwargs or {})))
        sources = self.reading.sources(given)
        # What is done to weights alone could be done beforehand: no more than torch counts.
        on_data = any(self.reading.on_data[k] for k in sources)
        with self.all if on_data else self.counted as counter:
            found = operator(*args, **(kwargs or {}))
        own = WHOLE.get(operator._overloadpacket)
        flops = own(*_shapes(args)) if own else counter.get_total_flops()
        self.reading.take(operator, given, found, sources, flops / 2.0)
        return found


@dataclass
class _Reading:
    """Operators read so far.

    Tensors are known by their identity, or by their storage where torch made another view of
    them; ``kept`` keeps them alive so that neither is used again.

    Attributes:
        weights: Names of the parameters that a tensor is a view of.
        sizes: Numbers in each parameter.
        on_data: Whether an operator's result depends on the module's input.
        foreign: Operators that are not torch's own and of which no work is known.
    """

    weights: dict[int, tuple[str, ...]]
    sizes: dict[str, int] = field(default_factory=dict)
    kinds: list[str] = field(default_factory=list)
    macs: list[float] = field(default_factory=list)
    params: list[float] = field(default_factory=list)
    elements: list[float] = field(default_factory=list)
    on_data: list[bool] = field(default_factory=list)
    edges: list[tuple[int, int]] = field(default_factory=list)
    made_by: dict[int, int] = field(default_factory=dict)
    stored_by: dict[int, int] = field(default_factory=dict)
    written_by: dict[int, int] = field(default_factory=dict)
    counted: set[str] = field(default_factory=set)
    foreign: set[str] = field(default_factory=set)
    kept: list[Any] = field(default_factory=list)

    def take(
        self, operator: Any, given: Sequence[Any], found: Any, sources: Sequence[int], macs: float
    ) -> None:
        """Read one operator that ran on tensors."""
        results = tuple(tensors_in(found))
        if not results:
            return
        self.kept += [*given, *results]
        names = [name for tensor in given for name in self.weights.get(id(tensor), ())]
        kind = kind_of(operator.__name__.partition(".")[0], [tuple(t.shape) for t in given])
        if not sources and not macs and (not names or kind in _SAME):
            # A constant, such as a state of zeros, or a view or cast of weights.
            self.weights |= {id(tensor): tuple(names) for tensor in results}
            return
        here = self.add(kind, results, sources, macs, names)
        if not macs and operator.namespace not in _OWN:
            self.foreign.add(f"{operator.namespace}::{operator.__name__.partition('.')[0]}")
        if operator._schema.is_mutable:
            self.written_by |= {key: here for key in map(_storage, results) if key is not None}

    def add(
        self,
        kind: str,
        results: Sequence[Any],
        sources: Sequence[int],
        macs: float,
        names: Sequence[str],
    ) -> int:
        """Add an operator; its number."""
        here = len(self.kinds)
        fresh = set(names) - self.counted
        self.counted |= fresh
        self.kinds.append(kind)
        self.on_data.append(kind == "input" or any(self.on_data[k] for k in sources))
        self.macs.append(macs)
        self.params.append(float(sum(self.sizes[name] for name in fresh)))
        self.elements.append(float(sum(math.prod(tensor.shape) for tensor in results)))
        self.edges += [(source, here) for source in sources]
        for tensor in results:
            self.made_by[id(tensor)] = here
            self.stored_by[_storage(tensor) or -1] = here
        return here

    def sources(self, tensors: Sequence[Any]) -> tuple[int, ...]:
        """The operators that made tensors, or wrote into them since."""
        found: dict[int, None] = {}
        for tensor in tensors:
            key = _storage(tensor)
            made = self.made_by.get(id(tensor), self.stored_by.get(key or 0))
            written = self.written_by.get(key or 0)
            last = max((k for k in (made, written) if k is not None), default=None)
            if last is not None and id(tensor) not in self.weights:
                found[last] = None
        return tuple(found)

    def graph(self, batch: int) -> TaskGraph:
        """What was read, as a task graph."""
        return TaskGraph(
            tuple(self.kinds),
            np.array(self.macs),
            np.array(self.params),
            np.array(self.elements),
            np.array(self.edges, dtype=np.int64),
            batch,
        )


def _shapes(values: Any) -> Any:
    """Shapes in place of tensors, in lists as well."""
    if isinstance(values, torch.Tensor):
        return tuple(values.shape)
    return [_shapes(v) for v in values] if isinstance(values, list | tuple) else values


def _storage(tensor: Any) -> int | None:
    """What views of one tensor share."""
    return int(tensor.untyped_storage()._cdata) if tensor.layout == torch.strided else None
