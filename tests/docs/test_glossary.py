"""Every page links the words that only this project uses to the glossary, which has them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGES = sorted(
    page for room in ("tutorial", "howto", "explanation") for page in (DOCS / room).glob("*.md")
)
GLOSSARY = (DOCS / "reference/glossary.md").read_text(encoding="utf-8")
TERMS = re.findall(r"^(\w[^\n]*)\n  \w", GLOSSARY, re.MULTILINE)

# Words of ours, as they stand in prose, and the term that they are linked to.
COINED = {
    r"churn": "churn",
    r"nat": "nat",
    r"leximin": "leximin",
    r"certificates?": "certificate",
    r"kinks?": "kink",
    r"separable form": "separable form",
    r"POP": "POP",
    r"quanta|quantum": "quantum",
    r"leases?": "lease",
    r"estates?": "estate",
    r"surplus(?:es)?": "surplus",
    r"innovations?": "innovation",
    r"zeta": "zeta",
    r"regret": "regret",
    r"stand-ins?": "stand-in",
    r"Schur complement": "Schur complement",
    r"ejection chains?": "ejection chain",
    r"one-hots?": "one-hot",
    r"oracle": "oracle",
    r"composed": "composed",
}
NOT_PROSE = re.compile(
    r"^(`{3,}|:{3,}).*?^\1[`:]*$|^\$\$.*?\$\$|<!-- (\w+):begin -->.*?<!-- \2:end -->|^#[^\n]*$"
    r"|\{term\}`[^`]*`|``[^`]*``|`[^`]*`|\$[^$\n]+\$|\[[^\]]*\]\([^)]*\)",
    re.MULTILINE | re.DOTALL,
)


def uses(page: str, word: str) -> re.Match[str] | None:
    """The first place in a page's prose where a word stands and could be linked."""
    masked = NOT_PROSE.sub(lambda found: "\0" * len(found[0]), page)
    return re.search(rf"(?<![\w`-])(?:{word})(?![\w`-])", masked)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: f"{page.parent.name}/{page.name}")
def test_words_of_ours_are_linked(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    linked = re.findall(r"\{term\}`(?:[^`<]*<)?([^`>]+)>?`", text)
    missing = [term for word, term in COINED.items() if uses(text, word) and term not in linked]
    assert missing == []


def test_the_glossary_is_sorted_and_has_every_word() -> None:
    assert sorted(TERMS, key=str.casefold) == TERMS
    assert set(COINED.values()) <= set(TERMS)
