"""Write the table of what the separable form holds into the guide, by asking the code.

Every row is a small problem in cvxpy, stated and reported on: a tick says that the structured
engines take it, a dash that it goes outside the form.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cvxpy as cp
import numpy as np

import walras as wl

PAGE = Path(__file__).resolve().parent / "howto" / "state_a_problem.md"
BEGIN, END = "<!-- form:begin -->", "<!-- form:end -->"
N = 3
Row = tuple[str, list[Callable[[Any], Any]]]

# A line of the table: what stands in it, and examples that all get the same answer. Each is convex
# or concave; it is bounded in a constraint from the side that keeps it so.
ATOMS: list[Row] = [
    ("sums, slices, products with constants and parameters, `kron`, `diff`, ...",
     [cp.sum, lambda x: x[1:] - 2 * x[:-1], lambda x: np.ones((2, N)) @ x, cp.diff,
      lambda x: cp.kron(np.ones((2, 1)), cp.diag(x)),
      lambda x: cp.Parameter(N, value=np.ones(N)) @ x]),
    ("`cumsum`", [cp.cumsum]),
    ("`max`, `maximum`, `min`, `minimum`, `pos`, `neg`",
     [cp.max, cp.min, lambda x: cp.maximum(x, 1), lambda x: cp.minimum(x, 1), cp.pos, cp.neg]),
    ("`abs`, `norm1`, `norm_inf`", [cp.abs, cp.norm1, cp.norm_inf]),
    ("`square`, `sum_squares`, `quad_form`, `quad_over_lin` with a constant divisor",
     [cp.square, cp.sum_squares, lambda x: cp.quad_form(x, np.diag([1.0, 2.0, 3.0]) + 1),
      lambda x: cp.quad_over_lin(x, 2)]),
    ("`log`, `log1p`, `entr`, `power`, `sqrt`, `inv_pos`",
     [cp.log, cp.log1p, cp.entr, lambda x: cp.power(x, 3), lambda x: cp.power(x, 0.3, approx=False),
      cp.sqrt, cp.inv_pos]),
    ("`quad_over_lin` over a variable", [lambda x: cp.quad_over_lin(x, x[0])]),
    ("`norm` (Euclidean), `pnorm`, `mixed_norm`",
     [cp.norm, lambda x: cp.pnorm(x, 3), lambda x: cp.mixed_norm(cp.reshape(x, (1, N), "F"))]),
    ("`exp`, `log_sum_exp`, `logistic`", [cp.exp, cp.log_sum_exp, cp.logistic]),
    ("`kl_div`, `rel_entr`", [lambda x: cp.kl_div(x, 1), lambda x: cp.rel_entr(x, x + 1)]),
    ("`huber`, `sum_largest`, `geo_mean`, `harmonic_mean`",
     [cp.huber, lambda x: cp.sum_largest(x, 2), cp.geo_mean, cp.harmonic_mean]),
    ("`lambda_max`, `log_det`, `normNuc`, `sigma_max`, `matrix_frac`",
     [lambda x: cp.lambda_max(cp.diag(x)), lambda x: cp.log_det(cp.diag(x)),
      lambda x: cp.normNuc(cp.diag(x)), lambda x: cp.sigma_max(cp.diag(x)),
      lambda x: cp.matrix_frac(np.ones(N), cp.diag(x))]),
    ("complex numbers, in whatever atom", [lambda x: cp.abs(x - (3 + 4j)),
                                           lambda x: cp.real((1 + 2j) * x)]),
]  # fmt: skip
CONSTRAINTS: list[Row] = [
    ("`<=`, `>=`, `==`", [lambda x: x <= 1, lambda x: cp.sum(x) >= 1, lambda x: x[0] == x[1]]),
    ("`NonNeg`, `NonPos`, `Zero`", [cp.NonNeg, cp.NonPos, cp.Zero]),
    ("`SOC`, `PSD` (`>>`), `ExpCone`, `PowCone3D`, `PowConeND`, `FiniteSet`",
     [lambda x: cp.SOC(x[0], x[1:]), lambda x: cp.diag(x) >> 0,
      lambda x: cp.ExpCone(x[0], x[1], x[2]), lambda x: cp.PowCone3D(x[0], x[1], x[2], 0.5),
      lambda x: cp.PowConeND(x[:2], x[2], np.array([0.5, 0.5])),
      lambda x: cp.FiniteSet(x, [0, 1, 4])]),
]  # fmt: skip
VARIABLES: list[tuple[str, list[dict[str, Any]]]] = [
    ("free, `nonneg`, `nonpos`, `pos`, `neg`, `bounds`, of numbers or parameters",
     [{}, *({name: True} for name in ("nonneg", "nonpos", "pos", "neg")), {"bounds": [0, 1]},
      {"bounds": [None, cp.Parameter(value=1.0)]}]),
    ("`integer`, `boolean`, in whole or in part",
     [{"integer": True}, {"boolean": True}, {"integer": [(0,), (1,)]}]),
    ("`symmetric`, `diag`, `PSD`, `NSD`, `sparsity`",
     [*({name: True} for name in ("symmetric", "diag", "PSD", "NSD")),
      {"sparsity": ([0, 1], [0, 1])}]),
    ("`complex`, `imag`, `hermitian`",
     [{name: True} for name in ("complex", "imag", "hermitian")]),
]  # fmt: skip


def table() -> str:
    """The three parts of the table, in Markdown."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # cvxpy's, about small matrices
        lines = ["| atom | in the objective | in constraints |", "|---|---|---|"]
        for name, atoms in ATOMS:
            answers = [
                _one([_is_inside(*place(atom)) for atom in atoms], name)
                for place in (_in_objective, _in_constraint)
            ]
            lines.append(f"| {name} | {' | '.join(answers)} |")
        lines += ["", "| constraint | inside |", "|---|---|"]
        for name, stated in CONSTRAINTS:
            x = cp.Variable(N)
            answers = [_is_inside(cp.Minimize(cp.sum(x)), [item(x)]) for item in stated]
            lines.append(f"| {name} | {_one(answers, name)} |")
        lines += ["", "| variable or its attribute | inside |", "|---|---|"]
        for name, attributes in VARIABLES:
            answers = [
                _is_inside(_of_variable(cp.Variable((2, 2), **said)), []) for said in attributes
            ]
            lines.append(f"| {name} | {_one(answers, name)} |")
    return "\n".join(lines)


