"""Proofs at any moment: an allocation that can be used, and a bound, from where the iterates stand.

Most problems are proved where demands are held (:mod:`.distributed_prover`). Slices contribute
sums (:mod:`.repair`, :mod:`.bound`), by the formulas of :mod:`walras.certificate.contribution`. The
others are proved in one place, on gathered entries and prices (:mod:`.central_prover`).
"""
