"""MNIST's files, and what is wrong with them when something is."""

from __future__ import annotations

import gzip
import struct
from pathlib import Path

import numpy as np
import pytest

from walras import data
from walras.data import mnist
from walras.errors import DataError


def _images(count: int, side: int = 28) -> bytes:
    pixels = (np.arange(count * side * side) % 256).astype(np.uint8).tobytes()
    return gzip.compress(struct.pack(">4I", 0x0803, count, side, side) + pixels)


def _labels(values: list[int]) -> bytes:
    return gzip.compress(struct.pack(">2I", 0x0801, len(values)) + bytes(values))


def _write(folder: Path, **changed: bytes) -> Path:
    content = dict(zip(mnist.FILES, (_images(3), _labels([0, 9, 4])) * 2, strict=True))
    for name, value in (content | changed).items():
        (folder / name).write_bytes(value)
    return folder


def test_images_become_rows_of_pixels(tmp_path: Path) -> None:
    digits = mnist.read(_write(tmp_path))
    assert digits.train_images.shape == (3, 784)
    assert digits.test_labels.tolist() == [0, 9, 4]
    train, test = digits.scaled()
    assert train.dtype == np.float32
    assert float(test.max()) == 1.0


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"IDX", "compressed|gzip"),
        (_images(3)[:-9], "end-of-stream"),
        (gzip.compress(struct.pack(">4I", 0x0803, 3, 28, 28)), "reshape"),
        (_labels([1, 2, 3]), "magic number 0x0801"),
        (_images(3, side=14), "images are"),
        (_images(2), "3 labels of 2 images"),
    ],
    ids=["not compressed", "cut short", "no pixels", "labels", "small images", "one too few"],
)
def test_a_broken_file_is_named_with_the_reason(
    tmp_path: Path, content: bytes, reason: str
) -> None:
    folder = _write(tmp_path, **{mnist.FILES[0]: content})
    with pytest.raises(DataError, match=reason) as caught:
        mnist.read(folder)
    assert "mnist" in str(caught.value)


def test_a_label_beyond_nine_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="label 10"):
        mnist.read(_write(tmp_path, **{mnist.FILES[1]: _labels([0, 10, 1])}))


@pytest.mark.real_data("mnist")
def test_the_real_set_is_the_canonical_one() -> None:
    digits = data.load("mnist", synthetic=False)
    assert (len(digits.train_labels), len(digits.test_labels)) == (60000, 10000)
    assert np.bincount(digits.train_labels)[:3].tolist() == [5923, 6742, 5958]
    assert digits.scaled()[0].mean() == pytest.approx(0.13066, abs=1e-5)
