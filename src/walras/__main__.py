"""``python -m walras``: the command line without its script."""

from walras.cli.main import main

main()
