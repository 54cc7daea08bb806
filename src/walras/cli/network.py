"""``walras network``: centres that share CPU and train one model."""

from __future__ import annotations

import json
import math
import platform
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any

import pandas as pd
import typer

from walras.cli.network_deploy import deploy, replay
from walras.cli.output import Format, OutputOption, Table, emit
from walras.cli.progress import Interruptible, Stages
from walras.errors import EngineError
from walras.network.drivers.folder import made
from walras.network.problem import Problem
from walras.network.run import Run
from walras.network.scenario import EXAMPLE, Scenario, read_scenario, scenario
from walras.network.simulate import simulate as run_scenario
from walras.network.stated import whole

app = typer.Typer(no_args_is_help=True, add_completion=False)


@app.callback()
def root() -> None:
    """Share CPU and train a model over a network without a centre.

    Examples:

      walras network simulate

      walras network advise scenario.toml

      walras network deploy scenario.toml --folder run
    """


ConfigArgument = Annotated[
    Path | None, typer.Argument(help="A TOML file; the built-in example when left out.")
]
SaveOption = Annotated[
    Path | None, typer.Option("--save", help="Folder for run.json, steps.csv and figures.")
]
StepsOption = Annotated[int | None, typer.Option(help="In place of the file's number of steps.")]
SeedOption = Annotated[int | None, typer.Option(help="Of faults and batches.")]
ProgressOption = Annotated[bool, typer.Option("--progress/--no-progress", help="Show progress.")]


@app.command()
def example() -> None:
    """Print a scenario to start from.

    Examples:

      walras network example > scenario.toml
    """
    print(EXAMPLE, end="")


@app.command()
def simulate(
    config: ConfigArgument = None,
    steps: StepsOption = None,
    seed: SeedOption = None,
    save: SaveOption = None,
    progress: ProgressOption = True,
    output: OutputOption = Format.TABLE,
) -> None:
    """Run a scenario in virtual time: shares, gaps, bits, and the audit.

    Examples:

      walras network simulate

      walras network simulate scenario.toml --save results

    Exit codes: 0 done, 2 bad input, 3 a budget that no boxes hold, 6 no such file.
    """
    stated = _read(config)
    chosen = stated.seed if seed is None else whole(seed, "--seed")
    count = stated.steps if steps is None else whole(steps, "--steps", least=1)
    with _shown({"simulating": 1.0}, progress) as stages:
        stages.begin("simulating")
        run = _run(stated, count, chosen, stages.advance)
    facts = facts_of(stated, run)
    if save is not None:
        facts["saved in"] = str(_save(save, stated, run, chosen, facts))
    _print(facts, run, output)


@app.command()
def advise(config: ConfigArgument = None, output: OutputOption = Format.TABLE) -> None:
    """Show safe steps, rates and bits of a scenario before it is run.

    Examples:

      walras network advise scenario.toml
    """
    from walras.network.advise import advise as ask

    stated = _read(config)
    advice = ask(
        stated.problem, stated.network, links=stated.links, faults=stated.faults,
        method=stated.method,
    )  # fmt: skip
    rows = [tuple(row) for row in advice.frame().itertuples(index=False)]
    emit(Table(("what", "value", "why"), rows, "safe steps, and what they promise"), output)


@app.command()
def compare(
    config: ConfigArgument = None,
    steps: StepsOption = None,
    save: SaveOption = None,
    progress: ProgressOption = True,
    output: OutputOption = Format.TABLE,
) -> None:
    """Run the rivals beside the algorithm: same problem, graph and links, no faults.

    Examples:

      walras network compare scenario.toml --steps 1000
    """
    stated = _read(config)
    contests = _contests(stated)
    count = stated.steps if steps is None else whole(steps, "--steps", least=1)
    runs: dict[tuple[str, str], Run] = {}
    names = {f"{what}: {m.name}": 1.0 for what, (_, methods) in contests.items() for m in methods}
    with _shown(names, progress) as stages:
        for what, (problem, methods) in contests.items():
            for method in methods:
                stages.begin(f"{what}: {method.name}")
                runs[what, method.name] = run_scenario(
                    problem, stated.network, links=stated.links, steps=count, seed=stated.seed,
                    method=method, every=min(stated.every, count), progress=stages.advance,
                )  # fmt: skip
    rows = [_compared(what, name, run) for (what, name), run in runs.items()]
    columns = (
        "of", "method", "gap", "step at 1e-6", "bits at 1e-6", "budget off", "consensus error",
        "seconds",
    )  # fmt: skip
    emit(Table(columns, rows, "the same problem, graph, links and steps; no faults"), output)
    if save is not None:
        _save_comparison(save, stated, runs)


