"""Objects that hold arrays are shown in one short line."""

from __future__ import annotations

import importlib
import inspect
from dataclasses import dataclass, fields, is_dataclass

import numpy as np
import pandas as pd
import pytest

from walras.short_repr import short_repr

PUBLIC = (
    "walras",
    "walras.data",
    "walras.domains.cluster_scheduling",
    "walras.domains.load_balancing",
    "walras.domains.traffic_engineering",
    "walras.learn",
    "walras.matching",
    "walras.network",
    "walras.predict",
)
ARRAYS = ("Floats", "Ints", "Longs", "Bools", "ndarray", "DataFrame", "Series")


@short_repr
@dataclass(frozen=True, eq=False)
class Held:
    times: np.ndarray
    table: pd.DataFrame
    mean: np.ndarray
    name: str = "a"
    many: tuple[int, ...] = tuple(range(5000))
    few: tuple[int, ...] = (1, 2)
    inner: object = None


def test_arrays_are_shown_by_shape_and_large_containers_by_length() -> None:
    held = Held(np.ones((3, 800)), pd.DataFrame({"x": range(900)}), np.array(2.5), "line\nbreak")
    assert repr(held) == (
        "Held(times=array(3, 800), table=DataFrame(900, 1), mean=2.5, name='line\\nbreak', "
        "many=tuple(5000 items), few=(1, 2))"
    )


@pytest.mark.parametrize("module", PUBLIC)
def test_no_public_class_writes_out_its_arrays(module: str) -> None:
    room = importlib.import_module(module)
    for name in room.__all__:
        found = getattr(room, name)
        if inspect.isclass(found) and is_dataclass(found):
            held = [f.name for f in fields(found) if f.repr and str(f.type).startswith(ARRAYS)]
            generated = hasattr(found.__repr__, "__wrapped__")  # by dataclass
            assert not (held and generated), f"{module}.{name} shows its arrays {held}"
