"""Write the tables of measured figures into README.md and the page of measurements.

Every figure is copied from the benchmarks' first table, or from what a study has kept. This file
adds what these do not say: whose instance a case is measured on, and which version of which peer it
is compared with.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

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


_ABOVE = {"D": 0.05, "C": 0.03, "E": 0.01}  # % over the best known values after 60 s, at most
_WAYS = ("warm", "cold")
_LABELS = {"highspy": "HiGHS", "ortools": "PDLP (OR-tools)", "clarabel": "Clarabel"}
# Peers that are one method of several of a distribution; listed once a record names their method.
_METHODS = {
    "HiPO": ("highs-hipo", "highspy-extras"),
    "CP-SAT": ("cp-sat-assign-", "ortools"),
    "Moreau": ("cvxpylayers-moreau", "moreau"),
}
_HIGHS = ("highspy",)
_POINTS = ("highspy", "HiPO")
_LINEAR = (*_POINTS, "ortools")
_DEDE_SCHEME = "DeDe's scheme (our code)"
_FLOWS = "network and paths public, traffic ours"
# the files' repositories and commits
_OPENB = "hkust-adsl/kubernetes-scheduler-simulator at 8f3d641"
_DISCOVERY = "cvxgrp/resalloc at 70597c9"
_FIGRET = "FIGRET/figret at 5e117d8"
_ASSIGNMENTS = "fontanf/generalizedassignmentsolver at 1d25a76"
_NETWORK = "network public, paths and traffic ours"
_PLANTED = "network public, traffic and capacities ours"
_TIMES = "times public, rounds and chances ours"
_HARD = "one later run gave {}"
SOURCES = (
    Source("leximin 50x300", OURS, _HIGHS),
    Source("(max-min|proportional.fairness) .*first order", OURS, (_DEDE_SCHEME,)),
    Source("max-min on . Ray actors", OURS),
    Source("(max-min|proportional.fairness)(:| 456 x 2,000 to)", OURS),
    Source(
        "(max-min|proportional.fairness) 456x2,000, (1|20) % of jobs",
        "ours, a seed of tuning; by `start=` (sessions stand below)",
    ),
    Source("max-min 456x2,000", OURS, _LINEAR),
    Source("proportional fairness 456x2,000", OURS),
    Source("alpha-fair-2 456x2,000", OURS, ("clarabel",)),
    Source("total-throughput 456x2,000", OURS, _POINTS),
    Source("leximin 456x2,000", OURS, _HIGHS),
    Source("DeDe's toy", PUBLIC, ("dede",)),
    Source("`engine='auto'`", "public, published recipe and ours"),
    Source("kernel compilation", "none"),
    Source("the first `(match|solve)`", "none"),
    Source("UsCarrier total flow", _FLOWS, _POINTS),
    Source("(Kdl|ASN2k) total flow", _NETWORK),
    Source("least utilisation, easy, UsCarrier", _FLOWS, _POINTS),
    Source("least utilisation, easy", _NETWORK, _HIGHS),
    Source("least utilisation, hard, ASN2k-40$", _PLANTED, _POINTS, _HARD.format("2.9x to 3.8x")),
    Source("least utilisation, hard, ASN2k-60$", _PLANTED, _POINTS, _HARD.format("5.7x to 5.9x")),
    Source("least utilisation, hard, ASN2k-100$", _PLANTED, _POINTS, _HARD.format("7.3x to 9.6x")),
    Source("least utilisation, hard", _PLANTED, _POINTS),
    Source("least utilisation, ASN2k", _NETWORK),
    Source("two-stage predictors", _TIMES),
    Source("intervals of time", _TIMES),
    Source("chances of success", _TIMES),
    Source("rank correlation", PUBLIC, ("scikit-learn",)),
    Source("exact matching", _TIMES, _HIGHS),
    Source("relaxed matching", _TIMES),
    Source("64 relaxed rounds", _TIMES, ("mirror descent (our code)",)),
    Source("one gradient step", _TIMES, ("cvxpylayers", "diffcp", "Moreau")),
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
    Source("generalised assignment", RECIPE, ("highspy", "CP-SAT")),
)  # fmt: skip

# README's figures: the case in the benchmarks' table, and what it is in a reader's words.
CHOSEN = {
    "max-min 456x2,000, capacity x 0.2": "max-min fairness, 456 GPU types x 2,000 jobs",
    "DeDe's toy 100x100 through `walras.dede`": "the example of the `dede` package, 100 x 100",
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
    shown = []
    for name in found.peers:
        version = _version(*_METHODS[name]) if name in _METHODS else known.get(name, "")
        if version or name not in _METHODS:
            shown.append(f"{_LABELS.get(name, name)} {version}".strip())
    return ", ".join(shown)


def _version(method: str, distribution: str) -> str:
    """Version of a distribution in the newest record of a method that ran; empty without one."""
    ran = [
        record
        for record in _records()
        if record["cell"]["method"].startswith(method) and record["status"] != "failed"
    ]
    newest = max(ran, key=lambda record: str(record["started"]), default={})
    return str((newest.get("versions") or {}).get(distribution, ""))


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
    named = (record.get("versions") or {} for record in _kept("*"))
    return Counter(pair for versions in named for pair in versions.items())


def _kept(family: str) -> list[dict[str, Any]]:
    """The records of a family of measurements."""
    texts = (file.read_text(encoding="utf-8") for file in TABLE.parent.glob(f"{family}.jsonl"))
    records = (json.loads(line) for text in texts for line in text.splitlines())
    return [record for record in records if isinstance(record, dict)]


def _records() -> list[dict[str, Any]]:
    """The records of the benchmarks' cells."""
    return [record for record in _kept("*") if isinstance(record.get("cell"), dict)]


