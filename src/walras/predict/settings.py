"""How predictors are trained."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from numbers import Integral, Real
from typing import Any, Literal

from walras.errors import InputError

Method = Literal["tam", "tsm", "bagged", "ucb-optimistic", "ucb-pessimistic"]
METHODS = ("tam", "tsm", "bagged", "ucb-optimistic", "ucb-pessimistic")
LOSSES = ("raw", "log")
MODELS = ("linear", "mlp", "gnn")
LINKS = ("auto", "softplus", "exp")


@dataclass(frozen=True)
class Training:
    """Settings of two-stage training.

    Attributes:
        method: ``tam`` predicts a cluster's average for every task. ``tsm`` is one model.
            ``bagged`` is the mean of models on bootstrap samples. ``ucb-optimistic`` and
            ``ucb-pessimistic`` move that mean by ``confidence`` standard deviations towards
            the better or the worse.
        loss: ``raw``: squared error of seconds over a cluster's mean; ``log``: of log seconds.
        model: ``linear`` (NumPy), or ``mlp``, ``gnn``, or a torch module of yours (torch).
        link: Link of linear models, from score to time: ``softplus`` or ``exp``; ``auto`` takes
            the better one on held-out tasks.
        members: Number of models in an ensemble.
        confidence: Standard deviations by which ``ucb`` moves the mean.
        level: Probability that an interval holds, 0 to 1.
        epochs: Passes over the tasks, for torch models.
        learning_rate: Largest step of AdamW, for torch models.
        hidden: Width of ``mlp`` and ``gnn``.
        layers: Hidden layers of ``mlp``, rounds of messages of ``gnn``.
        seed: Seed of all random numbers.

    Raises:
        InputError: A setting is out of its range.

    Example:
        >>> from walras.predict import Training
        >>> Training(method="bagged", members=8).ensemble
        8
    """

    method: Method = "tsm"
    loss: Literal["raw", "log"] = "log"
    model: Any = "linear"
    link: Literal["auto", "softplus", "exp"] = "auto"
    members: int = 5
    confidence: float = 1.0
    level: float = 0.9
    epochs: int = 150
    learning_rate: float = 1e-2
    hidden: int = 32
    layers: int = 3
    seed: int = 0

    def __post_init__(self) -> None:
        _among("method", self.method, METHODS)
        _among("loss", self.loss, LOSSES)
        _among("link", self.link, LINKS)
        if isinstance(self.model, str):
            _among("model", self.model, MODELS)
        for name in ("members", "epochs", "hidden", "layers"):
            value = getattr(self, name)
            if not isinstance(value, Integral) or value < 1:
                _refuse(name, value, "a whole number >= 1")
        for name in ("confidence", "learning_rate", "level"):
            value = getattr(self, name)
            most = 1.0 if name == "level" else inf
            if not isinstance(value, Real) or not 0.0 < float(value) < most:
                _refuse(name, value, "0 < level < 1" if name == "level" else "finite and > 0")

    @property
    def ensemble(self) -> int:
        """Number of models that are trained."""
        return 1 if self.method in ("tam", "tsm") else self.members


def _among(name: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        _refuse(name, f"'{value}'", ", ".join(allowed))


def _refuse(name: str, value: object, allowed: str) -> None:
    raise InputError(
        f"is {value}", where=f"training, {name}", allowed=allowed, remedy=f"choose another {name}"
    )
