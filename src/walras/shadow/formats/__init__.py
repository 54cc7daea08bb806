"""Logs of schedulers, each read by a module of its own into the same rows."""
