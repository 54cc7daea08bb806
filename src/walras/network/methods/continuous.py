"""The paper's differential equations 30 to 32, integrated by scipy, for reference.

The algorithm is the discrete one (:func:`walras.network.simulate`). With quantised links the
right-hand side jumps, and adaptive integrators take tiny steps there. Ideal links are the
meaningful case.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.integrate import solve_ivp

from walras.errors import EngineError, InputError
from walras.network.graph.network import Network
from walras.network.links.quantizers import Ideal, Links, sent
from walras.network.problem.network_problem import Problem
from walras.types import Floats

Start = Literal["gradient", "zero"]
"""z(0): the local gradient, or the zero of the published summaries, which converges wrongly."""


@dataclass(frozen=True, eq=False)
class Trajectory:
    """A solution of the differential equations.

    Attributes:
        times: (points,).
        shares: (points, centres).
        models: (points, centres, scalars); None without a loss.
        trackers: Like the models: z.
    """

    times: Floats
    shares: Floats
    models: Floats | None
    trackers: Floats | None


def integrate(
    problem: Problem,
    network: Network,
    *,
    end: float,
    links: Links | None = None,
    alpha: float = 1.0,
    start: Start = "gradient",
    points: int = 101,
    method: Literal["RK45", "LSODA", "Radau"] = "RK45",
    tolerance: float = 1e-9,
) -> Trajectory:
    """Integrate x' = -L q(f'), y' = -L q(y) - alpha z, z' = -L q(z) + d/dt grad g(y).

    The last term is replaced by z = grad g(y) + s with s' = -L q(z), which is the same.

    Args:
        problem: Costs and losses; boxes are ignored.
        network: An undirected or weight-balanced graph; its links at time 0 count.
        end: Last time.
        links: The quantiser q, by value; ideal when left out.
        alpha: Weight of the gradient.
        start: First value of z.
        points: Number of times in the result.
        method: Method of ``scipy.integrate.solve_ivp``.
        tolerance: Relative tolerance; the absolute one is a thousandth of it.

    Raises:
        InputError: The weights are not balanced.
        EngineError: The integrator failed.
    """
    graph, code = network.at(0), links or Ideal()
    if not graph.balanced:
        raise InputError(
            "are not balanced",
            where="network, weights",
            allowed="undirected or weight-balanced",
            remedy="the equations lose the budget otherwise; simulate() balances the graph",
        )
    n = problem.centres
    begin, slope, size = _equations(problem, graph, code, alpha, start)
    times = np.linspace(0.0, end, points)
    found = solve_ivp(
        slope,
        (0.0, end),
        begin,
        method=method,
        t_eval=times,
        rtol=tolerance,
        atol=1e-3 * tolerance,
    )
    if not found.success:
        raise EngineError(
            f"gave up: {found.message}", where="solve_ivp", remedy="a later method, or ideal links"
        )
    state = np.asarray(found.y.T)
    if not size:
        return Trajectory(times, state[:, :n], None, None)
    y = state[:, n : n + n * size].reshape(-1, n, size)
    s = state[:, n + n * size :].reshape(-1, n, size)
    loss, data = problem.learning
    z = np.array([loss.gradient(at, data, n) for at in y]) + s
    return Trajectory(times, state[:, :n], y, z)


def _equations(
    problem: Problem, graph: Network, links: Links, alpha: float, start: Start
) -> tuple[Floats, Callable[[float, Floats], Floats], int]:
    """The first state (x, y, s), the right-hand side, and the number of a model's scalars."""
    n, laplacian = problem.centres, graph.receive
    shares = np.full(n, problem.budget / n)

    def flow(values: Floats) -> Floats:
        return np.asarray(-(laplacian @ sent(links, values)))

    if problem.loss is None:
        return shares, lambda t, x: flow(problem.slope(x)[:, None])[:, 0], 0
    loss, data = problem.learning
    first = np.repeat(np.asarray(loss.start(data, 0), np.float64)[None], n, axis=0)
    surplus = np.zeros_like(first) if start == "gradient" else -loss.gradient(first, data, n)
    size = first.shape[1]

    def slope(t: float, state: Floats) -> Floats:
        x, y, s = np.split(state, [n, n + n * size])
        models = y.reshape(n, size)
        z = loss.gradient(models, data, n) + s.reshape(n, size)
        moved = (flow(problem.slope(x)[:, None]), flow(models) - alpha * z, flow(z))
        return np.concatenate([part.ravel() for part in moved])

    return np.concatenate([shares, first.ravel(), surplus.ravel()]), slope, size
