"""Small dense work done very often: the reference in NumPy, and the same compiled."""
