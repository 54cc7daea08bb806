"""``walras kueue``: nominate clusters for the workloads of Kueue's MultiKueue."""

from __future__ import annotations

import asyncio
import contextlib
import json
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from walras.cli.common.streams import put, tell
from walras.cli.exchange.connect import Format, OutputOption, emit, put_document, read_token
from walras.errors import InputError

app = typer.Typer(no_args_is_help=True, add_completion=False)

_PATIENCE = 20.0  # seconds for predictions: the service's first ones take some


@app.callback(
    help="""Nominate clusters for the workloads of Kueue's MultiKueue.

    Examples:

      walras kueue dispatch --exchange URL --exchange-token-file F
    """
)
def _group() -> None:
    # A group of one command would be that command.
    pass


@app.command()
def dispatch(
    server: Annotated[
        str | None, typer.Option(help="Kubernetes API of the manager; else this cluster's.")
    ] = None,
    token_file: Annotated[
        Path | None, typer.Option(help="Kubernetes token; else the service account's.")
    ] = None,
    ca_file: Annotated[
        Path | None, typer.Option(help="Authority of the Kubernetes API; else the account's.")
    ] = None,
    exchange: Annotated[
        str | None,
        typer.Option(envvar="WALRAS_SERVER", help="Exchange whose predictions order clusters."),
    ] = None,
    exchange_token_file: Annotated[
        Path | None,
        typer.Option(envvar="WALRAS_TOKEN_FILE", help="Its token, scope read; else $WALRAS_TOKEN."),
    ] = None,
    batch: Annotated[int, typer.Option(min=1, max=20, help="Clusters nominated at a time.")] = 3,
    every: Annotated[
        float, typer.Option(min=1.0, help="Seconds until more clusters are added.")
    ] = 300.0,
    dispatcher_name: Annotated[
        str, typer.Option(help="multiKueue.dispatcherName of Kueue's configuration.")
    ] = "walras.dev/exchange",
    manager_config: Annotated[
        str, typer.Option(help="ConfigMap of Kueue's manager, NAMESPACE/NAME; '' for no look.")
    ] = "kueue-system/kueue-manager-config",
    policy: Annotated[
        str | None, typer.Option(help="Name of Kueue's MutatingAdmissionPolicy, if another.")
    ] = None,
    merge_patch: Annotated[
        bool,
        typer.Option(
            "--workload-request-use-merge-patch",
            help="Kueue's manager has the feature gate WorkloadRequestUseMergePatch on: send "
            "merge patches, which need no policy.",
        ),
    ] = False,
    metrics_port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="Port for Prometheus; else none.")
    ] = None,
    metrics_host: Annotated[str, typer.Option(help="Its interface.")] = "127.0.0.1",
    once: Annotated[
        bool, typer.Option("--once", help="One pass, then print where workloads stand.")
    ] = False,
    output: OutputOption = Format.TABLE,
) -> None:
    """Nominate clusters until Ctrl-C: those where a workload is predicted to succeed soonest.

    Names are only added, never removed. Without predictions clusters are taken in the order of
    the MultiKueueConfig.

    Examples:

      walras kueue dispatch --exchange http://walras:8765 --exchange-token-file reader.token

      walras kueue dispatch --server http://127.0.0.1:8001 --once -o json
    """
    from walras.exchange.dispatch.checks import POLICIES, Setup
    from walras.exchange.dispatch.driver import Driver
    from walras.exchange.dispatch.metrics import Metrics
    from walras.exchange.dispatch.nominations import Rules
    from walras.exchange.dispatch.ranking import Ranker
    from walras.exchange.dispatch.server import Server

    _check_place(manager_config)
    policies = POLICIES if policy is None else (policy,)
    setup = Setup(merge_patch, policies, manager_config, dispatcher_name)
    metrics = Metrics()
    show = (lambda _: None) if once else _printer(output)

    async def work(predict: Any) -> Any:
        api = Server.found(server, token_file, ca_file)
        rules = Rules(batch, every)
        driver = Driver(api, Ranker(predict), setup, rules, metrics, show, tell)
        try:
            return await (driver.once() if once else _until_stopped(driver))
        finally:
            await api.close()

    with (
        _predicts(exchange, exchange_token_file) as predict,
        _shown(metrics, metrics_host, metrics_port),
    ):
        found = asyncio.run(work(predict))
    if once:
        emit(found, output, ("namespace", "workload", "state", "nominated", "text"))
    else:
        tell("stopped")


async def _until_stopped(driver: Any) -> None:
    """Dispatch until SIGINT or SIGTERM."""
    stop, loop = asyncio.Event(), asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    await driver.run(stop)


def _printer(output: Format) -> Callable[[Any], None]:
    """Prints each write: a line, a line of JSON, or a document of YAML."""
    from walras.exchange.dispatch.records import line

    def show(record: Any) -> None:
        if output is Format.TABLE:
            put(line(record))
        elif output is Format.JSON:
            put(json.dumps(record.model_dump(mode="json"), ensure_ascii=False))
        else:
            put("---")
            put_document(record.model_dump(mode="json"), output)
        sys.stdout.flush()  # who reads a pipe sees each line at once

    return show


@contextlib.contextmanager
def _predicts(exchange: str | None, token_file: Path | None) -> Iterator[Any]:
    """What asks the exchange for predictions; None where none is named."""
    if exchange is None:
        yield None
        return
    from walras.exchange.client import Client

    token = read_token(token_file)
    with Client(exchange, token, patience=_PATIENCE, tries=1) as client:
        yield client.predictors.predict


@contextlib.contextmanager
def _shown(metrics: Any, host: str, port: int | None) -> Iterator[None]:
    """Serves the metrics for a while.

    Raises:
        InputError: The port is taken.
    """
    if port is None:
        yield
        return
    from prometheus_client import start_http_server

    try:
        served, thread = start_http_server(port, host, metrics.registry)
    except OSError as error:
        raise InputError(
            f"cannot be listened on: {error.strerror}",
            where="--metrics-port",
            allowed="a port that is free",
            remedy="choose another --metrics-port, or 0",
        ) from error
    tell(f"metrics at http://{host}:{served.server_port}/metrics")
    try:
        yield
    finally:
        served.shutdown()
        served.server_close()
        thread.join()


def _check_place(place: str) -> None:
    """Refuse what names no ConfigMap."""
    namespace, slash, name = place.partition("/")
    if place and not (namespace and slash and name and "/" not in name):
        raise InputError(
            f"is '{place}'",
            where="--manager-config",
            allowed="NAMESPACE/NAME, or nothing",
            remedy="write --manager-config kueue-system/kueue-manager-config",
        )
