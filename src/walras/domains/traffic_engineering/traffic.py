"""Traffic matrices: drawn from models, fitted to a network, and changed over time.

Every function is seeded and returns (nodes, nodes) traffic from row to column, zero on the
diagonal, in the unit of the links' capacities.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Never

import numpy as np
import numpy.typing as npt

from walras import checks
from walras.domains.traffic_engineering import matrices
from walras.domains.traffic_engineering.matrices import Demand, load_traffic
from walras.domains.traffic_engineering.network import Network, generator, of_kind
from walras.domains.traffic_engineering.paths import Paths
from walras.errors import InputError
from walras.short_repr import short_repr
from walras.types import Bools, Floats

SIGMA = 2.477
"""Lognormal spread at which the top tenth of many demands carries 88.4 % of the traffic: with
z = Phi^-1(0.9) the share is Phi(sigma - z). Draws for few pairs differ: B4's 132 have 63 to 98 %,
82 % in the middle. The share is that of Xu et al., OSDI 2025, section 7.2, their only statistic of
a production network's traffic."""

LOAD = 0.1
"""Default traffic, as a share of the sum of all capacities."""


def lognormal_traffic(
    network: Network, *, seed: int = 0, sigma: float = SIGMA, total: float | None = None
) -> Floats:
    """Draw independent lognormal demands: few large, many small.

    Args:
        network: The network.
        seed: Seed of the draw.
        sigma: Spread of the logarithms, >= 0.
        total: Sum of all demands; a tenth of the sum of all capacities when None.

    Returns:
        (nodes, nodes) traffic.

    Raises:
        InputError: A number is out of range.

    Example:
        >>> from walras.domains import traffic_engineering as te
        >>> net = te.Network(("a", "b", "c"), [0, 1, 0], [1, 2, 2], [10.0, 10.0, 5.0])
        >>> print(te.lognormal_traffic(net, seed=1, total=9.0).sum().round(6))
        9.0
    """
    of_kind(network, Network, "network")
    sigma = checks.number(sigma, "sigma", 0.0)
    weight = _lognormal("sigma", sigma, generator(seed), (network.nodes,) * 2)
    return _scaled(network, weight, total, ("sigma", sigma))


def gravity_traffic(
    network: Network, *, seed: int = 0, spread: float = 0.0, total: float | None = None
) -> Floats:
    """Draw demands in proportion to their source's outgoing and their target's incoming capacity.

    A node's mass is the capacity of its links out (in); ``spread`` multiplies it by lognormal
    noise. Source: Roughan et al., 2003.

    Args:
        network: The network.
        seed: Seed of the noise.
        spread: Spread of the logarithm of the noise, >= 0.
        total: As for :func:`lognormal_traffic`.

    Returns:
        (nodes, nodes) traffic.

    Raises:
        InputError: A number is out of range.

    Example:
        >>> from walras.domains import traffic_engineering as te
        >>> net = te.Network(("a", "b", "c"), [0, 1, 0], [1, 2, 2], [10.0, 10.0, 5.0])
        >>> te.gravity_traffic(net, total=9.0).round(2)
        array([[0.  , 2.57, 3.86],
               [0.  , 0.  , 2.57],
               [0.  , 0.  , 0.  ]])
    """
    of_kind(network, Network, "network")
    spread = checks.number(spread, "spread", 0.0)
    noise = _lognormal("spread", spread, generator(seed), (2, network.nodes))
    out = np.bincount(network.source, weights=network.capacity, minlength=network.nodes)
    into = np.bincount(network.target, weights=network.capacity, minlength=network.nodes)
    with np.errstate(over="ignore"):
        weight = np.outer(out * noise[0], into * noise[1])
    return _scaled(network, weight, total, ("spread", spread))


def bimodal_traffic(
    network: Network,
    *,
    seed: int = 0,
    large: float = 0.1,
    ratio: float = 10.0,
    total: float | None = None,
) -> Floats:
    """Draw a share of large demands among small ones, each uniform within half of its mean.

    Args:
        network: The network.
        seed: Seed of the draw.
        large: Share of large demands, 0 to 1.
        ratio: Mean of a large demand over that of a small one, >= 0.
        total: As for :func:`lognormal_traffic`.

    Returns:
        (nodes, nodes) traffic.

    Raises:
        InputError: A number is out of range.

    Example:
        >>> from walras.domains import traffic_engineering as te
        >>> net = te.Network(("a", "b", "c"), [0, 1, 0], [1, 2, 2], [10.0, 10.0, 5.0])
        >>> print(te.bimodal_traffic(net, total=9.0).sum().round(6))
        9.0
    """
    of_kind(network, Network, "network")
    large = checks.number(large, "large", 0.0, 1.0)
    ratio = checks.number(ratio, "ratio", 0.0)
    random = generator(seed)
    shape = (network.nodes,) * 2
    mean = np.where(random.random(shape) < large, ratio, 1.0)
    with np.errstate(over="ignore"):
        weight = mean * random.uniform(0.5, 1.5, shape)
    return _scaled(network, weight, total, ("ratio", ratio))


