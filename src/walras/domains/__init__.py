"""Domain words to the separable form: one package a kind of allocation problem."""

from walras.domains import cluster_scheduling

__all__ = ["cluster_scheduling"]
