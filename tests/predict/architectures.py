"""Ten published architectures, built here as their papers have them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import nn


def conv(a: int, b: int, size: int, stride: int = 1, groups: int = 1) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(a, b, size, stride, size // 2, groups=groups, bias=False), nn.BatchNorm2d(b)
    )


class LeNet5(nn.Sequential):
    """LeCun et al., 1998, with full connections between its convolutions."""

    def __init__(self) -> None:
        super().__init__(
            nn.Conv2d(1, 6, 5),
            nn.Tanh(),
            nn.AvgPool2d(2),
            nn.Conv2d(6, 16, 5),
            nn.Tanh(),
            nn.AvgPool2d(2),
            nn.Flatten(),
            nn.Linear(400, 120),
            nn.Tanh(),
            nn.Linear(120, 84),
            nn.Tanh(),
            nn.Linear(84, 10),
        )


class AlexNet(nn.Sequential):
    """Krizhevsky, 2014 (one tower)."""

    def __init__(self) -> None:
        super().__init__(
            nn.Conv2d(3, 64, 11, 4, 2),
            nn.ReLU(),
            nn.MaxPool2d(3, 2),
            nn.Conv2d(64, 192, 5, padding=2),
            nn.ReLU(),
            nn.MaxPool2d(3, 2),
            nn.Conv2d(192, 384, 3, padding=1),
            nn.ReLU(),
            nn.Conv2d(384, 256, 3, padding=1),
            nn.ReLU(),
            nn.Conv2d(256, 256, 3, padding=1),
            nn.ReLU(),
            nn.MaxPool2d(3, 2),
            nn.Flatten(),
            nn.Dropout(),
            nn.Linear(9216, 4096),
            nn.ReLU(),
            nn.Dropout(),
            nn.Linear(4096, 4096),
            nn.ReLU(),
            nn.Linear(4096, 1000),
        )


class VGG11(nn.Sequential):
    """Simonyan and Zisserman, 2015, configuration A."""

    def __init__(self) -> None:
        parts: list[nn.Module] = []
        width = 3
        for plan in (64, 0, 128, 0, 256, 256, 0, 512, 512, 0, 512, 512, 0):
            if plan:
                parts += [nn.Conv2d(width, plan, 3, padding=1), nn.ReLU()]
                width = plan
            else:
                parts.append(nn.MaxPool2d(2))
        parts += [nn.Flatten(), nn.Linear(25088, 4096), nn.ReLU(), nn.Linear(4096, 4096)]
        super().__init__(*parts, nn.ReLU(), nn.Linear(4096, 1000))


class Residual(nn.Module):
    def __init__(self, a: int, b: int, stride: int) -> None:
        super().__init__()
        self.body = nn.Sequential(conv(a, b, 3, stride), nn.ReLU(), conv(b, b, 3))
        self.short = nn.Identity() if a == b and stride == 1 else conv(a, b, 1, stride)

    def forward(self, x: Any) -> Any:
        return torch.relu(self.body(x) + self.short(x))


class ResNet18(nn.Sequential):
    """He et al., 2016."""

    def __init__(self) -> None:
        blocks: list[nn.Module] = []
        for a, b, stride in ((64, 64, 1), (64, 128, 2), (128, 256, 2), (256, 512, 2)):
            blocks += [Residual(a, b, stride), Residual(b, b, 1)]
        super().__init__(
            conv(3, 64, 7, 2),
            nn.ReLU(),
            nn.MaxPool2d(3, 2, 1),
            *blocks,
            nn.AdaptiveAvgPool2d(1),
            nn.Flatten(),
            nn.Linear(512, 1000),
        )


class Inverted(nn.Module):
    def __init__(self, a: int, b: int, stride: int, factor: int) -> None:
        super().__init__()
        hidden = a * factor
        widen = [conv(a, hidden, 1), nn.ReLU6()] if factor > 1 else []
        self.body = nn.Sequential(
            *widen, conv(hidden, hidden, 3, stride, hidden), nn.ReLU6(), conv(hidden, b, 1)
        )
        self.same = stride == 1 and a == b

    def forward(self, x: Any) -> Any:
        return x + self.body(x) if self.same else self.body(x)


class MobileNetV2(nn.Sequential):
    """Sandler et al., 2018."""

    def __init__(self) -> None:
        blocks: list[nn.Module] = []
        width = 32
        for factor, out, count, stride in (
            (1, 16, 1, 1),
            (6, 24, 2, 2),
            (6, 32, 3, 2),
            (6, 64, 4, 2),
            (6, 96, 3, 1),
            (6, 160, 3, 2),
            (6, 320, 1, 1),
        ):
            for k in range(count):
                blocks.append(Inverted(width, out, stride if k == 0 else 1, factor))
                width = out
        super().__init__(
            conv(3, 32, 3, 2),
            nn.ReLU6(),
            *blocks,
            conv(320, 1280, 1),
            nn.ReLU6(),
            nn.AdaptiveAvgPool2d(1),
            nn.Flatten(),
            nn.Dropout(0.2),
            nn.Linear(1280, 1000),
        )


class Fire(nn.Module):
    def __init__(self, a: int, squeeze: int, expand: int) -> None:
        super().__init__()
        self.squeeze = nn.Conv2d(a, squeeze, 1)
        self.small = nn.Conv2d(squeeze, expand, 1)
        self.large = nn.Conv2d(squeeze, expand, 3, padding=1)

    def forward(self, x: Any) -> Any:
        x = torch.relu(self.squeeze(x))
        return torch.cat([torch.relu(self.small(x)), torch.relu(self.large(x))], 1)


class SqueezeNet(nn.Sequential):
    """Iandola et al., 2016, version 1.1."""

    def __init__(self) -> None:
        pool = nn.MaxPool2d(3, 2, ceil_mode=True)
        super().__init__(
            nn.Conv2d(3, 64, 3, 2),
            nn.ReLU(),
            pool,
            Fire(64, 16, 64),
            Fire(128, 16, 64),
            pool,
            Fire(128, 32, 128),
            Fire(256, 32, 128),
            pool,
            Fire(256, 48, 192),
            Fire(384, 48, 192),
            Fire(384, 64, 256),
            Fire(512, 64, 256),
            nn.Dropout(),
            nn.Conv2d(512, 1000, 1),
            nn.ReLU(),
            nn.AdaptiveAvgPool2d(1),
            nn.Flatten(),
        )


class DenseLayer(nn.Sequential):
    def __init__(self, a: int) -> None:
        super().__init__(
            nn.BatchNorm2d(a),
            nn.ReLU(),
            nn.Conv2d(a, 128, 1, bias=False),
            nn.BatchNorm2d(128),
            nn.ReLU(),
            nn.Conv2d(128, 32, 3, padding=1, bias=False),
        )

    def forward(self, x: Any) -> Any:
        return torch.cat([x, super().forward(x)], 1)


class DenseNet121(nn.Sequential):
    """Huang et al., 2017."""

    def __init__(self, blocks: Sequence[int] = (6, 12, 24, 16)) -> None:
        parts: list[nn.Module] = [conv(3, 64, 7, 2), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
        width = 64
        for k, count in enumerate(blocks):
            for _ in range(count):
                parts.append(DenseLayer(width))
                width += 32
            if k < len(blocks) - 1:
                parts += [nn.BatchNorm2d(width), nn.ReLU()]
                parts += [nn.Conv2d(width, width // 2, 1, bias=False), nn.AvgPool2d(2)]
                width //= 2
        parts += [nn.BatchNorm2d(width), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten()]
        super().__init__(*parts, nn.Linear(width, 1000))


class UNet(nn.Module):
    """Ronneberger et al., 2015, padded, two levels."""

    def __init__(self) -> None:
        super().__init__()
        self.down = nn.ModuleList([self._pair(1, 64), self._pair(64, 128)])
        self.low = self._pair(128, 256)
        self.grow = nn.ModuleList(
            [nn.ConvTranspose2d(256, 128, 2, 2), nn.ConvTranspose2d(128, 64, 2, 2)]
        )
        self.up = nn.ModuleList([self._pair(256, 128), self._pair(128, 64)])
        self.out = nn.Conv2d(64, 2, 1)

    @staticmethod
    def _pair(a: int, b: int) -> nn.Sequential:
        return nn.Sequential(
            nn.Conv2d(a, b, 3, padding=1), nn.ReLU(), nn.Conv2d(b, b, 3, padding=1), nn.ReLU()
        )

    def forward(self, x: Any) -> Any:
        kept = []
        for step in self.down:
            x = step(x)
            kept.append(x)
            x = nn.functional.max_pool2d(x, 2)
        x = self.low(x)
        for grow, up, side in zip(self.grow, self.up, reversed(kept), strict=True):
            x = up(torch.cat([grow(x), side], 1))
        return self.out(x)


class LanguageModel(nn.Module):
    """A two-layer LSTM language model with tied weights (Press and Wolf, 2017)."""

    def __init__(self, words: int = 1000, width: int = 64) -> None:
        super().__init__()
        self.embed = nn.Embedding(words, width)
        self.lstm = nn.LSTM(width, width, 2, batch_first=True)
        self.out = nn.Linear(width, words)
        self.out.weight = self.embed.weight

    def forward(self, tokens: Any) -> Any:
        return self.out(self.lstm(self.embed(tokens))[0])


class Transformer(nn.Module):
    """An encoder as in Vaswani et al., 2017: two layers of width 64 and four heads."""

    def __init__(self, words: int = 1000, width: int = 64) -> None:
        super().__init__()
        self.embed = nn.Embedding(words, width)
        layer = nn.TransformerEncoderLayer(width, 4, 4 * width, batch_first=True)
        self.body = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.out = nn.Linear(width, 2)

    def forward(self, tokens: Any) -> Any:
        return self.out(self.body(self.embed(tokens)).mean(1))


def image(channels: int, side: int) -> Any:
    return torch.zeros(2, channels, side, side)


def tokens(length: int) -> Any:
    return torch.zeros(2, length, dtype=torch.long)


# Name -> module, example input, published number of parameters (None for sizes of our own).
ARCHITECTURES: dict[str, tuple[Callable[[], nn.Module], Callable[[], Any], int | None]] = {
    "LeNet-5": (LeNet5, lambda: image(1, 32), 61_706),
    "AlexNet": (AlexNet, lambda: image(3, 224), 61_100_840),
    "VGG-11": (VGG11, lambda: image(3, 224), 132_863_336),
    "ResNet-18": (ResNet18, lambda: image(3, 224), 11_689_512),
    "MobileNetV2": (MobileNetV2, lambda: image(3, 224), 3_504_872),
    "SqueezeNet 1.1": (SqueezeNet, lambda: image(3, 224), 1_235_496),
    "DenseNet-121": (DenseNet121, lambda: image(3, 224), 7_978_856),
    "U-Net": (UNet, lambda: image(1, 32), None),
    "LSTM language model": (LanguageModel, lambda: tokens(12), None),
    "Transformer": (Transformer, lambda: tokens(12), None),
}
