"""The simulator against figures that others published."""