app.command()(deploy)
app.command()(replay)


def _read(config: Path | None) -> Scenario:
    if config is None:
        print("the built-in example (walras network example prints it)", file=sys.stderr)
        import tomllib

        return scenario(tomllib.loads(EXAMPLE))
    return read_scenario(config)


def _run(stated: Scenario, steps: int, seed: int, told: Callable[[int, int], None]) -> Run:
    return run_scenario(
        stated.problem, stated.network, links=stated.links, steps=steps, faults=stated.faults,
        seed=seed, method=stated.method, every=min(stated.every, steps), progress=told,
    )  # fmt: skip


def facts_of(stated: Scenario, run: Run) -> dict[str, Any]:
    """What a run came to, by name."""
    facts: dict[str, Any] = {
        "centres": stated.problem.centres,
        "alive at the end": int(run.alive[-1].sum()),
        "links at the start": stated.network.at(0).links,
        "steps": run.steps,
        "cost": float(run.cost[-1]),
        "cost gap": float(run.cost_gap[-1]),
        "quanta over the budget, at worst": int(abs(run.audit).max()),
        "shares held": float(run.held[-1]),
        "budget": stated.problem.budget,
        "bits sent": int(run.bits[-1]),
        "seconds": float(run.seconds[-1]),
    }
    if run.mean_model is None or stated.test is None:
        return facts
    loss, _ = stated.problem.learning
    predicted = loss.predict(run.mean_model, stated.test.features)
    facts |= {
        "data": stated.test.origin,
        "loss": float(run.loss[-1]),
        "consensus error": float(run.consensus_error[-1]),
        "test accuracy": float((predicted == stated.test.targets).mean()),
        "tracking error": float(run.tracking_error[-1]),
    }
    return facts


def _print(facts: dict[str, Any], run: Run, output: Format) -> None:
    if output is Format.CSV:
        emit(_as_table(run.frame()), output)
        return
    if output is Format.JSON:
        emit(Table(tuple(facts), [tuple(facts.values())]), output)
        return
    emit(Table(("", "run"), list(facts.items())))
    best = run.optimum.shares
    rows = [(k, float(run.shares[-1][k]), float(best[k])) for k in range(min(12, len(best)))]
    title = f"shares of {len(rows)} of {len(best)} centres"
    emit(Table(("centre", "share", "optimum"), rows, title))


def _as_table(frame: pd.DataFrame) -> Table:
    return Table(tuple(frame.columns), [tuple(row) for row in frame.itertuples(index=False)])


def _contests(stated: Scenario) -> dict[str, tuple[Problem, list[Any]]]:
    """Methods for the shares on the CPU alone, methods for the model on everything."""
    from walras.network import rivals

    whole = stated.problem
    alone = Problem(whole.costs, whole.budget, (whole.low, whole.high))
    sharers = [
        stated.method, rivals.LaplacianGradient(), rivals.HeavyBall(), rivals.SignPower(0.02),
        rivals.AdmmSharing(),
    ]  # fmt: skip
    if whole.costs.quadratic is not None and not whole.boxed:
        sharers.append(rivals.RatioConsensus())
    contests = {"shares": (alone, sharers)}
    if whole.loss is not None:
        learners = [
            stated.method, rivals.Extra(), rivals.Nids(), rivals.DIGing(),
            rivals.FederatedAveraging(), rivals.Centralised(),
        ]  # fmt: skip
        contests["model"] = (whole, learners)
    return contests


