"""Other people's schedulers, told which cluster to use: Kueue MultiKueue's external dispatcher."""
