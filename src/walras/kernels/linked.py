"""Compilation of functions that only kernels call, up to where the kernel takes them in.

numba optimises every function together with all that it calls, and makes machine code of it: a
function four calls below a kernel is optimised five times, and only the kernel's machine code runs.
What is compiled here stays LLVM's intermediate code, which is optimised once, within each kernel.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba as nb
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import AnalysisPass, PassManager, register_pass
from numba.core.typed_passes import AnnotateTypes, NativeLowering


class _Linkable(JITCodeLibrary):  # type: ignore[misc]
    """Intermediate code with what it calls, to be linked into a kernel's."""

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalized = True


@register_pass(mutates_CFG=False, analysis_only=True)
class _BeforeLowering(AnalysisPass):  # type: ignore[misc]
    _name = "walras_before_lowering"

    def __init__(self) -> None:  # numba's is abstract
        super().__init__()

    def run_pass(self, state: Any) -> bool:
        state.flags.no_compile = True
        state.library = _Linkable(state.targetctx.codegen(), state.func_id.func_qualname)
        return False


@register_pass(mutates_CFG=False, analysis_only=True)
class _AfterLowering(AnalysisPass):  # type: ignore[misc]
    _name = "walras_after_lowering"

    def __init__(self) -> None:
        super().__init__()

    def run_pass(self, state: Any) -> bool:
        # numba tells functions apart by their entries from Python, which must be built-in; this
        # one takes no tuple, and arguments come as one.
        entry: Any = [].__getitem__
        state.targetctx.insert_user_function(entry, state.cr.fndesc, [state.library])
        state.cr = state.cr._replace(cfunc=entry)
        return False


class _Compiler(CompilerBase):  # type: ignore[misc]
    """numba's, without its last steps."""

    def define_pipelines(self) -> list[PassManager]:
        """numba's passes, and the two around the lowering."""
        steps = DefaultPassBuilder.define_nopython_pipeline(self.state)
        steps.add_pass_after(_BeforeLowering, AnnotateTypes)
        steps.add_pass_after(_AfterLowering, NativeLowering)
        steps.finalize()
        return [steps]


def linked(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """A decorator that compiles a function by ``numba.njit`` with options, for kernels alone.

    It is compiled again in each process that compiles a kernel that calls it.
    """
    made: Callable[[Callable[..., Any]], Any] = nb.njit(
        pipeline_class=_Compiler, no_cpython_wrapper=True, no_cfunc_wrapper=True, **options
    )
    return made
