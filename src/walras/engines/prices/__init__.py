"""Few prices: Newton's method on the dual of problems with few resources and very many demands.

- ``dual``: the dual function, smoothed, by passes over all demands.
- ``newton``: its minimum over the prices.
- ``engine``: from a sample of the demands to all of them; the class that callers use.
"""

from walras.engines.prices.engine import Prices

__all__ = ["Prices"]
