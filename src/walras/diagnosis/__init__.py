"""Why a problem has no optimum: infeasible subsystems, least relaxations, improving rays."""
