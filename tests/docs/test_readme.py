"""README is short and true: its figures are the benchmarks', its links lead somewhere."""

from __future__ import annotations

import importlib.util
import json
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
TABLE = (ROOT / "benchmarks/results/table.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def measurements() -> ModuleType:
    """The script that writes the tables, as a module."""
    spec = importlib.util.spec_from_file_location("measurements", ROOT / "docs/measurements.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["measurements"] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def test_readme_is_at_most_120_lines_and_eight_figures(measurements: ModuleType) -> None:
    assert len(README.splitlines()) <= 120
    assert len(measurements.CHOSEN) + sum(s.chosen for s in measurements.studies()) <= 8


def test_the_tables_are_the_generated_ones(measurements: ModuleType) -> None:
    page = measurements.PAGE.read_text(encoding="utf-8")
    run = "run docs/measurements.py"
    assert measurements.between(README, measurements.short_table(TABLE)) == README, run
    assert measurements.between(page, measurements.full_table(TABLE)) == page, run


def test_every_case_says_whose_its_instance_is(measurements: ModuleType) -> None:
    cases = [case for case, *_ in measurements.rows(TABLE)]
    assert len(cases) > 70
    assert all(measurements.source(case).whose for case in cases)
    with pytest.raises(ValueError, match="add a line to SOURCES"):
        measurements.source("a new case")


def test_every_peer_has_a_version_or_says_whose_code_it_is(measurements: ModuleType) -> None:
    known = measurements.versions(TABLE)
    peers = {peer for found in measurements.SOURCES for peer in found.peers}
    assert all(peer in known or "(" in peer or peer in measurements._METHODS for peer in peers)


def test_peers_that_are_a_method_are_listed_once_they_were_measured(
    measurements: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measurements, "TABLE", tmp_path / "table.md")
    found = measurements.source("generalised assignment")
    known = {"highspy": "1.15.1"}
    assert measurements._peers(found, known) == "HiGHS 1.15.1"
    for day, status, version in ((1, "ran", "9.1"), (2, "ran", "9.2"), (3, "failed", "9.3")):
        record = {
            "cell": {"method": "cp-sat-assign-10"},
            "started": f"2026-11-0{day}",
            "status": status,
            "versions": {"ortools": version},
        }
        with (tmp_path / "any.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")
    assert measurements._peers(found, known) == "HiGHS 1.15.1, CP-SAT 9.2"


def test_studies_say_what_their_rows_say(measurements: ModuleType) -> None:
    jobs, _, machines, _, shards, traffic, fair, assignments, *others = measurements.studies()
    *sessions, _, demo = others
    assert demo.met == (float(re.findall(r"([\d.]+) s", demo.measured)[-1]) <= 5.0)
    row = next(
        json.loads(line)
        for line in (ROOT / "benchmarks/results/few-types.jsonl").read_text().splitlines()
        if '"proportional-fairness"' in line and '"types": 4' in line
    )
    assert f"{row['value']:.6f} a job" in jobs.measured
    assert f"{row['clock_s']:.1f} s" in jobs.measured
    assert not jobs.met or max(row["gap"] / 1e-6, row["clock_s"] / 3.0) <= 1.0
    gap = re.search(r"gap at most ([\d.]+) %", machines.measured)
    assert gap is not None
    assert float(gap[1]) <= 0.5 or not machines.met
    page = (ROOT / "benchmarks/results/balancing_at_scale/rounds.md").read_text()
    gaps = [
        float(line.split("|")[7])
        for line in page.splitlines()
        if "| moves |" in line and "whole" in line
    ]
    assert f"at most {max(gaps):.2f} %" in shards.measured
    kept = (ROOT / "benchmarks/results/traffic-sequence.jsonl").read_text().splitlines()
    asked = ('"study": "utilisation"', '"sequence, last basis"')
    ours = [json.loads(line) for line in kept if all(part in line for part in asked)]
    assert len(ours) == 3
    assert traffic.met == all(r["off"] <= 1e-9 and r["times HiGHS"] <= 0.1 for r in ours)
    assert f"{max(r['times HiGHS'] for r in ours):.3f} of its CPU time" in traffic.measured
    shared = [json.loads(line) for line in kept if '"study": "fair"' in line]
    ratio = max(r["times HiGHS"] for r in shared if r["method"].startswith("sequence"))
    assert f"to {ratio:.2f} times its CPU time" in fair.measured
    assert fair.met == (ratio <= 1.0)
    assert assignments.what.startswith("39 generalised assignments")
    for session, most in zip(sessions, (0.25, 0.7), strict=True):
        ratios = [float(ratio) for ratio in re.findall(r"0\.\d\d", session.measured)]
        assert len(ratios) == 2
        assert session.met == (max(ratios) <= most)


def test_of_several_versions_the_one_of_most_records_counts(measurements: ModuleType) -> None:
    uses = measurements._uses()
    for name, version in measurements.versions(TABLE).items():
        assert uses[name, version] == max(n for (own, _), n in uses.items() if own == name)


def test_every_figure_of_readme_is_a_record(measurements: ModuleType) -> None:
    recorded = {measured for _, _, measured, _ in measurements.rows(TABLE)}
    recorded |= {study.measured for study in measurements.studies()}
    for line in measurements.short_table(TABLE).splitlines()[2:]:
        figure = line.strip("|").split("|")[3].strip()
        assert any(measured.startswith(figure) for measured in recorded)


def test_the_picture_shows_what_the_example_prints() -> None:
    picture = (ROOT / "docs/pictures/cluster_round.svg").read_text(encoding="utf-8")
    shares = README[README.index("v100   0.") :].splitlines()[:2]
    for share in re.findall(r"0\.\d+", "\n".join(shares)):
        if float(share):
            assert f">{float(share):.2f}<" in picture, "run docs/pictures.py"


def test_links_lead_to_files() -> None:
    links = re.findall(r"\]\(([^)#:]+)\)", README)
    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_a_page_is_written_only_when_the_table_is_new(
    measurements: ModuleType, tmp_path: Path
) -> None:
    page = tmp_path / "README.md"
    old = f"above\n{measurements.BEGIN}\n| a |\n{measurements.END}\nbelow\n"
    page.write_text(old)
    untouched = page.stat().st_mtime_ns
    assert not measurements.update(page, "| a |")
    assert page.stat().st_mtime_ns == untouched
    assert measurements.update(page, "| b |")
    assert page.read_text() == old.replace("| a |", "| b |")
