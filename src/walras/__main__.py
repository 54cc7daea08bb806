"""The command line, as ``walras`` and as ``python -m walras``."""

from __future__ import annotations

import gc
import sys


def main() -> None:
    """Entry point of the ``walras`` script; Ctrl-C is one line while modules are imported, too."""
    try:
        # Imported here: it takes a moment.
        from walras.cli.main import main as command_line  # noqa: PLC0415
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        sys.exit(130)
    try:
        command_line()
    finally:
        gc.freeze()  # everything goes with the process: to collect it first takes up to a second


if __name__ == "__main__":
    main()
