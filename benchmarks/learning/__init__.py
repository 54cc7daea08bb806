"""The experiments of learning through the matching: ``python -m benchmarks.learning``."""
