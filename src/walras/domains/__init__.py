"""Domain words to the separable form: one package a kind of allocation problem."""
