"""The structured interior point: fast and exact where one side is narrow.

``form`` orders a problem in blocks, ``start`` finds a centred point, ``newton`` solves one system
by a Schur complement on the narrow side, ``steps`` makes an iteration of it, ``method`` loops,
``columns`` keeps the loop to the entries that matter, ``simplices`` and ``blocks`` to the blocks
whose choice is open, ``newcomers`` centres new ones, ``engine`` is the face that others call.
The formulas are in docs/explanation/method.md.
"""

from walras.engines.interior.engine import Interior

__all__ = ["Interior"]
