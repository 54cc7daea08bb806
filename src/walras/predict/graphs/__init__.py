"""Task graphs and their features."""