@dataclass(frozen=True)
class Study:
    """One row of what a study has kept.

    Attributes:
        what: The case in a reader's words.
        whose: As in :class:`Source`.
        peers: What it is compared with, and our own version.
        aim: What was aimed at.
        measured: What was found.
        met: Whether the aim was met.
        chosen: Whether it stands in README, too.
    """

    what: str
    whose: str
    peers: str
    aim: str
    measured: str
    met: bool
    chosen: bool = False


def studies() -> list[Study]:
    """What stands in no cell of the benchmarks, from the kept rows alone."""
    return [
        *(_million_jobs(types, limit) for types, limit in ((4, 3.0), (16, 10.0))),
        _machines(),
        _many_machines(),
        _million_shards(),
        _traffic_in_order(),
        _fair_flows(),
        _assignments(),
        *(_changed_rounds(share, most) for share, most in ((0.01, 0.25), (0.2, 0.7))),
        _failed_links(),
        _demo(),
    ]


def _demo() -> Study:
    kept = [row for row in _kept("exchange") if row["study"] == "demo"]
    page, terminal, again = (
        max(row[name] for row in kept) for name in ("first_s", "terminal_s", "second_terminal_s")
    )
    return Study(
        f"`./dev demo` after set-up, {len(kept)} fresh clones",
        OURS,
        "",
        "the first in 15 s, a second in the terminal in 5 s",
        f"page after at most {page:.1f} s; in the terminal {terminal:.1f} s, then {again:.1f} s",
        max(page, terminal) <= 15.0 and again <= 5.0,
    )


def _million_jobs(types: int, limit: float) -> Study:
    kept = [r for r in _kept("few-types") if (r["types"], r["jobs"]) == (types, 1_000_000)]
    (fair,) = (r for r in kept if r["objective"] == "proportional-fairness")
    gap, clock, arrays = (
        max(r[name] for r in kept) for name in ("gap", "clock_s", "memory_arrays")
    )
    passes, sums = (
        max(r["solve_cpu_s"] / r[read] for r in kept)
        for read in ("evaluations_cpu_s", "reads_cpu_s")
    )
    theirs = {4: "-0.810638 after 5.9 s", 16: "a residual of 3e-2 after 54 s"}[types]
    return Study(
        f"a million jobs on {types} GPU types",
        RECIPE,
        f"price discovery (published figures; {_DISCOVERY})",
        f"gaps of 1e-6 in {limit:g} s, 3 times 20 passes of the dual, 3 arrays",
        f"fair: {fair['value']:.6f} a job, gap {fair['gap']:.1e}, {fair['clock_s']:.1f} s; "
        f"theirs {theirs}; {len(kept)} objectives: gaps to {gap:.0e}, {clock:.1f} s, "
        f"{passes:.1f} times 20 passes of the dual ({sums:.0f} times 20 sums), {arrays:.1f} arrays",
        gap <= 1e-6 and clock <= limit and passes <= 3.0 and arrays <= 3.0,
        chosen=types == 4,
    )