def names_file(demand: str) -> bool:
    """Whether the name of a demand is a file's, and not a model's."""
    return bool(Path(demand).suffix)


def named_traffic(demand: str, network: Network, *, load: float, seed: int) -> Floats:
    """Read traffic from a file, or draw it from a model at a share of all capacity.

    Args:
        demand: A file for :func:`load_traffic`, or ``lognormal``, ``gravity`` or ``bimodal``.
        network: The network.
        load: Total traffic of a model as a share of the capacity of all links.
        seed: Seed of a model.

    Returns:
        (nodes, nodes) traffic.

    Raises:
        DataError: The file cannot be read.
        InputError: There is no such model, or the file's matrix does not fit the network.
    """
    if names_file(demand):
        return load_traffic(demand, network)
    total = load * float(network.capacity.sum())
    if demand == "lognormal":
        return lognormal_traffic(network, seed=seed, total=total)
    if demand == "gravity":
        return gravity_traffic(network, seed=seed, total=total)
    if demand == "bimodal":
        return bimodal_traffic(network, seed=seed, total=total)
    raise InputError(
        f"there is no traffic model '{demand}'",
        where="demand",
        allowed="lognormal, gravity, bimodal, or a .npy, .csv, .xml or .txt file",
        remedy="use one of these",
    )


def capped_traffic(demand: Demand, paths: Paths, multiple: float) -> Floats:
    """Limit each demand to a multiple of the flow that its own paths can carry alone.

    Raw lognormal tails let a single pair set the maximum utilisation; with a cap of c no pair
    alone needs a utilisation above c.

    Args:
        demand: (nodes, nodes) traffic.
        paths: Candidate paths.
        multiple: The cap, > 0; of the flow that the pair's candidate paths carry together when the
            network is otherwise empty (exact for edge-disjoint paths, a bound for others).

    Returns:
        (nodes, nodes) traffic.

    Raises:
        InputError: The matrix or the multiple cannot be used.

    Example:
        >>> from walras.domains import traffic_engineering as te
        >>> net = te.Network(("a", "b", "c"), [0, 1, 0], [1, 2, 2], [10.0, 10.0, 5.0])
        >>> demand = [[0, 4, 8], [0, 0, 3], [0, 0, 0]]
        >>> paths = te.candidate_paths(net, k=2, cache=False)
        >>> te.capped_traffic(demand, paths, multiple=0.2)
        array([[0., 2., 3.],
               [0., 0., 2.],
               [0., 0., 0.]])
    """
    of_kind(paths, Paths, "paths")
    multiple = checks.number(multiple, "multiple", above=0.0)
    traffic = matrices.traffic(demand, paths.network)
    alone = np.full(traffic.shape, np.inf)
    alone[paths.source, paths.target] = paths.served(paths.bottleneck())
    return np.minimum(traffic, multiple * alone)


@short_repr
@dataclass(frozen=True, eq=False)
class TrafficSeries:
    """Traffic over time.

    Attributes:
        demand: (times, nodes, nodes) traffic at each time.

    Example:
        >>> from walras.domains import traffic_engineering as te
        >>> net = te.Network(("a", "b", "c"), [0, 1, 0], [1, 2, 2], [10.0, 10.0, 5.0])
        >>> te.diurnal_series(te.gravity_traffic(net, total=9.0), net, times=4).demand.shape
        (4, 3, 3)
    """

    demand: Floats

    def __len__(self) -> int:
        return len(self.demand)

    def __getitem__(self, time: int) -> Floats:
        return np.asarray(self.demand[time])


def diurnal_series(
    demand: Demand,
    network: Network,
    times: int,
    *,
    seed: int = 0,
    swing: float = 0.3,
    noise: float = 0.05,
    period: int = 24,
) -> TrafficSeries:
    """A daily cycle with lognormal noise around a matrix; each source has its own hour.

    Args:
        demand: (nodes, nodes) mean traffic.
        network: The network.
        times: Number of matrices, >= 1.
        seed: Seed of the noise.
        swing: Amplitude as a share of the mean, 0 to 1.
        noise: Spread of the logarithm of the noise, >= 0.
        period: Number of matrices in a day, >= 1.

    Returns:
        The traffic at each time.

    Raises:
        InputError: The matrix or a number cannot be used.

    Example:
        >>> from walras.domains import traffic_engineering as te
        >>> net = te.Network(("a", "b", "c"), [0, 1, 0], [1, 2, 2], [10.0, 10.0, 5.0])
        >>> demand = [[0, 4, 8], [0, 0, 3], [0, 0, 0]]
        >>> te.diurnal_series(demand, net, times=4).demand.shape
        (4, 3, 3)
    """
    swing = checks.number(swing, "swing", 0.0, 1.0)
    noise = checks.number(noise, "noise", 0.0)
    times = checks.whole(times, "times", 1, 1_000_000)
    period = checks.whole(period, "period", 1, 1_000_000)
    mean = matrices.traffic(demand, network)
    random = generator(seed)
    hour = random.random(network.nodes)
    phase = 2 * np.pi * (np.arange(times)[:, None] / period + hour)
    wave = 1.0 + swing * np.sin(phase)
    jitter = _lognormal("noise", noise, random, (times, *mean.shape))
    return TrafficSeries(mean * wave[:, :, None] * jitter)


