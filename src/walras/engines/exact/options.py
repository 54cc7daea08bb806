"""The options of the exact engine."""

from __future__ import annotations

from dataclasses import dataclass

from walras.engines.options import Options, number


@dataclass(frozen=True, repr=False)
class ExactOptions(Options):
    """Options for HiGHS and Clarabel.

    :class:`walras.engines.Exact` documents each of them.

    Raises:
        InputError: An option is outside its range.
    """

    step_fraction: float = number(0.99, 0.1, 1.0 - 1e-9)
    retry_step_fraction: float = number(0.8, 0.1, 1.0 - 1e-9)
    process_setup: float = number(0.1, 0.0, 1e9)
    integer_gap_share: float = number(0.1, 0.0, 1.0)


DEFAULTS = ExactOptions()
