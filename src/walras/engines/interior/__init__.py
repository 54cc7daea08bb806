"""The structured interior point: fast and exact where one side is narrow.

The engine's files, in the order of a solve:

- ``form``: the problem in blocks with narrow rows; ``options``: what a caller may vary.
- ``start``, ``shares``, ``equilibrium_start``: where the method begins.
- ``newton``: one system by a Schur complement on the narrow side.
- ``steps``, ``step_length``, ``point``: one iteration; ``loop``: all of them.
- ``columns``, ``new_demands``: column generation, and entries of new demands.
- ``presolve_simplices``, ``blocks``: blocks whose choice is still open.
- ``engine``: the class that callers use.

The formulas are in docs/explanation/method.md.
"""

from walras.engines.interior.engine import Interior

__all__ = ["Interior"]
