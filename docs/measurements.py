"""Write the tables of measured figures into README.md and the page of measurements.

Every figure is copied from the benchmarks' first table. This file adds what that table does not
say: whose instance a case is measured on, and which version of which peer it is compared with.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TABLE = ROOT / "benchmarks" / "results" / "table.md"
README = ROOT / "README.md"
PAGE = ROOT / "docs" / "explanation" / "measurements.md"
BEGIN, END = "<!-- benchmarks:begin -->", "<!-- benchmarks:end -->"

PUBLIC, RECIPE, OURS = "public", "published recipe", "ours"


@dataclass(frozen=True)
class Source:
    """Where the instances of some cases come from.

    Attributes:
        cases: Regular expression that a case's name begins with.
        whose: ``public``, ``published recipe`` or ``ours``; where parts differ, of which part.
        peers: Distributions that the case is compared with, or what else it is compared with.
        note: What a reader must know besides.
    """

    cases: str
    whose: str
    peers: tuple[str, ...] = ()
    note: str = ""


_LABELS = {"highspy": "HiGHS", "ortools": "PDLP (OR-tools)", "clarabel": "Clarabel"}
_HIGHS = ("highspy",)
_LINEAR = ("highspy", "ortools")
_DEDE_SCHEME = "DeDe's scheme (our code)"
_FLOWS = "network and paths public, traffic ours"
_NETWORK = "network public, paths and traffic ours"
_PLANTED = "network public, traffic and capacities ours"
_TIMES = "times public, rounds and chances ours"
_HARD = "one later run gave {}"
SOURCES = (
    Source("leximin 50x300", OURS, _HIGHS),
    Source("(max-min|proportional.fairness) .*first order", OURS, (_DEDE_SCHEME,)),
    Source("max-min on . Ray actors", OURS),
    Source("(max-min|proportional.fairness)(:| 456 x 2,000 to)", OURS),
    Source("(max-min|proportional.fairness) 456x2,000, (1|20) % of jobs", OURS),
    Source("max-min 456x2,000", OURS, _LINEAR),
    Source("proportional fairness 456x2,000", OURS),
    Source("alpha-fair-2 456x2,000", OURS, ("clarabel",)),
    Source("(total-throughput|leximin) 456x2,000", OURS, _HIGHS),
    Source("DeDe's toy", PUBLIC, ("dede",)),
    Source("`engine='auto'`", "public, published recipe and ours"),
    Source("kernel compilation", "none"),
    Source("UsCarrier total flow", _FLOWS, _HIGHS),
    Source("(Kdl|ASN2k) total flow", _NETWORK),
    Source("least utilisation, easy, UsCarrier", _FLOWS, _HIGHS),
    Source("least utilisation, easy", _NETWORK, _HIGHS),
    Source("least utilisation, hard, ASN2k-40$", _PLANTED, _HIGHS, _HARD.format("2.9x to 3.8x")),
    Source("least utilisation, hard, ASN2k-60$", _PLANTED, _HIGHS, _HARD.format("5.7x to 5.9x")),
    Source("least utilisation, hard, ASN2k-100$", _PLANTED, _HIGHS, _HARD.format("7.3x to 9.6x")),
    Source("least utilisation, hard", _PLANTED, _HIGHS),
    Source("least utilisation, ASN2k", _NETWORK),
    Source("two-stage predictors", _TIMES),
    Source("intervals of time", _TIMES),
    Source("chances of success", _TIMES),
    Source("rank correlation", PUBLIC, ("scikit-learn",)),
    Source("exact matching", _TIMES, _HIGHS),
    Source("relaxed matching", _TIMES),
    Source("64 relaxed rounds", _TIMES, ("mirror descent (our code)",)),
    Source("one gradient step", _TIMES, ("cvxpylayers", "diffcp")),
    Source("linear ablation", _TIMES, ("pyepo",)),
    Source("matching 200x5,000", _TIMES, _HIGHS),
    Source("matching 200x2,000", _TIMES),
    Source("matching 200x100,000", _TIMES),
    Source(
        "load balancing 256x2,048, 8 rounds",
        RECIPE,
        ("E-Store's greedy (our code)", "POP (our code)", "highspy"),
    ),
    Source("load balancing 256x2,048, cold", RECIPE),
    Source("load balancing 256x2,048, .*replicas kept", RECIPE),
    Source("load balancing 256x2,048", RECIPE, ("DeDe (figures of the OSDI 2025 paper)",)),
    Source("load balancing 1,024", OURS),
    Source("generalised assignment", RECIPE, _HIGHS),
)  # fmt: skip

# README's figures: the case in the benchmarks' table, and what it is in a reader's words.
CHOSEN = {
    "max-min 456x2,000, capacity x 0.2": "max-min fairness, 456 GPU types x 2,000 jobs",
    "DeDe's toy 100x100 through `walras.dede`": "the example of the `dede` package, 100 x 100",
    "UsCarrier total flow, traffic x 0.15": "total flow over UsCarrier, 36,248 paths",
    "least utilisation, hard, ASN2k-200": "least utilisation, 200 nodes of ASN2k",
    "matching 200x5,000 with a floor": "5,000 tasks on 200 clusters, enough must succeed",
    "exact matching 3x5, 128 rounds": "exact placement of 5 tasks on 3 clusters, 128 rounds",
    "one gradient step, 64 relaxed rounds 10x50": "one gradient step through 64 matchings",
    "load balancing 256x2,048, 8 rounds from the same placements": "moves a round, 256 servers",
}


def rows(table: str) -> Iterator[list[str]]:
    """Case, target, measurement and verdict of each row of the benchmarks' first table."""
    for line in table.strip().split("\n\n")[0].splitlines()[2:]:
        yield [cell.strip() for cell in line.strip("|").split("|")]


