"""``walras agent``: run the tasks that a cluster is given."""

from __future__ import annotations

import enum
import os
import signal
import socket
from pathlib import Path
from typing import Annotated, Any

import typer

from walras.cli.common.parent import EndWithStdin, end_with_stdin
from walras.cli.common.streams import tell
from walras.cli.exchange.connect import ServerOption, TokenOption, client_of
from walras.errors import InputError

app = typer.Typer(no_args_is_help=True, add_completion=False)


class Kind(enum.StrEnum):
    """What runs the tasks."""

    LOCAL = "local"
    SLURM = "slurm"
    KUBERNETES = "kubernetes"


@app.callback(
    help="""Run the tasks that a cluster is given.

    Examples:

      walras agent run --server URL --token-file F --cluster here --slots 4 --home agent
    """
)
def _group() -> None:
    # A group of one command would be that command.
    pass


@app.command()
def run(
    server: ServerOption,
    cluster: Annotated[str, typer.Option(help="Cluster that it serves.")],
    home: Annotated[Path, typer.Option(help="Folder of the agent: journal and runs.")],
    token_file: TokenOption = None,
    slots: Annotated[int | None, typer.Option(min=1, help="Slots; else one a core.")] = None,
    backend: Annotated[Kind, typer.Option(help="What runs the tasks.")] = Kind.LOCAL,
    name: Annotated[str | None, typer.Option(help="Of the agent; else CLUSTER-HOST.")] = None,
    image: Annotated[str | None, typer.Option(help="Kubernetes: image of the runs.")] = None,
    namespace: Annotated[str | None, typer.Option(help="Kubernetes: namespace.")] = None,
    partition: Annotated[str | None, typer.Option(help="Slurm: partition.")] = None,
    memory: Annotated[
        float | None, typer.Option(min=1e-3, max=1e6, help="Local: GiB a slot may use.")
    ] = None,
    end_runs: Annotated[
        bool, typer.Option("--end-runs", help="End the runs with the agent, and report them.")
    ] = False,
    ends: EndWithStdin = False,
) -> None:
    """Serve a cluster's slots until Ctrl-C; the cluster is created if it is not there.

    Runs live on when the agent ends, up to a minute; the next agent of the folder adopts them.

    Examples:

      walras agent run --server http://127.0.0.1:8765 --token-file exchange/admin.token
        --cluster here --slots 4 --home agent

      walras agent run --server URL --token-file F --cluster hpc --backend slurm
        --partition gpu --slots 16 --home agent
    """
    from walras.exchange.agent.driver import Agent, Service

    served = slots or len(os.sched_getaffinity(0))
    with client_of(server, token_file) as client:
        chosen = _backend(backend, home, image, namespace, partition, memory)
        _offer(client, cluster, served)
        named = name or f"{cluster}-{socket.gethostname()}".lower().replace(".", "-")[:63]
        agent = Agent(Service(named, cluster, served), client, chosen, home, on_event=tell)
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: agent.stop())
        if ends:
            end_with_stdin()
        agent.run(end_runs=end_runs)
    tell("stopped")


def _backend(
    kind: Kind,
    home: Path,
    image: str | None,
    namespace: str | None,
    partition: str | None,
    memory: float | None,
) -> Any:
    if kind is Kind.SLURM:
        from walras.exchange.agent.slurm import Slurm

        return Slurm(home, partition=partition)
    if kind is Kind.KUBERNETES:
        from walras.exchange.agent.kubernetes import Kubernetes

        if image is None:
            raise InputError(
                "is missing",
                where="--image",
                allowed="the image that runs the commands",
                remedy="give it with --image NAME:TAG",
            )
        return Kubernetes(home, image=image, namespace=namespace)
    from walras.exchange.agent.local import Local

    return Local(home, memory=None if memory is None else round(memory * 2**30))


def _offer(client: Any, cluster: str, slots: int) -> None:
    """Create the cluster where it is not there; one that is there stays as it is."""
    from walras.exchange.errors import NotFoundError

    try:
        client.clusters.get(cluster)
    except NotFoundError:
        client.clusters.put(cluster, slots)
        tell(f"cluster {cluster} was created with {slots} slots")
