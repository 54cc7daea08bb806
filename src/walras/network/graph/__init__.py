"""Graphs of centres: given, drawn at random, or read from files."""
