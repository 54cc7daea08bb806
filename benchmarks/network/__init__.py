"""The experiments of co-optimisation: ``python -m benchmarks.network``, one study a name."""
