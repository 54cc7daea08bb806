"""Commands of the simulator: one file a command; ``app`` has them all."""
