"""Many small subproblems at once, compiled: the prices of the rows of each block."""
