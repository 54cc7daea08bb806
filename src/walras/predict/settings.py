"""How predictors are trained."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from walras import checks
from walras.errors import InputError

Method = Literal["tam", "tsm", "bagged", "ucb-optimistic", "ucb-pessimistic"]
METHODS = ("tam", "tsm", "bagged", "ucb-optimistic", "ucb-pessimistic")
LOSSES = ("raw", "log")
EMBEDDED = "gnn+mlp"
FULLY_CONNECTED = ("mlp", EMBEDDED)
MODELS = ("linear", "mlp", "gnn", EMBEDDED)
TRUNKS = ("shared", "separate")
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
        model: ``linear`` (NumPy), or ``mlp``, ``gnn``, ``gnn+mlp``, or a torch module of yours
            (torch). ``gnn+mlp`` trains a graph network, keeps it fixed, and trains fully connected
            networks on its embedding of the tasks, as Huo et al. do (ICPP 2025, section 4.1.1).
        link: Link of linear models, from score to time: ``softplus`` or ``exp``; ``auto`` takes
            the better one on held-out tasks.
        members: Number of models in an ensemble.
        confidence: Standard deviations by which ``ucb`` moves the mean.
        level: Probability that an interval holds, 0 to 1.
        epochs: Passes over the tasks, for torch models.
        learning_rate: Largest step of AdamW, for torch models.
        hidden: Width of ``mlp`` and ``gnn``.
        layers: Hidden layers of ``mlp``, rounds of messages of ``gnn``.
        trunk: Of fully connected networks. ``shared``: one network predicts time and success on
            all clusters. ``separate``: one network for the time on each cluster and one for the
            success, the paper's omega_i and phi_i.
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
    trunk: Literal["shared", "separate"] = "shared"
    seed: int = 0

    def __post_init__(self) -> None:
        checks.one_of(self.method, "setting method", METHODS)
        checks.one_of(self.loss, "setting loss", LOSSES)
        checks.one_of(self.link, "setting link", LINKS)
        if isinstance(self.model, str):
            checks.one_of(self.model, "setting model", MODELS)
        check_trunk(self.trunk, self.model)
        for name in ("members", "epochs", "hidden", "layers"):
            checks.setting(self, name, 1, integer=True)
        for name in ("confidence", "learning_rate"):
            checks.setting(self, name, above=0.0)
        checks.setting(self, "level", above=0.0, below=1.0)

    @property
    def ensemble(self) -> int:
        """Number of models that are trained."""
        return 1 if self.method in ("tam", "tsm") else self.members


def check_trunk(trunk: str, model: object) -> None:
    """Refuse separate networks of a model that is not fully connected.

    Raises:
        InputError: It is, or there is no such trunk.
    """
    checks.one_of(trunk, "setting trunk", TRUNKS)
    if trunk == "separate" and not (isinstance(model, str) and model in FULLY_CONNECTED):
        shown = f"'{model}'" if isinstance(model, str) else type(model).__name__
        raise InputError(
            f"is 'separate' with model {shown}",
            where="setting trunk",
            allowed=f"'separate' with model {' or '.join(FULLY_CONNECTED)}",
            remedy="choose such a model, or trunk='shared'",
        )
