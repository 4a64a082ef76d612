"""The comparison with what users would pick instead: its judge, its opponents, and all of it at small size."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import banach

EXPERIMENTS = Path(__file__).resolve().parents[2] / "experiments"


@pytest.fixture(autouse=True)
def _importable(monkeypatch):
    monkeypatch.syspath_prepend(str(EXPERIMENTS))


@pytest.mark.parametrize("p", [4 / 3, 1.5, 1.1, 1.2345])
def test_the_proximity_operator_of_fista_is_a_minimiser(p):
    from users.solving.fista import prox

    v = np.concatenate([[0.0], np.geomspace(1e-6, 1e3, 40), -np.geomspace(1e-3, 10, 9)])
    for step in (1e-3, 0.5, 20.0):
        x = prox(v, step, p)
        # 0 = x - v + step sign(x)|x|^(p-1)
        slope = x - v + step * np.sign(x) * np.abs(x) ** (p - 1)
        np.testing.assert_allclose(slope, 0.0, atol=1e-9 * (1 + np.abs(v).max()))


@pytest.mark.parametrize("name", ["small", "logistic"])
def test_the_judge_agrees_with_the_certificate(name):
    from users.solving import ours
    from users.solving.objective import judge
    from users.solving.problems import QUICK

    problem = QUICK[name].make()
    model = ours.prepare(problem, 1e-10, 1.0)
    answer = ours.solve(problem, model)
    verdict = judge(problem, answer["w"], answer["alpha"])
    assert verdict.objective == pytest.approx(model.primal_value_, rel=1e-10)
    assert -1e-12 <= verdict.relative_gap <= 1e-9
    # Any other weights have a larger objective, and a gap that says by how much at least.
    worse = judge(problem, 0.9 * answer["w"])
    assert worse.relative_gap >= (worse.objective - verdict.objective) / worse.objective - 1e-12 > 0.0


@pytest.mark.parametrize("name", ["small", "logistic"])
@pytest.mark.parametrize("solver", ["lbfgsb_dual", "lbfgsb_primal", "fista", "clarabel"])
def test_the_opponents_solve_the_same_problem(name, solver):
    from users.solving.objective import judge
    from users.solving.problems import QUICK

    if solver == "clarabel":
        pytest.importorskip("cvxpy")
    module = __import__(f"users.solving.{solver}", fromlist=["solve"])
    problem = QUICK[name].make()
    answer = module.solve(problem, module.prepare(problem, 1e-6, 60.0))
    assert judge(problem, answer["w"], answer.get("alpha")).relative_gap <= 1.001e-6


def test_the_page_is_changed_between_the_marks_only(tmp_path):
    from users import report

    page = tmp_path / "page.md"
    page.write_text(f"before\n{report.BEGIN}\nold\n{report.END}\nafter\n")
    report.write("new\n", page)
    assert page.read_text() == f"before\n{report.BEGIN}\n\nnew\n\n{report.END}\nafter\n"
    page.write_text("no marks")
    with pytest.raises(ValueError, match="missing"):
        report.write("new\n", page)


def test_all_of_it_runs_at_small_size(tmp_path):
    path = os.pathsep.join([str(Path(banach.__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, "-m", "users", "--quick", "--results", str(tmp_path / "users.json")]
    environment = {**os.environ, "PYTHONPATH": path}
    done = subprocess.run(command, cwd=EXPERIMENTS, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    for heading in ("The same problem", "Models of the same data", "Where we lose"):
        assert heading in done.stdout
    assert "failed" not in done.stderr, done.stderr
    rows = [line for line in done.stdout.splitlines() if line.startswith("| banach |")]
    assert len(rows) == 4
