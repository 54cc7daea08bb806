"""The kernels in torch, for GPUs."""
