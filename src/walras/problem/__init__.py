"""Stating allocation problems in cvxpy expressions."""

from walras.problem.problem import Problem
from walras.problem.report import Report

__all__ = ["Problem", "Report"]
