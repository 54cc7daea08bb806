"""Leximin: max-min fairness decided level by level."""
