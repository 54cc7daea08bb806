"""Copy the benchmarks' first table into README.md, between its two markers."""

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BEGIN, END = "<!-- benchmarks:begin -->", "<!-- benchmarks:end -->"


def summary(table: str) -> str:
    """The first table of the benchmarks' page: target and measurement of each case."""
    return table.strip().split("\n\n")[0]


def with_table(readme: str, table: str) -> str:
    """README's text with the summary in place of whatever stood between the markers."""
    before, rest = readme.split(BEGIN)
    _, after = rest.split(END)
    return f"{before}{BEGIN}\n{summary(table)}\n{END}{after}"


def update(readme: Path, table: Path) -> bool:
    """Bring README up to a table; False, and no file touched, where there is nothing new."""
    if not table.exists():
        return False
    old = readme.read_text(encoding="utf-8")
    new = with_table(old, table.read_text(encoding="utf-8"))
    if new != old:
        readme.write_text(new, encoding="utf-8")
    return new != old


if __name__ == "__main__":
    update(ROOT / "README.md", ROOT / "benchmarks" / "results" / "table.md")
