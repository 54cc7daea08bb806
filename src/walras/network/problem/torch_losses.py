"""Losses of any torch module; the gradients of all centres take one batched call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from walras import checks
from walras.errors import EngineError, InputError
from walras.extras import install_hint
from walras.network.problem.shards import Shards
from walras.types import Floats, Weights

_ROUNDS = 20  # rounds of the power iteration for the curvature
_SAMPLES = 256  # samples of a centre for it
# distances, relative to the model's size, at which gradients are compared
_AWAY = (1e-3, 1e-2, 1e-1)
_FLAT = 1e-3  # share of the gradients' differences below which the Hessian is useless as a bound
_NONE = 1e-7  # gradient over model below which there is no curvature in single precision


@dataclass(frozen=True, eq=False)
class TorchLoss:
    """The mean of ``criterion(module(features), targets)`` over samples; it need not be convex.

    The model is the module's parameters in one row. Modules with buffers that training changes
    (batch normalisation) are refused, since every centre would need its own buffers.

    Attributes:
        module: A ``torch.nn.Module`` without randomness in its forward pass.
        criterion: Function from outputs and targets to one loss for each sample, such as
            ``torch.nn.functional.cross_entropy`` with ``reduction="none"``.
        integers: Whether targets are class numbers.
        regularisation: Weight of ``|y|^2 / 2``, at least 0.
        smoothness_hint: L if known, the largest rate of change of a centre's gradient. Otherwise it
            is estimated near the first model, where the loss must have curvature.
        convex: False, since the loss need not be convex.

    Raises:
        EngineError: torch is not installed.
        InputError: The module has no parameters, or has buffers, or the hint is not positive.

    Example:
        >>> import torch
        >>> import walras as wl
        >>> wn = wl.network
        >>> layers = torch.nn.Linear(2, 4), torch.nn.Tanh(), torch.nn.Linear(4, 2)
        >>> def loss(outputs, targets):
        ...     return torch.nn.functional.cross_entropy(outputs, targets, reduction="none")
        >>> shards = [([[0.0, 1.0]], [0]), ([[1.0, 0.0]], [1])]
        >>> cpu = [wn.QuadraticCPU(1.0, 1.0)] * 2
        >>> network = wn.TorchLoss(torch.nn.Sequential(*layers), loss)
        >>> problem = wn.NetworkProblem(cpu, 2.0, loss=network, shards=shards)
        >>> problem
        NetworkProblem(2 centres, budget 2, TorchLoss)
    """

    module: Any
    criterion: Callable[[Any, Any], Any]
    integers: bool = True
    regularisation: float = 0.0
    smoothness_hint: float | None = None
    convex: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        torch = _torch()
        if not isinstance(self.module, torch.nn.Module) or not list(self.module.parameters()):
            raise InputError(
                "has no parameters",
                where="TorchLoss.module",
                allowed="a torch.nn.Module",
                remedy="give the network to train",
            )
        if list(self.module.buffers()):
            raise InputError(
                "has buffers",
                where="TorchLoss.module",
                allowed="parameters only",
                remedy="use group or layer normalisation in place of batch normalisation",
            )

        hint = self.smoothness_hint
        if hint is not None:
            remedy = "leave it out to have it estimated"
            checks.number(hint, "TorchLoss.smoothness_hint", above=0.0, remedy=remedy)

    def prepare(self, shards: Shards) -> Shards:
        """The shards in single precision, with class numbers as integers.

        Args:
            shards: Every centre's samples.

        Returns:
            The shards to train on.
        """
        targets = shards.targets.astype(np.int64 if self.integers else np.float32)
        features = shards.features.astype(np.float32)
        return Shards(features, targets, shards.weight.astype(np.float32), shards.sizes)

    def start(self, shards: Shards, seed: int) -> Weights:
        """The module's own parameters.

        Args:
            shards: Not used.
            seed: Not used, since the module has its parameters already.

        Returns:
            (scalars,) the parameters in one row.
        """
        parts = [p.detach().reshape(-1) for p in self.module.parameters()]
        return np.asarray(_torch().cat(parts).numpy(), np.float32).copy()

    def value(self, models: Weights, shards: Shards, centres: int) -> Floats:
        """(rows,) values of g_i.

        Args:
            models: (rows, scalars) one model a centre.
            shards: Prepared samples of these centres.
            centres: Number of centres that share the regularisation.

        Returns:
            (rows,) values of g_i.
        """
        torch = _torch()
        with torch.no_grad():
            own = [
                float((self._samples(row, x, t) * w).sum())
                for row, x, t, w in zip(*self._tensors(models, shards), strict=True)
            ]
        penalty = self.regularisation / (2 * centres) * (models**2).sum(axis=1)
        return np.asarray(np.array(own) + penalty, np.float64)

    def gradient(self, models: Weights, shards: Shards, centres: int) -> Weights:
        """(rows, scalars) gradients of g_i, all rows in one call.

        Args:
            models: (rows, scalars) one model a centre.
            shards: Prepared samples of these centres.
            centres: Number of centres that share the regularisation.

        Returns:
            (rows, scalars) gradients of g_i.
        """
        grad = self._gradients(*self._tensors(models, shards))
        return np.asarray(grad.numpy() + self.regularisation / centres * models, models.dtype)

    def smoothness(self, shards: Shards, centres: int) -> Floats:
        """(rows,) twice the Hessian's norm at the first model, or the change of gradients near it.

        Args:
            shards: Prepared samples of these centres.
            centres: Number of centres that share the regularisation.

        Returns:
            (rows,) bounds on the curvature of g_i; the hint, where there is one.

        Raises:
            InputError: The Hessian is near 0 where gradients are not, as for L1 and hinge losses:
                it bounds nothing.
        """
        if self.smoothness_hint is not None:
            return np.full(len(shards.sizes), self.smoothness_hint)
        few = shards.batch(min(_SAMPLES, int(shards.sizes.max())), np.random.default_rng(0))
        torch = _torch()
        models = np.repeat(self.start(shards, 0)[None], len(few.sizes), axis=0)
        y, x, t, w = self._tensors(models, few)
        direction = torch.randn(y.shape, generator=torch.Generator().manual_seed(0))
        size = torch.zeros(len(y))
        for _ in range(_ROUNDS):
            direction = direction / direction.norm(dim=1, keepdim=True).clamp_min(1e-30)
            image = torch.func.grad(self._along)(y, direction, x, t, w)
            size, direction = image.norm(dim=1), image
        differ, slope = self._differences(y, x, t, w)
        flat = (size <= _FLAT * differ) | (size <= _NONE * slope)
        if bool((flat & (slope > 0.0)).any()):
            raise InputError(
                "has no curvature at the first model, where its gradient is not 0",
                where=f"TorchLoss, centre {int(flat.int().argmax())}",
                allowed="a loss whose Hessian says how fast gradients change",
                remedy="smooth it (Huber for L1, softplus for the hinge), or state the constant: "
                "smoothness_hint=L",
            )
        size = torch.maximum(size, differ)
        return np.asarray(2.0 * size.numpy() + self.regularisation / centres, np.float64)

    def _differences(self, y: Any, x: Any, t: Any, w: Any) -> tuple[Any, Any]:
        """(rows,) largest change of gradients over distance, and their size over the model's."""
        torch, generator = _torch(), _torch().Generator().manual_seed(1)
        here, scale = self._gradients(y, x, t, w), y.norm(dim=1, keepdim=True).clamp_min(1.0)
        most = torch.zeros(len(y))
        for part in _AWAY:
            for way in (torch.randn(y.shape, generator=generator), -here):
                step = part * scale * way / way.norm(dim=1, keepdim=True).clamp_min(1e-30)
                apart = (self._gradients(y + step, x, t, w) - here).norm(dim=1)
                most = torch.maximum(most, apart / (part * scale[:, 0]))
        return most, here.norm(dim=1) / scale[:, 0]

    def predict(self, model: Weights, features: npt.ArrayLike) -> npt.NDArray[Any]:
        """(samples,) the class of the largest output, or the output itself.

        Args:
            model: (scalars,) one model.
            features: (samples, features...) to predict from.

        Returns:
            (samples,) predicted classes or numbers.
        """
        torch = _torch()
        with torch.no_grad():
            x = torch.from_numpy(np.asarray(features, np.float32))
            out = self._forward(torch.from_numpy(np.asarray(model, np.float32)), x)
        return np.asarray((out.argmax(dim=1) if self.integers else out.squeeze(-1)).numpy())

    @cached_property
    def _gradients(self) -> Callable[..., Any]:
        func = _torch().func

        def own(row: Any, x: Any, t: Any, w: Any) -> Any:
            return (self._samples(row, x, t) * w).sum()

        return func.vmap(func.grad(own))  # type: ignore[no-any-return]

    def _along(self, models: Any, direction: Any, x: Any, t: Any, w: Any) -> Any:
        """The gradients' product with a direction; its gradient is the Hessian's product."""
        return (self._gradients(models, x, t, w) * direction).sum()

    def _samples(self, row: Any, x: Any, t: Any) -> Any:
        return self.criterion(self._forward(row, x), t)

    def _forward(self, row: Any, x: Any) -> Any:
        """Run the module with the parameters of a row."""
        named, at = {}, 0
        for name, parameter in self.module.named_parameters():
            named[name] = row[at : at + parameter.numel()].view(parameter.shape)
            at += parameter.numel()
        return _torch().func.functional_call(self.module, named, (x,))

    def _tensors(self, models: Weights, shards: Shards) -> tuple[Any, Any, Any, Any]:
        torch = _torch()
        arrays = (models.astype(np.float32), shards.features, shards.targets, shards.weight)
        y, x, t, w = (torch.from_numpy(np.ascontiguousarray(a)) for a in arrays)
        return y, x, t, w


def _torch() -> Any:
    try:
        import torch  # noqa: PLC0415  an extra, and two seconds to import
    except ImportError as error:
        raise EngineError(
            "torch is not installed",
            where="TorchLoss",
            allowed="the extra torch",
            remedy=install_hint("torch"),
        ) from error
    return torch
