"""The exact engine: linear and integer programs by HiGHS, convex ones by Clarabel or cuts."""
