"""Find functions that own no array, and compile them without reference counts.

numba counts the references to each array: each call, each assignment and each end of a variable
changes the count of each array in it. A function that makes no array and returns none only borrows
its caller's arrays, so each count is the same after the call as before. Without the counting there
is less code to compile.
"""

from __future__ import annotations

from typing import Any

from numba.core import ir, types
from numba.core.compiler import Flags
from numba.core.compiler_machinery import AnalysisPass, register_pass
from numba.core.types.containers import BaseTuple

# Operations that yield a view of an array, or an item of a tuple. Those of other containers, such
# as a typed list, may yield a new reference.
_PARTS = frozenset(("getattr", "getitem", "static_getitem", "getiter", "exhaust_iter"))
# Operations that hand on what they are given.
_PASSED_ON = frozenset(("build_tuple", "iternext", "pair_first", "cast", "phi"))


class PlainFlags(Flags):  # type: ignore[misc]
    """numba's options of a compilation, equal where all that is inherited from them is.

    numba looks its own functions up by them, for every operation in the code it compiles, and
    compiles them with what they inherit.
    """

    def __hash__(self) -> int:
        return hash((self.error_model, self.forceinline))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PlainFlags) and self._inherited() == other._inherited()

    def _inherited(self) -> list[Any]:
        return [*map(self._values.get, ("nrt", "error_model", "fastmath", "forceinline"))]


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


def _makes(line: Any, type_of: Any, counted: Any) -> bool:
    """Whether a statement may make an array.

    An assignment of an array to a part of another may copy it; an index that is an array does, and
    so does the imaginary part of real numbers.
    """
    if isinstance(line, ir.SetItem | ir.StaticSetItem):
        return bool(counted(type_of[line.value.name]))
    if not isinstance(line, ir.Assign):
        return False
    value = line.value
    if not counted(type_of[line.target.name]) or not isinstance(value, ir.Expr):
        return False
    if value.op not in _PARTS:
        return value.op not in _PASSED_ON
    if not isinstance(type_of[value.value.name], types.Array | BaseTuple):
        return True
    if value.op == "getitem":
        return bool(counted(type_of[value.index.name]))
    return bool(value.op == "getattr" and value.attr == "imag")
