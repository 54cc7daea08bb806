"""What links do to messages: quantisers, faults, bits."""
