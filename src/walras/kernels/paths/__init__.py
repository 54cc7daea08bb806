"""Compiled path search and the arrays of a set of paths."""
