"""Run the cells of a notebook, write or check their outputs; and notebooks as pages.

    python docs/notebook_pages.py docs/notebooks/cluster_round.ipynb          # write the outputs
    python docs/notebook_pages.py --check docs/notebooks/cluster_round.ipynb  # compare them

A notebook is JSON: its cells run in one namespace, in order, without Jupyter. A cell shows what it
prints, then its last expression: a figure as a picture, anything else by its ``repr``.
"""

from __future__ import annotations

import ast
import base64
import contextlib
import io
import json
import os
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

_FIGURE = "<Figure>"


def run(notebook: dict[str, Any], folder: Path) -> list[list[dict[str, Any]]]:
    """The outputs of each code cell; the cells run in a folder of their own."""
    names: dict[str, object] = {"__name__": "__main__"}
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    with contextlib.chdir(folder):
        return [_outputs(_text(cell), names, number) for number, cell in enumerate(cells, 1)]


def _outputs(source: str, names: dict[str, object], number: int) -> list[dict[str, Any]]:
    tree = ast.parse(source)
    shown = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, f"cell {number}", "exec"), names)
        last = shown and ast.Expression(shown.value)
        value = eval(compile(last, f"cell {number}", "eval"), names) if last else None
    found: list[dict[str, Any]] = []
    if printed.getvalue():
        stream = {"output_type": "stream", "name": "stdout", "text": _lines(printed.getvalue())}
        found.append(stream)
    if isinstance(value, Figure):
        data = {"image/png": _png(value), "text/plain": [_FIGURE]}
        found.append({"output_type": "display_data", "metadata": {}, "data": data})
    elif value is not None:
        data = {"text/plain": _lines(repr(value))}
        result = {"output_type": "execute_result", "execution_count": number}
        found.append({**result, "metadata": {}, "data": data})
    return found


def _png(figure: Figure) -> str:
    content = io.BytesIO()
    figure.savefig(content, format="png", dpi=90, facecolor="white")
    return base64.b64encode(content.getvalue()).decode()


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def _text(cell: dict[str, Any]) -> str:
    return "".join(cell["source"])


def texts(outputs: list[dict[str, Any]]) -> list[str]:
    """What the outputs of a cell say in words."""
    parts = (one.get("text") or one["data"]["text/plain"] for one in outputs)
    return ["".join(part).strip("\n") for part in parts]


def differences(notebook: dict[str, Any], found: list[list[dict[str, Any]]]) -> list[str]:
    """Cells whose outputs are not those that the notebook holds."""
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    pairs = enumerate(zip(cells, found, strict=True), 1)
    return [
        f"cell {number} holds\n{texts(cell['outputs'])}\nand gives\n{texts(outputs)}"
        for number, (cell, outputs) in pairs
        if texts(cell["outputs"]) != texts(outputs)
    ]


def fill(notebook: dict[str, Any], found: list[list[dict[str, Any]]]) -> str:
    """The notebook with these outputs, as the text of its file."""
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    for number, (cell, outputs) in enumerate(zip(cells, found, strict=True), 1):
        cell["execution_count"], cell["outputs"] = number, outputs
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


def as_page(text: str) -> str:
    """A notebook as a MyST page: code, then its outputs."""
    parts = []
    for cell in json.loads(text)["cells"]:
        if cell["cell_type"] == "markdown":
            parts.append(_text(cell))
            continue
        parts.append(f"```python\n{_text(cell)}\n```")
        for output, words in zip(cell["outputs"], texts(cell["outputs"]), strict=True):
            picture = output.get("data", {}).get("image/png")
            address = f"![The figure of the cell above](data:image/png;base64,{picture})"
            parts.append(address if picture else f"```text\n{words}\n```")
    return "\n\n".join(parts)


def setup(app: Any) -> dict[str, bool]:
    """Let Sphinx read notebooks, by what it reads pages with."""
    from myst_parser.parsers.sphinx_ import MystParser  # noqa: PLC0415  needed by Sphinx alone

    class NotebookParser(MystParser):
        """Reads a notebook as the page that it makes."""

        supported = ("notebook",)

        def parse(self, inputstring: str, document: Any) -> None:
            super().parse(as_page(inputstring), document)

    app.add_source_suffix(".ipynb", "notebook")
    app.add_source_parser(NotebookParser)
    return {"parallel_read_safe": True}


def main(arguments: list[str]) -> None:
    """Write the outputs of notebooks, or check them; warnings are errors."""
    warnings.simplefilter("error")
    check = arguments[:1] == ["--check"]
    for name in arguments[check:]:
        path = Path(name).resolve()
        notebook = json.loads(path.read_text(encoding="utf-8"))
        with tempfile.TemporaryDirectory() as place:
            found = run(notebook, Path(place))
        if not check:
            path.write_text(fill(notebook, found), encoding="utf-8")
        elif wrong := differences(notebook, found):
            sys.exit(f"{name}: run docs/notebook_pages.py on it\n" + "\n".join(wrong))


if __name__ == "__main__":
    os.environ.setdefault("COLUMNS", "100")
    main(sys.argv[1:])
