"""Figures of the exchange as a service: real processes, real databases, this machine's disk."""
