"""Drivers that deliver the protocol's messages: virtual time, real processes, recorded traces."""