def _machines() -> Study:
    kept = _kept("placement")
    gaps = [row["gap %"] for row in kept if row["study"] == "batch"]
    gap = math.ceil(max(gaps) * 100) / 100  # a bound is rounded up
    online = [row for row in kept if row["study"] == "online"]
    ours = {row["workload"]: row["allocated %"] for row in online if row["policy"] == "fill"}
    fgd = [row for row in online if row["policy"] == "fgd"]
    above, above_own = (
        sum(ours[row["workload"]] > row[of] for row in fgd) for of in ("published %", "allocated %")
    )
    return Study(
        "pods on Alibaba's 1,213 GPU nodes",
        f"nodes public, pods public and drawn from them ({_OPENB})",
        "FGD (figures of the ATC 2023 paper)",
        "above FGD as published on 12 of 17 lists; gap at most 0.5 %",
        f"arriving: above FGD as published on {above} of {len(fgd)} lists, as run here on "
        f"{above_own}; all known: gap at most {gap:.2f} % on {len(gaps)}",
        above >= 12 and max(gaps) <= 0.5,
        chosen=True,
    )


def _many_machines() -> Study:
    (row,) = (r for r in _kept("placement") if r["study"] == "scale")
    return Study(
        f"{row['tasks']:,} pods on {row['nodes']:,} machines",
        f"drawn from Alibaba's lists ({_OPENB})",
        "",
        "within 3 % of the bound in 60 s",
        f"gap {row['gap %']:.2f} %, {row['seconds']:.0f} s, {row['CPU s']:.0f} CPU s",
        row["gap %"] <= 3.0 and row["seconds"] <= 60.0,
    )


def _million_shards() -> Study:
    kept = _kept("balancing_at_scale")
    large = [row for row in kept if row["shards"] == 1_000_000]
    rows_, paid = ([r for r in large if r["cost"] == cost] for cost in ("moves", "bytes"))
    cold = max(row["gap"] for row in paid if row["round"] == "cold")
    gap, clock, peak = (max(row[name] for row in rows_) for name in ("gap", "seconds", "peak"))
    drained = max(row["seconds"] for row in rows_ if row["round"] != "cold")
    return Study(
        "a million shards on 10,000 servers",
        OURS,
        "",
        "moves within 1 % of the bound, 60 s, 8 GiB; after a drain 5 s",
        f"at most {gap:.2f} % over the bound in {len(rows_)} rounds (where bytes are paid, cold "
        f"{cold:.1f} %); {clock:.1f} s, {peak:.1f} GiB; after a drain {drained:.1f} s",
        gap <= 1.0 and clock <= 60.0 and peak <= 8.0 and drained <= 5.0,
        chosen=True,
    )


def _traffic_in_order() -> Study:
    kept = [row for row in _kept("traffic-sequence") if row["study"] == "utilisation"]
    ours = [row for row in kept if row["method"] == "sequence, last basis"]
    off, share = (max(row[name] for row in ours) for name in ("off", "times HiGHS"))
    highs = {row["version"] for row in kept if row["method"].startswith("HiGHS")}
    return Study(
        f"least utilisation of {sum(row['matrices'] for row in ours):,} traffic matrices",
        f"{PUBLIC} ({_FIGRET})",
        f"{', '.join(sorted(highs)).replace('highspy', 'HiGHS')} from its last basis",
        "the published optima to 1e-9, a tenth of the time",
        f"published optima to {off:.0e}; "
        f"at most {share:.3f} of its CPU time on {len(ours)} networks",
        off <= 1e-9 and share <= 0.1,
        chosen=True,
    )