def _compared(what: str, name: str, run: Run) -> tuple[Any, ...]:
    trained = what == "model"
    gap = run.loss_gap if trained else run.cost_gap
    reached = gap < 1e-6
    first = int(reached.argmax()) if reached.any() else None
    return (
        what,
        name,
        max(0.0, float(gap[-1])),
        None if first is None else int(run.recorded[first]),
        None if first is None else int(run.bits[first]),
        float(run.held[-1] - run.problem.budget),
        float(run.consensus_error[-1]) if trained else None,
        float(run.seconds[-1]),
    )


def _save(folder: Path, stated: Scenario, run: Run, seed: int, facts: dict[str, Any]) -> Path:
    """run.json, steps.csv, shares.csv; figures where Matplotlib is installed."""
    result = {k: v for k, v in facts.items() if k != "seconds"}
    _write_record(folder, stated, run.steps, {"seed": seed, "method": run.method, "result": result})
    frame = run.frame()
    frame.drop(columns="seconds").to_csv(folder / "steps.csv", index=False)
    run.share_frame().to_csv(folder / "shares.csv", index=False)
    figures = _plots()
    drawn = {
        "cost_gap": figures.progress_of_methods(frame),
        "cost_gap_bits": figures.progress_of_methods(frame, across="bits"),
        "cost_gap_seconds": figures.progress_of_methods(frame, across="seconds"),
        "shares": figures.shares_over_time(run.share_frame(), run.optimum.shares),
        "audit": figures.budget_audit(frame, stated.problem.budget),
        "graph": figures.graph(stated.network, run.shares[-1]),
    }
    if run.model is not None:
        drawn["consensus_error"] = figures.progress_of_methods(frame, "consensus_error")
    for name, figure in drawn.items():
        figure.savefig(folder / f"{name}.png", dpi=150, facecolor="white")
    return folder


def _write_record(folder: Path, stated: Scenario, steps: int, found: dict[str, Any]) -> None:
    """run.json: what is needed to run it again, and what was found."""
    made(folder)
    every = min(stated.every, steps)
    record = {
        "walras": version("walras"),
        "python": platform.python_version(),
        "scenario": _plain({**stated.tables, "steps": steps, "every": every}),
        **found,
    }
    (folder / "run.json").write_text(json.dumps(record, indent=2, allow_nan=False) + "\n")


def _plain(value: Any) -> Any:
    """Tables as JSON can hold them: an infinite bound as text."""
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_plain(part) for part in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def _save_comparison(folder: Path, stated: Scenario, runs: dict[tuple[str, str], Run]) -> None:
    steps = next(iter(runs.values())).steps
    methods = [{"of": what, "method": name} for what, name in runs]
    _write_record(folder, stated, steps, {"seed": stated.seed, "methods": methods})
    frames = [
        run.frame().assign(of=what, loss=run.loss_gap if what == "model" else float("nan"))
        for (what, _), run in runs.items()
    ]
    frame = pd.concat(frames).rename(columns={"loss": "loss_gap"})
    frame.to_csv(folder / "methods.csv", index=False)
    figures = _plots()
    for what, value in (("shares", "cost_gap"), ("model", "loss_gap")):
        own = frame[(frame["of"] == what)].dropna(subset=[value])
        if own.empty:
            continue
        for across in ("step", "bits", "seconds"):
            figure = figures.progress_of_methods(own, value, across)
            figure.savefig(folder / f"{value}_{across}.png", dpi=150, facecolor="white")


def _plots() -> Any:
    try:
        from walras.plot import network
    except ImportError as error:
        raise EngineError(
            "needs Matplotlib", where="--save", allowed="the extra walras[plot]",
            remedy="pip install 'walras[plot]'",
        ) from error  # fmt: skip
    return network


@contextmanager
def _shown(expected: dict[str, float], wanted: bool) -> Iterator[Stages]:
    with Interruptible() as interrupt, Stages(expected, 1e-6, interrupt, shown=wanted) as stages:
        yield stages
