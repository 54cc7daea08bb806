"""Losses by exact placements: drawn around the predictions, of a pool, or of a linear objective."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch

from walras.learn.linear import MOST, allowed, indicators, least_cost, placements
from walras.learn.losses import Loss, Rounds, smoothing_of, true_cost
from walras.learn.settings import LearnSettings
from walras.learn.training_problem import PlacementRule
from walras.matching import evaluate
from walras.matching.speedup import Decay, zeta_table
from walras.types import Floats, Ints

_DRAWS = 16
_POOL = 32
_CORNER = 0.004  # of the smoothed price in the cost of a pool's placements
_SHARP = 20.0
_EDGE = 1e-6


def score_loss(settings: LearnSettings) -> Loss:
    """The score function: E of the true cost of exact placements, predictions drawn around theirs.

    ``dE/dmu = E[(cost - baseline) d log p / dmu]`` with log times and logits normal about mu; the
    baseline is the mean of the other draws (Silvestri et al., 2022). The value is that mean.
    """
    draws, terms = settings.samples or _DRAWS, _terms(settings)

    def loss(t: torch.Tensor, a: torch.Tensor, truth: Rounds) -> torch.Tensor:
        samples = PerturbedSamples(t, a, draws, settings.noise, truth.key)
        placed = samples.placed(terms(truth))
        cost = torch.as_tensor(_cost(placed, truth, settings.speedup)).to(t.device)
        return samples.surrogate(cost, cost.mean(0))

    return loss


def perturbed_loss(settings: LearnSettings) -> Loss:
    """The perturbed optimiser (Berthet et al., 2020): through the mean of the exact placements.

    Its derivative along v is ``E[<X, v> d log p / dmu]``, v that of the true cost at the mean.
    """
    draws, terms, smoothing = settings.samples or _DRAWS, _terms(settings), smoothing_of(settings)

    def loss(t: torch.Tensor, a: torch.Tensor, truth: Rounds) -> torch.Tensor:
        samples = PerturbedSamples(t, a, draws, settings.noise, truth.key)
        placed = torch.as_tensor(samples.placed(terms(truth))).to(t.device)
        m = t.shape[1]
        x = torch.nn.functional.one_hot(placed.long(), m).movedim(-1, -2).to(t.dtype)
        mean = x.mean(0).requires_grad_()
        with torch.enable_grad():
            value = true_cost(mean, truth, smoothing, settings.speedup)
            (by_mean,) = torch.autograd.grad(value.sum(), mean)
        return samples.surrogate((x * by_mean).sum((-2, -1)), value.detach())

    return loss


class PerturbedSamples:
    """Predictions drawn around the model's."""

    def __init__(
        self, t: torch.Tensor, a: torch.Tensor, draws: int, noise: float, key: tuple[int, ...]
    ) -> None:
        rng = np.random.default_rng((*key, 31))
        self._log, self._logit = torch.log(t), torch.logit(a, eps=_EDGE)
        shape = (2, draws, *t.shape)
        self._drawn = torch.as_tensor(rng.normal(size=shape)).to(t.device)
        self._noise = noise

    def placed(self, terms: PlacementRule) -> Ints:
        """(draws, rounds, tasks) exact placements."""
        with torch.no_grad():
            times = torch.exp(self._log + self._noise * self._drawn[0])
            chance = torch.sigmoid(self._logit + self._noise * self._drawn[1])
        draws, rounds, m, n = times.shape
        flat = (v.reshape(-1, m, n).cpu().numpy() for v in (times, chance))
        return terms.place(*flat).reshape(draws, rounds, n)

    def surrogate(self, gain: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
        """(rounds,) ``value``, with the score function's derivative of (draws, rounds) gains."""
        draws = len(gain)
        centred = (gain - gain.mean(0)) * draws / max(draws - 1, 1)
        score = (self._drawn[0] * self._log + self._drawn[1] * self._logit).sum((-2, -1))
        pulled = (centred * score).mean(0) / self._noise
        return value + pulled - pulled.detach()


def pool_loss(settings: LearnSettings) -> Loss:
    """Losses on a pool of placements, which need no solver: only their predicted cost.

    With energies ``-c(X; predicted) / theta``: ``expected`` is the mean true cost under their
    softmax; ``contrastive`` minus the logarithm of the true best one's share (Mulamba et al.,
    2021); ``listwise`` the cross entropy against the softmax of the true costs (Mandi et al.,
    2022). The pool is every placement of a small round, else the best on truth, on predictions and
    on draws around the truth.
    """
    kind, theta = settings.method.removeprefix("pool-"), settings.pool_temperature
    terms, size = _terms(settings), settings.samples or _POOL

    def loss(t: torch.Tensor, a: torch.Tensor, truth: Rounds) -> torch.Tensor:
        pool = torch.tensor(_pool(t, a, truth, terms(truth), size)).to(t.device)
        true = pool_cost(pool, truth.t, truth.a, truth, settings.speedup)
        energy = -pool_cost(pool, t, a, truth, settings.speedup) / theta
        best = true.min(1, keepdim=True)
        if kind == "expected":
            return (torch.softmax(energy, 1) * true).sum(1)
        share = torch.log_softmax(energy, 1)
        if kind == "contrastive":
            return -share.gather(1, best.indices)[:, 0]
        return -(torch.softmax((best.values - true) / theta, 1) * share).sum(1)

    return loss


def _pool(t: torch.Tensor, a: torch.Tensor, truth: Rounds, terms: PlacementRule, size: int) -> Ints:
    """(rounds or 1, placements, tasks)."""
    rounds, m, n = t.shape
    if float(m) ** n <= min(MOST, 2000):
        return placements(m, n)[None]
    rng = np.random.default_rng((*truth.key, 32))
    true, chance = truth.t.cpu().numpy(), truth.a.cpu().numpy()
    drawn = true * np.exp(rng.normal(0.0, 0.3, (size - 2, *true.shape)))
    many = np.concatenate([true[None], t.detach().cpu().numpy()[None], drawn])
    chances = np.broadcast_to(chance, many.shape).copy()
    chances[1] = a.detach().cpu().numpy()
    placed = terms.place(many.reshape(-1, m, n), chances.reshape(-1, m, n))
    return placed.reshape(size, rounds, n).swapaxes(0, 1)


def pool_cost(
    pool: torch.Tensor, t: torch.Tensor, a: torch.Tensor, truth: Rounds, speedup: Decay | None
) -> torch.Tensor:
    """(rounds, placements) smoothed cost of a pool's placements on some times and chances."""
    m, n = t.shape[-2:]
    here = torch.nn.functional.one_hot(pool.long(), m).movedim(-1, -2).to(t.dtype)
    loads = (here * t[:, None]).sum(-1)
    if speedup is not None:
        zeta = torch.as_tensor(zeta_table(speedup, m, n)).to(t.device)
        loads = loads * zeta[torch.arange(m, device=t.device), here.sum(-1).long()]
    missing = truth.floor - (here * a[:, None]).sum((-2, -1)) / n
    price = truth.price * _CORNER * torch.nn.functional.softplus(missing / _CORNER)
    return torch.logsumexp(_SHARP * loads, -1) / _SHARP + price


def linear_loss(settings: LearnSettings) -> Loss:
    """SPO+ and black-box differentiation for the sum of the times, success known."""

    def loss(t: torch.Tensor, a: torch.Tensor, truth: Rounds) -> torch.Tensor:
        rounds, m, n = t.shape
        true = truth.t.cpu().numpy()
        given = t.detach().cpu().numpy()
        feasible = allowed(truth.a.cpu().numpy(), truth.floor)
        every = torch.tensor(indicators(m, n)).to(t.device)

        def best(costs: Floats) -> torch.Tensor:
            return every[torch.as_tensor(least_cost(costs, feasible))].reshape(rounds, m, n)

        if settings.method == "spo+":
            # max_x <t - 2 t^, x> + 2 <t^, x*(t)> - <t, x*(t)>, an upper bound on the regret.
            worst, optimum = best(2.0 * given - true), best(true)
            inner = (truth.t - 2.0 * t) * worst + (2.0 * t - truth.t) * optimum
            return inner.sum((-2, -1))
        # -(x(t^) - x(t^ + lambda t)) / lambda in place of the derivative, which is 0.
        x, moved = best(given), best(given + settings.noise * true)
        pull = (t * (moved - x)).sum((-2, -1)) / settings.noise
        return (truth.t * x).sum((-2, -1)) + pull - pull.detach()

    return loss


def _terms(settings: LearnSettings) -> Callable[[Rounds], PlacementRule]:
    return lambda truth: PlacementRule(
        truth.floor, truth.price, 1.0, settings.objective, settings.speedup
    )


def _cost(placed: Ints, truth: Rounds, speedup: Decay | None) -> Floats:
    """(draws, rounds) makespan + price x shortfall in truth."""
    shape = (len(placed), *truth.t.shape)
    t, a = (np.broadcast_to(v.cpu().numpy(), shape) for v in (truth.t, truth.a))
    outcome = evaluate(t, a, placed, truth.floor, speedup)
    return outcome.elastic_cost(truth.price)
