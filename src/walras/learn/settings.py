"""How predictors are trained through the matching, and how their predictions are decoded."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

from walras import checks
from walras.errors import InputError
from walras.kernels.devices import check_device
from walras.matching.speedup import Decay
from walras.predict.settings import Training, check_trunk

TWO_STAGE = {
    "tam": {"method": "tam"},
    "tsm": {},
    "tsm-raw": {"loss": "raw"},
    "tsm-log": {"loss": "log"},
    "ucb-optimistic": {"method": "ucb-optimistic"},
    "ucb-pessimistic": {"method": "ucb-pessimistic"},
}
"""Methods that never see the matching; ``tsm`` takes the better loss on validation."""

THROUGH = (
    "mfcp-ad",
    "mfcp-fg",
    "score-function",
    "pool-expected",
    "pool-contrastive",
    "pool-listwise",
    "perturbed",
)
"""Methods that train through the matching."""

LINEAR = ("spo+", "black-box")
"""Methods that are valid for a linear objective and known constraints alone."""

METHODS = (*TWO_STAGE, *THROUGH, *LINEAR, "auto")
MODELS = ("linear", "counts", "mlp", "gnn", "gnn+mlp", "auto")
DECODERS = ("elastic", "hard", "relaxed")
BARRIERS = ("elastic", "log", "hard")

_CHOICES = {
    "method": METHODS,
    "decoder": DECODERS,
    "barrier": BARRIERS,
    "objective": ("makespan", "sum"),
    "mode": ("orthogonal", "paper"),
    "joint": ("together", "alternating"),
    "link": ("auto", "softplus", "exp"),
}
_COUNTS = (
    "members",
    "steps",
    "batch",
    "samples",
    "check_every",
    "rounds",
    "iterations",
    "epochs",
)
_RANGES = {
    "price": (0.0, 1e6),
    "temperature": (1e-6, 1e3),
    "sharpness": (1e-6, 1e6),
    "learning_rate": (1e-9, 1e2),
    "anchor": (0.0, 1e6),
    "noise": (1e-6, 1e2),
    "step": (1e-9, 1.0),
    "rate": (1e-9, 1e6),
    "pool_temperature": (1e-6, 1e3),
}


@dataclass(frozen=True)
class LearnSettings:
    """Settings of :func:`walras.learn.fit`; times count in units of an even load.

    The attributes below come in groups: method and model; decoding; training; relaxed matching;
    the estimators of single methods; the paper's variants; device and seed.

    Source: Huo et al. (ICPP 2025), problems 10 and 12, Algorithms 1 and 2, and its ablations.

    Attributes:
        method: One of ``METHODS``.
        model: ``linear``; ``counts``: linear on the numbers of operators of each kind; ``mlp``;
            ``gnn``; ``gnn+mlp``; or a torch module of yours. Method ``auto`` also takes ``auto``,
            which chooses the class, too.
        members: Models whose mean predicts (bagging); 1 for one.
        link: Link of linear models: ``softplus``, ``exp``, or ``auto``, chosen on validation tasks.
        trunk: Of ``mlp`` and ``gnn+mlp``: ``shared``, or ``separate`` networks for the time and for
            the success on each cluster, as in the paper; see :class:`walras.predict.Training`.
        epochs: Epochs of torch models in two-stage training.
        decoder: How a round is placed on predictions: ``elastic``: least makespan + price x missing
            success; ``hard``: least makespan that meets the floor; ``relaxed``: each task's largest
            share of the relaxed matching, the paper's.
        margin: Added to the floor when decoding, -1 to 1; ``tuned`` on validation rounds.
        price: Price rho of one unit of missing mean success, 0 to 1e6.
        objective: ``makespan``; or ``sum`` of the times with success known, the linear ablation.
        speedup: Curve of tasks that run together on a cluster; None where they run one after the
            other.
        warm_start: Start from two-stage training; else from the averages of each cluster.
        steps: Steps of Adam.
        batch: Rounds in each step.
        learning_rate: First learning rate, 1e-9 to 100; it falls as a cosine.
        anchor: Weight of the two-stage loss beside the decision's, 0 to 1e6.
        rounds: Validation rounds for early stopping and tuning.
        check_every: Steps between looks at the exact decoded regret of validation rounds.
        temperature: Temperature of the relaxed matching, 1e-6 to 1000.
        sharpness: Sharpness beta of its smoothed maximum, 1e-6 to 1e6.
        barrier: ``elastic`` price, the paper's ``log`` barrier, or ``hard``: the kinked penalty of
            its ablation.
        samples: Directions of ``mfcp-fg`` (N if None), draws of ``score-function`` and
            ``perturbed`` (16 if None), placements of a pool (32 if None).
        step: Size of the perturbations of ``mfcp-fg``, 1e-9 to 1.
        noise: Standard deviation of log times and logits, of ``score-function`` and ``perturbed``.
        pool_temperature: Temperature of the ``pool`` losses, 1e-6 to 1000.
        joint: Train times and success ``together``, or ``alternating`` as in the paper.
        linear_loss: Train for the mean load in place of the makespan: the paper's ablation (1).
        mode: Mode of ``mfcp-fg``: ``orthogonal`` directions, or ``paper``: Algorithms 1 and 2 as
            printed.
        iterations: Iterations of Algorithm 1, in mode ``paper``.
        rate: Learning rate eta of Algorithm 1, in mode ``paper``.
        device: Where relaxed matchings and models are computed: ``cpu`` or ``cuda``.
        seed: Seed of everything that is drawn.

    Raises:
        InputError: A setting is unknown or out of its range.
        EngineError: There is no such device.

    Example:
        >>> from walras.learn import LearnSettings
        >>> LearnSettings(method="mfcp-ad", steps=50).with_(margin="tuned").margin
        'tuned'
    """

    method: str = "tsm"
    model: Any = "linear"
    members: int = 1
    decoder: str = "elastic"
    margin: float | str = 0.0
    price: float = 10.0
    objective: str = "makespan"
    speedup: Decay | None = None
    warm_start: bool = True
    joint: str = "together"
    anchor: float = 0.0
    steps: int = 120
    batch: int = 24
    learning_rate: float = 2e-3
    rounds: int = 600
    check_every: int = 20
    temperature: float = 0.03
    sharpness: float = 20.0
    barrier: str = "elastic"
    linear_loss: bool = False
    mode: str = "orthogonal"
    samples: int | None = None
    step: float = 1e-3
    iterations: int = 100
    rate: float = 1.0
    noise: float = 0.1
    pool_temperature: float = 0.05
    link: str = "auto"
    trunk: str = "shared"
    epochs: int = 150
    device: str = "cpu"
    seed: int = 0

    def __post_init__(self) -> None:
        for name, allowed in _CHOICES.items():
            checks.one_of(getattr(self, name), f"setting {name}", allowed)
        if isinstance(self.model, str) and self.model not in MODELS:
            _refuse("model", f"'{self.model}'", f"{', '.join(MODELS)}, or a torch.nn.Module")
        if isinstance(self.model, str) and self.model == "auto" and self.method != "auto":
            _refuse("model", "'auto'", "another model, or method='auto'")
        check_trunk(self.trunk, self.model)
        for name in _COUNTS:
            checks.setting(self, name, 1, 10**9, integer=True, optional=name == "samples")
        for name, (low, high) in _RANGES.items():
            checks.setting(self, name, low, high)
        if isinstance(self.margin, str) and self.margin != "tuned":
            _refuse("margin", f"'{self.margin}'", "a number from -1 to 1, or 'tuned'")
        if not isinstance(self.margin, str):
            checks.setting(self, "margin", -1.0, 1.0)
        for name in ("warm_start", "linear_loss"):
            checks.flag(getattr(self, name), f"setting {name}")
        if self.speedup is not None:
            words = "a walras.matching.Decay, or None"
            checks.of_kind(self.speedup, Decay, "setting speedup", words)
        checks.setting(self, "seed", 0, 2**63, integer=True)
        check_device(self.device)
        if self.method in LINEAR and self.objective != "sum":
            _refuse(
                "method",
                f"'{self.method}' with a makespan",
                "objective='sum': its loss is defined for a linear objective and known constraints",
            )
        if self.objective == "sum" and self.method not in (*LINEAR, *TWO_STAGE):
            _refuse(
                "method", f"'{self.method}' with objective='sum'", ", ".join((*LINEAR, *TWO_STAGE))
            )

    def with_(self, **changes: Any) -> LearnSettings:
        """These settings with some replaced.

        Args:
            changes: Settings by name.

        Returns:
            The changed settings.

        Raises:
            InputError: There is no such setting.
        """
        checks.known_keys(changes, [f.name for f in fields(self)], "settings of learning")
        return replace(self, **changes)

    def training(self, **changes: Any) -> Training:
        """Two-stage training with the same model, seed and epochs.

        Args:
            changes: Settings of :class:`walras.predict.Training`, by name.

        Returns:
            The settings of :func:`walras.predict.fit`.
        """
        given: dict[str, Any] = {
            "model": "linear" if self.model == "counts" else self.model,
            "link": self.link,
            "trunk": self.trunk,
            "epochs": self.epochs,
            "seed": self.seed,
        }
        if self.members > 1:
            given |= {"method": "bagged", "members": self.members}
        return Training(**(given | changes))


def named(method: str, seed: int = 0) -> LearnSettings:
    """A method's own defaults: ``auto`` also chooses the model class.

    Raises:
        InputError: There is no such method.
    """
    own: dict[str, Any] = {"objective": "sum"} if method in LINEAR else {}
    if method == "auto":
        own = {"model": "auto", "margin": "tuned"}
    return LearnSettings(method=method, seed=seed, **own)


def _refuse(name: str, value: str, allowed: str) -> None:
    raise InputError(
        f"is {value}", where=f"setting {name}", allowed=allowed, remedy=f"choose another {name}"
    )
