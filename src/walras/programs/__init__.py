"""What other solvers do for us: HiGHS, Clarabel, scaling, bounds of integers."""
