"""Speed and quality of Walras against its peers, each measured in the same run on the same machine.

Run ``python -m benchmarks --list`` to see the cells and ``python -m benchmarks`` to measure them.
"""
