"""What cannot hold together: infeasible sets, least relaxations, rays."""
