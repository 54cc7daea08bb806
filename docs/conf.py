"""Sphinx configuration: MyST pages, the API from docstrings, the furo theme."""

import sys
from importlib.metadata import version as installed
from importlib.util import find_spec
from pathlib import Path

from sphinx.util.inspect import TypeAliasForwardRef

from walras import lazy

sys.path.insert(0, str(Path(__file__).parent))

project = "Walras"
author = "The Walras authors"
copyright = "2026, the Walras authors"
release = version = installed("walras")

extensions = [
    "mathml",
    "myst_parser",
    "notebook_pages",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
]
exclude_patterns = ["_build"]
templates_path = ["_templates"]
# A word of a docstring may be the name of several attributes.
suppress_warnings = ["ref.python"]

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath", "fieldlist"]
myst_heading_anchors = 3

# The documentation is built without the extra torch, too: names that need it are then read with
# an empty torch in its place.
autodoc_mock_imports = [] if find_spec("torch") else ["torch"]
if autodoc_mock_imports:
    lazy.need_torch = lambda *_: None
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
html_math_renderer = "mathml"  # formulas, and all else on the pages, need no network

# Of an alias in a union Sphinx writes TypeAliasForwardRef('ArrayLike'): its name alone is meant.
TypeAliasForwardRef.__repr__ = lambda self: self.name
