"""SkyPilot's catalog as clusters; the tables are hand-written after schema v8."""

from __future__ import annotations

from hashlib import md5
from pathlib import Path

import pytest

from walras.errors import DataError, InputError
from walras.exchange.dispatch.skypilot import Selection, read_catalog

HEADER = (
    "InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,GpuInfo,"
    "Price,SpotPrice,Region,AvailabilityZone,Arch"
)
INFO = "\"{'Gpus': [{'Name': 'A100', 'Count': 8.0}], 'TotalGpuMemoryInMiB': 327680}\""
AWS = f"""{HEADER}
p4d.24xlarge,A100,8.0,96.0,1152.0,{INFO},21.96,9.5,us-east-1,us-east-1a,x86_64
p4d.24xlarge,A100,8.0,96.0,1152.0,{INFO},21.96,8.25,us-east-1,us-east-1b,x86_64
p4d.24xlarge,A100,8.0,96.0,1152.0,{INFO},21.96,,us-west-2,us-west-2a,x86_64
g4dn.xlarge,T4,1.0,4.0,16.0,,0.526,0.2,us-east-1,us-east-1a,x86_64
m6i.large,,,2.0,8.0,,,0.03,us-east-1,us-east-1a,x86_64
m6i.large,,,2.0,8.0,,0.096,0.03,us-east-1,us-east-1b,x86_64
"""


def _file(folder: Path, text: str, cloud: str = "aws") -> Path:
    path = folder / cloud / "vms.csv"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_a_row_is_a_cluster_with_its_price(tmp_path: Path) -> None:
    found = read_catalog(_file(tmp_path, AWS))
    assert [one.uid for one in found.clusters] == [
        "aws-p4d-24xlarge-us-east-1a",
        "aws-p4d-24xlarge-us-east-1b",
        "aws-p4d-24xlarge-us-west-2a",
        "aws-g4dn-xlarge-us-east-1a",
        "aws-m6i-large-us-east-1b",
    ]
    first = found.clusters[0]
    assert first.price == 21.96
    assert first.where.endswith("vms.csv, line 2")
    assert first.labels == {
        "source": "skypilot",
        "cloud": "aws",
        "region": "us-east-1",
        "zone": "us-east-1a",
        "instance": "p4d.24xlarge",
        "gpu": "A100",
        "gpus": "8",
        "vcpus": "96",
        "memory": "1152",
        "spot": "no",
    }
    assert {"gpu", "gpus"} & found.clusters[-1].labels.keys() == set()
    assert found.left_out == {"without a price": 1}
    assert found.edited == ()


def test_machines_are_chosen(tmp_path: Path) -> None:
    file = _file(tmp_path, AWS)
    chosen = {
        Selection(regions=("US-East-1",)): 4,
        Selection(regions=("us-east-1b", "us-west-2")): 3,
        Selection(accelerators=("a100",)): 3,
        Selection(accelerators=("A100:8", "T4:1")): 4,
        Selection(accelerators=("A100:4",)): 0,
        Selection(accelerators=("A100:x",)): 0,
        Selection(instances=("m6i.large", "g4dn.xlarge")): 2,
    }
    for select, count in chosen.items():
        assert len(read_catalog(file, select).clusters) == count, select


def test_spot_machines_have_names_and_prices_of_their_own(tmp_path: Path) -> None:
    select = Selection(accelerators=("A100",), spot=True, slots=3)
    found = read_catalog(_file(tmp_path, AWS), select)
    assert [(one.uid, one.price, one.slots) for one in found.clusters] == [
        ("aws-p4d-24xlarge-us-east-1a-spot", 9.5, 3),
        ("aws-p4d-24xlarge-us-east-1b-spot", 8.25, 3),
    ]
    assert found.clusters[0].labels["spot"] == "yes"
    assert found.left_out == {"without a spot price": 1}


def test_a_folder_of_clouds_is_read_and_a_cloud_without_zones(tmp_path: Path) -> None:
    _file(tmp_path, AWS)
    _file(
        tmp_path,
        "InstanceType,AcceleratorName,AcceleratorCount,Price,Region,SpotPrice\n"
        "gpu_1x_a10,A10,1.0,0.75,us-east-1,\n"
        "gpu_1x_a10,A10,1.0,0.60,us-east-1,\n"
        "gpu_1x_a10,A10,1.0,0.80,us-east-1,\n",
        "lambda",
    )
    (tmp_path / "common").mkdir()
    found = read_catalog(tmp_path, Selection(accelerators=("A10",))).clusters
    assert [(one.uid, one.price) for one in found] == [("lambda-gpu-1x-a10-us-east-1", 0.6)]
    assert len(read_catalog(tmp_path).clusters) == 6
    assert len(read_catalog(tmp_path / "aws").clusters) == 5


