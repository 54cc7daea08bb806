"""Sets for predicting tasks: how they are derived, read and drawn, and wrong files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from walras import data
from walras.data import cluster_reliability, gavel, gavel_pairs, nb201_help, zeus
from walras.errors import DataError


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
