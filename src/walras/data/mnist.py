"""MNIST: handwritten digits, the shared model's standard test."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from walras.data.dataset import Source
from walras.data.store import unpacked, unreadable

NAME = "mnist"
FILES = (
    "train-images-idx3-ubyte.gz",
    "train-labels-idx1-ubyte.gz",
    "t10k-images-idx3-ubyte.gz",
    "t10k-labels-idx1-ubyte.gz",
)
SIDE = 28  # pixels
CLASSES = 10
_IMAGES, _LABELS = 0x0803, 0x0801  # magic numbers: unsigned bytes of three axes, of one

Bytes = npt.NDArray[np.uint8]


@dataclass(frozen=True, eq=False)
class Digits:
    """Grey-scale images of digits, and which digit each shows.

    Attributes:
        train_images: (samples, 784) 0 is background, 255 ink.
        train_labels: (samples,) 0..9.
        test_images: (samples, 784).
        test_labels: (samples,).
        source: Whether people wrote them, or they were drawn from a model.
        origin: Where they come from, in words.

    Example:
        >>> import walras as wl
        >>> found = wl.data.load("mnist", synthetic=True)
        >>> found.train_images.shape[1], sorted(set(found.test_labels.tolist()))
        (784, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    """

    train_images: Bytes
    train_labels: Bytes
    test_images: Bytes
    test_labels: Bytes
    source: Source
    origin: str

    def scaled(self) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
        """Training and test images with ink 1, in single precision."""
        return (
            self.train_images.astype(np.float32) / np.float32(255.0),
            self.test_images.astype(np.float32) / np.float32(255.0),
        )


def read(folder: Path) -> Digits:
    """Read the four files in IDX form.

    Raises:
        DataError: A file is not what it should be.
    """
    parts = []
    for k in (0, 2):
        images, labels = _array(folder / FILES[k], _IMAGES), _array(folder / FILES[k + 1], _LABELS)
        if images.shape[1:] != (SIDE, SIDE):
            raise unreadable(NAME, folder / FILES[k], f"images are {images.shape[1:]}")
        if len(images) != len(labels):
            reason = f"{len(labels)} labels of {len(images)} images"
            raise unreadable(NAME, folder / FILES[k + 1], reason)
        if labels.max(initial=0) >= CLASSES:
            raise unreadable(NAME, folder / FILES[k + 1], f"label {labels.max()}")
        parts += [images.reshape(len(images), -1), labels]
    return Digits(parts[0], parts[1], parts[2], parts[3], "measured", str(folder))


def _array(path: Path, magic: int) -> Bytes:
    """One IDX file: big-endian magic number and axes, then bytes."""
    try:
        content = unpacked(path)
        axes = magic & 0xFF
        (found,) = struct.unpack_from(">I", content)
        if found != magic:
            raise unreadable(NAME, path, f"magic number {found:#06x}")
        shape = struct.unpack_from(f">{axes}I", content, 4)
        return np.frombuffer(content, np.uint8, offset=4 + 4 * axes).reshape(shape)
    except (OSError, EOFError, ValueError, struct.error) as error:
        raise unreadable(NAME, path, error) from error
