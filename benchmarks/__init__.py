"""Speed and quality of Walras against its peers, each measured on the same kind of machine.

Run ``python -m benchmarks --list`` to see the cells and ``python -m benchmarks`` to measure them.
"""
