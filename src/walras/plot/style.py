"""How figures look: drawn in stand-in colours that the page replaces, so both themes read well."""

from __future__ import annotations

import io
import math
import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.backend_bases import RendererBase
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure as MplFigure
from matplotlib.text import Text
from matplotlib.ticker import LogLocator, NullLocator

from walras.text import visible


@dataclass(frozen=True)
class Ink:
    """A colour of the page.

    Attributes:
        variable: The page's CSS variable.
        stand_in: What Matplotlib draws with, also a fair colour for figures saved on their own.
    """

    variable: str
    stand_in: str


TEXT = Ink("--ink", "#21262e")
FAINT = Ink("--faint", "#8a929d")
SERIES = (
    Ink("--series-1", "#1f6fd1"),
    Ink("--series-2", "#d1731f"),
    Ink("--series-3", "#2a9d63"),
    Ink("--series-4", "#b0429a"),
    Ink("--series-5", "#6d7480"),
    Ink("--series-6", "#a98a14"),
    Ink("--series-7", "#c43d3d"),
    Ink("--series-8", "#1695a3"),
)
# Lines are told apart in grey and by colour-blind readers too.
DASHES: tuple[str | tuple[int, tuple[float, ...]], ...] = (
    "-",
    (0, (5, 1.5)),
    (0, (1.2, 1.2)),
    (0, (5, 1.5, 1.2, 1.5)),
    (0, (8, 2)),
    (0, (3, 1, 1, 1, 1, 1)),
    (0, (2, 2)),
    (0, (10, 1)),
)
FADE = LinearSegmentedColormap.from_list("fade", [(0.12, 0.44, 0.82, 0.0), (0.12, 0.44, 0.82, 1.0)])
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_RC: dict[Any, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "walras",
    "font.family": "sans-serif",
    "font.size": 10.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
}


class PlainFigure(MplFigure):
    """A figure that shows text as it stands: a name such as ``$x_{$`` is no formula.

    Control characters are made visible. Characters that the font lacks are boxes, without a word.
    """

    def draw(self, renderer: RendererBase) -> None:
        """Draw it, the texts that come into being on the way among it."""
        with mpl.rc_context({"text.parse_math": False}), warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Glyph .* missing from")
            for text in self.findobj(Text):
                if isinstance(text, Text):
                    text.set_parse_math(False)
                    text.set_text(visible(text.get_text()))
            super().draw(renderer)


def blank(width: float = 6.4, height: float = 3.4, panels: int = 1) -> tuple[MplFigure, list[Axes]]:
    """An empty figure with transparent ground and its axes, side by side.

    Args:
        width: Inches.
        height: Inches.
        panels: Number of axes.
    """
    with mpl.rc_context(_RC):
        figure = PlainFigure(figsize=(width, height), layout="constrained")
        figure.patch.set_alpha(0.0)
        made = figure.subplots(1, panels, squeeze=False)[0]
    for axes in made:
        _dress(axes)
    return figure, list(made)


def _dress(axes: Axes) -> None:
    axes.patch.set_alpha(0.0)
    for spine in axes.spines.values():
        spine.set_color(FAINT.stand_in)
    axes.tick_params(which="both", colors=TEXT.stand_in, labelsize=9)
    axes.grid(True, color=FAINT.stand_in, alpha=0.25, linewidth=0.6)
    axes.set_axisbelow(True)
    for label in (axes.xaxis.label, axes.yaxis.label, axes.title):
        label.set_color(TEXT.stand_in)


def log_scale(axes: Axes, which: Literal["x", "y"]) -> None:
    """A logarithmic axis over what is drawn, labelled in plain text: 0.5, 10⁻³.

    Formulas and minor ticks would take most of a figure's time.

    Args:
        axes: The axes, after their curves.
        which: x or y.
    """
    axes.set(**{f"{which}scale": "log"})
    axis = axes.xaxis if which == "x" else axes.yaxis
    low, high = axis.get_data_interval()
    few = high < 1e3 * low
    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)) if few else LogLocator(numticks=8))
    axis.set_major_formatter(_plain)
    axis.set_minor_locator(NullLocator())


def _plain(x: float, _: float) -> str:
    if 0.01 <= x < 1e4:
        return f"{x:g}"
    exponent = math.floor(math.log10(x) + 1e-9)
    mantissa, power = f"{x / 10.0**exponent:g}", "10" + str(exponent).translate(_RAISED)
    return power if mantissa == "1" else f"{mantissa}·{power}"


def legend(axes: Axes, *, outside: bool = False) -> None:
    """A legend without a frame, in the colour of text; inside the axes or to their right."""
    if outside:
        made = axes.legend(frameon=False, fontsize=9, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    else:
        made = axes.legend(frameon=False, fontsize=9)
    for text in made.get_texts():
        text.set_color(TEXT.stand_in)


def to_svg(figure: MplFigure, title: str) -> str:
    """A figure as an inline ``<svg>`` that takes its colours from the page and fetches nothing.

    Args:
        figure: The figure.
        title: Read out to those who do not see it.
    """
    text = io.StringIO()
    # The salt makes ids differ between the figures of one page, and equal between runs.
    with mpl.rc_context({**_RC, "svg.hashsalt": title}):
        figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    svg = visible(text.getvalue())  # names at ticks may hold what XML may not
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'(<svg[^>]*?) width="[^"]*"', r"\1", svg, count=1)
    svg = re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", svg, count=1)
    svg = svg.replace("<svg", f'<svg role="img" aria-label="{_escape(title)}"', 1)
    return _with_page_colours(svg, (TEXT, FAINT, *SERIES))


def _with_page_colours(svg: str, inks: Sequence[Ink]) -> str:
    for ink in inks:
        svg = svg.replace(ink.stand_in, f"var({ink.variable})")
    return svg


def _escape(text: str) -> str:
    return text.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;")
