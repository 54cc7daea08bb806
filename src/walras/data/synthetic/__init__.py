"""Synthetic sets of the same form, where the public ones are not at hand."""