def with_table(page: str) -> str:
    """The page with the table in place of whatever stood between the markers."""
    before, rest = page.split(BEGIN)
    _, after = rest.split(END)
    return f"{before}{BEGIN}\n{table()}\n{END}{after}"


def _in_objective(atom: Callable[[Any], Any]) -> tuple[Any, list[Any]]:
    value = cp.sum(atom(cp.Variable(N, nonneg=True)))
    return (cp.Minimize(value) if value.is_convex() else cp.Maximize(value)), []


def _in_constraint(atom: Callable[[Any], Any]) -> tuple[Any, list[Any]]:
    x = cp.Variable(N, nonneg=True)
    value = atom(x)
    return cp.Minimize(cp.sum(x)), [value <= 1 if value.is_convex() else value >= 1]


def _of_variable(x: cp.Variable) -> cp.Minimize:
    return cp.Minimize(cp.sum(cp.real(x) if x.is_complex() else x))


def _is_inside(objective: Any, constraints: list[Any]) -> bool:
    return not wl.Problem(objective, constraints).report().outside


def _one(answers: list[bool], name: str) -> str:
    if len(set(answers)) != 1:
        raise ValueError(f"{name}: some of these are inside and some are not: {answers}")
    return "✓" if answers[0] else "–"


if __name__ == "__main__":
    PAGE.write_text(with_table(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
