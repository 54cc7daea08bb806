"""Compiled matching: exact, relaxed, by local search, and its derivatives."""
