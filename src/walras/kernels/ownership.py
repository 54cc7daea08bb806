"""Which functions own arrays, told before they are lowered: the others need not count references.

numba counts who holds each array: every call, assignment and end of a variable raises or lowers a
count for each array of each argument. A function that makes no array and returns none only borrows
what its caller holds, so the counts come out as they went in. Without them there is less code to
write, to read and to optimise.
"""

from __future__ import annotations

from typing import Any

from numba.core import ir
from numba.core.compiler import Flags
from numba.core.compiler_machinery import AnalysisPass, register_pass

# What yields an array that another one holds.
_VIEWS = frozenset(
    (
        "getattr",
        "getitem",
        "static_getitem",
        "build_tuple",
        "exhaust_iter",
        "getiter",
        "iternext",
        "pair_first",
        "cast",
        "phi",
    )
)


class PlainFlags(Flags):  # type: ignore[misc]
    """numba's options of a compilation, quick to compare and to look up.

    numba looks them up for every operation in the code it compiles.
    """

    def __hash__(self) -> int:
        return hash((self.error_model, self.release_gil))

    def __eq__(self, other: object) -> bool:
        if isinstance(other, PlainFlags) and self._values == other._values:
            return True
        return bool(super().__eq__(other))


@register_pass(mutates_CFG=False, analysis_only=True)
class BorrowOnly(AnalysisPass):  # type: ignore[misc]
    """Turns the counting of references off in a function that owns no array."""

    _name = "walras_borrow_only"

    def __init__(self) -> None:  # numba's is abstract
        super().__init__()

    def run_pass(self, state: Any) -> bool:
        """Looks at each result of the function's operations."""
        if not owns(state):
            state.targetctx = state.targetctx.subtarget(enable_nrt=False)
        return False


def owns(state: Any) -> bool:
    """Whether a function may make an array, or return one.

    Args:
        state: numba's, of a compilation after its types are known.
    """
    models = state.targetctx.data_model_manager

    def counted(type_: Any) -> bool:
        return bool(models[type_].contains_nrt_meminfo())

    statements = [line for block in state.func_ir.blocks.values() for line in block.body]
    return counted(state.return_type) or any(
        _makes(line, state.typemap, counted) for line in statements
    )


def _makes(line: Any, types: Any, counted: Any) -> bool:
    """Whether a statement may make an array.

    An assignment of an array to a part of another may copy it; an index that is an array does.
    """
    if isinstance(line, ir.SetItem | ir.StaticSetItem):
        return bool(counted(types[line.value.name]))
    if not isinstance(line, ir.Assign):
        return False
    value = line.value
    if not counted(types[line.target.name]) or not isinstance(value, ir.Expr):
        return False
    if value.op == "getitem":
        return bool(counted(types[value.index.name]))
    return str(value.op) not in _VIEWS
