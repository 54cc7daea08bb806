"""The one training loop: rounds, a loss of their decisions, Adam, exact decoding to stop by."""

from __future__ import annotations

import copy
import hashlib
import io
import math
import pickle
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from walras.errors import DataError, EngineError, InputError
from walras.files import reason_of, replacing
from walras.learn.decide import placed_by
from walras.learn.heads import Trainable
from walras.learn.losses import Loss, Rounds, forward_loss, implicit_loss
from walras.learn.losses_drawn import linear_loss, perturbed_loss, pool_loss, score_loss
from walras.learn.settings import LINEAR, LearnSettings
from walras.learn.training_problem import TrainingProblem
from walras.predict import Predictor
from walras.progress import OnProgress, tell

# What torch raises on files that are missing, cut short, of another kind or without the keys.
_DAMAGED = (
    OSError,
    EOFError,
    RuntimeError,
    ValueError,
    TypeError,
    LookupError,
    pickle.UnpicklingError,
    zipfile.BadZipFile,
)

FORMAT = 1  # of a checkpoint; a new one where old states would be read wrong
_CLIP = 1.0

_LOSSES: dict[str, Callable[[LearnSettings], Loss]] = {
    "mfcp-ad": implicit_loss,
    "mfcp-fg": forward_loss,
    "score-function": score_loss,
    "perturbed": perturbed_loss,
    "pool-expected": pool_loss,
    "pool-contrastive": pool_loss,
    "pool-listwise": pool_loss,
} | dict.fromkeys(LINEAR, linear_loss)


@dataclass
class TrainingState:
    """How far a training is.

    Attributes:
        step: Steps done.
        best: Least regret on validation rounds so far.
        weights: The weights that had it.
        history: (step, regret) of every look.
    """

    step: int = 0
    best: float = math.inf
    weights: dict[str, Any] = field(default_factory=dict)
    history: list[tuple[int, float]] = field(default_factory=list)


def loss_of(settings: LearnSettings) -> Loss:
    """The loss of a method that trains through decisions."""
    return _LOSSES[settings.method](settings)


def train(
    start: Predictor,
    problem: TrainingProblem,
    settings: LearnSettings,
    *,
    loss: Loss | None = None,
    on_progress: OnProgress | None = None,
    checkpoint: str | Path | None = None,
) -> tuple[Predictor, list[tuple[int, float]]]:
    """Train a predictor through its decisions; it is never worse on validation than the start.

    Args:
        start: To start from.
        problem: Tasks, rounds and terms.
        settings: Method and steps.
        loss: In the place of the method's own.
        on_progress: Called after each step with a Progress that counts them; True stops there.
        checkpoint: A file to continue from where it exists, and to write at every look. With more
            steps than before the training goes on: at the learning rate that the new number of
            steps has there.

    Returns:
        The weights that decode best on the validation rounds, and the regret at every look.

    Raises:
        EngineError: The loss is no number any more.
        InputError: The checkpoint is of other data or settings; the number of steps may differ.
        DataError: The checkpoint cannot be read or written.
    """
    torch.manual_seed(settings.seed)
    run = _Run(start, problem, settings, loss or loss_of(settings))
    path = None if checkpoint is None else Path(checkpoint)
    if path is not None and path.exists():
        run.load(path)
    if not run.done.history:
        run.validate()
    while run.done.step < settings.steps:
        run.step()
        due = run.done.step % settings.check_every == 0 or run.done.step == settings.steps
        if due:
            run.validate()
        stopped = tell(on_progress, run.done.step, settings.steps)
        if path is not None and (due or stopped):
            run.save(path)
        if stopped:
            break
    run.model.load_state_dict(run.done.weights)
    trained = run.model.to("cpu").predictor(problem.validation.tasks)
    return trained, run.done.history


