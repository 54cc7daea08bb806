"""Tests of other projects that ask for what Walras does not claim, each with its reason."""

from __future__ import annotations

_RAYS = "asks for dual values of a problem without an optimum (a Farkas ray), which ends in error"
_DPP = "asks for cvxpy's verdict on parameters (enforce_dpp, ignore_dpp): Walras takes any"
_BACK_ENDS = "asks for one of cvxpy's canonicalisation back ends and what it cannot do"
_COMPILED = "looks into what cvxpy keeps of a compiled problem"
_SOLVERS = "asks for an error on the name of a solver, of which Walras knows none"
_OUTPUT = "reads the log or the statistics of one solver"
_WORDS = "asks for cvxpy's own words on numbers that are not finite; Walras has an error of its own"

_BY_REASON: dict[str, tuple[str, ...]] = {
    _RAYS: (
        "test_conic_solvers.py::TestClarabel::test_infeasible_exp_cone",
        "test_conic_solvers.py::TestClarabel::test_infeasible_lp_eq_constraints",
        "test_conic_solvers.py::TestClarabel::test_infeasible_lp_ineq_constraints",
        "test_conic_solvers.py::TestClarabel::test_infeasible_power_cone_3d",
        "test_conic_solvers.py::TestClarabel::test_infeasible_power_cone_nd",
        "test_conic_solvers.py::TestClarabel::test_infeasible_psd_cone",
        "test_conic_solvers.py::TestClarabel::test_infeasible_soc",
        "test_conic_solvers.py::TestClarabel::test_infeasible_soc_exp_mixed",
        "test_conic_solvers.py::TestSCS::test_infeasible_exp_cone",
        "test_conic_solvers.py::TestSCS::test_infeasible_lp_eq_constraints",
        "test_conic_solvers.py::TestSCS::test_infeasible_lp_ineq_constraints",
        "test_conic_solvers.py::TestSCS::test_infeasible_power_cone_3d",
        "test_conic_solvers.py::TestSCS::test_infeasible_power_cone_nd",
        "test_conic_solvers.py::TestSCS::test_infeasible_psd_cone",
        "test_conic_solvers.py::TestSCS::test_infeasible_soc",
        "test_conic_solvers.py::TestSCS::test_infeasible_soc_exp_mixed",
        "test_qp_solvers.py::TestQp::test_highs_infeasible_lp_eq_constraints",
        "test_qp_solvers.py::TestQp::test_highs_infeasible_lp_ineq_constraints",
        "test_qp_solvers.py::TestQp::test_osqp_infeasible_lp_eq_constraints",
        "test_qp_solvers.py::TestQp::test_osqp_infeasible_lp_ineq_constraints",
        "test_problem.py::TestProblem::test_scalar_lp",
    ),
    _DPP: (
        "test_atoms.py::TestAtoms::test_conv",
        "test_atoms.py::TestAtoms::test_convolve",
        "test_atoms.py::TestDotsort::test_exceptions",
        "test_atoms.py::TestDotsort::test_parameter",
        "test_complex_dpp.py::TestComplexDPP::test_dpp_flags",
        "test_dpp.py::TestDcp::test_ignore_dpp",
        "test_dpp.py::TestDcp::test_quad_over_lin",
        "test_parametric_bounds.py::TestParametricBoundsDPP::test_non_dpp_bound_raises",
    ),
    _BACK_ENDS: (
        "test_constraints.py::TestConstraints::test_broadcasting",
        "test_expressions.py::TestExpressions::test_expr_does_not_support_cpp_error",
        "test_expressions.py::TestExpressions::test_expr_does_not_support_cpp_warning",
        "test_expressions.py::TestND_Expressions::test_nd_variable_value_error",
        "test_expressions.py::TestND_Expressions::test_nd_variable_warning",
    ),
    _COMPILED: (
        "test_attributes.py::TestParameterDimReducingAttributes::test_diag_parameter",
        "test_attributes.py::TestParameterDimReducingAttributes::test_sparse_parameter",
        "test_attributes.py::TestParameterDimReducingAttributes::test_symmetric_parameter",
        "test_complex_dpp.py::TestComplexDPP::test_hermitian_param_efficient_representation",
        "test_param_quad_prog.py::TestParamQuadProg::test_qp_problem",
        "test_problem.py::TestProblem::test_compilation_time",
    ),
    _SOLVERS: (
        "test_problem.py::TestProblem::test_invalid_solvers",
        "test_suppfunc.py::TestSupportFunctions::test_invalid_solver",
    ),
    _OUTPUT: (
        "test_conic_solvers.py::TestHIGHS::test_highs_warm_start",
        "test_conic_solvers.py::TestSCIPY::test_scipy_mi_solver_stats",
        "test_problem.py::TestProblem::test_solver_stats",
    ),
    _WORDS: (
        "test_solver_data_validation.py::TestSolverDataValidation::test_inf_constant_in_objective",
        "test_solver_data_validation.py::TestSolverDataValidation::test_nan_constant_in_constraint",
        "test_solver_data_validation.py::TestSolverDataValidation::test_nan_constant_in_objective",
    ),
    "asks for the warning that no solver takes mixed-integer quadratics; Walras solves them": (
        "test_mip_vars.py::TestMIPVariable::test_miqp_warning",
    ),
    "compares one of many optimal points with another solver's": (
        "test_linear_cone.py::TestLinearCone::test_matrix_lp",
    ),
    "compares with a second solve of cvxpy's own, which keeps the first matrix (by itself, too)": (
        "test_quad_dpp.py::TestQuadFormDPPVariants::test_quad_form_plus_constant_linear",
    ),
}

CVXPY: dict[str, str] = {name: why for why, names in _BY_REASON.items() for name in names}
