"""What an engine sees: the separable form of an allocation problem, and the ways into it."""

from walras.separable.form import Family, Rows, Separable, Side, Utility
from walras.separable.lexicographic import Leximin, leximin_of
from walras.separable.tasks import assignment

__all__ = ["Family", "Leximin", "Rows", "Separable", "Side", "Utility", "assignment", "leximin_of"]
