"""Reading a certificate: why a demand got what it got, what resources are worth, what changed.

Everything here is computed from a problem and its certificate; nothing is solved again, but small
linear programs over the optimal prices where they are not unique.
"""

from walras.explain.active import resource_prices
from walras.explain.diff import Difference, difference
from walras.explain.marginal_values import worth
from walras.explain.why import Explanation, explain

__all__ = ["Difference", "Explanation", "difference", "explain", "resource_prices", "worth"]
