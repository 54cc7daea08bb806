"""What moves the protocol's messages: virtual time, real processes over ZeroMQ, recorded traces."""
