"""From cvxpy expressions to the separable form, and back."""
