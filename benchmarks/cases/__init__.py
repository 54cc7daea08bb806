"""The benchmarks, one file each: its cells, and the targets they are held against."""
