"""Solvers on the same problem to the same relative duality gap."""

SOLVERS = ("ours", "lbfgsb_dual", "lbfgsb_primal", "fista", "clarabel")
# An interior-point method on 20,000 cones is asked once, not three times.
SOLVERS_FOR_WIDE = SOLVERS[:-1]
LIMIT = 90.0
