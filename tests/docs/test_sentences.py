"""No sentence of the tutorial, the guides and the explanations has more than 35 words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGES = sorted(
    page for room in ("tutorial", "howto", "explanation") for page in (DOCS / room).glob("*.md")
)
MOST = 35

_NOT_PROSE = re.compile(
    r"^(`{3,}|:{3,}).*?^\1[`:]*$|^\$\$.*?\$\$|<!-- (\w+):begin -->.*?<!-- \2:end -->",
    re.MULTILINE | re.DOTALL,
)
_MATHS = re.compile(r"\$[^$]+\$", re.DOTALL)
_CODE = re.compile(r"``[^`]+``|`[^`]+`", re.DOTALL)
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)", re.DOTALL)
# A paragraph ends at an empty line, a heading, an item of a list and a row of a table.
_BLOCK = re.compile(r"\n\s*\n|\n(?=\s*(?:[-*] |\d+\. |#|\|))")
_END = re.compile(r"(?<=[.!?])[\"')*]*\s+(?=[\"'(*]*[A-Z0-9`])|(?<=:)\s*\n")


def sentences(text: str) -> Iterator[str]:
    """The sentences of a page's prose; a code span, a formula and a link's text are words."""
    text = _NOT_PROSE.sub("\n\n", text)
    text = _MATHS.sub("Formula", text)
    text = _CODE.sub("Code", text)
    text = _LINK.sub(r"\1", text)
    for block in _BLOCK.split(text):
        cells = block.strip().strip("|").split("|") if block.lstrip().startswith("|") else [block]
        for cell in cells:
            yield from (found.strip() for found in _END.split(cell) if found.strip())


def words(sentence: str) -> int:
    """Number of words: whatever stands between spaces and has a letter or a digit."""
    return sum(any(map(str.isalnum, word)) for word in sentence.split())


@pytest.mark.parametrize("page", PAGES, ids=lambda page: f"{page.parent.name}/{page.name}")
def test_no_sentence_is_long(page: Path) -> None:
    long = [
        f"{words(one)} words: {' '.join(one.split())}"
        for one in sentences(page.read_text(encoding="utf-8"))
        if words(one) > MOST
    ]
    assert not long, "\n".join(long)


def test_the_counter_sees_prose_alone() -> None:
    page = "# A title\n\nOne `two three` four. Five $x + y$\nsix [seven eight](page.md).\n\n"
    page += "```python\nnot this\n```\n\n- nine ten\n- eleven\n\n| a | b c |\n"
    assert [words(one) for one in sentences(page)] == [2, 3, 5, 2, 1, 1, 2]
