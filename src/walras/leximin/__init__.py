"""Leximin: max-min fairness, level by level."""
