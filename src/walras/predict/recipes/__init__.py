"""Training sets made from public measurements."""
