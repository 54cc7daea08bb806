"""A Sphinx extension that writes formulas as MathML, which browsers draw without any script."""

from __future__ import annotations

import re

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.writers.html5 import HTML5Translator

_log = logging.getLogger(__name__)
_SIZES = re.compile(r"\\[bB]ig(?![a-zA-Z])")  # sizes of brackets, which the browser chooses itself
_HALVES = re.compile(r"(\\[td]?frac)(\d)(\d)")  # \tfrac12 is one number to the converter


def to_mathml(formula: str, *, block: bool) -> str:
    """A LaTeX formula as a ``<math>`` element.

    Raises:
        MathError: The formula holds what the converter does not know.
    """
    return tex2mathml(_HALVES.sub(r"\1{\2}{\3}", _SIZES.sub("", formula)), as_block=block)


def _written(node: nodes.Element, *, block: bool) -> str:
    try:
        return to_mathml(node.astext(), block=block)
    except MathError as error:
        _log.warning("formula is not understood: %s", error, location=node)
        return f"<code>{nodes.unescape(node.astext())}</code>"


def _inline(translator: HTML5Translator, node: nodes.math) -> None:
    translator.body.append(_written(node, block=False))
    raise nodes.SkipNode


def _display(translator: HTML5Translator, node: nodes.math_block) -> None:
    translator.body.append(f'<div class="formula">{_written(node, block=True)}</div>')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, object]:
    """Register the renderer under the name ``mathml``."""
    app.add_html_math_renderer("mathml", (_inline, None), (_display, None))
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
