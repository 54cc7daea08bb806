"""Copies of torch modules and of their inputs that hold shapes in place of numbers."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import torch
from torch.nn.parameter import is_lazy

from walras.errors import InputError

_NOT_COPIED = (TypeError, RuntimeError, AttributeError, ValueError, LookupError, copy.Error)
_COMPILED = "_orig_mod"  # the module within what torch.compile returns


def copied(module: Any, inputs: Any, fake: Callable[[Any], Any]) -> tuple[Any, Any, dict[str, Any]]:
    """A copy of a module and of its inputs; what the copy does when it runs stays in it.

    Tensors are replaced by fake ones, so that a large module needs no second memory. All other
    state is copied; an attribute that cannot be copied, such as a lock, is shared.

    Args:
        module: The module.
        inputs: Anything that holds tensors.
        fake: Makes a fake tensor of a tensor.

    Returns:
        The copies, and the fake parameters by name.

    Raises:
        InputError: A parameter has no shape yet.
    """
    memo: dict[int, Any] = {}
    parameters: dict[str, Any] = {}
    for name, parameter in module.named_parameters():
        if is_lazy(parameter):
            raise InputError(
                f"parameter '{name}' has no shape yet",
                where=f"module {type(module).__name__}",
                allowed="a module that has run once",
                remedy="run it on the example input first",
            )
        parameters[name] = memo[id(parameter)] = fake(parameter)
    parts = list(module.modules())
    for tensor in tensors_in([[vars(part) for part in parts], inputs]):
        if id(tensor) not in memo:
            memo[id(tensor)] = fake(tensor)
    plain = [part for part in parts if _COMPILED not in part._modules]
    for part in plain:
        memo[id(part)] = object.__new__(type(part))
    for part in parts:
        if _COMPILED in part._modules:
            memo[id(part)] = memo[id(part._modules[_COMPILED])]
    for part in plain:
        own = {name: _copy(value, memo) for name, value in vars(part).items()}
        vars(memo[id(part)]).update(own, _compiled_call_impl=None)
    return memo[id(module)], _copy(inputs, memo), parameters


def _copy(value: Any, memo: dict[int, Any]) -> Any:
    try:
        return copy.deepcopy(value, memo)
    except _NOT_COPIED:
        return value


def tensors_in(value: Any) -> Iterator[Any]:
    """The tensors within containers, mappings and data classes, in order; modules are not entered.

    Args:
        value: Anything; it holds itself nowhere.
    """
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, Mapping):
        yield from tensors_in(list(value.values()))
    elif isinstance(value, list | tuple | set | frozenset):
        for part in value:
            yield from tensors_in(part)
    elif is_dataclass(value) and not isinstance(value, type):
        yield from tensors_in([getattr(value, field.name, None) for field in fields(value)])
