"""The options of the first-order engine."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from walras import checks
from walras.engines.admm.option_groups import (
    JointMinimisation,
    LargestFirst,
    PenaltyUpdate,
    ProofSchedule,
    RestartRule,
    StartPrices,
)
from walras.engines.admm.worker_pool import Executor
from walras.engines.options import Options, number
from walras.errors import InputError

MODES = ("hard", "paper", "penalty", "augmented-lagrangian")


@dataclass(frozen=True, repr=False)
class ADMMOptions(Options):
    """The splitting method, and where it runs.

    :class:`walras.engines.ADMM` documents each of them.

    Raises:
        InputError: A setting is outside its range.
    """

    mode: str = "hard"
    collapse: bool | None = None
    restarts: bool | None = None
    rho: float | None = None
    relaxation: float = number(1.8, 1.0, 1.99)
    iterations: int = number(20_000, 1, 10**9, whole=True)
    executor: Executor | None = None
    paper_residual: float = number(5e-3, 1e-15, 1.0)
    penalty: PenaltyUpdate = field(default_factory=PenaltyUpdate)
    restart_rule: RestartRule = field(default_factory=RestartRule)
    proofs: ProofSchedule = field(default_factory=ProofSchedule)
    start_prices: StartPrices = field(default_factory=StartPrices)
    joint: JointMinimisation = field(default_factory=JointMinimisation)
    largest_first: LargestFirst = field(default_factory=LargestFirst)

    def __post_init__(self) -> None:
        super().__post_init__()
        checks.one_of(self.mode, "setting mode", MODES)
        for name in ("collapse", "restarts"):
            if getattr(self, name) is not None:
                checks.flag(getattr(self, name), f"setting {name}", " or None")
        if self.collapse and self.mode != "hard":
            raise InputError(
                f"goes with mode 'hard' alone, not {self.mode!r}",
                where="setting collapse",
                allowed="False",
                remedy="leave mode out, or collapse",
            )
        if self.restarts and self.mode != "hard":
            raise InputError(
                f"go with mode 'hard' alone, not {self.mode!r}",
                where="setting restarts",
                allowed="False or None",
                remedy="leave mode out, or restarts",
            )
        checks.setting(self, "rho", np.finfo(float).tiny, 1e100, optional=True)
        if self.executor is not None:
            checks.of_kind(
                self.executor,
                Executor,
                "setting executor",
                "an executor such as walras.Ray(actors=2), or None",
                remedy="make one, or leave executor out",
            )
