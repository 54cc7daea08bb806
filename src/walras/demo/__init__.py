"""The demo: tasks placed by predictions, rounds certified, a network without a master."""
