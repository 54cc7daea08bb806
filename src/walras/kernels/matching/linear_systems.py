"""Small dense systems in compiled kernels, where a LAPACK call costs more than the work."""

from __future__ import annotations

from walras.kernels.parallel import jit
from walras.types import Floats


@jit
def solve_small(matrix: Floats, right: Floats) -> bool:
    """Solve in place by Gaussian elimination with partial pivoting; False if singular.

    Args:
        matrix: (k, k), overwritten.
        right: (k,), receives the solution.
    """
    k = len(right)
    for c in range(k):
        pivot = c
        for i in range(c + 1, k):
            if abs(matrix[i, c]) > abs(matrix[pivot, c]):
                pivot = i
        if not abs(matrix[pivot, c]) > 0.0:
            return False
        if pivot != c:
            for j in range(c, k):
                matrix[c, j], matrix[pivot, j] = matrix[pivot, j], matrix[c, j]
            right[c], right[pivot] = right[pivot], right[c]
        for i in range(c + 1, k):
            factor = matrix[i, c] / matrix[c, c]
            if factor != 0.0:
                for j in range(c + 1, k):
                    matrix[i, j] -= factor * matrix[c, j]
                right[i] -= factor * right[c]
    for c in range(k - 1, -1, -1):
        for j in range(c + 1, k):
            right[c] -= matrix[c, j] * right[j]
        right[c] /= matrix[c, c]
    return True
