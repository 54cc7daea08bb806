"""Compiled local search: assignments, flows and placements."""
