"""``walras task``: submit tasks, see what becomes of them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Annotated, Any

import typer

from walras.cli.common.errors import ExitCode
from walras.cli.common.streams import put, tell
from walras.cli.exchange.connect import (
    SERVER,
    Format,
    MostOption,
    OutputOption,
    ServerOption,
    TokenOption,
    client_of,
    emit,
    key_values,
    moment,
)
from walras.exchange.api import views
from walras.exchange.client import Client
from walras.exchange.states import ENDED_TASK

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    help="""Submit tasks, see what becomes of them.

    Examples:

      walras task submit --name train-7 --feature layers=50 -- python train.py

      walras task list --state pending

      walras task why train-7
    """,
)

Task = Annotated[str, typer.Argument(help="The task's name or uid.")]
_COLUMNS = ("name", "state", "cluster", "slots", "priority", "attempt", "uid")


@app.command(context_settings={"allow_interspersed_args": False})
def submit(
    command: Annotated[list[str], typer.Argument(help="-- PROGRAM ARGUMENTS…")],
    name: Annotated[str, typer.Option(help="Of the task; one a tenant.")],
    feature: Annotated[
        list[str] | None, typer.Option(help="NAME=NUMBER that predictors read; repeat it.")
    ] = None,
    slots: Annotated[int, typer.Option(help="Slots it takes.")] = 1,
    priority: Annotated[int, typer.Option(help="Higher goes first.")] = 0,
    deadline: Annotated[
        float | None, typer.Option(help="Seconds from now by which it must have been placed.")
    ] = None,
    min_success: Annotated[float | None, typer.Option(help="Least chance of success.")] = None,
    max_attempts: Annotated[int, typer.Option(help="Runs that may fail.")] = 3,
    time_limit: Annotated[float | None, typer.Option(help="Seconds that a run may take.")] = None,
    require: Annotated[
        list[str] | None, typer.Option(help="LABEL=VALUE that a cluster must have; repeat it.")
    ] = None,
    env: Annotated[list[str] | None, typer.Option(help="NAME=VALUE of the command.")] = None,
    auditable: Annotated[
        bool,
        typer.Option("--auditable", help="Its work may be run again elsewhere, to audit it."),
    ] = False,
    tenant: Annotated[str | None, typer.Option(help="Whose it is.")] = None,
    wait: Annotated[bool, typer.Option("--wait", help="Wait until it has ended.")] = False,
    server: ServerOption = SERVER,
    token_file: TokenOption = None,
    output: OutputOption = Format.TABLE,
) -> None:
    """Submit a task; it is durable when this ends.

    With --wait the exit code is 0 where it succeeded, else 1.

    Examples:

      walras task submit --name train-7 --feature layers=50 --slots 1 --priority 0
        --min-success .8 --max-attempts 3 -- python train.py --lr 0.1

      walras task submit --name quick --wait -- true
    """
    asked = {
        "features": key_values(feature, "feature", float),
        "slots": slots,
        "priority": priority,
        "deadline": None if deadline is None else time.time() + deadline,
        "min_success": min_success,
        "max_attempts": max_attempts,
        "time_limit": time_limit,
        "requires": key_values(require, "require"),
        "environment": key_values(env, "env"),
        "auditable": auditable,
        "tenant": tenant,
    }
    with client_of(server, token_file) as client:
        made = client.tasks.submit(name, command, **asked)
        if not wait:
            emit(made, output, ("uid", "name", "state"), "task")
            return
        found = _ended(client, client.tasks.get(made.uid), None)
        emit(found, output, ("uid", "name", "state", "cluster"), "task")
    if found.state != "succeeded":
        raise typer.Exit(ExitCode.FAILED)


@app.command("wait")
def wait_for(
    names: Annotated[list[str], typer.Argument(help="Tasks, by name or uid.")],
    seconds: Annotated[float | None, typer.Option(min=0.0, help="Wait no longer.")] = None,
    server: ServerOption = SERVER,
    token_file: TokenOption = None,
    output: OutputOption = Format.TABLE,
) -> None:
    """Wait until tasks have ended.

    The exit code is 0 where all succeeded, else 1.

    Examples:

      walras task wait train-7

      walras task wait train-7 train-8 --seconds 3600
    """
    last = None if seconds is None else time.monotonic() + seconds
    with client_of(server, token_file) as client:
        asked = [client.tasks.get(client.tasks.find(name)) for name in names]
        found = [_ended(client, task, last) for task in asked]
    emit(found, output, ("name", "state", "cluster", "uid"), "tasks")
    if any(task.state != "succeeded" for task in found):
        raise typer.Exit(ExitCode.FAILED)


def _ended(client: Client, task: views.TaskDetail, last: float | None) -> views.TaskDetail:
    """The task once it has ended, or as it is at ``last`` by the monotonic clock."""
    if task.state not in ENDED_TASK:
        tell(f"{task.name} ({task.uid}) is {task.state}; waiting")
    while task.state not in ENDED_TASK and (last is None or time.monotonic() < last):
        time.sleep(0.5 if last is None else min(0.5, max(0.0, last - time.monotonic())))
        task = client.tasks.get(task.uid)
    return task


@app.command("list")
def list_tasks(
    state: Annotated[list[str] | None, typer.Option(help="In this state; repeat it.")] = None,
    tenant: Annotated[str | None, typer.Option(help="Of this tenant.")] = None,
    cluster: Annotated[str | None, typer.Option(help="Placed on this cluster.")] = None,
    most: MostOption = 50,
    server: ServerOption = SERVER,
    token_file: TokenOption = None,
    output: OutputOption = Format.TABLE,
) -> None:
    """List tasks, the newest first.

    Examples:

      walras task list --state pending --state running
    """
    with client_of(server, token_file) as client:
        found = client.tasks.list(most, state=state or [], tenant=tenant, cluster=cluster)
    emit(found, output, _COLUMNS)
    if len(found) == most:
        tell(f"{most} shown; --most N shows more")


@app.command()
def show(
    task: Task,
    server: ServerOption = SERVER,
    token_file: TokenOption = None,
    output: OutputOption = Format.TABLE,
) -> None:
    """Show a task, what it asks for, and its attempts.

    Examples:

      walras task show train-7 -o yaml
    """
    with client_of(server, token_file) as client:
        found = client.tasks.get(client.tasks.find(task))
    if output is not Format.TABLE:
        emit(found, output)
        return
    emit(views.Task(**found.model_dump(include=set(views.Task.model_fields))), output)
    columns = ("attempt", "cluster", "state", "outcome", "seconds", "predicted", "exit_code")
    emit(found.placements, output, columns, "attempts")


@app.command()
def why(
    task: Task,
    server: ServerOption = SERVER,
    token_file: TokenOption = None,
    output: OutputOption = Format.TABLE,
) -> None:
    """Say why a task is where it is: every reason, with numbers.

    Examples:

      walras why train-7
    """
    with client_of(server, token_file) as client:
        found = client.tasks.why(client.tasks.find(task))
    if output is not Format.TABLE:
        emit(found, output)
        return
    put(f"{task} is {found.state}: {found.text}" if found.text else f"{task} is {found.state}")
    for blocker in found.blockers:
        put(f"  - {blocker.text}")


@app.command()
def receipt(
    task: Task,
    attempt: Annotated[int | None, typer.Option(help="Else the newest.")] = None,
    server: ServerOption = SERVER,
    token_file: TokenOption = None,
    output: OutputOption = Format.TABLE,
) -> None:
    """Show why a task is where it is: prediction with interval, runner-up, what binds, price.

    It also says whether the placement was drawn at random, and whether its result is believed.

    Examples:

      walras task receipt train-7
    """
    with client_of(server, token_file) as client:
        found = client.tasks.receipt(client.tasks.find(task), attempt)
    if output is not Format.TABLE:
        emit(found, output)
        return
    put(f"{task}: attempt {found.attempt} on {found.cluster}, round {found.round}: {found.state}")
    for line in receipt_lines(found):
        put(f"  {line}")


def receipt_lines(found: views.Receipt) -> Iterator[str]:
    """A receipt in words, a line for each thing that is known."""
    receipt = found.receipt or {}
    if "seconds" in receipt:
        seconds, chance = (_span(receipt, name) for name in ("seconds", "chance"))
        yield f"predicted time: {receipt['seconds']:.4g} s, 90 % within {seconds} s"
        yield f"predicted success: {receipt['chance']:.4g}, 90 % within {chance}"
    if receipt.get("runner_up"):
        yield (
            f"runner-up: {receipt['runner_up']}, {receipt['runner_up_seconds']:.4g} s, success "
            f"{receipt['runner_up_chance']:.4g}; "
            f"makespan there {receipt['makespan_if_moved']:.4g} s"
        )
    elif "seconds" in receipt:
        yield "runner-up: none, no other cluster could take it"
    if "binds" in receipt:
        yield f"binds: {receipt['binds']}"
        yield (
            f"price of a slot: {receipt['slot_price']:.4g} s of work; of the floor on success: "
            + (f"{receipt['floor_price']:.4g} s")
        )
    if receipt.get("random"):
        yield f"placed at random, to learn: drawn with chance {receipt['propensity']:.4g}"
    if "predictor" in receipt:
        gap = "" if receipt["gap"] is None else f", gap {receipt['gap']:.2%}"
        yield f"round: {receipt['state']} by {receipt['method']}, {receipt['predictor']}{gap}"
    if found.audit_of is not None:
        yield f"audits the result of {found.audit_of}"
    if found.result is not None:
        audits = f"; audits: {', '.join(found.audits)}" if found.audits else ""
        yield f"result: {found.result}{audits}"
    if found.rejected is not None:
        yield f"rejected at {moment(found.rejected)}: {found.reason}"


def _span(receipt: dict[str, Any], name: str) -> str:
    low, high = receipt[f"{name}_interval"]
    return f"{low:.4g} to {'any' if high is None else f'{high:.4g}'}"


@app.command()
def log(
    task: Task,
    server: ServerOption = SERVER,
    token_file: TokenOption = None,
    output: OutputOption = Format.TABLE,
) -> None:
    """Show what happened to a task, and the end of what it printed.

    Examples:

      walras task log train-7
    """
    with client_of(server, token_file) as client:
        found = client.tasks.log(client.tasks.find(task))
    if output is not Format.TABLE:
        emit(found, output)
        return
    for entry in found.entries:
        put(f"{moment(entry.at)}  {entry.text}")
    if found.output:
        put(found.output, end="" if found.output.endswith("\n") else "\n")


@app.command()
def cancel(
    task: Task,
    server: ServerOption = SERVER,
    token_file: TokenOption = None,
    output: OutputOption = Format.TABLE,
) -> None:
    """Cancel a task; one that runs is stopped at its agent's next sync.

    Examples:

      walras task cancel train-7
    """
    with client_of(server, token_file) as client:
        emit(client.tasks.cancel(client.tasks.find(task)), output, title="task")


@app.command()
def reject(
    task: Task,
    reason: Annotated[str, typer.Option(help="What is wrong with the result.")],
    server: ServerOption = SERVER,
    token_file: TokenOption = None,
    output: OutputOption = Format.TABLE,
) -> None:
    """Reject the result of a task that has succeeded: it counts no more, and may be audited.

    Examples:

      walras task reject train-7 --reason "the file of weights is empty"
    """
    with client_of(server, token_file) as client:
        emit(client.tasks.reject(client.tasks.find(task), reason), output, title="result")


@app.command()
def audits(
    most: MostOption = 50,
    server: ServerOption = SERVER,
    token_file: TokenOption = None,
    output: OutputOption = Format.TABLE,
) -> None:
    """List audits of results, the newest first; for operators.

    Examples:

      walras task audits --most 10
    """
    columns = ("asked", "task", "provider", "auditor", "cause", "state", "weight", "why")
    with client_of(server, token_file) as client:
        emit(client.tasks.audits(most), output, columns)


@app.command()
def release(
    task: Task,
    server: ServerOption = SERVER,
    token_file: TokenOption = None,
    output: OutputOption = Format.TABLE,
) -> None:
    """Say that the run of a held task is dead; see that it is, or it runs twice.

    Examples:

      walras task release train-7
    """
    with client_of(server, token_file) as client:
        emit(client.tasks.release(client.tasks.find(task)), output, title="task")
