"""Kernels that are compiled are noticed; kernels that are not are not."""

from __future__ import annotations

import numba

from walras.cli.common.compiling import CompileWatch


def test_a_kernel_is_seen_compiling_once() -> None:
    seen: list[bool] = []

    @numba.njit(cache=False)
    def kernel(x: float) -> float:
        return 2.0 * x

    ticks = iter(range(100))
    with CompileWatch(lambda: float(next(ticks))) as watch:
        started = watch.started

        def noted() -> None:
            started()
            seen.append(watch.now)

        watch.started = noted  # type: ignore[method-assign]
        assert kernel(1.0) == 2.0
        assert kernel(2.0) == 4.0
        assert seen == [True]
        assert not watch.now
        assert watch.seconds == 1.0

    assert kernel(1) == 2.0  # other types: compiled again, and nobody listens
    assert watch.seconds == 1.0


def test_kernels_within_kernels_count_once() -> None:
    now = [0.0]
    watch = CompileWatch(lambda: now[0])
    watch.started()
    now[0] = 2.0
    watch.started()
    now[0] = 3.0
    watch.ended()
    assert (watch.now, watch.seconds) == (True, 3.0)
    now[0] = 5.0
    watch.ended()
    assert (watch.now, watch.seconds) == (False, 5.0)
