"""Where the exchange keeps its state: SQLite by default, PostgreSQL by URL, one code path."""
