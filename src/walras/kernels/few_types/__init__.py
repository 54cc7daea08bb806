"""Kernels of problems with few resource types: one job's best shares, and passes over all jobs."""
