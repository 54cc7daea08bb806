"""Newton systems of blocks: elimination and the Schur complement."""
