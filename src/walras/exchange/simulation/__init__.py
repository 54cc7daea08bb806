"""The exchange in one process and virtual time: service, agents, clients and faults from a seed."""
