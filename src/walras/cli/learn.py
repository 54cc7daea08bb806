"""``walras learn``: train predictors by the decisions they feed, compare them, ask what pays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any

import typer

from walras.cli.common.errors import ExitCode
from walras.cli.common.figures import need_figures
from walras.cli.common.output import Format, OutputOption, emit
from walras.cli.common.progress import Interruptible, Stages
from walras.cli.common.streams import tell
from walras.cli.common.targets import check_save
from walras.errors import InputError
from walras.progress import Progress
from walras.reports.tables import Table, of_frame, record
from walras.status import Status

app = typer.Typer(no_args_is_help=True, add_completion=False)

_OWN_OPTIONS = ("method", "model", "steps", "seed")
_FORM = "NAME=VALUE, such as price=30, margin=tuned, speedup=0.6:0.5"

DataOption = Annotated[str, typer.Option("--data", help="nb201, gavel or zeus.")]
ClustersOption = Annotated[
    str | None, typer.Option(help="A setting A to D, or names joined by commas.")
]
TrainOption = Annotated[int, typer.Option("--train", help="Tasks to train on.")]
RoundOption = Annotated[int, typer.Option("--tasks", help="Tasks in a round.")]
FloorOption = Annotated[
    float | None, typer.Option(help="Least mean success; one that binds in half the rounds.")
]
ModelOption = Annotated[str, typer.Option(help="linear, counts, mlp, gnn; auto for advise.")]
SeedOption = Annotated[int, typer.Option(help="Of everything that is drawn.")]
StepsOption = Annotated[int, typer.Option(help="Of training through decisions.")]
LogOption = Annotated[
    Path | None, typer.Option(help="Runs of your own in place of --data; needs --features.")
]
FeaturesOption = Annotated[Path | None, typer.Option(help="CSV: task, then a column a feature.")]
SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="Another setting of training, decoding or the terms; may be repeated.",
    ),
]
ProgressOption = Annotated[bool, typer.Option("--progress/--no-progress", help="Show progress.")]


@app.callback()
def root() -> None:
    """Train predictors by the decisions they feed, compare them, ask what pays.

    Examples:

      walras learn compare --methods tam,tsm-raw,tsm-log,mfcp-ad --seeds 3

      walras learn advise --clusters A --train 40

      walras learn fit mfcp-ad --save predictor.npz
    """


@app.command()
def compare(
    methods: Annotated[str, typer.Option(help="Joined by commas.")] = "tam,tsm-raw,tsm-log,mfcp-ad",
    data: DataOption = "nb201",
    settings: Annotated[
        str | None,
        typer.Option(help="Settings or lists of clusters (a+b+c), joined by commas; A of nb201."),
    ] = None,
    train: Annotated[
        str | None,
        typer.Option(help="Sizes, joined by commas; 40, of a log all that are not held out."),
    ] = None,
    log: LogOption = None,
    features: FeaturesOption = None,
    tasks: Annotated[str, typer.Option(help="Tasks in a round, joined by commas.")] = "5",
    seeds: Annotated[int, typer.Option(help="Splits.")] = 3,
    model: ModelOption = "linear",
    steps: StepsOption = 120,
    min_success: FloorOption = None,
    workers: Annotated[int | None, typer.Option(help="Processes; all cores if left out.")] = None,
    folder: Annotated[
        Path, typer.Option(help="Keeps finished cells; goes on from those it has.")
    ] = Path("walras-learn"),
    changes: SetOption = None,
    progress: ProgressOption = True,
    output: OutputOption = Format.TABLE,
) -> None:
    """Train methods on the same splits and judge them on the same rounds.

    Writes rows.csv, summary.csv, figures, report.html and run.json into the folder. Ctrl-C keeps
    the finished cells; the same command goes on with the rest.

    Examples:

      walras learn compare --settings A,B --train 40,200 --seeds 20

      walras learn compare --methods tsm,spo+,black-box --set objective=sum

      walras learn compare --log runs.csv --features f.csv --seeds 5

    Exit codes: 0 done, 2 bad input, 6 no data or folder, 130 interrupted.
    """
    from walras.learn import compare as run
    from walras.learn.comparison import finished
    from walras.reports.learning import save, shown, summarised, warned

    need_figures("walras learn compare")
    if log is None and features is not None:
        _data(data, None, 0, log, features, 0)  # says that features need a log
    with _stage("comparing", progress) as stages:
        frame = run(
            methods.split(","),
            settings and [s if "+" not in s else s.split("+") for s in settings.split(",")],
            data=data if log is None else _data(data, None, 0, log, features, 0),
            train_tasks=None if train is None else _numbers(train, "--train"),
            tasks_per_round=_numbers(tasks, "--tasks"),
            seeds=seeds,
            min_success=min_success,
            workers=workers,
            folder=folder,
            on_progress=stages.count,
            model=model,
            steps=steps,
            **_changes_of(changes or ()),
        )
    good = finished(frame)
    summary = summarised(good)
    save(folder, frame, summary)
    if output is Format.CSV:
        emit(of_frame(frame), output)
    else:
        emit(shown(good, summary, every=output is Format.JSON), output)
    for line in warned(good):
        typer.echo(line, err=True)
    if not frame.attrs["complete"]:
        raise typer.Exit(ExitCode.INTERRUPTED)


@app.command()
def fit(
    method: Annotated[str, typer.Argument(help="tam, tsm, ucb-optimistic, mfcp-ad, auto, ...")],
    data: DataOption = "nb201",
    clusters: ClustersOption = None,
    train: TrainOption = 100,
    log: LogOption = None,
    features: FeaturesOption = None,
    tasks: RoundOption = 15,
    min_success: FloorOption = None,
    model: ModelOption = "linear",
    steps: StepsOption = 120,
    seed: SeedOption = 0,
    changes: SetOption = None,
    checkpoint: Annotated[Path | None, typer.Option(help="Goes on from it if it exists.")] = None,
    save: Annotated[Path | None, typer.Option(help="Write the predictor to an .npz file.")] = None,
    progress: ProgressOption = True,
    output: OutputOption = Format.TABLE,
) -> None:
    """Train one predictor and say what training bought on validation rounds.

    Examples:

      walras learn fit mfcp-ad --clusters A --train 40 --tasks 5 --save predictor.npz

      walras learn fit mfcp-ad --set price=30 --set margin=tuned --set speedup=0.6:0.5
    """
    from walras.learn import fit as run
    from walras.reports.fitted import facts_of, headline, synthetic

    check_save(save)
    given = _data(data, clusters, train, log, features, seed)
    with _stage(f"training {method}", progress) as stages:
        learned = run(
            method,
            given,
            tasks_per_round=tasks,
            seed=seed,
            min_success=min_success,
            checkpoint=checkpoint,
            on_progress=stages.count,
            model=model,
            steps=steps,
            **_changes_of(changes or ()),
        )
    if save is not None:
        learned.predictor.save(save)
    facts = facts_of(learned)
    facts |= {"saved in": str(save)} if save else {}
    if output is Format.TABLE:
        emit(Table(("", "trained"), list(facts.items()), headline(given)))
    else:
        emit(record({**synthetic(given), **facts}), output)
    _end_if_stopped(learned.status, "with the best model so far")


@app.command()
def advise(
    data: DataOption = "nb201",
    clusters: ClustersOption = None,
    train: TrainOption = 100,
    log: LogOption = None,
    features: FeaturesOption = None,
    tasks: RoundOption = 5,
    min_success: FloorOption = None,
    model: ModelOption = "auto",
    steps: StepsOption = 120,
    seed: SeedOption = 0,
    changes: SetOption = None,
    progress: ProgressOption = True,
    output: OutputOption = Format.TABLE,
) -> None:
    """Measure by cross-validation what pays: model class, margin, decoding, bagging, decisions.

    Examples:

      walras learn advise --clusters B --train 40

      walras learn advise --log runs.csv --features tasks.csv --tasks 8
    """
    from walras.learn import advise as run
    from walras.reports.fitted import headline

    given = _data(data, clusters, train, log, features, seed)
    with _stage("cross-validating", progress) as stages:

        def on_progress(step: Progress) -> bool:
            stages.rename(f"cross-validating {step.note}".rstrip())
            return stages.count(step)

        found = run(
            given,
            tasks_per_round=tasks,
            seed=seed,
            min_success=min_success,
            on_progress=on_progress,
            model=model,
            steps=steps,
            **_changes_of(changes or ()),
        )
    title = "relative excess of makespan + price x missing success; gain over the plain model"
    frame = found.frame()
    if output is Format.TABLE:  # what fits a terminal; a gain pays that is above its error
        frame = frame.drop(columns="pays").round(4)
    emit(of_frame(frame, headline(given, title), digits=3), output)
    _end_if_stopped(found.status, "with the candidates so far")


@app.command("check-gradient")
def check_gradient(
    clusters: Annotated[int, typer.Option(help="M.")] = 3,
    tasks: Annotated[int, typer.Option(help="N.")] = 5,
    rounds: Annotated[int, typer.Option(help="Rounds checked.")] = 2,
    temperature: Annotated[float, typer.Option(help="Of the relaxed matching.")] = 0.3,
    barrier: Annotated[str, typer.Option(help="log or elastic.")] = "elastic",
    seed: SeedOption = 0,
    output: OutputOption = Format.TABLE,
) -> None:
    """Hold implicit, dense and forward derivatives against central differences, on drawn rounds.

    Examples:

      walras learn check-gradient --clusters 10 --tasks 50

    Exit codes: 0 all agree, 1 one does not, 2 bad input.
    """
    import numpy as np

    from walras.learn import check_gradient as check
    from walras.matching import Smoothing

    rng = np.random.default_rng(seed)
    times = rng.lognormal(0.0, 0.5, (rounds, clusters, tasks))
    success = rng.uniform(0.6, 0.98, times.shape)
    found = check(times, success, 0.8, Smoothing(temperature, barrier=barrier), seed=seed)
    rows = [
        ("implicit, low rank", found.implicit, "1e-6"),
        ("implicit, dense", None if found.dense != found.dense else found.dense, "1e-6"),
        ("forward, N orthogonal directions", found.forward, "0.05"),
        ("uncertainty of the differences", found.uncertainty, "0.01"),
        ("residual of the solutions", found.residual, "1e-8"),
    ]
    title = (
        f"synthetic rounds, drawn at random: relative difference from central differences, "
        f"{found.probes} entries probed"
    )
    emit(Table(("derivative", "difference", "allowed"), rows, title, digits=3), output)
    if not found.passed:
        raise typer.Exit(1)


def _end_if_stopped(status: Status, what: str) -> None:
    """Say what Ctrl-C left, and end with its exit code."""
    if status is Status.INTERRUPTED:
        tell(f"stopped {what}")
        raise typer.Exit(ExitCode.INTERRUPTED)


def _data(
    name: str, clusters: str | None, train: int, log: Path | None, features: Path | None, seed: int
) -> Any:
    from walras import predict

    if log is None and features is not None:
        raise InputError(
            "is given without --log",
            where="--features",
            allowed="features of the tasks of a log",
            remedy="add --log, or leave --features out",
        )
    if log is None:
        chosen = clusters.split(",") if clusters and "," in clusters else clusters
        return predict.recipe(name, clusters=chosen, train_tasks=train, seed=seed)
    if features is None:
        raise InputError(
            "is given without --features",
            where="--log",
            allowed="a log and the features of its tasks",
            remedy="add --features FILE: task, then a column a feature",
        )
    found = predict.read_log(log)
    for problem in found.problems:
        tell(f"{'time ' if problem.kept else ''}left out: {problem}")
    return found.tasks(predict.read_features(features))


def _numbers(text: str, where: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",")]
    except ValueError as error:
        raise typer.BadParameter(f"'{text}' is no list of numbers", param_hint=where) from error


def _changes_of(given: Sequence[str]) -> dict[str, Any]:
    """Settings of :class:`walras.learn.LearnSettings` by name, from ``NAME=VALUE`` texts.

    A value is a number, true or false where it reads as one, else a word; ``speedup`` is a limit
    and a rate, joined by a colon.

    Raises:
        InputError: A text has another form, or names no setting or one twice.
    """
    from walras.learn.settings import LearnSettings  # learning is for those who ask for it

    known = sorted({f.name for f in fields(LearnSettings)} - set(_OWN_OPTIONS))
    found: dict[str, Any] = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals or not value or name not in known or name in found:
            fault = f"sets '{name}' twice" if name in found else f"is '{text}'"
            raise InputError(
                fault,
                where="--set",
                allowed=f"{_FORM}; names: {', '.join(known)}",
                remedy="give each setting once, as NAME=VALUE",
            )
        found[name] = _decay(value) if name == "speedup" else _value(value)
    return found


def _value(value: str) -> bool | int | float | str:
    if value in ("true", "false"):
        return value == "true"
    for kind in (int, float):
        try:
            return kind(value)
        except ValueError:
            continue
    return value


def _decay(value: str) -> Any:
    from walras.matching import Decay

    limit, _, rate = value.partition(":")
    try:
        return Decay(float(limit), float(rate))
    except ValueError as error:
        raise InputError(
            f"is '{value}'",
            where="--set speedup",
            allowed="LIMIT:RATE, such as 0.6:0.5",
            remedy="give the ratio of very many tasks, and its decay a task",
        ) from error


@contextmanager
def _stage(name: str, wanted: bool) -> Iterator[Stages]:
    with Interruptible() as interrupt, Stages({name: 1.0}, 1e-6, interrupt, shown=wanted) as stages:
        stages.begin(name)
        yield stages
