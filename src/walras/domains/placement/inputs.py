"""Tables of nodes and tasks, checked, as an instance."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from walras import checks
from walras.domains.placement.instance import Instance
from walras.errors import InputError
from walras.kernels.packing.machines import WHOLE, Types
from walras.types import Bools, Floats, Ints, Longs

MOST_GPUS = 1024  # of a node
NODE_WORDS = ("gpus", "model")
TASK_WORDS = ("gpus", "model", "affinity", "anti_affinity", "value")
_SEPARATOR = "|"

Previous = Mapping[str, str] | pd.Series | None
# of an item of several tasks: whole GPUs, share and group of each, and the sets of models
Bundle = tuple[tuple[tuple[int, int, int], ...], tuple[int, ...]]


def make_instance(
    nodes: pd.DataFrame,
    tasks: pd.DataFrame,
    previous: Previous = None,
    move_price: float | None = None,
) -> Instance:
    """Check nodes and tasks and number them; see :func:`walras.domains.placement.place`.

    Args:
        nodes: (nodes, columns) as of ``place``.
        tasks: (tasks, columns) as of ``place``.
        previous: Where tasks run now.
        move_price: Cost of a task that is moved, or None if they stay.

    Returns:
        The instance.

    Raises:
        InputError: Something in the tables cannot be used; names the row and the column.

    Example:
        >>> import pandas as pd
        >>> from walras.domains import placement as pl
        >>> nodes = pd.DataFrame({"cpu": [8, 8]}, index=["a", "b"])
        >>> tasks = pd.DataFrame({"cpu": [3, 3, 6]}, index=["x", "y", "z"])
        >>> pl.make_instance(nodes, tasks).resources
        ('cpu',)
    """
    nodes, tasks = _frame(nodes, "nodes", "node"), _frame(tasks, "tasks", "task")
    resources = tuple(str(c) for c in nodes.columns if c not in NODE_WORDS)
    _check_columns(nodes, tasks, resources)
    capacity = np.column_stack(
        [np.zeros((len(nodes), 0)), *(_amounts(nodes, c, "nodes", "node") for c in resources)]
    )
    need = np.column_stack(
        [np.zeros((len(tasks), 0)), *(_amounts(tasks, c, "tasks", "task") for c in resources)]
    )
    gpus = _whole(nodes)
    whole, share = _requests(tasks)
    names, model = _models(nodes, gpus)
    allowed, allowed_of = _allowed(tasks, names)
    together, apart = _labels(tasks, "affinity"), _labels(tasks, "anti_affinity")
    value = _values(tasks, whole + share / WHOLE)
    was, price = _before(previous, move_price, nodes.index, tasks.index)
    table = pd.DataFrame(need)
    for name, column in {"w": whole, "s": share, "m": allowed_of, "a": apart, "v": value}.items():
        table[name] = column
    table["was"], table["together"] = was, together
    return _assembled(
        table, nodes.index, tasks.index, resources, names, capacity, gpus, model, allowed, price
    )


def _frame(given: object, where: str, kind: str) -> pd.DataFrame:
    """The table, labelled by its column of names if it has one."""
    frame = checks.of_kind(
        given,
        pd.DataFrame,
        where,
        f"a table, one row a {kind}",
        remedy=f"pd.DataFrame({{'cpu': [...], 'gpus': [...]}}, index=[... names of the {kind}s])",
    )
    frame = frame.set_index(kind) if kind in frame.columns else frame
    if len(frame) == 0:
        raise InputError(
            "has no rows", where=where, allowed=f"one row a {kind}", remedy=f"name a {kind}"
        )
    checks.distinct(frame.index, where, kind, remedy=f"rename one of the {kind}s")
    return frame.set_axis(frame.index.map(str), axis=0)


def _check_columns(nodes: pd.DataFrame, tasks: pd.DataFrame, resources: tuple[str, ...]) -> None:
    known = [*resources, *TASK_WORDS]
    for name in tasks.columns:
        if name not in known:
            checks.one_of(str(name), "tasks", known, "column")
    for name in resources:
        if name not in tasks.columns:
            raise InputError(
                f"has no column '{name}', which the nodes have",
                where="tasks",
                allowed=f"a column for each of {checks.few(resources)}",
                remedy=f"say how much '{name}' each task needs, or leave it out of the nodes",
            )


def _amounts(frame: pd.DataFrame, column: str, where: str, kind: str) -> Floats:
    """A column of amounts >= 0."""
    found = checks.numeric(frame[column].to_numpy(), f"{where}['{column}']")
    return checks.within(
        found,
        lambda at: f"{where}['{column}'] of {kind} '{frame.index[at[0]]}'",
        0.0,
        remedy="correct that amount",
    )


def _whole(nodes: pd.DataFrame) -> Ints:
    if "gpus" not in nodes.columns:
        return np.zeros(len(nodes), dtype=np.int32)
    found = _amounts(nodes, "gpus", "nodes", "node")
    checks.refuse_first(
        (found != np.round(found)) | (found > MOST_GPUS),
        found,
        lambda at: f"nodes['gpus'] of node '{nodes.index[at[0]]}'",
        allowed=f"whole numbers, 0 to {MOST_GPUS}",
        remedy="count the GPUs of the node",
    )
    return found.astype(np.int32)


def _requests(tasks: pd.DataFrame) -> tuple[Longs, Longs]:
    """Whole GPUs of each task, and the thousandths of one that it shares, rounded up."""
    if "gpus" not in tasks.columns:
        return np.zeros(len(tasks), dtype=np.int64), np.zeros(len(tasks), dtype=np.int64)
    found = _amounts(tasks, "gpus", "tasks", "task")
    checks.refuse_first(
        ((found > 1) & (found != np.round(found))) | (found > MOST_GPUS),
        found,
        lambda at: f"tasks['gpus'] of task '{tasks.index[at[0]]}'",
        allowed=f"a share of one GPU, below 1, or a whole number up to {MOST_GPUS}",
        remedy="round it, or split the task",
    )
    share = np.where(found < 1, np.ceil(np.round(found * WHOLE, 6)), 0.0).astype(np.int64)
    whole = np.where((found >= 1) | (share == WHOLE), np.maximum(np.round(found), 1), 0)
    return np.where(found == 0, 0, whole).astype(np.int64), np.where(share == WHOLE, 0, share)


def _text(column: pd.Series) -> pd.Series:
    return column.astype(object).where(column.notna(), "").map(lambda v: str(v).strip())


def _models(nodes: pd.DataFrame, gpus: Ints) -> tuple[tuple[str, ...], Ints]:
    """Names of the models, and the model of each node; nodes without GPUs have none."""
    if "model" not in nodes.columns:
        return ("",), np.zeros(len(nodes), dtype=np.int32)
    named = _text(nodes["model"]).where(gpus > 0, "")
    code, names = pd.factorize(named, sort=True)
    return tuple(map(str, names)), code.astype(np.int32)


def _allowed(tasks: pd.DataFrame, models: tuple[str, ...]) -> tuple[Bools, Longs]:
    """(sets, models) which models a set of models allows, and the set of each task."""
    if "model" not in tasks.columns:
        return np.ones((1, len(models)), dtype=np.bool_), np.zeros(len(tasks), dtype=np.int64)
    code, sets = pd.factorize(_text(tasks["model"]))
    rows = [
        [not (asked := [m for m in one.split(_SEPARATOR) if m]) or m in asked for m in models]
        for one in sets
    ]
    return np.array(rows, dtype=np.bool_), code.astype(np.int64)


def _labels(tasks: pd.DataFrame, column: str) -> Longs:
    """Number of each task's label, -1 for none."""
    if column not in tasks.columns:
        return np.full(len(tasks), -1, dtype=np.int64)
    text = _text(tasks[column])
    return pd.factorize(text.where(text != "", None))[0].astype(np.int64)