def fluctuating_series(
    series: TrafficSeries | npt.ArrayLike, factor: float, *, seed: int = 0
) -> TrafficSeries:
    """Add N(0, factor * s^2) to each demand at each time, floored at zero.

    s^2 is the variance of the demand's own changes between consecutive times. Source: Xu et al.,
    OSDI 2025, section 7.2, temporal dynamics, with factors 2, 5, 10 and 20.

    Args:
        series: (times, nodes, nodes) traffic, at least three times.
        factor: Multiple of the variance, >= 0.
        seed: Seed of the noise.

    Returns:
        The changed series, of the same shape.

    Raises:
        InputError: The series is too short, or a number is out of range.

    Example:
        >>> from walras.domains import traffic_engineering as te
        >>> net = te.Network(("a", "b", "c"), [0, 1, 0], [1, 2, 2], [10.0, 10.0, 5.0])
        >>> demand = [[0, 4, 8], [0, 0, 3], [0, 0, 0]]
        >>> day = te.diurnal_series(demand, net, times=4)
        >>> te.fluctuating_series(day, factor=2.0).demand.shape
        (4, 3, 3)
    """
    factor = checks.number(factor, "factor", 0.0)
    given = series.demand if isinstance(series, TrafficSeries) else series
    demand = checks.within(checks.numeric(given, "series"), "series", 0.0)
    if demand.ndim != 3 or len(demand) < 3:
        raise InputError(
            f"has shape {demand.shape}",
            where="series",
            allowed="(times, nodes, nodes), at least 3 times",
            remedy="give a longer series: variances of changes are taken from it",
        )
    spread = np.sqrt(factor * np.var(np.diff(demand, axis=0), axis=0))
    noise = spread * generator(seed).standard_normal(demand.shape)
    return TrafficSeries(np.maximum(demand + noise, 0.0))


def redistributed_traffic(demand: Demand, network: Network, share: float) -> Floats:
    """Scale the demands so that the top tenth carries a given share of the same total.

    The top tenth is that of the given matrix: at a small share its demands are no longer the
    largest, and the top tenth of the result carries more.

    Source: Xu et al., OSDI 2025, section 7.2, spatial redistribution: 80, 60, 40 and 20 %.

    Args:
        demand: (nodes, nodes) traffic.
        network: The network.
        share: Share of the original top tenth of the positive demands, 0 to 1.

    Returns:
        (nodes, nodes) traffic.

    Raises:
        InputError: The matrix or the share cannot be used, or there are not enough demands.

    Example:
        >>> import numpy as np
        >>> from walras.domains import traffic_engineering as te
        >>> net = te.load_topology("B4", synthetic=True)
        >>> demand = te.lognormal_traffic(net, total=100.0)
        >>> print(te.redistributed_traffic(demand, net, share=0.4).sum().round(6))
        100.0
    """
    share = checks.number(share, "share", 0.0, 1.0)
    traffic = matrices.traffic(demand, network)
    top = top_tenth(traffic)
    inside, outside = float(traffic[top].sum()), float(traffic[~top].sum())
    if inside == 0 or outside == 0:
        raise InputError(
            "has too few positive demands for a top tenth and a rest",
            where="demand",
            allowed="at least two positive demands",
            remedy="give more demands",
        )
    total = inside + outside
    return np.where(
        top, traffic * (share * total / inside), traffic * ((1 - share) * total / outside)
    )


def top_tenth(traffic: Floats) -> Bools:
    """(nodes, nodes) True on the largest tenth of the positive demands, at least one of them."""
    flat = traffic.ravel()
    count = max(1, round(0.1 * np.count_nonzero(flat))) if np.any(flat) else 0
    out = np.zeros(flat.shape, dtype=np.bool_)
    out[np.argsort(-flat, kind="stable")[:count]] = True
    return out.reshape(traffic.shape)


def _lognormal(
    name: str, spread: float, random: np.random.Generator, shape: tuple[int, ...]
) -> Floats:
    """exp of normal numbers with a given spread, checked to be finite."""
    with np.errstate(over="ignore"):
        drawn = np.exp(spread * random.standard_normal(shape))
    if not np.all(np.isfinite(drawn)):
        _refuse_wide(name, spread)
    return np.asarray(drawn)


def _scaled(
    network: Network, weight: Floats, total: float | None, wide: tuple[str, float]
) -> Floats:
    """Scale weights off the diagonal to a total; ``wide`` names their spread and its value."""
    np.fill_diagonal(weight, 0.0)
    if total is None:
        wanted = LOAD * float(network.capacity.sum())
    else:
        wanted = checks.number(total, "total", 0.0)
    with np.errstate(over="ignore"):
        weighed = weight.sum()
    if not np.isfinite(weighed):
        _refuse_wide(*wide)
    return np.asarray(weight * (wanted / weighed))


def _refuse_wide(name: str, value: float) -> Never:
    raise InputError(
        f"is {value!r}, at which demands are beyond all numbers",
        where=name,
        allowed="one whose largest demand is finite",
        remedy="choose a smaller one",
    )
