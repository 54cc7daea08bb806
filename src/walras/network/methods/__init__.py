"""The local rules of the centres, and their vectorised form."""
