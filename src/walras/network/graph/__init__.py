"""Who talks to whom: graphs, random families, reading them from files."""
