"""The step of prices on one-way links: how far its rule is from the limit of stability.

With quadratic costs inside their boxes, on a digraph that stays, the weights v come to rest and the
rest is linear. Let h be the curvatures and M = diag(min(1, v h)). Then

    z = u / (v h) + s,    u+ = A (u - alpha M z),    s+ = s - (I - A) z,

up to constants, and the prices converge if and only if all eigenvalues of (u, s) -> (u+, s+), with
the sum of s at 0, are below 1 in modulus. On a directed ring of n centres with even costs the modes
fall apart: with a = (1 + e^(i theta)) / 2 and theta = 2 pi k / n they solve

    mu^2 - a (2 - alpha) mu + a^2 - alpha a = 0,

so that the limit tends to pi^3 / (2 n^3) as n grows.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import pandas as pd

from benchmarks.papers.coopt.setting import judged, shares_only
from benchmarks.papers.item import Item, Outcome
from walras import network as wn
from walras.network.methods.interfaces import Setting
from walras.network.methods.push_sum import Post, PushTracking, mixing_time, push_matrix
from walras.types import Floats


def system(network: wn.Network, curvature: Floats, alpha: float) -> Floats:
    """The linear map of the prices' masses and the surpluses, whose sum is 0."""
    move, eye = push_matrix(network).toarray(), np.eye(network.centres)
    found, vectors = np.linalg.eig(move)
    rest = np.real(vectors[:, np.argmin(np.abs(found - 1.0))])
    v = rest / rest.sum() * (1.0 / curvature).sum()
    part = alpha * np.minimum(1.0, v * curvature)
    price = np.diag(1.0 / (v * curvature))
    whole = np.block(
        [[move @ (eye - part[:, None] * price), -move * part], [(move - eye) @ price, move]]
    )
    basis = np.linalg.qr(np.column_stack([np.ones(len(eye)), eye[:, 1:]]))[0][:, 1:]
    zero = np.zeros((len(eye), len(eye) - 1))
    onto = np.block([[eye, zero], [np.zeros_like(eye), basis]])
    return np.asarray(onto.T @ whole @ onto)


def on_a_ring(centres: int, alpha: float) -> float:
    """The largest modulus of the modes of a ring with even costs, the mean aside."""
    turns = np.exp(2j * np.pi * np.arange(1, centres) / centres)
    a = (1.0 + turns) / 2.0
    root = np.sqrt((a * (1.0 - alpha / 2.0)) ** 2 - a**2 + alpha * a)
    ends = np.abs([a * (1.0 - alpha / 2.0) + root, a * (1.0 - alpha / 2.0) - root])
    return float(ends.max())


def limit(modulus: Callable[[float], float]) -> float:
    """The least alpha whose largest modulus is 1, by bisection after a search from below."""
    high = 1e-7
    while modulus(high) < 1.0 - 1e-12:
        high *= 1.1
    low = high / 1.1
    for _ in range(40):
        middle = (low + high) / 2.0
        low, high = (middle, high) if modulus(middle) < 1.0 - 1e-12 else (low, middle)
    return low


def spread(network: wn.Network, curvature: Floats, alpha: float, steps: int) -> float:
    """The growth of the prices' distance, by the library's own push-sum, over half of the steps."""
    n = network.centres
    problem = wn.NetworkProblem([wn.QuadraticCPU(1.0, h) for h in curvature], float(n))
    setting = Setting(problem, network, wn.Ideal(), wn.Faults(), 0, None)
    first = np.random.default_rng(0).normal(size=n)
    prices = PushTracking(setting, Post(setting, 1), first[:, None], 1.0 / curvature)
    begin, apart = first / curvature, []
    for _ in range(steps):
        price = prices.values[:, 0]
        z = price / curvature - begin + prices.surplus[:, 0]
        pull = alpha * np.minimum(1.0, prices.weight * curvature) * z
        prices.step(network, z[:, None], pull[:, None], np.ones(network.links, dtype=bool))
        apart.append(float(np.abs(prices.values - prices.values.mean()).max()))
    return max(apart[-steps // 10 :]) / max(apart[steps // 2 : steps // 2 + steps // 10])


def one_way_step(quick: bool) -> Outcome:
    """The rule over the limit, on rings and drawn digraphs, and runs on both sides of the limit."""
    sizes = (5, 10) if quick else (5, 10, 20, 40)
    graphs = {f"ring of {n}": wn.Network.ring(n, directed=True) for n in sizes}
    for n, p in ((20, 0.2), (40, 0.12)):
        for seed in range(1 if quick else 3):
            drawn = wn.Network.erdos_renyi(n, p, seed=seed, directed=True)
            graphs[f"drawn, {n} centres, seed {seed}"] = drawn
    rows, limits = [], {}
    for name, network in graphs.items():
        n = network.centres
        curvature = shares_only(0, n).costs.curvature(np.ones(n))
        most = limit(partial(_modulus, network, curvature))
        rows.append(
            {
                "graph": name,
                "mixing time": mixing_time(network),
                "rule": mixing_time(network) ** -1.5,
                "limit": most,
                "rule / limit": mixing_time(network) ** -1.5 / most,
            }
        )
        limits[name] = most
    table = pd.DataFrame(rows)
    sides = []
    for name in ("ring of 10", "drawn, 20 centres, seed 0"):
        network, most = graphs[name], limits[name]
        curvature = shares_only(0, network.centres).costs.curvature(np.ones(network.centres))
        sides += [spread(network, curvature, part * most, 600) for part in (0.9, 1.1)]
    ring = [limit(partial(on_a_ring, n)) * n**3 / (np.pi**3 / 2.0) for n in (40, 320)]
    agrees = sides[0] < 1.0 < sides[1] and sides[2] < 1.0 < sides[3]
    return judged(
        bool(table["rule / limit"].max() < 1.0 and agrees),
        f"{table['rule / limit'].min():.2f} to {table['rule / limit'].max():.2f} of the limit on "
        f"{len(table)} digraphs; a tenth below it prices come together, a tenth above they part",
        "quadratic costs inside their boxes, a digraph that stays: an eigenvalue decides. On rings "
        f"with even costs the limit is {ring[0]:.2f} and {ring[1]:.2f} times pi^3 / (2 n^3) at 40 "
        "and 320 centres. For other costs and graphs that change the rule has no proof: what is "
        "known (Nedic et al. 2017) is that every step below some bound converges",
        table=table,
    )


def _modulus(network: wn.Network, curvature: Floats, alpha: float) -> float:
    return float(np.abs(np.linalg.eigvals(system(network, curvature, alpha))).max())


ITEMS = (
    Item(
        "step on one-way links",
        "the prices' step T^(-3/2), ours for open question 1, is below the limit of stability",
        "",
        "wn.advise(problem, network).steps.share",
        one_way_step,
    ),
)
