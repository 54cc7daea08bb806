"""The problem of the centres: CPU costs, losses, shards, the optimum."""
