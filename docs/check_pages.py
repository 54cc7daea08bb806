"""Check that built pages fetch nothing from outside, and say where they are."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

# What a browser fetches by itself; a link that a reader may follow is none of these.
_FETCHED = re.compile(
    r"<(?:script|img|iframe|source|video|audio|embed|object)\b[^>]*?\b(?:src|data)=\"((?:https?:)?//[^\"]+)"
    r"|<link\b(?![^>]*rel=\"(?:canonical|author|license)\")[^>]*?\bhref=\"((?:https?:)?//[^\"]+)"
    r"|url\(['\"]?((?:https?:)?//[^)'\"]+)|@import ['\"]((?:https?:)?//[^'\"]+)",
    re.IGNORECASE,
)


def fetched(text: str) -> list[str]:
    """Addresses on other computers that a page or style sheet makes a browser fetch."""
    return [next(filter(None, found)) for found in _FETCHED.findall(text)]


def outside(folder: Path) -> Iterator[str]:
    """Each page or style sheet of a folder that fetches from outside, with the address."""
    for path in sorted([*folder.rglob("*.html"), *folder.rglob("*.css")]):
        for address in fetched(path.read_text(encoding="utf-8")):
            yield f"{path.relative_to(folder)}: {address}"


if __name__ == "__main__":
    pages = Path(sys.argv[1])
    found = list(outside(pages))
    if found:
        sys.exit("pages that fetch from outside:\n" + "\n".join(found))
    sys.stdout.write(f"The pages are in {pages.resolve() / 'index.html'}\n")
