"""CVXPY with Clarabel's interior-point method, by power cones."""

import time

import cvxpy
import numpy as np

from .objective import Squared, judge

TITLE = "CVXPY + Clarabel"
NEEDS = ("cvxpy", "clarabel")
GIVEN = (
    "three-dimensional power cones, written out; the loosest of its tolerances 1e-3, 1e-4, ..., 1e-9 that reaches the gap, found "
    "beforehand (for the wide problem 1e-5 without a trial); its own dual vector; the time is that of Clarabel alone, without CVXPY's translation of the problem"
)

PATIENCE = 240.0


def model(problem):
    """The problem in CVXPY's words, with the dual vector as that of its equation."""
    n, d = problem.X.shape
    w, t, z = cvxpy.Variable(d), cvxpy.Variable(n), cvxpy.Variable(d)
    link = problem.X @ w == t
    if problem.loss is Squared:
        loss = 0.5 * cvxpy.sum_squares(problem.y - t)
    else:
        loss = cvxpy.sum(cvxpy.logistic(-cvxpy.multiply(problem.y, t)))
    cones = cvxpy.PowCone3D(z, np.ones(d), w, np.full(d, 1.0 / problem.p))
    return cvxpy.Problem(cvxpy.Minimize(problem.gamma * loss + cvxpy.sum(z) / problem.p), [link, cones]), w, link


def attempt(problem, tolerance, limit):
    conic, w, link = model(problem)
    began = time.perf_counter()
    conic.solve(
        solver="CLARABEL",
        tol_gap_rel=tolerance,
        tol_gap_abs=tolerance,
        tol_feas=tolerance,
        time_limit=limit,
        max_threads=2,
    )
    seconds = time.perf_counter() - began
    if w.value is None:
        return None
    # The sign of a multiplier is CVXPY's affair; the right one gives the smaller bound.
    alpha = min((link.dual_value, -link.dual_value), key=lambda alpha: problem.dual(alpha, problem.X.T @ alpha))
    return {
        "seconds": conic.solver_stats.solve_time,
        "seconds_with_cvxpy": seconds,
        "w": w.value,
        "alpha": alpha,
        "evaluations": conic.solver_stats.num_iters,
        "settings": f"tolerance {tolerance:g}",
    }


def prepare(problem, tolerance, limit):
    if problem.X.size > 1_000_000:
        # Too slow to try them all.
        return 10.0 * tolerance, PATIENCE
    for own in (1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8):
        found = attempt(problem, own, limit)
        if found and judge(problem, found["w"], found["alpha"]).relative_gap <= tolerance:
            return own, limit
    return 1e-9, limit


def solve(problem, prepared):
    return attempt(problem, *prepared)
