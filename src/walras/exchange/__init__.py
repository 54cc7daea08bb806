"""The exchange: clusters offer, tasks ask, rounds match, agents run, outcomes teach."""
