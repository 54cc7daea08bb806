"""Pages for people, beside the API: they show what it answers and change things through it.

Example:
    >>> from walras.exchange.pages import pages
    >>> pages().sign_in
    '/login'
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from walras.exchange.api.app import Pages


def pages() -> Pages:
    """The pages, for :func:`walras.exchange.api.server.serve`."""
    from walras.exchange.pages.install import PAGES  # noqa: PLC0415  # imported where it is served

    return PAGES
