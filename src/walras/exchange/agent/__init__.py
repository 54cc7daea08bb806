"""The agent of a cluster: a state machine with a journal, and backends that run tasks."""
