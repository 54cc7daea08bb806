"""The algorithm: shares as quanta; the model by exact diffusion or tracking in surplus form."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from walras import checks
from walras.deprecated import renamed_keywords
from walras.errors import InputError
from walras.network.links.quantizers import Ideal
from walras.network.methods.diffusion import Diffused
from walras.network.methods.interfaces import ModelSide, Setting, ShareSide
from walras.network.methods.lossy_sharing import LossyShares
from walras.network.methods.lossy_training import LossyModels
from walras.network.methods.push_sharing import PushShares
from walras.network.methods.push_sum import pushes
from walras.network.methods.push_training import PushModels
from walras.network.methods.sharing import Shares
from walras.network.methods.steps import Steps, checked, diffusion_steps, safe_steps
from walras.network.methods.training import Models


@renamed_keywords(tempo="multiplier_step")
@dataclass(frozen=True)
class Surplus:
    """Settings of the algorithm; safe values replace everything left out.

    Centres exchange quanta of CPU along their links, towards lower marginal cost. The model is
    trained by exact diffusion, or by gradient tracking with a surplus.

    Source: Doostmohammadian, Gabidullina and Rabiee, arXiv 2510.25176, equations 30 to 32, in
    discrete time. The pages *The protocol* and *Co-optimisation* derive the steps.

    Attributes:
        alpha: Weight of the gradient against consensus in tracking, > 0; without a unit.
        share_step: Step of the shares, in units of 1 / curvature of the costs; below 2 / (K
            lambda_n L_f). On one-way links the part of Newton's step by which prices move; below 1.
        share_momentum: Share of a link's transfer that is repeated at the next step, 0 <= share <
            1; with 0 the cost falls at every step.
        model_step: Step of model and surplus, in units of 1 / curvature of the losses.
        batch: Samples of each centre at each step, at least 1; all when None.
        momentum: Momentum of the tracker, 0 <= momentum < 1.
        multiplier_step: Step of the boxes' multipliers, 0 < multiplier_step <= 1, as a share of the
            step in the method of multipliers.
        learner: ``diffusion`` is faster on a constant graph, with half the bits. ``auto`` takes it
            wherever it applies (:meth:`tracks` says when not), otherwise ``tracking``.
        guard: Whether growing residuals halve the model's step.
        unsafe: Whether to allow steps beyond their bounds, which may diverge.
        name: Name in tables.

    Raises:
        InputError: A setting is out of its range.

    Example:
        >>> import walras as wl
        >>> wn = wl.network
        >>> problem = wn.NetworkProblem([wn.QuadraticCPU(c, 1.0) for c in (1.0, 2.0, 6.0)], 6.0)
        >>> slow = wn.Surplus(share_step=0.1, share_momentum=0.0)
        >>> run = wn.simulate(problem, wn.Network.ring(3), method=slow, steps=200)
        >>> run.shares[-1].round(4)
        array([0., 1., 5.])
    """

    alpha: float | None = None
    share_step: float | None = None
    share_momentum: float | None = None
    model_step: float | None = None
    batch: int | None = None
    momentum: float = 0.0
    multiplier_step: float = 0.1
    learner: Literal["auto", "tracking", "diffusion"] = "auto"
    guard: bool = True
    unsafe: bool = False
    name: str = "surplus"

    def __post_init__(self) -> None:
        checks.one_of(self.learner, "Surplus.learner", ("auto", "tracking", "diffusion"))
        checks.number(self.momentum, "Surplus.momentum", 0.0, below=1.0)
        if self.share_momentum is not None:
            checks.number(self.share_momentum, "Surplus.share_momentum", 0.0, below=1.0)
        checks.number(self.multiplier_step, "Surplus.multiplier_step", high=1.0, above=0.0)
        checks.setting(self, "batch", 1, integer=True, optional=True, where="Surplus.batch")

    def steps(self, setting: Setting) -> Steps:
        """Compute the steps and check them against their bounds.

        Args:
            setting: Problem, network, links and faults.

        Returns:
            The steps, with their bounds.

        Raises:
            InputError: A step is beyond its bound, and ``unsafe`` is not set.
        """
        problem, unsafe = setting.problem, self.unsafe
        safe = safe_steps(problem, setting.network, setting.links, setting.faults, self.alpha)
        share = checked("share_step", self.share_step, safe.share, safe.share_bound, unsafe=unsafe)
        if self.share_momentum is not None:
            safe = replace(safe, momentum=self.share_momentum)
        safe = replace(safe, multiplier_step=self.multiplier_step)
        if problem.loss is None:
            return replace(safe, share=share)
        if self._diffuses(setting):
            safe = diffusion_steps(safe, problem, setting.network, setting.links)
            size = checked(
                "model_step", self.model_step, safe.model, safe.model_bound, unsafe=unsafe
            )
            return replace(safe, share=share, model=size)
        alpha = checked("alpha", self.alpha, safe.alpha, safe.alpha_bound, unsafe=unsafe)
        model = checked("model_step", self.model_step, safe.model, safe.model_bound, unsafe=unsafe)
        return replace(safe, share=share, alpha=alpha, model=model)

    def tracks(self, setting: Setting) -> str | None:
        """The reason why the model is tracked and not diffused; None if exact diffusion applies.

        Args:
            setting: Problem, network, links and faults.

        Returns:
            The reason in words, or None.
        """
        links, network = setting.links, setting.network
        reasons = {
            "alpha is given, which tracking alone has": self.alpha is not None,
            "gradients are of batches or have momentum": bool(self.batch or self.momentum),
            "the loss need not be convex": not (
                setting.problem.loss and setting.problem.loss.convex
            ),
            "links lead one way": network.directed,
            "the graph changes": network.law is not None,
            "messages may be lost or late": setting.faults is not None and setting.faults.any,
            "codes of values leave a bias": not (
                links.mode == "innovation" or isinstance(links, Ideal)
            ),
        }
        return next((reason for reason, true in reasons.items() if true), None)

    def _diffuses(self, setting: Setting) -> bool:
        if self.learner == "tracking":
            return False
        reason = self.tracks(setting)
        if reason is not None and self.learner == "diffusion":
            raise InputError(
                "does not apply",
                where="Surplus.learner = diffusion",
                allowed=f"not where {reason}",
                remedy="learner='auto' takes tracking there",
            )
        return reason is None

    def shares(self, setting: Setting) -> ShareSide:
        """Set up the sharing part: whole quanta, on running sums if there are faults.

        Args:
            setting: Problem, network, links and faults.

        Returns:
            The shares at the start.
        """
        if setting.network.directed:
            return PushShares(setting, self.steps(setting))
        if setting.faults is not None and setting.faults.any:
            return LossyShares(setting, self.steps(setting))
        return Shares(setting, self.steps(setting))

    def models(self, setting: Setting) -> ModelSide:
        """Set up the training part: exact diffusion or tracking, on running sums with faults.

        Args:
            setting: Problem, network, links and faults.

        Returns:
            The models at the start.
        """
        steps, guard = self.steps(setting), self.guard and not self.unsafe
        if pushes(setting.network, setting.faults):
            return PushModels(setting, steps, self.batch, self.momentum, guard=guard)
        if setting.faults is not None and setting.faults.any:
            return LossyModels(setting, steps, self.batch, self.momentum)
        if steps.learner == "diffusion":
            return Diffused(setting, steps, guard=guard)
        return Models(setting, steps, self.batch, self.momentum, guard=guard)
