"""Solvers on the same problem to the same relative duality gap."""

SOLVERS = ("ours", "lbfgsb_dual", "lbfgsb_primal", "fista", "clarabel")
TOLERANCE = 1e-6
LIMIT = 120.0
