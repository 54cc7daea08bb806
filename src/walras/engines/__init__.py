"""Engines: each takes a Separable and Settings and returns an Iterate."""
