"""Equations as code: every language is run, by its own engine, against the predictions of the command."""

import csv
import ctypes
import io
import json
import math
import random
import re
import shutil
import sqlite3
import subprocess
import sys

import numpy as np
import pytest

import banach
from banach import SparseClassifier, SparseRegressor, datasets

CODE = "import sys; from banach import _core; sys.exit(_core.command(['banach', *sys.argv[1:]]))"
#: Names that hold operators, quotes, spaces and letters beyond ASCII.
NAMES = ['age "in" years', "a-b", "dose, mg/l", "größe"]


def run(*arguments, check=True):
    done = subprocess.run(
        [sys.executable, "-c", CODE, *map(str, arguments)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0 or not check, done.stderr
    return done


def rows(count, seed):
    """Numbers, a text with a space, a truth value, and a number that is a label."""
    draw = random.Random(seed)
    for _ in range(count):
        numbers = [50 + 9 * draw.gauss(0, 1), draw.gauss(0, 1), draw.gauss(0, 1), draw.gauss(0, 1)]
        yield [*numbers, draw.choice(["dark red", "g", "b"]), draw.choice([True, False]), draw.choice([1, 30])]


def effect(x):
    labels = -2 * (x[4] == "dark red") + 2.5 * x[5] - 2 * (x[6] == 30)
    return 3 + 0.5 * (x[0] - 48) * x[1] + labels + 0.3 * x[2] ** 2


def has(value, label):
    """Whether a value of a row is a label of the command, which writes truth values in lower case."""
    return float((str(value).lower() if isinstance(value, bool) else str(value)) == label)


def write(path, header, table):
    quoted = [['"' + str(field).replace('"', '""') + '"' for field in row] for row in [header, *table]]
    path.write_text("\n".join(",".join(row) for row in quoted) + "\n", encoding="utf-8")


@pytest.fixture(scope="module", params=["numbers", "two classes", "three classes"])
def fitted(request, tmp_path_factory):
    """A model of the command, new rows, and what it predicts of them: (folder, header, rows, predictions, chances)."""
    folder = tmp_path_factory.mktemp("export")
    header, noise = [*NAMES, "color", "flag", "ward", "drug's effect"], random.Random(5)
    train = [[*x, effect(x) + noise.gauss(0, 0.3)] for x in rows(150, 1)]
    if request.param != "numbers":
        cuts = [3.0] if request.param == "two classes" else [0.0, 4.0]
        train = [[*row[:-1], ["low", "mid", "high"][sum(row[-1] > cut for cut in cuts)]] for row in train]
    new = list(rows(20, 2))
    write(folder / "train.csv", header, train)
    write(folder / "new.csv", header[:-1], new)
    model = ["--kernel", "poly", "--degree", "1..2", "--sparse", "-o", folder / "m.banach", "--quiet"]
    run("fit", folder / "train.csv", "--target", "drug's effect", "--categorical", "ward", *model)
    inputs = json.loads(run("export", folder / "m.banach", "--as", "json").stdout)["inputs"]
    assert {"color", "flag", "ward"} <= {one["column"] for one in inputs if one["label"] is not None}
    proba = [] if request.param == "numbers" else ["--proba"]
    told = list(csv.reader(io.StringIO(run("predict", folder / "m.banach", folder / "new.csv", *proba).stdout)))[1:]
    return folder, header[:-1], new, told, request.param != "numbers"


def code(folder, language):
    return run("export", folder / "m.banach", "--as", language).stdout


def check(fitted, predictions, chances=None):
    *_, told, classes = fitted
    if not classes:
        assert [float(value) for value in predictions] == pytest.approx([float(row[0]) for row in told], rel=1e-9)
        return
    assert [str(value) for value in predictions] == [row[0] for row in told]
    if chances is not None:
        assert np.asarray(chances, dtype=float) == pytest.approx(np.array([row[1:] for row in told], float), abs=1e-9)


def test_python(fitted):
    folder, header, new, *_ = fitted
    space = {}
    exec(code(folder, "python"), space)
    of_rows = [dict(zip(header, row, strict=True)) for row in new]
    chances = [list(space["probabilities"](row).values()) for row in of_rows] if fitted[-1] else None
    check(fitted, [space["predict"](row) for row in of_rows], chances)


def test_python_takes_truth_values_and_numbers_as_programs_write_them(fitted):
    folder, header, new, *_ = fitted
    space = {}
    exec(code(folder, "python"), space)

    def predictions(flag, ward):
        changed = [[*row[:5], flag(row[5]), ward(row[6])] for row in new]
        return [space["predict"](dict(zip(header, row, strict=True))) for row in changed]

    check(fitted, predictions(str, str))
    check(fitted, predictions(lambda truth: str(truth).upper(), lambda number: f"{number}.0"))
    check(fitted, predictions(np.bool_, np.float64))


def test_python_of_a_data_frame(fitted):
    pd = pytest.importorskip("pandas")
    folder, header, new, _, classes = fitted
    if classes:
        pytest.skip("classes are of rows")
    space = {}
    exec(code(folder, "python"), space)
    check(fitted, space["predict"](pd.DataFrame(new, columns=header)))
    check(fitted, space["predict"](pd.read_csv(folder / "new.csv")))
    texts = pd.read_csv(folder / "new.csv", dtype={"flag": str, "ward": str})
    check(fitted, space["predict"](texts))


def test_json_by_hand(fitted):
    folder, header, new, *_ = fitted
    told = json.loads(code(folder, "json"))

    def value(row, equation):
        def input_at(at):
            column = told["inputs"][at]
            found = row[header.index(column["column"])]
            return found if column["label"] is None else has(found, column["label"])

        def term(one):
            factors = ((input_at(f["input"]) - f["minus"]) ** f["power"] for f in one["factors"])
            return one["coefficient"] * math.prod(factors)

        return equation["constant"] + sum(term(one) for one in equation["terms"])

    values = [[value(row, equation) for equation in told["equations"]] for row in new]
    if fitted[-1]:
        labels = told["outcome"]["classes"]["labels"]
        check(fitted, [labels[int(np.argmax(row))] for row in values])
    else:
        assert told["outcome"]["numbers"]["names"] == ["drug's effect"]
        check(fitted, [row[0] for row in values])


def test_sql(fitted):
    folder, header, new, *_ = fitted
    base = sqlite3.connect(":memory:")
    if fitted[-1]:
        try:
            base.execute("SELECT EXP(1.0)")
        except sqlite3.OperationalError:
            base.create_function("EXP", 1, lambda t: math.exp(min(t, 700.0)))
    names = ['"' + name.replace('"', '""') + '"' for name in header]
    base.execute(f"CREATE TABLE data ({', '.join(names)})")
    base.executemany(f"INSERT INTO data VALUES ({', '.join('?' * len(names))})", new)
    found = base.execute(code(folder, "sql")).fetchall()
    check(fitted, [row[0] for row in found], [row[1:] for row in found])


@pytest.mark.filterwarnings("ignore")
def test_a_spreadsheet(fitted):
    formulas = pytest.importorskip("formulas")
    folder, header, new, *_ = fitted
    headings, cells = (line.split("\t") for line in code(folder, "excel").rstrip("\n").split("\n"))
    inputs = [heading for heading, cell in zip(headings, cells, strict=True) if not cell]
    letters = [chr(ord("A") + at) for at in range(len(cells))]

    def computed(row):
        known = {f"{letter}2": row[header.index(name)] for letter, name in zip(letters, inputs, strict=False)}
        for letter, cell in zip(letters, cells, strict=True):
            if cell:
                function = formulas.Parser().ast(cell)[1].compile()
                known[f"{letter}2"] = np.asarray(function(*(known[name] for name in function.inputs))).item()
        return [known[f"{letter}2"] for letter, cell in zip(letters, cells, strict=True) if cell]

    found = [computed(row) for row in new]
    count = (len(found[0]) - 1) // 2
    check(fitted, [row[-1] for row in found], [row[count : 2 * count] for row in found])


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
def test_c(fitted):
    folder, header, new, *_ = fitted
    text = code(folder, "c")
    (folder / "m.c").write_text(text, encoding="utf-8")
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC"]
    subprocess.run(["cc", *flags, folder / "m.c", "-o", folder / "m.so", "-lm"], check=True)
    library = ctypes.CDLL(str(folder / "m.so"))
    if not fitted[-1]:
        library.predict.restype = ctypes.c_double
    inputs = json.loads(code(folder, "json"))["inputs"]

    def values(row):
        found = [(row[header.index(one["column"])], one["label"]) for one in inputs]
        return [value if label is None else has(value, label) for value, label in found]

    arrays = [(ctypes.c_double * max(1, len(inputs)))(*values(row)) for row in new]
    found = [library.predict(array) for array in arrays]
    if fitted[-1]:
        labels = dict(re.findall(r"class (\d+) is (.*)", text))
        chances = [(ctypes.c_double * len(labels))() for _ in arrays]
        for array, out in zip(arrays, chances, strict=True):
            library.probabilities(array, out)
        check(fitted, [labels[str(value)] for value in found], [list(out) for out in chances])
    else:
        check(fitted, found)


@pytest.mark.skipif(shutil.which("Rscript") is None, reason="no R")
def test_r(fitted):
    folder, *_ = fitted
    (folder / "m.R").write_text(code(folder, "r"), encoding="utf-8")
    script = (
        f'source("{folder}/m.R", encoding = "UTF-8"); data <- read.csv("{folder}/new.csv", check.names = FALSE, '
        'encoding = "UTF-8"); cat(paste(format(predict_rows(data), digits = 15), collapse = "\\n"))'
    )
    done = subprocess.run(["Rscript", "-e", script], capture_output=True, text=True, check=True)
    check(fitted, done.stdout.split())


def test_estimators_export_with_their_names():
    pd = pytest.importorskip("pandas")
    X, y, _ = datasets.make_sparse_quadratic(n_samples=80, n_features=5, n_informative=2, random_state=0)
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d", "e"])
    model = SparseRegressor("poly", degree=(1, 2)).fit(frame, pd.Series(y, name="yield"))
    space = {}
    exec(model.export("python"), space)
    np.testing.assert_allclose(space["predict"](frame), model.predict(frame), rtol=1e-9, atol=1e-12)
    assert str(model.equation()).startswith("yield = ") and '"yield"' in model.export("sql")
    assert '"rate"' in model.export("json", target="rate")
    classes = SparseClassifier().fit(frame, np.where(frame["a"] > 0, "up", "down"))
    assert json.loads(classes.export("json"))["outcome"]["classes"]["labels"] == ["down", "up"]
    with pytest.raises(ValueError, match="cobol.*python"):
        model.export("cobol")
    with pytest.raises(ValueError, match="language = 3.*python"):
        model.export(3)


def test_what_is_no_equation_is_refused(tmp_path):
    X, y, _ = datasets.make_sparse_quadratic(n_samples=40, n_features=5, random_state=0)
    banach.LpRegressor().fit(X, y).save(tmp_path / "m.banach")
    done = run("export", tmp_path / "m.banach", "--as", "sql", check=False)
    assert done.returncode == 2 and "not an equation" in done.stderr
    done = run("export", tmp_path / "m.banach", "--as", "cobol", check=False)
    assert done.returncode == 2 and "python" in done.stderr
