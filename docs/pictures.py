"""Draw README's picture: the first example's allocation and prices."""

from __future__ import annotations

import re
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure

ROOT = Path(__file__).resolve().parent.parent
PICTURE = ROOT / "docs" / "pictures" / "cluster_round.svg"
INK = {"vision": "#1f6fd1", "speech": "#e07b00", "translation": "#2a9d57", "ranking": "#9b59b6"}


def example() -> str:
    """The Python block of README that the picture shows."""
    return re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL)[0]


def draw() -> Figure:
    """Shares of time on the left, prices on the right, from what README's example computes."""
    names: dict[str, object] = {}
    exec(example(), names)
    solution = names["s"]
    shares = solution.frame()  # type: ignore[attr-defined]
    figure = Figure(figsize=(7.6, 2.3), layout="constrained", facecolor="white")
    left, right = figure.subplots(1, 2, width_ratios=[3, 1])
    for k, gpu in enumerate(shares.index):
        begin = 0.0
        for job, share in shares.loc[gpu].items():
            if share > 1e-6:
                left.barh(k, share, left=begin, color=INK[job], edgecolor="white")
                inside = share > 0.2
                at, colour = (begin + share / 2, "white") if inside else (begin + share, INK[job])
                for text, up in ((job, -0.13), (f"{share:.2f}", 0.13)):
                    left.annotate(
                        text,
                        (at, k + up),
                        (0 if inside else 4, 0),
                        textcoords="offset points",
                        ha="center" if inside else "left",
                        va="center",
                        color=colour,
                        fontsize=8,
                    )
                begin += share
    left.set_yticks(range(len(shares.index)), shares.index)
    left.invert_yaxis()
    left.set_xlabel("GPUs in use, by job")
    prices = solution.prices["capacity"]  # type: ignore[attr-defined]
    right.bar(list(shares.index), prices, color="#555555", width=0.5)
    right.set_ylabel("price of one more GPU")
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
    return figure


if __name__ == "__main__":
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "walras", "font.size": 9}):
        draw().savefig(PICTURE, metadata={"Date": None, "Creator": None})
