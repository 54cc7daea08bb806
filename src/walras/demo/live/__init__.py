"""The live demo: a service, three agents and tasks that run, on this machine."""
