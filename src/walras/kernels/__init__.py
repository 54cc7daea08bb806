"""Small dense computations that run very often: the reference in NumPy, and compiled versions."""
