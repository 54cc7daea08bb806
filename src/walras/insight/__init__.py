"""Reading a certificate: why a demand got what it got, what resources are worth, what changed.

Everything here is computed from a problem and its certificate; nothing is solved again, but small
linear programs over the optimal prices where they are not unique.
"""

from walras.insight.active import resource_prices
from walras.insight.difference import Difference, difference
from walras.insight.explain import Explanation, explain
from walras.insight.worth import worth

__all__ = ["Difference", "Explanation", "difference", "explain", "resource_prices", "worth"]
