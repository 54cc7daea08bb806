"""Slurm: its partitions as clusters, with what their nodes have and what their queues take."""
