"""Sphinx configuration: MyST pages, the API from docstrings, the furo theme."""

from importlib.metadata import version as installed
from importlib.util import find_spec

from sphinx.util.inspect import TypeAliasForwardRef

project = "Walras"
author = "The Walras authors"
copyright = "2026, the Walras authors"
release = version = installed("walras")

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.mathjax",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
]
exclude_patterns = ["_build"]

myst_enable_extensions = ["colon_fence", "dollarmath", "fieldlist"]
myst_heading_anchors = 3

# An extra, which the documentation is built without just as well.
autodoc_mock_imports = [] if find_spec("torch") else ["torch"]
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"
autodoc_member_order = "bysource"
# Signatures name the types that readers know, not the aliases of the source.
autodoc_type_aliases = {
    "npt.ArrayLike": "ArrayLike",
    **dict.fromkeys(("Matrix", "Vector", "Table", "Demand"), "ArrayLike"),
    **dict.fromkeys(("Floats", "Ints", "Longs", "Bools", "Weights"), "ndarray"),
    **{name: name for name in ("Earlier", "Features", "OnProgress", "Placement", "Speedup")},
}
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_use_ivar = True
napoleon_custom_sections = [("Common arguments", "params_style")]

html_theme = "furo"
html_title = "Walras"
html_copy_source = False
# Mathematics is drawn by MathJax when a reader is on line; the pages themselves need no network.

# Of an alias in a union Sphinx writes TypeAliasForwardRef('ArrayLike'): its name alone is meant.
TypeAliasForwardRef.__repr__ = lambda self: self.name
