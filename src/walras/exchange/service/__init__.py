"""Transactions as functions ``(tx, now, message) -> answer``; no clock, no I/O, no chance."""
