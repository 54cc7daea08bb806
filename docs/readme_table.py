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


if __name__ == "__main__":
    readme = ROOT / "README.md"
    table = (ROOT / "benchmarks" / "results" / "table.md").read_text(encoding="utf-8")
    readme.write_text(with_table(readme.read_text(encoding="utf-8"), table), encoding="utf-8")
