"""Logs of what ran: reading, checking, writing."""