def test_a_machine_of_no_accelerators_has_no_label_of_them(tmp_path: Path) -> None:
    text = f"{HEADER}\ncpu-small,,0.0,0,,,0.0,,eu-1,,\n"
    (found,) = read_catalog(_file(tmp_path, text, "nebius")).clusters
    assert found.price == 0.0
    assert {"gpu", "gpus", "vcpus", "memory", "zone"} & found.labels.keys() == set()


def test_machines_of_gcp_whose_price_is_without_their_gpu_are_left_out(tmp_path: Path) -> None:
    text = (
        "InstanceType,vCPUs,MemoryGiB,AcceleratorName,AcceleratorCount,GpuInfo,Region,"
        "AvailabilityZone,Price,SpotPrice\n"
        "a2-highgpu-1g,12.0,85.0,,,,us-central1,us-central1-a,0.74,0.30\n"
        "n2-standard-4,4.0,16.0,,,,us-central1,us-central1-a,0.19,0.05\n"
        ",,,A100,1.0,,us-central1,us-central1-a,2.93,1.17\n"
    )
    found = read_catalog(_file(tmp_path, text, "gcp"))
    assert [one.uid for one in found.clusters] == ["gcp-n2-standard-4-us-central1-a"]
    assert found.left_out == {
        "whose price is without that of their accelerators": 1,
        "without an instance type: an accelerator alone": 1,
    }


BAD = {
    "T4,one,4.0,16.0,,0.5,0.2,us-east-1,us-east-1a,": "AcceleratorCount is 'one'",
    "T4,1.0,-4.0,16.0,,0.5,0.2,us-east-1,us-east-1a,": "vCPUs is '-4.0'",
    "T4,1.0,4.0,nan,,0.5,0.2,us-east-1,us-east-1a,": "MemoryGiB is 'nan'",
    "T4,1.0,4.0,16.0,,-0.5,0.2,us-east-1,us-east-1a,": "Price is '-0.5'",
    "T4,1.0,4.0,16.0,,inf,0.2,us-east-1,us-east-1a,": "Price is 'inf'",
    "T4,1.0,4.0,16.0,,0.5,0.2,,us-east-1a,": "Region is empty",
    "T4,1.0,4.0,16.0,,0.5,0.2,us-east-1": "has 9 fields, the header has 11",
    'T4,1.0,4.0,16.0,,"0.5"x,0.2,us-east-1,us-east-1a,': "expected after",
}


@pytest.mark.parametrize("row", BAD)
def test_a_bad_row_is_refused_with_file_line_and_reason(tmp_path: Path, row: str) -> None:
    file = _file(tmp_path, f"{AWS}g5.xlarge,{row}\n")
    with pytest.raises(InputError, match=BAD[row].replace("(", r"\(")) as caught:
        read_catalog(file)
    assert caught.value.where == f"{file}, line 8"
    assert caught.value.remedy


def test_bad_rows_are_named_together_and_those_not_chosen_do_no_harm(tmp_path: Path) -> None:
    rows = "".join(f"bad{k},T4,1.0,4,16,,x{k},0.2,eu-west-1,eu-west-1a,\n" for k in range(7))
    file = _file(tmp_path, AWS + rows)
    with pytest.raises(InputError, match=r"7 rows cannot be used: .*line 8: Price is 'x0'.*2 more"):
        read_catalog(file)
    assert len(read_catalog(file, Selection(regions=("us-east-1",))).clusters) == 4


def test_machines_of_one_name_are_refused(tmp_path: Path) -> None:
    rows = "p4d-24xlarge,A100,8.0,96.0,1152.0,,21.96,9.5,us-east-1,us-east-1a,x86_64\n"
    with pytest.raises(InputError, match="would be the cluster 'aws-p4d-24xlarge-us-east-1a'"):
        read_catalog(_file(tmp_path, AWS + rows))


def test_a_file_that_is_no_catalog_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"line 1: has no column SpotPrice"):
        read_catalog(_file(tmp_path, "InstanceType,Region,Price\n"))
    with pytest.raises(InputError, match="has no column InstanceType"):
        read_catalog(_file(tmp_path, ""))
    with pytest.raises(DataError, match="there is no such file or folder"):
        read_catalog(tmp_path / "nowhere")
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match=r"there is no vms\.csv"):
        read_catalog(tmp_path / "empty")
    packed = tmp_path / "vms.csv.gz"
    packed.write_bytes(b"no archive")
    with pytest.raises(DataError, match="cannot be read"):
        read_catalog(packed)


def test_a_file_that_was_edited_by_hand_is_named(tmp_path: Path) -> None:
    home = tmp_path / "catalogs/v8"
    file = _file(home, AWS)
    kept = home / ".meta/aws/vms.csv.md5"
    assert read_catalog(file).edited == (str(file),)  # SkyPilot has not fetched it
    kept.parent.mkdir(parents=True)
    kept.write_text(md5(file.read_bytes(), usedforsecurity=False).hexdigest(), encoding="ascii")
    assert read_catalog(file).edited == ()
    file.write_text(AWS.replace("21.96", "22.00"), encoding="utf-8")
    assert read_catalog(file).edited == (str(file),)
