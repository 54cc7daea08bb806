"""Many small subproblems at once, compiled: the prices of each block's rows."""
