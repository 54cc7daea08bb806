"""Other projects' tests, run with Walras in the place of what they test."""
