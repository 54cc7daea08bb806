"""Compilation of functions that only kernels call, up to where the kernel takes them in.

numba optimises every function together with all that it calls, and makes machine code of it: a
function four calls below a kernel is optimised five times, and only the kernel's machine code runs.
What is compiled here stays LLVM's intermediate code, which is optimised once, within each kernel.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import llvmlite.binding as llvm
import numba as nb
from numba import types
from numba.core import config
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import AnalysisPass, PassManager, register_pass
from numba.core.typed_passes import AnnotateTypes, InlineOverloads, NativeLowering, NopythonRewrites
from numba.core.untyped_passes import InlineClosureLikes, WithLifting

from walras.kernels.ownership import BorrowOnly, PlainFlags

# Passes for what no kernel has: closures, blocks of ``with``, and functions to inline by name; and
# for expressions of arrays, which compile without it, too.
_SPARED = (InlineClosureLikes, InlineOverloads, NopythonRewrites, WithLifting)


class _Code(JITCodeLibrary):  # type: ignore[misc]
    """A kernel's code, optimised once, with all that it takes in.

    numba first optimises each function by itself, and the whole once more to find counts of
    references that cancel. Loops are not unrolled, which took a quarter of the time.
    """

    def _optimize_functions(self, module: Any) -> None:
        module.data_layout = self._codegen._data_layout

    def _optimize_final_module(self) -> None:
        options = llvm.create_pipeline_tuning_options(config.OPT)
        options.loop_vectorization, options.loop_unrolling = True, False
        builder = llvm.create_pass_builder(self._codegen._tm, options)
        passes = builder.getModulePassManager()
        passes.add_refprune_pass()
        passes.run(self._final_module, builder)


class _Linkable(_Code):
    """Intermediate code with what it calls, to be linked into a kernel's."""

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalized = True


@register_pass(mutates_CFG=False, analysis_only=True)
class _BeforeKernel(AnalysisPass):  # type: ignore[misc]
    _name = "walras_before_kernel"

    def __init__(self) -> None:  # numba's is abstract
        super().__init__()

    def run_pass(self, state: Any) -> bool:
        state.library = _Code(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        return False


@register_pass(mutates_CFG=False, analysis_only=True)
class _BeforeLowering(AnalysisPass):  # type: ignore[misc]
    _name = "walras_before_lowering"

    def __init__(self) -> None:
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


class KernelCompiler(CompilerBase):  # type: ignore[misc]
    """numba's, for functions that may only borrow the arrays they are given."""

    def _compile_core(self) -> Any:
        self.state.flags = PlainFlags(self.state.flags)
        return super()._compile_core()

    def define_pipelines(self) -> list[PassManager]:
        """numba's passes but those spared, and two of ours."""
        steps = DefaultPassBuilder.define_nopython_pipeline(self.state)
        steps.passes = [step for step in steps.passes if step[0] not in _SPARED]
        steps.add_pass_after(BorrowOnly, AnnotateTypes)
        steps.add_pass_after(_BeforeKernel, BorrowOnly)
        steps.finalize()
        return [steps]


class _LinkedCompiler(KernelCompiler):
    """Without numba's last steps."""

    def define_pipelines(self) -> list[PassManager]:
        """The passes of a kernel, and the two around the lowering."""
        (steps,) = super().define_pipelines()
        steps.add_pass_after(_BeforeLowering, _BeforeKernel)
        steps.add_pass_after(_AfterLowering, NativeLowering)
        steps.finalize()
        return [steps]


def linked(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """A decorator that compiles a function by ``numba.njit`` with options, for kernels alone.

    It is compiled again in each process that compiles a kernel that calls it; once for each width
    of floats, and once for all widths of signed integers and for constants.
    """
    made = nb.njit(
        pipeline_class=_LinkedCompiler, no_cpython_wrapper=True, no_cfunc_wrapper=True, **options
    )

    def compiled(function: Callable[..., Any]) -> Any:
        taken_in = made(function)
        resolve = taken_in.get_call_template

        def resolved(args: Sequence[Any], named: Mapping[str, Any]) -> Any:
            return resolve(
                tuple(map(_common, args)), {name: _common(arg) for name, arg in named.items()}
            )

        taken_in.get_call_template = resolved
        return taken_in

    return compiled


def _common(type_: Any) -> Any:
    """The type that an argument is passed as: no literal types, all signed integers as int64."""
    plain = types.unliteral(type_)
    return types.int64 if isinstance(plain, types.Integer) and plain.signed else plain
