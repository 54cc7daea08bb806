"""Domain words to the separable form: one package a kind of allocation problem."""

from walras.domains import cluster_scheduling, load_balancing, traffic_engineering

__all__ = ["cluster_scheduling", "load_balancing", "traffic_engineering"]
