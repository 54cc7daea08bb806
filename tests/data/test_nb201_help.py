"""Latencies of networks on devices: derived from saved objects, which run nothing."""

from __future__ import annotations

import io
import pickle
import zipfile
from pathlib import Path

import pandas as pd
import pytest

from walras import data
from walras.data import nb201_help
from walras.errors import DataError, InputError


def _zipped(content: object) -> bytes:
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w") as archive:
        archive.writestr("archive/data.pkl", pickle.dumps(content))
    return raw.getvalue()


def _legacy(content: object) -> bytes:
    header: list[object] = [0x1950A86A20F9469CFC6C, 1001, {"little_endian": True}]
    return b"".join(pickle.dumps(part) for part in [*header, content])


def _name(ops: str) -> str:
    names = [nb201_help.OPERATIONS[int(digit)] for digit in ops]
    nodes = [names[:1], names[1:3], names[3:]]
    return "+".join("|" + "|".join(f"{n}~{k}" for k, n in enumerate(node)) + "|" for node in nodes)


@pytest.mark.real_data("nb201_help")
@pytest.mark.parametrize("saved", [_zipped, _legacy])
def test_latencies_written_again_give_the_registered_file(saved: object) -> None:
    folder = data.find("nb201_help")
    assert folder is not None
    table = pd.read_csv(folder / nb201_help.FILE, dtype={"ops": str})
    assert callable(saved)
    index = {_name(ops): int(k) for ops, k in zip(table["ops"], table["index"], strict=True)}
    columns = [saved(table[device].tolist()) for device in nb201_help.DEVICES]
    derived = nb201_help.derive([saved(index), *columns])
    assert derived == (folder / nb201_help.FILE).read_bytes()


def test_a_saved_object_that_runs_code_is_refused() -> None:
    for raw in (_zipped(Path("x")), _legacy(Path("x")), b"PK", _zipped([])[:40]):
        with pytest.raises(DataError, match=r"plain data|data\.pkl"):
            nb201_help.derive([raw] * len(nb201_help.SOURCES))


def test_an_unknown_device_is_refused() -> None:
    with pytest.raises(InputError, match=r"clusters\[1\].*no device 'tpu'"):
        data.load("nb201_help", synthetic=True).of(["raspi4", "tpu"])