def source(case: str) -> Source:
    """Where the instances of a case come from.

    Raises:
        ValueError: No line of ``SOURCES`` covers the case.
    """
    for found in SOURCES:
        if re.match(found.cases, case):
            return found
    raise ValueError(f"{case}: add a line to SOURCES in docs/measurements.py")


def _peers(found: Source, known: dict[str, str]) -> str:
    """The peers with their versions; what has no version is our code, or a paper's figure."""
    return ", ".join(
        f"{_LABELS.get(name, name)} {known[name]}" if name in known else name
        for name in found.peers
    )


def versions(table: str) -> dict[str, str]:
    """Version of each distribution, as the benchmarks' last paragraph lists them.

    Of several versions the one of most records counts, such as of HiGHS, which stands in the
    records of the computer with the GPU in another version but ran there as no peer.
    """
    listed = re.findall(r"([\w.-]+) (\d[\w.+]*)(?=[,;.] )", table.strip().split("\n\n")[-1])
    used = _uses()
    return dict(sorted(listed, key=lambda found: used[found]))


def _uses() -> Counter[tuple[str, str]]:
    """How many records name a version of a distribution."""
    texts = (file.read_text(encoding="utf-8") for file in TABLE.parent.glob("*.jsonl"))
    records = (json.loads(line) for text in texts for line in text.splitlines())
    named = (record.get("versions") or {} for record in records if isinstance(record, dict))
    return Counter(pair for versions in named for pair in versions.items())


def full_table(table: str) -> str:
    """Every case with its instance's source and its peers' versions."""
    known = versions(table)
    lines = ["| case | whose instance | peers | target | measured | |", "|---|---|---|---|---|---|"]
    for case, aim, measured, verdict in rows(table):
        found = source(case)
        peers = _peers(found, known)
        shown, word = (
            (f"{measured}; {found.note}", "**open**") if found.note else (measured, verdict)
        )
        lines.append(f"| {case} | {found.whose} | {peers} | {aim} | {shown} | {word} |")
    return "\n".join(lines)


def short_table(table: str) -> str:
    """README's figures: at most eight, with their instances, peers and first two findings."""
    known = versions(table)
    by_case = {case: "; ".join(found.split("; ")[:2]) for case, _, found, _ in rows(table)}
    lines = ["| what | whose instance | peers | measured |", "|---|---|---|---|"]
    for case, words in CHOSEN.items():
        found = source(case)
        lines.append(f"| {words} | {found.whose} | {_peers(found, known)} | {by_case[case]} |")
    return "\n".join(lines)


def between(page: str, table: str) -> str:
    """The page with the table in place of whatever stood between the markers."""
    before, rest = page.split(BEGIN)
    _, after = rest.split(END)
    return f"{before}{BEGIN}\n{table}\n{END}{after}"


def update(page: Path, table: str) -> bool:
    """Bring a page up to a table; False, and no file touched, where there is nothing new."""
    old = page.read_text(encoding="utf-8")
    new = between(old, table)
    if new != old:
        page.write_text(new, encoding="utf-8")
    return new != old


if __name__ == "__main__":
    measured = TABLE.read_text(encoding="utf-8")
    update(README, short_table(measured))
    update(PAGE, full_table(measured))
