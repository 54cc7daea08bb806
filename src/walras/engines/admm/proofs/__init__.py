"""Proofs at any moment: a usable allocation and a bound from the present iterates.

:mod:`.distributed_prover` proves most problems where the demands are held. Slices contribute sums
(:mod:`walras.engines.admm.slices`), by the formulas of :mod:`walras.certificate.contribution`.
:mod:`.central_prover` proves the other problems in one place, on gathered entries and prices.
"""
