"""Links: quantisers, faults, and the count of bits."""
