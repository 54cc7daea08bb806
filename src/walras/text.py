"""Text that people are shown: names come from anywhere, and may hold more than can be seen."""

from __future__ import annotations

import re

_CONTROLS = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


def visible(text: str) -> str:
    r"""Text whose control characters can be read, as ``\x1b``, and do nothing to a terminal.

    Those of C0 and C1, the marks that turn the direction of writing, and lone surrogates; lines
    stay lines.

    Examples:
        >>> print(visible("a\x1b[2Jb"))
        a\x1b[2Jb
    """
    return _CONTROLS.sub(lambda found: ascii(found[0])[1:-1], text)
