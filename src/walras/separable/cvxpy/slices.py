"""Slices of cvxpy variables as small variables of their own, while coefficients are collected.

cvxpy's backends write a variable out in full wherever an expression takes a slice of it. A program
that states one constraint for every row and every column of an n x m variable would so write
n m (n + m) entries, where its slices have 2 n m.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from cvxpy.lin_ops import lin_op, lin_utils

from walras.types import Longs

Tree = Any
"""A tree of cvxpy's linear operators."""


class Slices:
    """Takes slices out of trees of linear operators, and puts their columns back afterwards.

    Args:
        start: First column of every variable, by its id.
        columns: Number of columns of all variables.

    Attributes:
        start: First column of every variable and every slice, by its id.
        columns: Number of columns of them all.
    """

    def __init__(self, start: Mapping[int, int], columns: int) -> None:
        self.start = dict(start)
        self.columns = columns
        self._own = columns
        self._taken: list[Longs] = []

    def taken(self, tree: Tree) -> Tree:
        """The tree with a new variable in the place of every slice of a variable."""
        if tree.type == lin_op.INDEX and tree.args[0].type == lin_op.VARIABLE:
            return self._new(tree)
        if not tree.args:
            return tree
        args = [self.taken(arg) for arg in tree.args]
        if all(new is old for new, old in zip(args, tree.args, strict=True)):
            return tree
        return lin_op.LinOp(tree.type, tree.shape, args, tree.data)

    def put_back(self, column: Longs) -> Longs:
        """Columns of the variables alone, the last of them still that of the constants."""
        constants = np.array([self._own])
        place = np.concatenate([np.arange(self._own), *self._taken, constants])
        return place[column]

    def _new(self, tree: Tree) -> Tree:
        variable = tree.args[0]
        at = np.zeros(1, dtype=np.int64)
        strides = np.cumprod([1, *variable.shape])
        for key, stride in zip(tree.data, strides, strict=False):
            at = np.add.outer(stride * np.arange(key.start, key.stop, key.step), at).ravel()
        found = lin_utils.create_var(tree.shape)
        self.start[found.data] = self.columns
        self.columns += len(at)
        self._taken.append(self.start[variable.data] + at)
        return found
