"""A synthetic stand-in for B4's real traffic: a model fitted to it.

    log d_tij = mean + out_i + in_j + pair_ij + noise_tij,   noise_t = phi noise_(t-1) + e_t,

with out, in, pair and the stationary noise normal with the standard deviations given. ``FITTED``
holds the estimates, as printed by ``walras data fit te_b4_real`` on the measured set.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from walras.data.te_b4_real import NAME, SHAPE, B4Traffic


@dataclass(frozen=True)
class Model:
    """The parameters of the stand-in.

    Attributes:
        mean: Mean log demand.
        out_sd: Standard deviation between sources.
        in_sd: Between targets.
        pair_sd: Between pairs, of what source and target leave unexplained.
        noise_sd: Over time.
        phi: Correlation of the noise from one matrix to the next.
    """

    mean: float
    out_sd: float
    in_sd: float
    pair_sd: float
    noise_sd: float
    phi: float


FITTED = Model(mean=4.4946, out_sd=1.0868, in_sd=0.8854, pair_sd=0.133, noise_sd=0.2135, phi=0.6369)


def stand_in(seed: int, model: Model | None = None) -> B4Traffic:
    """Draw synthetic matrices with the shape of the measured ones.

    Args:
        seed: Of the random numbers.
        model: Parameters; those fitted to the measured set when left out.
    """
    model = FITTED if model is None else model
    random = np.random.default_rng(seed)
    times, n, _ = SHAPE
    level = (
        model.mean
        + random.normal(0.0, model.out_sd, (n, 1))
        + random.normal(0.0, model.in_sd, n)
        + random.normal(0.0, model.pair_sd, (n, n))
    )
    shock = random.normal(0.0, model.noise_sd, SHAPE)
    noise = np.empty(SHAPE)
    noise[0] = shock[0]
    for t in range(1, times):
        noise[t] = model.phi * noise[t - 1] + np.sqrt(1.0 - model.phi**2) * shock[t]
    demand = np.exp(level + noise) * ~np.eye(n, dtype=np.bool_)
    return B4Traffic(demand, "synthetic stand-in", f"{NAME} model fitted to the set, seed {seed}")


def fit(data: B4Traffic) -> Model:
    """Estimate the parameters by means over sources, targets, pairs and time, off the diagonal."""
    n = data.demand.shape[1]
    off = ~np.eye(n, dtype=np.bool_)
    log = np.where(data.demand > 0, np.log(np.maximum(data.demand, 1e-300)), np.nan)
    pair = np.where(off, np.nanmean(np.where(off, log, 0.0), axis=0), np.nan)
    mean = float(np.nanmean(pair))
    out, into = np.nanmean(pair, axis=1) - mean, np.nanmean(pair, axis=0) - mean
    rest = pair - mean - out[:, None] - into
    noise = np.where(off, log - pair, np.nan)
    now, later = noise[:-1][:, off], noise[1:][:, off]
    both = np.isfinite(now) & np.isfinite(later)
    return Model(
        mean=round(mean, 4),
        out_sd=round(float(np.std(out)), 4),
        in_sd=round(float(np.std(into)), 4),
        pair_sd=round(float(np.nanstd(rest)), 4),
        noise_sd=round(float(np.nanstd(noise)), 4),
        phi=round(float(np.sum((now * later)[both]) / np.sum((now * now)[both])), 4),
    )