class _Run:
    """A training under way."""

    def __init__(
        self, start: Predictor, problem: TrainingProblem, settings: LearnSettings, loss: Loss
    ) -> None:
        self.settings, self.problem = settings, problem
        self.model = Trainable(start, problem.train).to(settings.device)
        self.loss = loss
        self.done = TrainingState()
        self.adam = torch.optim.Adam(self.model.parameters(), settings.learning_rate)
        self.schedule = torch.optim.lr_scheduler.CosineAnnealingLR(self.adam, settings.steps)
        self.inputs = self.model.inputs(problem.train, settings.device)
        self.held = self.model.inputs(problem.validation.tasks, settings.device)
        scale = problem.terms.scale
        self.times, self.success = (
            torch.tensor(v, device=settings.device)
            for v in (problem.train.times / scale, problem.train.success)
        )

    def step(self) -> None:
        """One step on a batch of training rounds, which the seed and the step's number draw."""
        s, key = self.settings, (self.settings.seed, 24, self.done.step)
        chosen = torch.as_tensor(self.problem.draw(s.batch, key), device=s.device)
        self.model.train()
        times, chance = self.model(self.inputs)
        t, a, true_t, true_a = (
            v[:, chosen].movedim(0, 1)
            for v in (times / self.problem.terms.scale, chance, self.times, self.success)
        )
        if s.joint == "alternating":  # the paper fixes one predictor while it trains the other
            t, a = (t.detach(), a) if self.done.step % 2 else (t, a.detach())
        truth = Rounds(true_t, true_a, self.problem.terms.floor, s.price, key)
        loss = torch.tensor(math.nan)
        if bool(torch.isfinite(t).all() & torch.isfinite(a).all()):
            loss = self.loss(t, a, truth).mean() + s.anchor * self._apart(times, chance)
        if not bool(torch.isfinite(loss)):
            raise EngineError(
                f"the loss is {float(loss.detach()):g} at step {self.done.step}",
                where=f"learning, method '{s.method}'",
                allowed="a finite loss",
                remedy="lower learning_rate, or raise temperature",
            )
        self.adam.zero_grad(set_to_none=True)
        if loss.requires_grad:
            loss.backward()
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), _CLIP)
            self.adam.step()
        self.schedule.step()
        self.done.step += 1

    def _apart(self, times: Any, chance: Any) -> Any:
        """The two-stage loss: squared error of log times, and of chances."""
        if not self.settings.anchor:
            return 0.0
        known = ~torch.isnan(self.times + self.success)
        true = torch.where(known, self.times, 1.0) * self.problem.terms.scale
        off = torch.where(known, torch.log(times / true), 0.0) ** 2
        miss = torch.where(known, chance - torch.nan_to_num(self.success), 0.0) ** 2
        return (off + miss).sum() / known.sum()

    def validate(self) -> None:
        """Decode the validation rounds exactly; keep the weights that do best."""
        self.model.eval()
        with torch.no_grad():
            times, chance = (v.cpu().numpy() for v in self.model(self.held))
        evaluator, decoder = self.problem.validation, self.settings.decoder
        placed = placed_by(evaluator, times, chance, self.settings)
        found = evaluator.regret(placed, decoder)
        self.done.history.append((self.done.step, found))
        if not self.done.weights or found < self.done.best:
            self.done.best = found
            self.done.weights = copy.deepcopy(self.model.state_dict())

    @property
    def identity(self) -> str:
        """Of data and settings but the steps: a checkpoint continues no other training."""
        settings = self.settings.with_(steps=1)
        found = hashlib.sha256(f"{settings!r} {self.problem.fingerprint}".encode())
        for weight in Trainable(self.model.base, self.problem.train).state_dict().values():
            found.update(weight.numpy().tobytes())
        return found.hexdigest()[:16]

    def save(self, path: Path) -> None:
        """Write everything that the next step depends on."""
        state = {
            "format": FORMAT,
            "identity": self.identity,
            "steps": self.settings.steps,
            "step": self.done.step,
            "best": self.done.best,
            "history": self.done.history,
            "weights": self.done.weights,
            "model": self.model.state_dict(),
            "adam": self.adam.state_dict(),
            "schedule": self.schedule.state_dict(),
        }
        content = io.BytesIO()
        torch.save(state, content)
        with replacing(path) as fresh:
            fresh.write_bytes(content.getvalue())

    def _reschedule(self, step: int) -> None:
        """Go on with the learning rate that the new number of steps has at this one."""
        total = self.settings.steps
        rate = self.settings.learning_rate * 0.5 * (1.0 + math.cos(math.pi * step / total))
        self.schedule.T_max = total
        for group in self.adam.param_groups:
            group["lr"] = rate if step < total else 0.0

    def load(self, path: Path) -> None:
        """Continue from what :meth:`save` wrote."""
        try:
            state = torch.load(path, weights_only=True)
            if state["format"] != FORMAT:
                raise ValueError(f"it has format {state['format']}, this version reads {FORMAT}")
            identity, steps = state["identity"], state["steps"]
        except _DAMAGED as error:
            raise DataError(
                f"cannot be read as a checkpoint: {reason_of(error)}",
                where=str(path),
                allowed="a file written by walras.learn",
                remedy="delete it to begin anew",
            ) from error
        if identity != self.identity:
            raise InputError(
                "is of other data or settings",
                where=f"checkpoint {path}",
                allowed="a checkpoint of the same training",
                remedy="delete it to begin anew",
            )
        self.model.load_state_dict(state["model"])
        self.adam.load_state_dict(state["adam"])
        self.schedule.load_state_dict(state["schedule"])
        if steps != self.settings.steps:
            self._reschedule(state["step"])
        history = [(int(k), float(v)) for k, v in state["history"]]
        self.done = TrainingState(state["step"], state["best"], state["weights"], history)
