"""``walras simulate``: policies on traces of jobs, in virtual time."""

from __future__ import annotations

import typer

from walras.cli.simulate.compare import HELP as COMPARE
from walras.cli.simulate.compare import compare_command
from walras.cli.simulate.example import example
from walras.cli.simulate.exchange import HELP as EXCHANGE_HELP
from walras.cli.simulate.exchange import exchange_command
from walras.cli.simulate.import_ import HELP as IMPORT_HELP
from walras.cli.simulate.import_ import formats_command, import_command
from walras.cli.simulate.policies import policies
from walras.cli.simulate.run import HELP, run_command

app = typer.Typer(
    add_completion=False,
    pretty_exceptions_enable=False,
    no_args_is_help=True,
    help="""Run policies on traces of jobs in virtual time.

Examples:

  walras simulate run --draw rate=2.0 --draw jobs=500 --policy las

  walras simulate compare --example > compare.toml

  walras simulate example > config.toml

  walras simulate exchange HOME --min-success 0.95

  walras simulate policies

  walras simulate import log.swf --cluster cpu=128 --save trace.parquet
""",
)

app.command("compare", help=COMPARE)(compare_command)
app.command("example")(example)
app.command("formats")(formats_command)
app.command("import", help=IMPORT_HELP)(import_command)
app.command("exchange", help=EXCHANGE_HELP)(exchange_command)
app.command("policies")(policies)
app.command("run", help=HELP)(run_command)
