"""Proofs at any moment: an allocation that can be used, and a bound, from where the iterates stand.

Most problems are proved where their demands are held, by sums over them (:mod:`.summed`); the
others in one place, on what the holders send there (:mod:`.gathered`).
"""
