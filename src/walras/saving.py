"""Results in one file: an ``.npz`` of arrays with JSON for the rest; no pickle.

A value is written as a tree of JSON whose arrays lie beside it under numbers. Of objects, only the
classes listed here are written and read, each by its fields.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
import scipy.sparse as sp

from walras import checks
from walras.errors import DataError, InputError
from walras.files import check_result, reason_of, replacing

FORMAT = 1  # of the file; a new one where old readers would read it wrong

_HOMES = {
    "Solution": "walras.solution",
    "Separable": "walras.separable.form",
    "Rows": "walras.separable.rows",
    "Family": "walras.separable.rows",
    "Certificate": "walras.certificate.certify",
    "Level": "walras.leximin.levels",
    "History": "walras.progress",
    "Progress": "walras.progress",
    "Timings": "walras.progress",
    "Status": "walras.status",
    "Plan": "walras.matching.plan",
    "matching.Round": "walras.matching.round",
    "Terms": "walras.matching.terms",
    "Placed": "walras.domains.placement.result",
    "placement.Instance": "walras.domains.placement.instance",
    "Rebalanced": "walras.domains.load_balancing.result",
    "load_balancing.Round": "walras.domains.load_balancing.instance",
    "Run": "walras.network.run",
    "Deployment": "walras.network._deploy",
    "StepRecords": "walras.network.drivers.step_records",
    "Replay": "walras.network._replay",
    "Books": "walras.network.protocol.auditing",
    "NetworkProblem": "walras.network.problem.network_problem",
    "CPUCosts": "walras.network.problem.cpu_costs",
    "QuadraticCPU": "walras.network.problem.cpu_costs",
    "ThroughputCPU": "walras.network.problem.cpu_costs",
    "Shards": "walras.network.problem.shards",
    "LeastSquares": "walras.network.problem.losses",
    "SmoothHinge": "walras.network.problem.losses",
    "Logistic": "walras.network.problem.losses",
    "Softmax": "walras.network.problem.losses",
    "FittedModel": "walras.learn.fitting",
    "LearnSettings": "walras.learn.settings",
    "PlacementRule": "walras.learn.training_problem",
    "Finding": "walras.learn.advice",
    "Decay": "walras.matching.speedup",
    "Predictor": "walras.predict.predictor",
    "Shadow": "walras.shadow.result",
    "simulate.Run": "walras.simulate.result",
    "Comparison": "walras.simulate.compare.comparison",
    "PlacedRun": "walras.simulate.placed.result",
}
_NAMES = {(home, name.rpartition(".")[2]): name for name, home in _HOMES.items()}

# What NumPy and the constructors raise on files that are damaged, cut short or of another kind.
_DAMAGED = (ValueError, KeyError, TypeError, EOFError, AttributeError, zipfile.BadZipFile)


@runtime_checkable
class Saved(Protocol):
    """A class that says itself what of it is written, where its fields do not say it."""

    def to_saved(self) -> Mapping[str, Any]:
        """Its parts by name."""

    @classmethod
    def from_saved(cls, parts: Mapping[str, Any]) -> Any:
        """The object of these parts."""


def save(result: object, path: str | Path) -> None:
    """Write a result to one file; see :func:`load`.

    Args:
        result: A result of Walras.
        path: The file, usually ``.npz``; whole or not at all.

    Raises:
        InputError: A part of it, such as a function of the user's, cannot be written, the path is
            none, or its ending is another format's, such as .json.
        DataError: The file cannot be written.
    """
    check_result(_path(path), "path")
    arrays: list[Any] = []
    tree = _encoded(result, arrays, type(result).__name__)
    text = json.dumps({"walras": FORMAT, "result": tree})
    named = {f"a{k}": array for k, array in enumerate(arrays)}
    with replacing(_path(path)) as fresh, fresh.open("wb") as stream:
        np.savez(stream, json=np.frombuffer(text.encode(), dtype=np.uint8), **named)


def load(path: str | Path) -> Any:
    """Read a result that its ``save`` wrote: a solution, a plan, a run, a trained model, ...

    Args:
        path: The file.

    Returns:
        The result, equal in all that is proved of it; what a solver kept beside it is gone.

    Raises:
        InputError: ``path`` is no path.
        DataError: The file is missing, damaged, of a later version, or not written by Walras.

    Example:
        >>> import tempfile, walras as wl
        >>> problem = wl.domains.cluster_scheduling.max_min([[2.0, 1.0]], [1, 1], [1.0])
        >>> path = f"{tempfile.mkdtemp()}/solution.npz"
        >>> wl.solve(problem).save(path)
        >>> round(wl.load(path).value, 6)
        0.666667
    """
    path = _path(path)
    try:
        with path.open("rb") as stream:
            if not zipfile.is_zipfile(stream):
                raise ValueError("it is no .npz file")
            stream.seek(0)
            return _read(path, np.load(stream, allow_pickle=False))
    except OSError as error:
        raise DataError(
            f"the file cannot be read: {reason_of(error)}",
            where=str(path),
            allowed="a file that can be read",
            remedy="check the path",
        ) from error
    except _DAMAGED as error:
        raise DataError(
            f"cannot be read as a result: {error}",
            where=str(path),
            allowed=f"a file that save() of a result wrote, of format {FORMAT} or before",
            remedy="give such a file; one that is damaged or newer has to be saved again",
        ) from error


def _read(path: Path, stored: Any) -> Any:
    """The result in an open ``.npz`` file."""
    if "header" in stored:  # of Predictor.save
        return _class("Predictor").load(path)
    content = json.loads(bytes(stored["json"]).decode())
    if content["walras"] > FORMAT:
        raise ValueError(f"it has format {content['walras']}, this version reads {FORMAT}")
    return _decoded(content["result"], lambda k: stored[f"a{k}"])


def _path(given: str | Path) -> Path:
    checks.of_kind(given, (str, Path), "path", "a path", remedy="give the path of a file")
    return Path(given)


def saved_fields(given: Any, *without: str) -> dict[str, Any]:
    """The fields that a dataclass is made from, by name."""
    return {
        f.name: getattr(given, f.name) for f in fields(given) if f.init and f.name not in without
    }


def _class(name: str) -> Any:
    if name not in _HOMES:
        raise ValueError(f"it holds a {name!r}, which this version does not know")
    return getattr(import_module(_HOMES[name]), name.rpartition(".")[2])


def _encoded(value: Any, arrays: list[Any], where: str) -> Any:
    """The JSON of a value; its arrays are appended."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, Enum):
        return {"enum": _name(value, where), "value": value.value}
    if isinstance(value, str | int | float):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, sp.csc_array | sp.csc_matrix):
        parts = [_encoded(a, arrays, where) for a in (value.data, value.indices, value.indptr)]
        return {"sparse": parts, "shape": list(value.shape)}
    if isinstance(value, np.ndarray):
        return _array(value, arrays, where)
    if isinstance(value, Mapping):
        named = {str(k): _encoded(v, arrays, f"{where}[{k!r}]") for k, v in value.items()}
        return {"dict": named}
    if isinstance(value, Saved) or is_dataclass(value):
        held = value.to_saved() if isinstance(value, Saved) else saved_fields(value)
        made = {k: _encoded(v, arrays, f"{where}.{k}") for k, v in held.items()}
        return {"class": _name(value, where), "fields": made}
    if isinstance(value, Sequence):
        return _sequence(list(value), arrays, where)
    raise _cannot(value, where)


