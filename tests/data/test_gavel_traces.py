"""Traces of jobs: both layouts of their origin, and traces that are not there."""

from __future__ import annotations

from pathlib import Path

import pytest

from walras import data
from walras.data import gavel_traces
from walras.errors import DataError, InputError


def _trace_files() -> list[bytes]:
    plain = b"LM (batch size 5)\tpython main.py\t--steps\t1\t700\t12.000000\t4\n"
    weighted = b"A3C\tpython main.py\trl\t--max-steps\t0\t88\t2\t1\t-1.000000\t0\n"
    count = len(gavel_traces.TRACES)
    return [plain if name.startswith("msr") else weighted for name in gavel_traces.TRACES][:count]


def test_both_layouts_of_traces_become_one_table(tmp_path: Path) -> None:
    (tmp_path / gavel_traces.FILE).write_bytes(gavel_traces.derive_table(_trace_files()))
    traces = gavel_traces.read(tmp_path)
    assert traces.names == gavel_traces.TRACES
    first, last = traces.jobs.iloc[0], traces.jobs.iloc[-1]
    assert (first["total_steps"], first["arrival_time"], first["scale_factor"]) == (700, 12.0, 4)
    assert traces.jobs["SLO"].isna().sum() == 75
    assert (last["job_type"], last["scale_factor"], last["priority_weight"]) == ("A3C", 2, 1.0)


def test_a_trace_of_another_layout_is_refused() -> None:
    files = _trace_files()
    files[1] += b"LM\ttoo short\n"
    with pytest.raises(DataError, match=r"103959.trace, line 2.*2 tab-separated fields"):
        gavel_traces.derive_table(files)


def test_an_unknown_trace_is_refused() -> None:
    traces = data.load("gavel_traces", synthetic=True)
    with pytest.raises(InputError, match="no trace 'msr/seed=9'"):
        traces.trace("msr/seed=9")
