"""Placement on Alibaba's nodes and pods: arrivals as in FGD's paper, all at once, and at scale."""