def _values(tasks: pd.DataFrame, gpus: Floats) -> Floats:
    if "value" in tasks.columns:
        return _amounts(tasks, "value", "tasks", "task")
    return gpus if np.any(gpus > 0) else np.ones(len(tasks))


def _before(
    previous: Previous, move_price: float | None, nodes: pd.Index, tasks: pd.Index
) -> tuple[Longs, float]:
    """Node of each task before, -1 for none, and the price of a move."""
    price = np.inf
    if move_price is not None:
        price = checks.number(
            move_price, "move_price", 0.0, remedy="give what a move may cost, or None for no moves"
        )
    if previous is None:
        return np.full(len(tasks), -1, dtype=np.int64), price
    if not isinstance(previous, pd.Series | Mapping):
        raise InputError(
            f"is {checks.shown(previous)}",
            where="previous",
            allowed="a Series or a dictionary, from tasks to nodes",
            remedy="pass p.node of the placement before",
        )
    series: pd.Series = pd.Series(previous, dtype=object)
    series = _text(series.set_axis(series.index.map(str)))
    series = series[(series != "") & series.index.isin(tasks)]
    at = nodes.get_indexer(pd.Index(series))
    if np.any(at < 0):
        bad = int(np.argmax(at < 0))
        checks.one_of(series.iloc[bad], f"previous['{series.index[bad]}']", list(nodes), "node")
    was = np.full(len(tasks), -1, dtype=np.int64)
    was[tasks.get_indexer(series.index)] = at
    return was, price


