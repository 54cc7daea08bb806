"""POP: random parts of a problem, solved each by itself."""
