"""Revisions of the schema, run by Alembic; :mod:`walras.exchange.store.migrate` calls them."""
