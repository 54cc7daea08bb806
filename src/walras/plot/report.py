"""A report as one HTML file that fetches nothing: tables, figures, words."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import jinja2
from markupsafe import Markup
from matplotlib.figure import Figure as MplFigure

from walras.files import write_text
from walras.plot.style import to_svg


@dataclass(frozen=True)
class Table:
    """Rows under headings; cells are shown as given.

    Attributes:
        columns: Headings.
        rows: One string a column; the first is the row's heading.
        caption: What the table shows.
        strong: Rows to stress, by position.
        words: Columns of sentences, by position; their lines wrap.

    Example:
        >>> from walras import plot
        >>> plot.Table(["job", "share"], [["lab", "0.5"], ["web", "0.5"]]).columns
        ['job', 'share']
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    caption: str = ""
    strong: frozenset[int] = frozenset()
    words: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Figure:
    """A drawn figure and the sentence below it.

    Attributes:
        drawing: The matplotlib figure.
        caption: The sentence below it.

    Example:
        >>> import pandas as pd
        >>> from walras import plot
        >>> frame = pd.DataFrame({"policy": ["fair"] * 2, "throughput": [1.0, 2.0]})
        >>> figure = plot.Figure(plot.throughput_distribution(frame), "Two jobs.")
        >>> "<svg" in figure.svg
        True
    """

    drawing: MplFigure
    caption: str

    @property
    def svg(self) -> Markup:
        """The drawing, inline."""
        return Markup(to_svg(self.drawing, self.caption))


@dataclass(frozen=True)
class Section:
    """A heading with words, tables and figures, in that order.

    Attributes:
        title: The heading.
        paragraphs: The words, one string per paragraph.
        tables: The tables, each a :class:`Table`.
        figures: The figures.

    Example:
        >>> from walras import plot
        >>> plot.Section("Shares", ["Both jobs run."]).title
        'Shares'
    """

    title: str
    paragraphs: Sequence[str] = ()
    tables: Sequence[Table] = ()
    figures: Sequence[Figure] = ()


@dataclass(frozen=True)
class Report:
    """What the page says.

    Attributes:
        title: Its title.
        lead: The one thing to take away.
        sections: Its sections.
        facts: Names and values for the foot: seed, versions, times.
        notice: What must be known before the rest is read, such as that data are synthetic.

    Example:
        >>> from walras import plot
        >>> table = plot.Table(["job", "share"], [["lab", "0.5"], ["web", "0.5"]])
        >>> shares = plot.Section("Shares", tables=[table])
        >>> report = plot.Report("Round 7", "Both jobs run.", [shares])
        >>> "<h1" in plot.render(report)
        True
    """

    title: str
    lead: str
    sections: Sequence[Section]
    facts: Sequence[tuple[str, str]] = field(default_factory=tuple)
    notice: str = ""


def render(report: Report) -> str:
    """Render a report as one HTML page.

    Args:
        report: The report.

    Returns:
        The page's HTML.

    Example:
        >>> from walras import plot
        >>> table = plot.Table(["job", "share"], [["lab", "0.5"], ["web", "0.5"]])
        >>> shares = plot.Section("Shares", tables=[table])
        >>> report = plot.Report("Round 7", "Both jobs run.", [shares])
        >>> "Round 7" in plot.render(report)
        True
    """
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("walras.plot"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("report.html").render(report=report)


def write(report: Report, path: Path) -> None:
    """Write the report to a file; folders are made.

    Args:
        report: The report.
        path: The file to write.

    Raises:
        DataError: The file cannot be written.

    Example:
        >>> from pathlib import Path
        >>> from walras import plot
        >>> table = plot.Table(["job", "share"], [["lab", "0.5"], ["web", "0.5"]])
        >>> shares = plot.Section("Shares", tables=[table])
        >>> report = plot.Report("Round 7", "Both jobs run.", [shares])
        >>> plot.write(report, Path("report.html"))
        >>> Path("report.html").exists()
        True
    """
    with suppress(OSError):  # what comes next reports it
        path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, render(report), "choose another --report PATH")
