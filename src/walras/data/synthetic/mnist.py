"""A synthetic stand-in for MNIST: ten blurred mean digits, with noise.

An image is its digit's mean brightness on a coarse grid of 7 by 7 blocks, plus normal noise of each
block, plus normal noise of each pixel, cut to 0..255. ``FITTED`` holds what
``walras data fit mnist`` prints on the real set. Training on it says nothing about handwriting.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from walras.data.mnist import CLASSES, NAME, SIDE, Bytes, Digits

_GRID = 7
_BLOCK = SIDE // _GRID
_TRAIN, _TEST = 6000, 1000  # a tenth of the real set


@dataclass(frozen=True)
class Model:
    """The parameters of the stand-in.

    Attributes:
        means: Of each digit, the 49 blocks' mean brightness, two hexadecimal digits a block.
        block_sd: Of each digit, the standard deviation within a block's means.
        pixel_sd: The standard deviation of a pixel about its block.
    """

    means: tuple[str, ...]
    block_sd: tuple[float, ...]
    pixel_sd: float


FITTED = Model(
    means=(
        "000000010100000002247a862900001480786c760400468013308008"
        "0067622173580300369e9b5f0f0000010607010000",  # 0
        "000000000000000000043f480d00000003714f0300000004a71b0000"
        "0000229b0a00000006436510010000000405010000",  # 1
        "0000040b060100000d5088711700000e2a357525000008295e751702"
        "013c8ca779390901327357452a0400000101010000",  # 2
        "0000010201000000135888651100010f2a617f16000004469d7f1300"
        "02131823792c000332788c69100000041012040000",  # 3
        "0000000000000000051a192b2102001464316e2b0100339b65a22101"
        "001b4d7f7211000001144c3b08000000050d090100",  # 4
        "00000000010000000322535a3b0a000b6570412609001079774b0e00"
        "00182539611f0100206d7d550f0000010d11050000",  # 5
        "00000514180500000220634109000007525f190c000013856b7d4404"
        "00169c8d8a410200043e733e070000000000000000",  # 6
        "00000000000000000718221e080004348487a6310001142126921600"
        "00030e6d5c060000022a74220100000527330e0100",  # 7
        "0000000000000000032771702602000e6961764305000752b2711101"
        "000b6b83500e0000167b8a500b0000011118060000",  # 8
        "000000000000000001104336070000117765851f0000237d6fa11200"
        "000933696607000001165a3a070000011324160400",  # 9
    ),
    block_sd=(40.6, 27.2, 40.9, 36.0, 35.0, 38.1, 36.1, 33.6, 36.6, 33.0),
    pixel_sd=52.1,
)


def stand_in(seed: int, model: Model | None = None) -> Digits:
    """Draw synthetic images of digits.

    Args:
        seed: Of the random numbers.
        model: Parameters; those fitted to the real set when left out.
    """
    model = FITTED if model is None else model
    random = np.random.default_rng(seed)
    labels = random.integers(0, CLASSES, _TRAIN + _TEST).astype(np.uint8)
    means = np.array([list(bytes.fromhex(text)) for text in model.means], np.float64)
    spread = np.array(model.block_sd)[labels, None]
    blocks = means[labels] + spread * random.normal(size=(len(labels), _GRID**2))
    image = np.kron(blocks.reshape(-1, _GRID, _GRID), np.ones((1, _BLOCK, _BLOCK)))
    image += random.normal(0.0, model.pixel_sd, image.shape)
    images = np.clip(np.rint(image), 0, 255).astype(np.uint8).reshape(len(labels), -1)
    origin = f"{NAME} model fitted to the set, seed {seed}"
    return Digits(
        images[:_TRAIN],
        labels[:_TRAIN],
        images[_TRAIN:],
        labels[_TRAIN:],
        "synthetic stand-in",
        origin,
    )


def fit(data: Digits) -> Model:
    """Estimate the model's means and standard deviations from the training images."""
    pixels = data.train_images.reshape(-1, _GRID, _BLOCK, _GRID, _BLOCK).astype(np.float64)
    blocks = pixels.mean(axis=(2, 4))
    own = [blocks[data.train_labels == digit] for digit in range(CLASSES)]
    means = [group.mean(axis=0) for group in own]
    return Model(
        means=tuple(_hexadecimal(np.rint(mean).astype(np.uint8)) for mean in means),
        block_sd=tuple(
            round(float((group - mean).std()), 1) for group, mean in zip(own, means, strict=True)
        ),
        pixel_sd=round(float((pixels - blocks[:, :, None, :, None]).std()), 1),
    )


def _hexadecimal(block: Bytes) -> str:
    return block.ravel().tobytes().hex()
