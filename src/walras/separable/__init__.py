"""What an engine sees: the separable form of an allocation problem, and the ways into it."""

from walras.separable.form import Family, Rows, Separable, Side, Utility

__all__ = ["Family", "Rows", "Separable", "Side", "Utility"]
