"""The longest stable step of gradient tracking on one-way links.

On symmetric weights Jury's conditions bound the step, see :mod:`walras.network.methods.steps`. Here
the graph's eigenvalues are complex, and modes react to gradients with a delay. With A = I - step
receive, B = I - step send and beta = step alpha, the models' response to the centres' gradients w
is

    y = -beta T(z) w,    T(z) = (z - 1) (zI - A)^-1 (zI - B)^-1.

By the circle criterion the loop is stable for all convex losses whose gradients are L-Lipschitz,
quadratic or not, if beta L lag < 1, where

    lag = max over the unit circle of lambda_max(-(T + T^H) / 2).

At z = 1 only the mean's integrator has a pole, with the positive residue (pi^T v) 1 1^T. On
symmetric weights the criterion gives Jury's bound.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from walras.network.graph.network import Network
from walras.types import Floats

_ANGLES = 48  # number of angles on the circle, evenly spaced in the logarithm
_MODES = 12  # number of slowest modes with a finer grid around their own angles
_WIDTHS = np.linspace(-2.0, 2.0, 9)  # in widths of a resonance
_REFINED = 24  # further angles around the worst angle
_ENTRIES = 2**20  # entries of the matrices that are computed together


@lru_cache(maxsize=64)
def lag(network: Network, step: float) -> float:
    """The bound on 1 / (beta L); infinite if averaging itself diverges.

    Args:
        network: A constant graph.
        step: Step of averaging.
    """
    receive, send = network.receive.toarray(), network.send.toarray()
    modes = 1.0 - step * np.linalg.eigvals(receive)
    modes = np.delete(modes, int(np.argmin(np.abs(modes - 1.0))))
    if not len(modes):
        return 0.0
    if np.abs(modes).max() >= 1.0:
        return np.inf

    angles = _angles(modes)
    found = _opposition(receive, send, step, angles)
    top = int(found.argmax())
    left, right = angles[max(0, top - 1)], angles[min(len(angles) - 1, top + 1)]
    closer = _opposition(receive, send, step, np.linspace(left, right, _REFINED))
    return float(max(found[top], closer.max()))


def _opposition(receive: Floats, send: Floats, step: float, angles: Floats) -> Floats:
    """(angles,) lambda_max(-(T + T^H) / 2) at each point of the circle."""
    n = len(receive)
    found = np.empty(len(angles))
    size = max(1, _ENTRIES // n**2)
    for k in range(0, len(angles), size):
        apart = (np.exp(1j * angles[k : k + size]) - 1.0)[:, None, None]
        # zI - A = (z - 1) I + step receive
        heard = np.linalg.inv(apart * np.eye(n) + step * receive)
        answer = apart * (heard @ np.linalg.inv(apart * np.eye(n) + step * send))
        even = -0.5 * (answer + answer.conj().swapaxes(1, 2))
        found[k : k + size] = np.linalg.eigvalsh(even)[:, -1]
    return found


def _angles(modes: Floats) -> Floats:
    """The angles to try: over the upper half circle, and densely at slow modes' resonances."""
    slow = modes[np.argsort(-np.abs(modes))][:_MODES]
    close = np.abs(np.angle(slow))[:, None] + (1.0 - np.abs(slow))[:, None] * _WIDTHS
    everywhere = np.concatenate([np.geomspace(1e-4, np.pi, _ANGLES), close.ravel()])
    return np.unique(everywhere[(everywhere >= 1e-4) & (everywhere <= np.pi)])
