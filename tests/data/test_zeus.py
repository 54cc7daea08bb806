"""Traces of Zeus: files of something else are one clear error; runs that reached their target."""

from __future__ import annotations

from pathlib import Path

import pytest

from walras import data
from walras.data import zeus
from walras.errors import DataError

_EPOCHS = "dataset,network,batch_size,optimizer,power_limit,time_per_epoch,average_power"


@pytest.mark.parametrize(
    "content", ["", "dataset\n", f"{_EPOCHS}\n", f"{_EPOCHS}\na,b,8,c,9,0,5\n"]
)
def test_a_file_of_something_else_is_one_clear_error(content: str, tmp_path: Path) -> None:
    (tmp_path / zeus.EPOCH_FILES[0]).write_text(content)
    with pytest.raises(DataError, match="cannot be read as data set 'zeus'") as raised:
        zeus.read(tmp_path)
    assert zeus.EPOCH_FILES[0] in raised.value.where


def test_epochs_have_a_column_a_gpu_and_no_more_runs_reach_than_ran() -> None:
    traces = data.load("zeus", synthetic=True)
    seconds = traces.epoch_seconds()
    assert list(seconds.columns) == list(zeus.GPUS)
    assert (seconds.min() > 0.0).all()
    reached = traces.reached()
    assert (reached["reached"] <= reached["runs"]).all()
    assert (reached["reached"] > 0).any()
