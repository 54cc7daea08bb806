"""The robustness studies and micro-benchmarks of Xu, Yu and Yan (OSDI 2025, sections 7.2 and 7.3).

``python -m benchmarks.experiments`` runs them all; each writes a table (CSV) and a figure (PNG)
into ``benchmarks/results/experiments.jsonl``, and the page that the documentation shows.
"""
