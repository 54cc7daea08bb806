"""Moments as logs write them: ISO 8601 with or without a zone, or seconds since 1970."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from walras.types import Floats

_LATEST = 2**62


def _is_endless(value: object) -> bool:
    """Whether it is a whole number beyond every time, which no float may hold."""
    return isinstance(value, int) and abs(value) > _LATEST


def moments(given: Sequence[object] | pd.Series) -> Floats:
    """Seconds since 1970 of texts or numbers; NaN for what is no moment, such as ``Unknown``.

    A time without a zone is taken as it stands: days are then those of the scheduler's clock.

    Args:
        given: (n,) texts or numbers.

    Returns:
        (n,) seconds.
    """
    text = pd.Series(given, dtype=object)
    text = text.mask(text.map(_is_endless))
    seconds = pd.to_numeric(text, errors="coerce").to_numpy(np.float64, copy=True)
    words = np.isnan(seconds)
    if words.any():
        found = pd.to_datetime(text[words].astype(str), errors="coerce", format="ISO8601", utc=True)
        known = found.notna().to_numpy()
        whole = np.full(len(found), np.nan)
        # microseconds since 1970, by UTC; years before 1678 have no nanoseconds
        since = found[known].dt.tz_localize(None).astype("datetime64[us]").astype(np.int64)
        whole[known] = since.to_numpy(np.float64) / 1e6
        seconds[words] = whole
    return seconds
