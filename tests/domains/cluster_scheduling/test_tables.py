"""Tables of a cluster are matched by label, as pandas aligns them."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from walras.domains.cluster_scheduling.tables import ClusterTables, read_shares, read_tables
from walras.errors import InputError

SPEEDS = "job,a100,v100\nlarge,4,1\nsmall,,2\nmiddle,3,3\n"
JOBS = "job,size,weight,group\nsmall,1,2,team\nlarge,8,1,lab\nmiddle,2,1,\n"
RESOURCES = "resource,capacity\nv100,16\na100,8\n"
QUOTA = "group,limit,parent\nlab,10,\nteam,4,lab\n"


def tables(folder: Path, **texts: str) -> ClusterTables:
    """The tables of the texts, in place of those above; ``drain`` and ``keep`` are settings."""
    drain, keep = texts.pop("drain", ""), bool(texts.pop("keep", ""))
    known = {"speeds": SPEEDS, "jobs": JOBS, "resources": RESOURCES, **texts}
    for name, text in known.items():
        (folder / f"{name}.csv").write_text(text)
    extra = {name: folder / f"{name}.csv" for name in ("quota", "previous") if name in known}
    return read_tables(
        folder / "speeds.csv",
        folder / "jobs.csv",
        folder / "resources.csv",
        extra.get("quota"),
        extra.get("previous"),
        drain=drain.split(),
        keep_good=keep,
    )


def test_rows_are_matched_by_their_labels(tmp_path: Path) -> None:
    found = tables(tmp_path)
    speeds = pd.read_csv(tmp_path / "speeds.csv", index_col="job").fillna(0.0).T
    jobs = pd.read_csv(tmp_path / "jobs.csv", index_col="job")
    capacity = pd.read_csv(tmp_path / "resources.csv", index_col="resource")["capacity"]
    assert list(found.throughput.columns) == list(jobs.index)
    assert list(found.throughput.index) == list(capacity.index)
    wanted = speeds.loc[capacity.index, jobs.index]
    pd.testing.assert_frame_equal(found.throughput, wanted, check_names=False)
    assert found.size.to_dict() == jobs["size"].to_dict()
    assert found.weight.to_dict() == jobs["weight"].to_dict()
    assert found.capacity.to_dict() == capacity.to_dict()
    assert found.steps is None
    assert found.quota is None
    assert found.previous is None


@pytest.mark.parametrize(
    "texts", [{"drain": "a100"}, {"resources": RESOURCES.replace("a100,8", "a100,0")}]
)
def test_a_drained_resource_is_left_out(tmp_path: Path, texts: dict[str, str]) -> None:
    found = tables(tmp_path, **texts)
    assert found.drained == ("a100",)
    assert list(found.throughput.index) == ["v100"]
    assert found.throughput.to_numpy().tolist() == [[2.0, 1.0, 3.0]]


def test_columns_that_are_no_resource_are_ignored_with_one_note(tmp_path: Path) -> None:
    speeds = "job,a100,site,v100,note\nlarge,4,x,1,\nsmall,,y,2,\nmiddle,3,x,3,slow\n"
    found = tables(tmp_path, speeds=speeds, jobs=JOBS.replace("weight", "owner"))
    pd.testing.assert_frame_equal(found.throughput, tables(tmp_path).throughput)
    said = "column 'site' of speeds.csv, 'note' of speeds.csv, 'owner' of jobs.csv"
    assert tables(tmp_path, speeds=speeds, jobs=JOBS.replace("weight", "owner")).note == (
        f"ignored: {said}; see --help for the columns"
    )
    rest = tables(tmp_path, resources=RESOURCES.replace("v100,16\n", ""), keep="yes")
    assert list(rest.throughput.index) == ["a100"]
    assert "'v100' of speeds.csv" in rest.note


def test_quotas_count_the_groups_within(tmp_path: Path) -> None:
    quota = tables(tmp_path, quota=QUOTA).quota
    assert quota is not None
    assert {name: sorted(jobs) for name, jobs in quota.groups.items()} == {
        "lab": ["large", "small"],
        "team": ["small"],
    }
    assert quota.limits == {"lab": 10.0, "team": 4.0}


def test_earlier_shares_keep_their_labels_and_empty_is_none(tmp_path: Path) -> None:
    found = tables(tmp_path, previous="job,v100,a100\nlarge,0.5,\n").previous
    assert found is not None
    assert found.to_dict() == {"large": {"v100": 0.5, "a100": 0.0}}
    pd.testing.assert_frame_equal(read_shares(tmp_path / "previous.csv"), found)


BAD = {
    "speed": {"speeds": SPEEDS.replace("large,4", "large,x")},
    "size": {"jobs": JOBS.replace("large,8", "large,0")},
    "no throughput": {"speeds": SPEEDS.replace("large,4,1", "large,0,")},
    "absent": {"speeds": SPEEDS.replace("large,4,1\n", "")},
    "group": {"jobs": JOBS.replace("lab", "club"), "quota": QUOTA},
}


@pytest.mark.parametrize("kind", BAD)
def test_a_row_that_cannot_be_used_is_an_error_or_left_out(tmp_path: Path, kind: str) -> None:
    with pytest.raises(InputError) as caught:
        tables(tmp_path, **BAD[kind])
    found = tables(tmp_path, keep="yes", **BAD[kind])
    assert list(found.throughput.columns) == ["small", "middle"]
    assert found.left_out == {"large": f"{caught.value.where}: {caught.value.what}"}
    assert found.throughput["middle"].tolist() == [3.0, 3.0]


@pytest.mark.parametrize(
    ("texts", "what"),
    [
        ({"drain": "h100"}, "there is no resource 'h100'"),
        ({"drain": "a100 v100"}, "no resource is left"),
        ({"resources": RESOURCES + "h100,4\n"}, "no throughput for resource 'h100'"),
        ({"speeds": SPEEDS + "extra,1,1\n"}, "unknown job 'extra'"),
        ({"quota": QUOTA.replace("lab,10,", "lab,10,team")}, "is around itself"),
        ({"quota": QUOTA.replace("4,lab", "4,firm")}, "unknown group 'firm'"),
        ({"quota": QUOTA, "jobs": "job,size\nsmall,1\n"}, "no column 'group'"),
        ({"speeds": "job,a100,v100\nsmall,,\n", "jobs": "job,size\nsmall,1\n"}, "can run job"),
    ],
)
def test_tables_that_do_not_match_say_where(
    tmp_path: Path, texts: dict[str, str], what: str
) -> None:
    with pytest.raises(InputError, match=what) as caught:
        tables(tmp_path, **texts)
    assert caught.value.allowed
    assert caught.value.remedy


def test_where_all_rows_are_left_out_the_command_says_so(tmp_path: Path) -> None:
    jobs = "job,size\nsmall,0\nlarge,\nmiddle,-1\n"
    with pytest.raises(InputError, match="no job is left"):
        tables(tmp_path, keep="yes", jobs=jobs)


def test_the_first_of_rows_with_one_label_is_kept(tmp_path: Path) -> None:
    found = tables(tmp_path, keep="yes", jobs=JOBS + "small,5,1,\n")
    assert found.size["small"] == 1.0
    assert "small again" in found.left_out


def test_columns_that_nothing_reads_are_named(tmp_path: Path) -> None:
    jobs = "job,size,colour\nsmall,1,red\nlarge,1,red\nmiddle,1,red\n"
    assert "'colour' of jobs.csv" in tables(tmp_path, jobs=jobs).note