def _assembled(
    table: pd.DataFrame,
    nodes: pd.Index,
    tasks: pd.Index,
    resources: tuple[str, ...],
    models: tuple[str, ...],
    capacity: Floats,
    gpus: Ints,
    model: Ints,
    allowed: Bools,
    price: float,
) -> Instance:
    """Items and their types from the checked columns of tasks."""
    bundles: list[Bundle]
    if np.any(table["together"] >= 0):
        rows, bundles, task_ptr, task = _bundled(table, tasks, len(resources))
    else:
        task_ptr, task = np.arange(len(table) + 1), np.arange(len(table))
        rows = table.drop(columns="together")
        bundles = []
        rows["more"] = -1
    keys = [c for c in rows.columns if c != "was"]
    kind = rows.groupby(keys, sort=False).ngroup().to_numpy(dtype=np.int64)
    first = np.unique(kind, return_index=True)[1]
    types, request_task = _types(rows.iloc[first], bundles, allowed, len(resources))
    return Instance(
        nodes,
        tasks,
        resources,
        models,
        capacity,
        gpus,
        model,
        types,
        kind.astype(np.int32),
        rows["was"].to_numpy(dtype=np.int32),
        task_ptr.astype(np.int64),
        task.astype(np.int64),
        request_task,
        int(table["a"].max()) + 1,
        price,
    )


def _bundled(
    table: pd.DataFrame, tasks: pd.Index, resources: int
) -> tuple[pd.DataFrame, list[Bundle], Longs, Longs]:
    """One row an item: tasks of one affinity are one, whose needs are added.

    The column ``more`` numbers what items of several tasks ask of GPUs, models and groups.
    """
    label = table["together"].to_numpy()
    alone = np.arange(len(table)) + label.max() + 1
    item = pd.factorize(np.where(label >= 0, label, alone))[0]
    order = np.argsort(item, kind="stable")
    ptr = np.concatenate([[0], np.cumsum(np.bincount(item))])
    rows = table.iloc[order[ptr[:-1]]].drop(columns="together").reset_index(drop=True)
    bundles: dict[Bundle, int] = {}
    more = [-1] * len(rows)
    for k in np.flatnonzero(np.diff(ptr) > 1).tolist():
        members = table.iloc[order[ptr[k] : ptr[k + 1]]]
        _check_bundle(members, tasks[order[ptr[k] : ptr[k + 1]]])
        for r in range(resources):
            rows.loc[k, r] = members[r].sum()
        rows.loc[k, "v"] = members["v"].sum()
        sets = tuple(sorted(set(members["m"].tolist())))
        before = members["was"].unique()
        rows.loc[k, "was"] = before[0] if len(before) == 1 else -1
        listed = tuple((int(w), int(s), int(a)) for w, s, a in members[["w", "s", "a"]].to_numpy())
        more[k] = bundles.setdefault((listed, sets), len(bundles))
    rows["more"] = more
    return rows, list(bundles), ptr, order


def _check_bundle(members: pd.DataFrame, names: pd.Index) -> None:
    apart = members["a"][members["a"] >= 0]
    if apart.duplicated().any():
        first, second = names[np.flatnonzero(members["a"] == apart[apart.duplicated()].iloc[0])[:2]]
        raise InputError(
            f"'{first}' and '{second}' share both their affinity and their anti-affinity",
            where="tasks",
            allowed="tasks that are either together or apart",
            remedy="give one of them another label",
        )


def _types(
    rows: pd.DataFrame, bundles: list[Bundle], allowed: Bools, resources: int
) -> tuple[Types, Ints]:
    """The types of items, and of each request, which of an item's tasks makes it."""
    requests: list[int] = []
    owners: list[int] = []
    groups: list[int] = []
    ptr, group_ptr, models = [0], [0], []
    whole, share, asked_models, group, more = (
        rows[c].to_numpy(dtype=np.int64).tolist() for c in ("w", "s", "m", "a", "more")
    )
    for t in range(len(rows)):
        listed: tuple[tuple[int, int, int], ...] = ((whole[t], share[t], group[t]),)
        sets: tuple[int, ...] = (asked_models[t],)
        if more[t] >= 0:
            listed, sets = bundles[more[t]]
        asked = [(WHOLE, k) for k, (w, _, _) in enumerate(listed) for _ in range(w)]
        asked += [(s, k) for k, (_, s, _) in enumerate(listed) if s]
        asked.sort(key=lambda one: -one[0])
        requests += [amount for amount, _ in asked]
        owners += [k for _, k in asked]
        groups += [a for _, _, a in listed if a >= 0]
        ptr.append(len(requests))
        group_ptr.append(len(groups))
        models.append(np.logical_and.reduce([allowed[m] for m in sets]))
    return (
        Types(
            np.ascontiguousarray(rows[list(range(resources))].to_numpy(dtype=np.float64)),
            np.array(ptr, dtype=np.int64),
            np.array(requests, dtype=np.int32),
            np.array(models, dtype=np.bool_),
            np.array(group_ptr, dtype=np.int64),
            np.array(groups, dtype=np.int32),
            rows["v"].to_numpy(dtype=np.float64).copy(),
        ),
        np.array(owners, dtype=np.int32),
    )
