"""Sets for predicting tasks: how they are derived, read and drawn, and wrong files."""

from __future__ import annotations

import io
import pickle
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from walras import data
from walras.data import cluster_reliability, gavel, gavel_pairs, nb201_help, zeus
from walras.data.synthetic import cluster_reliability as cluster_reliability_stand_in
from walras.data.synthetic import nb201_help as nb201_help_stand_in
from walras.data.synthetic import zeus as zeus_stand_in
from walras.errors import DataError, InputError


def _zipped(content: object) -> bytes:
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w") as archive:
        archive.writestr("archive/data.pkl", pickle.dumps(content))
    return raw.getvalue()


def _legacy(content: object) -> bytes:
    header: list[object] = [0x1950A86A20F9469CFC6C, 1001, {"little_endian": True}]
    return b"".join(pickle.dumps(part) for part in [*header, content])


def _name(ops: str) -> str:
    names = [nb201_help.OPERATIONS[int(digit)] for digit in ops]
    nodes = [names[:1], names[1:3], names[3:]]
    return "+".join("|" + "|".join(f"{n}~{k}" for k, n in enumerate(node)) + "|" for node in nodes)


@pytest.mark.real_data("nb201_help")
@pytest.mark.parametrize("saved", [_zipped, _legacy])
def test_latencies_written_again_give_the_registered_file(saved: object) -> None:
    folder = data.find("nb201_help")
    assert folder is not None
    table = pd.read_csv(folder / nb201_help.FILE, dtype={"ops": str})
    assert callable(saved)
    index = {_name(ops): int(k) for ops, k in zip(table["ops"], table["index"], strict=True)}
    columns = [saved(table[device].tolist()) for device in nb201_help.DEVICES]
    derived = nb201_help.derive([saved(index), *columns])
    assert derived == (folder / nb201_help.FILE).read_bytes()


def test_a_saved_object_that_runs_code_is_refused() -> None:
    for raw in (_zipped(Path("x")), _legacy(Path("x")), b"PK", _zipped([])[:40]):
        with pytest.raises(DataError, match=r"plain data|data\.pkl"):
            nb201_help.derive([raw] * len(nb201_help.SOURCES))


@pytest.mark.real_data("cluster_reliability")
def test_reliability_is_derived_from_both_summaries() -> None:
    folder = data.find("cluster_reliability")
    assert folder is not None
    names = (cluster_reliability.HELIOS, cluster_reliability.ACME)
    derived = cluster_reliability.derive([(folder / name).read_bytes() for name in names])
    assert derived == (folder / cluster_reliability.FILE).read_bytes()


@pytest.mark.real_data("cluster_reliability", "nb201_help", "zeus", "gavel")
def test_what_was_measured() -> None:
    rates = data.load("cluster_reliability").fail_rates()
    assert list(rates.index[:2]) == ["Seren", "Kalos"]
    assert rates["Earth"] == 0.129
    latencies = data.load("nb201_help")
    assert len(latencies.single) == 15
    assert latencies.of(["titan_rtx_1"])[0, 0] == 5.55665
    traces = data.load("zeus")
    assert traces.epoch_seconds().dropna().shape == (38, 4)
    reached = traces.reached()
    assert reached.xs(("imagenet", "resnet50", 64, "adadelta"))["reached"] == 0
    ncf = reached.xs(("movielens-1m", "ncf", 32, "adam"))
    assert (ncf["runs"], ncf["reached"]) == (5, 1)
    pairs = gavel_pairs.load(synthetic=False)
    np.testing.assert_allclose(pairs.median(), [0.729, 0.885, 0.947], atol=0.001)
    assert [pairs.unfit[c] for c in gavel.CLUSTERS] == [40, 20, 87]


def test_an_unknown_device_is_refused() -> None:
    with pytest.raises(InputError, match=r"clusters\[1\].*no device 'tpu'"):
        data.load("nb201_help", synthetic=True).of(["raspi4", "tpu"])


def test_latencies_are_recovered_from_what_is_drawn() -> None:
    true = nb201_help_stand_in.FITTED
    found = nb201_help_stand_in.fit(nb201_help_stand_in.stand_in(0))
    for device in ("titan_rtx_1", "gold_6226", "essential_ph_1", "eyeriss"):
        np.testing.assert_allclose(found.cost[device], true.cost[device], atol=0.05)
        assert found.noise_sd[device] == pytest.approx(true.noise_sd[device], abs=0.002)


def test_traces_are_recovered_from_what_is_drawn() -> None:
    true, found = zeus_stand_in.FITTED, zeus_stand_in.fit(zeus_stand_in.stand_in(0))
    for gpu in zeus.GPUS:
        assert found.power[gpu] == pytest.approx(true.power[gpu], abs=0.1)
        assert found.noise_sd[gpu] == pytest.approx(true.noise_sd[gpu], rel=0.3)
    assert found.reach["squad"][0] == 1.0


def test_reliability_is_recovered_from_what_is_drawn() -> None:
    true = cluster_reliability_stand_in.FITTED
    fits = [
        cluster_reliability_stand_in.fit(cluster_reliability_stand_in.stand_in(seed))
        for seed in range(200)
    ]
    assert np.mean([f.fail[0] for f in fits]) == pytest.approx(true.fail[0], abs=0.1)
    assert np.mean([f.log_jobs[1] for f in fits]) == pytest.approx(true.log_jobs[1], rel=0.1)


def test_pairs_stand_in_is_labelled(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("WALRAS_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    drawn = gavel_pairs.load()
    assert drawn.source == "synthetic stand-in"
    assert np.all((drawn.median() > 0.5) & (drawn.median() < 1.0))
    with pytest.raises(DataError, match="was not found"):
        gavel_pairs.load(synthetic=False)


HEAD = "index,ops," + ",".join(nb201_help.DEVICES)
EPOCHS = "dataset,network,batch_size,optimizer,power_limit,time_per_epoch,average_power"


@pytest.mark.parametrize(
    ("module", "file", "content"),
    [
        (nb201_help, nb201_help.FILE, "index,ops\n0,421211\n"),
        (nb201_help, nb201_help.FILE, f"{HEAD}\n0,421211{',1' * 27}\n"),
        (nb201_help, nb201_help.FILE, f"{HEAD}\n0,42x211{',1' * 27}\n"),
        (cluster_reliability, cluster_reliability.FILE, "cluster,fail_rate\nEarth,0.1\n"),
        (zeus, zeus.EPOCH_FILES[0], "dataset\n"),
        (zeus, zeus.EPOCH_FILES[0], f"{EPOCHS}\n"),
        (zeus, zeus.EPOCH_FILES[0], f"{EPOCHS}\na,b,8,c,100,-3,50\n"),
        (gavel_pairs, gavel.FILE, "{}"),
        (gavel_pairs, gavel.FILE, "[]"),
    ],
)
def test_a_wrong_file_is_one_clear_error(
    module: object, file: str, content: str, tmp_path: Path
) -> None:
    (tmp_path / file).write_text(content)
    with pytest.raises(DataError, match="cannot be read as data set"):
        module.read(tmp_path)  # type: ignore[attr-defined]
