"""A slice of the demands: its arrays, and its contributions to a repair and to a bound.

:mod:`.slice` cuts the demands. :mod:`.repair` and :mod:`.bound` are a slice's passes in proofs, by
the formulas of :mod:`walras.certificate.contribution`. :mod:`walras.engines.admm.proofs` combines
them.
"""