def _fair_flows() -> Study:
    kept = [row for row in _kept("traffic-sequence") if row["study"] == "fair"]
    ours = [row for row in kept if row["method"].startswith("sequence")]
    highs = [row for row in kept if row["method"].startswith("HiGHS")]
    times = [row["times HiGHS"] for row in ours]
    off, theirs = (max(row["violation"] for row in found) for found in (ours, highs))
    version = highs[0]["version"].replace("highspy", "HiGHS")
    return Study(
        f"max-min fair flow of {sum(row['matrices'] for row in ours):,} traffic matrices",
        f"{PUBLIC} ({_FIGRET})",
        f"{version}, a program a level from the last basis",
        "no slower",
        f"{min(times):.3f} to {max(times):.2f} times its CPU time, with proofs; "
        f"ten levels at most; limits broken by {off:.0e} and {theirs:.0e}",
        max(times) <= 1.0,
    )


def _assignments() -> Study:
    """The bars at 10 s are twice those at 60 s."""
    kept = _kept("gap")
    means = {
        (kind, limit): fmean(
            row["percent_above"]
            for row in kept
            if (row["method"], row["limit"], row["file"][0].upper()) == ("walras", limit, kind)
        )
        for limit in (60.0, 10.0, 1.0)
        for kind in _ABOVE
    }
    files = {row["file"] for row in kept}
    peers = {r["method"]: r["version"] for r in kept if r["method"] != "walras"}
    return Study(
        f"{len(files)} generalised assignments of the literature, 60 and 10 s",
        f"{PUBLIC} ({_ASSIGNMENTS})",
        f"best known values; HiGHS {peers['highs']}, CP-SAT {peers['cp-sat']}",
        "mean over the best known after 60 s, twice that after 10 s: "
        + ", ".join(f"{kind} {bar:g} %" for kind, bar in _ABOVE.items()),
        "; ".join(
            f"{limit:g} s: " + ", ".join(f"{kind} {means[kind, limit]:.3f} %" for kind in _ABOVE)
            for limit in (60.0, 10.0, 1.0)
        ),
        all(
            means[kind, limit] <= bar * times
            for kind, bar in _ABOVE.items()
            for limit, times in ((60.0, 1.0), (10.0, 2.0))
        ),
    )


def _changed_rounds(share: float, most: float) -> Study:
    kept = [r for r in _kept("session") if r["study"] == "rounds" and r["changed"] == share]
    means = {
        name: fmean(r["ratio"] for r in kept if r["objective"] == name)
        for name in ("max-min", "proportional-fairness")
    }
    return Study(
        f"a session of 456x2,000, {100 * share:g} % of jobs replaced",
        OURS,
        "our cold solve",
        f"at most {most:g} of the cold time",
        ", ".join(f"{name} {mean:.2f}" for name, mean in means.items()) + ", means of three seeds",
        max(means.values()) <= most,
    )


def _failed_links() -> Study:
    kept = [r for r in _kept("session") if r["study"] == "links"]
    pairs = [
        [fmean(r[f"{way} iterations"] for r in kept if r["failed"] == failed) for way in _WAYS]
        for failed in (1, 3)
    ]
    return Study(
        "a session of UsCarrier, one or three links failed",
        _FLOWS,
        "our cold solve",
        "at most half of the cold iterations",
        " and ".join(f"{warm:.0f} of {cold:.0f}" for warm, cold in pairs),
        all(warm <= 0.5 * cold for warm, cold in pairs),
    )


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
    for study in studies():
        word = "met" if study.met else "**missed**"
        known_of = f"| {study.what} | {study.whose} | {study.peers} |"
        lines.append(f"{known_of} {study.aim} | {study.measured} | {word} |")
    return "\n".join(lines)


def short_table(table: str) -> str:
    """README's figures: at most eight, with their instances, peers and first two findings."""
    known = versions(table)
    by_case = {case: "; ".join(found.split("; ")[:2]) for case, _, found, _ in rows(table)}
    lines = ["| what | whose instance | peers | measured |", "|---|---|---|---|"]
    for case, words in CHOSEN.items():
        found = source(case)
        lines.append(f"| {words} | {found.whose} | {_peers(found, known)} | {by_case[case]} |")
    chosen = [s for s in studies() if s.chosen]
    lines += [f"| {s.what} | {s.whose} | {s.peers} | {s.measured} |" for s in chosen]
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
