"""The process of the service: clock, threads, rounds, jobs, shutdown."""
