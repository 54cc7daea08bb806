"""What an engine sees: the separable form of an allocation problem, and the ways into it."""

from walras.separable.form import Family, Rows, Separable, Side, Utility
from walras.separable.lexicographic import Leximin, leximin_of

__all__ = ["Family", "Leximin", "Rows", "Separable", "Side", "Utility", "leximin_of"]