def _array(value: Any, arrays: list[Any], where: str) -> Any:
    if value.dtype.kind not in "biufU":
        raise _cannot(value, where)
    arrays.append(value)
    return {"array": len(arrays) - 1}


def _sequence(value: list[Any], arrays: list[Any], where: str) -> Any:
    """Many texts as one array, anything else item by item; read back as a tuple."""
    if value and all(type(item) is str and not item.endswith("\0") for item in value):
        arrays.append(np.array(value))
        return {"texts": len(arrays) - 1}
    return {"tuple": [_encoded(v, arrays, f"{where}[{k}]") for k, v in enumerate(value)]}


def _name(value: Any, where: str) -> str:
    found = _NAMES.get((type(value).__module__, type(value).__name__))
    if found is None:
        raise _cannot(value, where)
    return found


def _cannot(value: Any, where: str) -> InputError:
    return InputError(
        f"is a {type(value).__name__}, which cannot be written to a file",
        where=where,
        allowed="numbers, texts, arrays and the classes of Walras",
        remedy="keep the result in this process, or state it without functions of your own",
    )


def _decoded(tree: Any, array: Callable[[int], Any]) -> Any:
    """The value of JSON that :func:`_encoded` made."""
    if not isinstance(tree, dict):
        return tree
    if "enum" in tree:
        return _class(tree["enum"])(tree["value"])
    if "sparse" in tree:
        parts = tuple(_decoded(part, array) for part in tree["sparse"])
        return sp.csc_array(parts, shape=tuple(tree["shape"]))
    if "array" in tree:
        return array(tree["array"])
    if "texts" in tree:
        return tuple(array(tree["texts"]).tolist())
    if "tuple" in tree:
        return tuple(_decoded(item, array) for item in tree["tuple"])
    if "dict" in tree:
        return {name: _decoded(item, array) for name, item in tree["dict"].items()}
    held = {name: _decoded(item, array) for name, item in tree["fields"].items()}
    made = _class(tree["class"])
    return made.from_saved(held) if hasattr(made, "from_saved") else made(**held)
