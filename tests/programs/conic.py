"""A conic program whose answer is known."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from walras.programs.clarabel_program import (
    ConicProgram,
    ConicSettings,
    ConicStep,
)

WANTED = ConicSettings(1e-9, 1e-8, 0.99, 100, 1, None)


def program() -> ConicProgram:
    """Maximise x + 2 y over the disc of radius one: at (1, 2) / sqrt 5."""
    matrix = sp.csc_matrix([[0.0, 0.0], [-1.0, 0.0], [0.0, -1.0]])
    return ConicProgram(
        sp.csc_matrix((2, 2)),
        np.array([-1.0, -2.0]),
        matrix,
        np.array([1.0, 0.0, 0.0]),
        (("SecondOrderConeT", 3),),
    )


def unheeded(step: ConicStep) -> bool:
    return False
