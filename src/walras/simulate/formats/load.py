"""Read a trace of jobs, whichever program wrote it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from walras import checks
from walras.data.gavel import GavelThroughputs, read_throughputs
from walras.errors import InputError
from walras.simulate.cluster import Cluster
from walras.simulate.formats.imported import Imported
from walras.simulate.formats.make import FIELDS, SPEED, Rules, make
from walras.simulate.formats.registry import FORMATS, Format
from walras.simulate.trace import Trace

_BY_ENDING = {".swf": "swf", ".csv": "table", ".parquet": "table", ".pq": "table", ".json": "table"}
_PACKED = (".gz", ".bz2", ".xz")

Types = Sequence[str] | Mapping[str, float]
Speeds = GavelThroughputs | str | Path


def import_trace(
    path: str | Path,
    format: str | None = None,
    *,
    columns: Mapping[str, str] | None = None,
    types: Types | None = None,
    speeds: Speeds | None = None,
    cluster: Cluster | None = None,
) -> Imported:
    r"""Read a trace; rows that cannot be used are listed with field and reason.

    A file of which more rows are bad than good is refused. Rows may stand in any order and are
    sorted by arrival, except in the formats ``gavel`` and ``shockwave``, which promise the order.
    Dates count from the first arrival; numbers are seconds and stay as they are.

    Where a format knows durations only, a job has speed 1 on one type of workers, named after what
    the format counts, or on the ``types`` that are named.

    Args:
        path: The file; for ``alibaba``, the folder of the tables is right, too. A name that ends in
            .gz, .bz2 or .xz is unpacked.
        format: One of ``FORMATS``; by the ending of the name if None, else ``gavel``.
        columns: Column of the file -> field: ``name``, ``kind``, ``size``, ``seconds``, ``steps``,
            ``arrival``, ``weight``, ``deadline``, ``slo``, ``type`` or ``speed TYPE``. It adds to
            the format's own map.
        types: Names of types of workers, or their speeds, such as ``{"v100": 1.0, "k80": 0.4}``;
            seconds in the file are then those of a type of speed 1.
        speeds: Measured steps a second by class and size, or a file of them in Gavel's form, for
            any format whose rows have a ``kind`` that was measured.
        cluster: The cluster on which the trace is to run. Jobs that do not fit are refused, and a
            format that knows durations only takes its types.

    Returns:
        The trace, and what was not taken.

    Raises:
        InputError: There is no such format, or columns, types or speeds cannot be used.
        DataError: The file cannot be read, lacks a column, or has more bad rows than good ones.

    Example:
        >>> from pathlib import Path
        >>> import walras as wl
        >>> _ = Path("log.swf").write_text("1 0 5 60 4 -1 -1 4 90 -1 1 1 1 1 1 1 -1 -1\n")
        >>> found = wl.simulate.import_trace("log.swf", types={"cpu": 1.0, "old": 0.5})
        >>> found.trace.types, found.trace.size.tolist(), found.trace.seconds("old").tolist()
        (('cpu', 'old'), [4], [120.0])
    """
    place = Path(checks.of_kind(path, (str, Path), "path", "a path", remedy="give a file's path"))
    name = format_of(place) if format is None else format
    chosen = FORMATS[checks.one_of(name, "format", FORMATS, "format of traces")]
    found = _speeds_of(speeds, chosen, place)
    made_types = _types_of(types)
    if found is not None and made_types is not None:
        raise InputError(
            "are given beside measured speeds",
            where="types",
            allowed="one of the two",
            remedy="leave out types: the measured ones have their own",
        )
    raw = chosen.read(place)
    own = list(map(str, raw.table.columns))
    rules = Rules(
        where=str(place),
        columns=_columns_of(chosen, columns, own),
        types=made_types,
        speeds=found,
        ordered=chosen.ordered,
        default_type=chosen.default_type,
        cluster_types=() if cluster is None else cluster.types,
        tells_unused=name == "table",
    )
    made = make(raw, rules)
    return made if cluster is None else made.fitting(cluster)


def load_trace(
    path: str | Path,
    format: str | None = None,
    *,
    columns: Mapping[str, str] | None = None,
    types: Types | None = None,
    speeds: Speeds | None = None,
) -> Trace:
    r"""Read a trace of which every row must be good; :func:`import_trace` lists those that are not.

    Args:
        path: As in :func:`import_trace`, like the others.
        format: One of ``FORMATS``.
        columns: Column of the file -> field.
        types: Names of types of workers, or their speeds.
        speeds: Measured steps a second by class and size.

    Returns:
        The trace; jobs without a name are named by their row.

    Raises:
        InputError: There is no such format, or columns, types or speeds cannot be used.
        DataError: The file cannot be read, or rows cannot be used: unknown job types, numbers out
            of range, arrivals out of order. The first is named with its row, the others counted.

    Example:
        >>> import walras as wl
        >>> path = "two.trace"
        >>> with open(path, "w") as file:
        ...     for arrival in (0, 60):
        ...         row = ("A3C", "run", "rl", "--max_steps", 0, 500, 1, 1, -1, arrival)
        ...         _ = file.write("\t".join(map(str, row)) + "\n")
        >>> speeds = wl.data.load("gavel", synthetic=True)
        >>> wl.simulate.load_trace(path, speeds=speeds).steps.tolist()
        [500.0, 500.0]
    """
    return import_trace(path, format, columns=columns, types=types, speeds=speeds).strict()


def format_of(path: Path) -> str:
    """The format by the ending of a name; ``gavel`` where the ending says none."""
    endings = [ending.lower() for ending in path.suffixes]
    if endings and endings[-1] in _PACKED:
        endings.pop()
    return _BY_ENDING.get(endings[-1] if endings else "", "gavel")


def _columns_of(chosen: Format, given: object, own: Sequence[str]) -> dict[str, str]:
    """Column -> field: the user's, then the format's, then columns that are named as fields."""
    if not isinstance(given, Mapping | None):
        raise InputError(
            f"is {checks.shown(given)}",
            where="columns",
            allowed="column of the file -> field",
            remedy='write columns={"gpus": "size"}',
        )
    made = dict(given or {})
    for column, name in made.items():
        checks.text(name, f"columns[{column!r}]")
    for column, name in (*chosen.columns.items(), *((name, name) for name in own)):
        known = name in FIELDS or name.startswith(SPEED)
        if known and name not in made.values() and column not in made and column in own:
            made[column] = name
    return made


def _types_of(given: object) -> dict[str, float] | None:
    if given is None:
        return None
    if not isinstance(given, Sequence | Mapping) or isinstance(given, str) or not given:
        raise InputError(
            f"is {checks.shown(given)}",
            where="types",
            allowed="a list of names, or name -> speed; at least one",
            remedy='write types=["gpu"] or types={"v100": 1.0, "k80": 0.4}',
        )
    if isinstance(given, Mapping):
        return {
            checks.text(name, "types"): checks.number(speed, f"types[{name!r}]", above=0.0)
            for name, speed in given.items()
        }
    return dict.fromkeys((checks.text(name, "types") for name in given), 1.0)


def _speeds_of(given: Speeds | None, chosen: Format, path: Path) -> GavelThroughputs | None:
    if given is None:
        return chosen.speeds(path) if chosen.speeds is not None else None
    if isinstance(given, str | Path):
        return read_throughputs(Path(given))
    return checks.of_kind(
        given, GavelThroughputs, "speeds", remedy="speeds=wl.data.load('gavel'), or a path"
    )
