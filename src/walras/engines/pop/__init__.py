"""POP: random parts of a problem, each solved alone."""
