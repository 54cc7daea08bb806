"""What the centres solve: CPU costs, losses, shards, the optimum."""
