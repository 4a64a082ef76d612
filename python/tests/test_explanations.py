"""What models say of themselves, against brute force over all monomials."""

from __future__ import annotations

import json
from itertools import combinations, combinations_with_replacement
from math import factorial, prod
from typing import ClassVar

import numpy as np
import pandas
import polars
import pytest
from sklearn.base import clone
from sklearn.feature_selection import SelectKBest, f_regression
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, PolynomialFeatures, StandardScaler

from banach import (
    LpClassifier,
    LpClassifierCV,
    LpRegressor,
    LpRegressorCV,
    SparseClassifier,
    SparseRegressor,
    TopFeatures,
    _core,
    datasets,
    gram_tensor,
    kernels,
    lp_path,
    stability_selection,
)

rng = np.random.default_rng(2)
X = rng.standard_normal((30, 5))
Y = X[:, 0] * X[:, 1] - X[:, 2] ** 2 + 0.5 + 0.1 * rng.standard_normal(30)
NAMES = np.array(["low", "middle", "top"])[np.digitize(Y, [-1.0, 0.5])]
Q = 4.0


def monomial(factors):
    return tuple(sorted({j: factors.count(j) for j in factors}.items()))


def brute_force(model, degrees, kernel="poly", degree=2, q=Q):
    """The weight and the coefficient of every monomial: w = J_q(sum_i alpha_i phi(x_i)), phi = c^(1/q) x^k."""
    choose = combinations_with_replacement if kernel == "poly" else combinations
    weights, coefficients = {}, {}
    for degree in degrees:
        for factors in choose(range(X.shape[1]), degree):
            k = monomial(factors)
            count = factorial(degree) / prod(factorial(power) for _, power in k) if kernel == "poly" else 1.0
            u = count ** (1 / q) * (model.dual_coef_ @ np.prod(X[:, factors], axis=1))
            weights[k] = np.sign(u) * abs(u) ** (q - 1)
            coefficients[k] = count ** (1 / q) * weights[k]
    return weights, coefficients


CASES = {
    "linear": ({"kernel": "linear"}, [1], "poly"),
    "quadratic": ({"kernel": "poly", "degree": 2}, [2], "poly"),
    "cubic": ({"kernel": "poly", "degree": 3}, [3], "poly"),
    "anova": ({"kernel": "anova", "degree": (1, 3)}, [1, 2, 3], "anova"),
    "on the gram route": ({"kernel": "poly", "degree": 2, "route": "gram"}, [2], "poly"),
    "series": ({"kernel": kernels.PowerSeries([0.0, 1.0, 1.0])}, [1, 2], "poly"),
}


@pytest.mark.parametrize("case", CASES)
def test_top_features_are_the_largest_of_all(case):
    parameters, degrees, kernel = CASES[case]
    model = LpRegressor(**parameters).fit(X, Y)
    weights, coefficients = brute_force(model, degrees, kernel)
    table = model.top_features(8)
    count = min(8, len(weights))
    expected = sorted(weights, key=lambda k: -abs(weights[k]))[:count]
    assert table["exponents"] == expected
    np.testing.assert_allclose(table["weight"], [weights[k] for k in expected], rtol=1e-9)
    np.testing.assert_allclose(table["coefficient"], [coefficients[k] for k in expected], rtol=1e-9)
    total = sum(abs(w) ** (4 / 3) for w in weights.values())
    np.testing.assert_allclose(table["share"], [abs(weights[k]) ** (4 / 3) / total for k in expected], rtol=1e-7)
    assert table.complete


@pytest.mark.parametrize("case", CASES)
def test_relevance_is_the_share_of_the_monomials_with_a_variable(case):
    parameters, degrees, kernel = CASES[case]
    model = LpRegressor(**parameters).fit(X, Y)
    weights, _ = brute_force(model, degrees, kernel)
    norm = sum(abs(w) ** (4 / 3) for w in weights.values())
    shares = np.array([sum(abs(w) ** (4 / 3) for k, w in weights.items() if j in dict(k)) for j in range(5)]) / norm
    table = model.relevance()
    np.testing.assert_allclose(table["share"], np.sort(shares)[::-1], rtol=1e-7)
    assert table["variable"] == [f"x{j}" for j in np.argsort(-shares)]
    by_degree = {degree: share for degree, share in table.degrees if share > 0}
    for degree in degrees:
        expected = sum(abs(w) ** (4 / 3) for k, w in weights.items() if sum(dict(k).values()) == degree) / norm
        assert by_degree[degree] == pytest.approx(expected, rel=1e-6)


def test_coefficients_are_those_of_polynomial_features():
    model = LpRegressor(kernel="poly", degree=2).fit(X, Y)
    table = model.top_features(15)
    powers = PolynomialFeatures(2, include_bias=False).fit(X)
    values, rows = powers.transform(X), [tuple(row) for row in powers.powers_]
    prediction = np.full(30, model.intercept_)
    for factors, coefficient in zip(table["exponents"], table["coefficient"], strict=True):
        row = tuple(dict(factors).get(j, 0) for j in range(5))
        prediction += coefficient * values[:, rows.index(row)]
    np.testing.assert_allclose(prediction, model.predict(X), rtol=1e-9)


def test_intervals_contain_the_weights_of_the_optimum():
    rough = LpRegressor(kernel="poly", degree=2, tol=1e-3).fit(X, Y)
    fine = LpRegressor(kernel="poly", degree=2, tol=1e-13).fit(X, Y)
    found, truth = rough.top_features(15), fine.top_features(15)
    weights = dict(zip(truth["exponents"], truth["weight"], strict=True))
    for factors, lower, upper in zip(found["exponents"], found["solver_lower"], found["solver_upper"], strict=True):
        assert lower - 1e-9 <= weights[factors] <= upper + 1e-9
    if found.set_proven:
        assert set(found["exponents"]) == set(truth["exponents"])


def test_tables_go_to_pandas_and_polars_and_rows():
    table = LpRegressor(kernel="poly", degree=2).fit(X, Y).top_features(4)
    assert table.to_pandas()["monomial"].tolist() == table["monomial"]
    assert table.to_polars()["weight"].to_list() == table["weight"].tolist()
    assert [row["monomial"] for row in table.rows()] == table["monomial"]
    assert table.n_rows == 4
    assert table["monomial"][0] in str(table)


def test_every_output_and_class_has_its_own_features():
    outputs = LpRegressor(kernel="poly", degree=2).fit(X, np.column_stack([Y, -2 * Y]))
    one, two = outputs.top_features(3), outputs.top_features(3, output=1)
    assert one["exponents"] == two["exponents"]
    assert (np.sign(one["weight"]) == -np.sign(two["weight"])).all()
    classes = LpClassifier().fit(X, NAMES)
    for output in range(3):
        np.testing.assert_allclose(
            classes.top_features(5, output=output)["weight"],
            sorted(classes.coef_[output], key=lambda w: -abs(w)),
            rtol=1e-9,
        )
    assert all(name in classes.explain(2) for name in classes.classes_)


def test_a_report_agrees_with_the_tables_and_names_columns():
    frame = pandas.DataFrame(X, columns=["age", "dose", "w", "d", "e"])
    model = LpRegressor(kernel="poly", degree=2, p=1.1, C=10.0).fit(frame, Y, sample_weight=1.0 + (Y > 0))
    report = json.loads(json.dumps(model.report(3, select=4, stability=2)))
    assert report["validation"] is None
    assert report["model"]["gamma"] == 10.0
    assert report["route"]["chosen"] == model.route_
    (function,) = report["functions"]
    top = model.top_features(3)
    assert [entry["monomial"] for entry in function["top"]["monomials"]] == top["monomial"]
    assert [entry["weight"] for entry in function["top"]["monomials"]] == top["weight"].tolist()
    shares = {entry["variable"]: entry["share"] for entry in function["relevance"]["variables"]}
    relevance = model.relevance()
    assert shares == dict(zip(relevance["variable"], relevance["share"], strict=True))
    chosen = model.equation(4)
    assert [term["coefficient"] for term in function["selection"]["terms"]] == chosen.terms["coefficient"].tolist()
    assert [term["evidence"] for term in function["selection"]["terms"]] == chosen.terms["evidence"].tolist()
    if not function["selection"]["centres"]:
        assert function["selection"]["equation"] == str(chosen)
    assert function["stability"]["subsamples"] == 100
    assert [step["relative_gap"] for step in function["history"]][-1] == model.duality_gap_
    many = LpClassifierCV(Cs=4).fit(X, NAMES)
    assert [function["class"] for function in many.report()["functions"]] == list(many.classes_)
    assert LpRegressorCV(Cs=4, scoring="r2").fit(X, Y).report()["validation"] is None


def test_an_equation_is_least_squares_on_the_terms_of_a_sparse_model():
    equation = LpRegressor(kernel="poly", degree=2, p=1.1, C=10.0).fit(X, Y).equation()
    assert set(equation.monomials) == {((0, 1), (1, 1)), ((2, 2),)}
    sparse = SparseRegressor("poly", degree=2).fit(X, Y)
    assert equation == sparse.equation()
    for column in ("monomial", "exponents", "coefficient", "std_error", "evidence"):
        assert list(equation.terms[column]) == list(sparse.terms_[column])
    columns = np.column_stack([np.prod([X[:, j] ** power for j, power in k], axis=0) for k in equation.monomials])
    oracle = LinearRegression().fit(columns, Y)
    np.testing.assert_allclose(equation.coefficients, oracle.coef_, rtol=1e-6)
    assert equation.intercept == pytest.approx(oracle.intercept_, rel=1e-6)
    np.testing.assert_allclose(equation.predict(X), oracle.predict(columns), rtol=1e-6)
    np.testing.assert_allclose(equation.to_pipeline().predict(X), equation.predict(X), rtol=1e-12)


def test_an_equation_reads_as_text_latex_and_dict():
    frame = pandas.DataFrame(X, columns=["age", "dose_1", "w", "d", "e"])
    equation = LpRegressor(kernel="poly", degree=2, p=1.1, C=10.0).fit(frame, Y).equation(2)
    text = str(equation)
    assert text.startswith("y = 0.")
    assert "age * dose_1" in text
    assert " - " in text
    assert "w^2" in text
    assert r"\mathrm{dose\_1}" in equation.latex()
    assert r"\mathrm{w}^{2}" in equation.latex()
    assert equation._repr_latex_().startswith("$")
    told = equation.to_dict()
    assert set(told) == {"1", "age * dose_1", "w^2"}
    assert told["1"] == equation.intercept
    assert "Equation(" in repr(equation)
    with pytest.raises(ValueError, match="5"):
        equation.predict(X[:, :3])


def test_a_dict_keeps_the_intercept_and_every_coefficient_whatever_columns_are_called():
    frame = pandas.DataFrame(X, columns=["1", "dose", "w", "d", "e"])
    equation = LpRegressor(C=10.0).fit(frame, Y + 3.0).equation(5, refit=False)
    told = equation.to_dict()
    assert told["1"] == equation.intercept
    assert "1 [x0]" in told
    assert sorted(told.values()) == sorted([equation.intercept, *equation.coefficients])


@pytest.mark.parametrize("k", [1, 4, 15])
def test_without_refit_the_bound_holds(k):
    model = LpRegressor(kernel="poly", degree=2).fit(X, Y)
    equation = model.equation(k, refit=False)
    top = model.top_features(k)
    assert dict(zip(equation.monomials, equation.coefficients, strict=True)) == pytest.approx(
        dict(zip(top["exponents"], top["coefficient"], strict=True))
    )
    differences = np.abs(equation.predict(X) - model.predict(X))
    assert differences.max() <= equation.bound * (1 + 1e-9) + 1e-9
    if k == 15:
        assert differences.max() < 1e-9


def test_evidence_decides_how_many_monomials_up_to_k():
    model = LpRegressor(kernel="poly", degree=2, p=1.1, C=10.0).fit(X, Y)
    assert len(model.equation(8).monomials) == len(model.equation().monomials) == 2
    (one,) = model.equation(1).monomials
    assert one in model.equation().monomials
    assert len(model.equation(refit=False).monomials) == 5
    # Weights are numbers of repetitions here, whatever their sum.
    for weights in (np.full(len(Y), 1e-3), np.full(len(Y), 1e3)):
        assert (
            model.fit(X, Y, sample_weight=weights).equation().monomials
            == SparseRegressor("poly").fit(X, Y).equation().monomials
        )


def test_nothing_is_named_where_nothing_can_be():
    noise = np.random.default_rng(5).standard_normal(len(Y))
    model = LpRegressor(kernel="poly", degree=2, p=1.1, C=10.0).fit(X, noise)
    with pytest.warns(UserWarning, match=r"None of the 15 monomials can be named .* use the model itself"):
        equation = model.equation()
    assert equation.monomials == []
    assert equation.intercept == pytest.approx(noise.mean())
    assert equation.terms.n_rows == 0
    (function,) = model.report(0, select=3)["functions"]
    assert function["selection"]["terms"] == []
    assert any("nothing can be named" in note for note in model.report(0, select=3)["notes"])


def test_terms_by_evidence_need_a_loss_that_has_it_and_finitely_many_monomials():
    with pytest.raises(ValueError, match=r"^loss = huber; allowed: squared or a loss for classes"):
        LpRegressor(loss="huber").fit(X, Y).equation()
    with pytest.raises(ValueError, match=r"^kernel = .*highest degree"):
        LpRegressor(kernel="exp", scale=0.05).fit(X, Y).equation()
    assert LpRegressor(loss="huber").fit(X, Y).equation(2, refit=False).bound > 0


@pytest.mark.parametrize("labels", ["two", "three"])
@pytest.mark.parametrize("loss", _core.losses("classification"))
def test_equations_of_classes_decide_as_their_pipelines(labels, loss):
    rng = np.random.default_rng(2)
    X = rng.standard_normal((150, 5))
    score = 2 * X[:, 0] + X[:, 1] * X[:, 2] + rng.logistic(size=150) / 2
    y = np.where(score > 0, "yes", "no") if labels == "two" else np.array(list("abc"))[np.digitize(score, [-1, 1])]
    model = LpClassifier(kernel="poly", degree=(1, 2), loss=loss, p=1.2).fit(X, y)
    for output in range(1) if labels == "two" else (0, 2):
        equation = model.equation(3, output=output)
        pipeline = equation.to_pipeline()
        np.testing.assert_array_equal(equation.predict(X), pipeline.predict(X))
        np.testing.assert_allclose(pipeline.decision_function(X), equation.decision_function(X), rtol=1e-9, atol=1e-12)
        assert (equation.predict(X) == equation.classes[1]).mean() > 0
    if labels == "two":
        assert (model.equation(3).predict(X) == y).mean() > 0.8
        assert str(model.equation(2)).startswith("decision = ")
        assert set(model.equation(4).terms["monomial"]) == {"x0", "x1 * x2"}


def test_pipelines_of_equations_work_on_frames_and_on_nothing():
    frame = pandas.DataFrame(X, columns=list("abcde"))
    equation = LpRegressor(kernel="poly", degree=2, p=1.1).fit(frame, Y).equation(3)
    np.testing.assert_allclose(equation.to_pipeline().predict(X), equation.predict(frame), rtol=1e-12)
    with pytest.warns(UserWarning, match="can be named"):
        constant = LpRegressor().fit(np.zeros((4, 2)), [1.0, 2.0, 3.0, 4.0]).equation(2)
    np.testing.assert_allclose(constant.predict(np.ones((3, 2))), 2.5)
    np.testing.assert_allclose(constant.to_pipeline().predict(np.ones((3, 2))), 2.5)


def test_stable_monomials_are_the_true_ones():
    table = stability_selection(LpRegressor(kernel="poly", degree=2, p=1.1, C=10.0), X, Y, k=4, n_pairs=20)
    assert set(table["exponents"][:2]) == {((0, 1), (1, 1)), ((2, 2),)}
    assert table["frequency"][0] == 1.0
    assert (np.diff(table["frequency"]) <= 0).all()
    assert (table["stable"] == (table["frequency"] >= 0.75)).all()
    assert table.n_fits == 40
    assert "each of which names" in table.caption
    assert table.expected_false < 1.0
    again = stability_selection(LpRegressor(kernel="poly", degree=2, p=1.1, C=10.0).fit(X, Y), k=4, n_pairs=20)
    np.testing.assert_array_equal(table["frequency"], again["frequency"])
    # Where halves disagree, which halves they are matters.
    noisy = Y + 0.5 * np.random.default_rng(8).standard_normal(len(Y))
    one, other = (
        stability_selection(LpRegressor(kernel="poly", degree=2), X, noisy, n_pairs=10, random_state=seed)[
            "frequency"
        ].tolist()
        for seed in (0, 1)
    )
    assert one != other


class Watched(StandardScaler):
    """Remembers how many samples every fit was given."""

    fits: ClassVar[list[int]] = []

    def fit(self, X, y=None, sample_weight=None):
        self.fits.append(len(X))
        return super().fit(X, y, sample_weight)


def test_steps_before_a_model_are_fitted_to_every_half():
    model = LpRegressor(p=1.1, C=10.0)
    stability_selection(make_pipeline(Watched(), model), X, Y, n_pairs=3)
    assert Watched.fits == [30, *[15] * 6]
    random = np.random.default_rng(3)
    noise, y = random.standard_normal((60, 4000)), random.standard_normal(60)
    pipeline = make_pipeline(SelectKBest(f_regression, k=2), model)
    honest = stability_selection(pipeline, noise, y, n_pairs=10)
    assert not honest["stable"].any()
    # Columns that not all halves have are known by their names, and numbers are those of all columns that any half has.
    assert len(honest.feature_names) > 2 and set(honest["monomial"]) <= {f"x{j}" for j in range(4000)}
    assert honest["exponents"][0] == ((honest.feature_names.index(honest["monomial"][0]), 1),)
    # A step that sees every sample alike changes nothing.
    plain = stability_selection(model, X, Y, n_pairs=5)
    scaled = stability_selection(make_pipeline(StandardScaler(), model), X, Y, n_pairs=5)
    assert scaled["monomial"] == plain["monomial"]
    np.testing.assert_array_equal(scaled["frequency"], plain["frequency"])
    unnamed = make_pipeline(FunctionTransformer(), LpRegressor(p=1.1, C=10.0, standardize=True))
    assert stability_selection(unnamed, X, Y, n_pairs=5)["exponents"] == plain["exponents"]
    with pytest.raises(ValueError, match="fitted again to every half"):
        stability_selection(pipeline.fit(noise, y))
    spread = FunctionTransformer(lambda table: table[:, table.mean(axis=0) > 0])
    with pytest.raises(ValueError, match="get_feature_names_out"):
        stability_selection(make_pipeline(spread, model), noise, y, n_pairs=1)


def test_stability_leaves_the_given_estimator_alone():
    model = LpRegressor()
    stability_selection(model, X, Y, n_pairs=3)
    assert not hasattr(model, "dual_coef_")


def test_the_columns_of_top_features_are_its_monomials():
    selector = TopFeatures(SparseRegressor("poly"), k=3).fit(X, Y)
    columns = selector.transform(X)
    for at, factors in enumerate(selector.monomials_):
        np.testing.assert_allclose(columns[:, at], np.prod([X[:, j] ** power for j, power in factors], axis=0))
    assert selector.get_feature_names_out().tolist() == selector.estimator_.terms_["monomial"]
    assert selector.get_feature_names_out(list("abcde"))[0].replace(" ", "")[0] in "abcde"
    one = TopFeatures(SparseRegressor("poly"), k=1).fit(X, Y)
    assert one.monomials_ == selector.monomials_[:1]
    import scipy.sparse

    np.testing.assert_allclose(selector.transform(scipy.sparse.csr_array(X)), columns)


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_top_features_put_out_frames_with_the_names_of_monomials(kind):
    frame = {"pandas": pandas.DataFrame, "polars": polars.DataFrame}[kind]({n: X[:, j] for j, n in enumerate("abcde")})
    selector = TopFeatures(k=3).set_output(transform=kind)
    out = selector.fit_transform(frame, Y)
    assert list(out.columns) == selector.get_feature_names_out().tolist()
    assert "a * b" in out.columns
    assert out.shape == (30, 2)


def test_products_of_centred_variables_are_columns_with_their_means():
    rng = np.random.default_rng(0)
    shifted = 20 + rng.standard_normal((80, 4))
    y = 3 * (shifted[:, 0] - 20) * (shifted[:, 1] - 20) + shifted[:, 2] + rng.standard_normal(80)
    selector = TopFeatures().fit(shifted, y)
    assert selector.monomials_[0] == ((0, 1), (1, 1))
    means = selector.means_[0]
    np.testing.assert_allclose(
        selector.transform(shifted)[:, 0], (shifted[:, 0] - means[0]) * (shifted[:, 1] - means[1]), rtol=1e-12
    )
    assert selector.get_feature_names_out()[0] == f"(x0 - {means[0]:.4g}) * (x1 - {means[1]:.4g})"


def test_top_features_of_noise_have_no_column():
    noise = np.random.default_rng(5).standard_normal(len(Y))
    with pytest.warns(UserWarning, match="There are no columns"):
        selector = TopFeatures().fit(X, noise)
    assert selector.transform(X).shape == (30, 0)
    with pytest.raises(ValueError, match=r"^estimator .*SparseRegressor"):
        TopFeatures(LpRegressor()).fit(X, Y)


def test_top_features_and_a_linear_model_recover_the_truth():
    pipeline = make_pipeline(TopFeatures(SparseRegressor("poly"), k=4), LinearRegression()).fit(X, Y)
    assert pipeline.score(X, Y) > 0.99
    assert set(pipeline[0].get_feature_names_out()) == {"x0 * x1", "x2^2"}
    clone(pipeline).fit(X, Y)


def test_top_features_of_classes_are_those_of_every_class():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((200, 4))
    names = np.array(list("abc"))[np.digitize(2 * X[:, 1] + rng.logistic(size=200) / 2, [-1, 1])]
    selector = TopFeatures(k=2).fit(X, names)
    assert isinstance(selector.estimator_, SparseClassifier)
    assert ((1, 1),) in selector.monomials_
    assert len(set(selector.monomials_)) == len(selector.monomials_) <= 6


@pytest.mark.parametrize(
    "parameters",
    [{"p": 1.2}, {"kernel": "poly", "p": 1.1}, {"kernel": "exp", "scale": 0.05}, {"loss": "huber"}],
    ids=str,
)
def test_a_path_is_a_row_of_single_fits(parameters):
    Cs = [0.05, 0.5, 5.0]
    path = lp_path(X, Y, Cs=Cs, tol=1e-11, **parameters)
    for at, C in enumerate(Cs):
        single = LpRegressor(C=C, tol=1e-11, **parameters).fit(X, Y)
        assert path.primal_values[at] == pytest.approx(single.primal_value_, rel=1e-9)
        np.testing.assert_allclose(path.predictions[at], single.predict(X), rtol=1e-3, atol=1e-4)
        assert path.intercepts[at] == pytest.approx(single.intercept_, abs=1e-4)
        if path.coefs is not None:
            np.testing.assert_allclose(path.coefs[at], single.coef_, rtol=1e-2, atol=1e-4)
    assert (path.duality_gaps <= 1e-11).all()
    assert "3 values of C" in repr(path)


def test_paths_of_labels_and_many_outputs_are_lists():
    assert len(lp_path(X, NAMES, Cs=3)) == 3
    assert len(lp_path(X, np.column_stack([Y, Y]), Cs=3)) == 2
    two = lp_path(X, Y > 0, Cs=[1.0], loss="logistic")
    np.testing.assert_allclose(two.coefs[0], LpClassifier().fit(X, Y > 0).coef_[0], rtol=1e-3, atol=1e-5)


def test_a_path_takes_values_of_C_in_increasing_order_whatever_the_order_given():
    path = lp_path(X, Y, Cs=[1.0, 0.1, 10.0])
    assert path.Cs.tolist() == [0.1, 1.0, 10.0]


TENSORS = {
    "linear": ({"kernel": "linear"}, lambda t: t),
    "poly": ({"kernel": "poly", "degree": 3, "coef0": 0.5, "scale": 0.7}, lambda t: (0.5 + 0.7 * t) ** 3),
    "exp": ({"kernel": "exp", "scale": 0.3}, lambda t: np.exp(0.3 * t)),
    "series": ({"kernel": kernels.PowerSeries([1.0, 0.5, 0.25])}, lambda t: 1 + 0.5 * t + 0.25 * t**2),
}


@pytest.mark.parametrize("name", TENSORS)
def test_the_gram_tensor_is_what_einsum_says(name):
    parameters, kernel = TENSORS[name]
    A = X[:6]
    np.testing.assert_allclose(gram_tensor(A, p=2, **parameters), kernel(np.einsum("ia,ja->ij", A, A)), rtol=1e-10)
    four = kernel(np.einsum("ia,ja,ka,la->ijkl", A, A, A, A))
    np.testing.assert_allclose(gram_tensor(A, **parameters), four, rtol=1e-9, atol=1e-10)
    six = kernel(np.einsum("ia,ja,ka,la,ma,na->ijklmn", *[A[:4]] * 6))
    np.testing.assert_allclose(gram_tensor(A[:4], p=1.2, **parameters), six, rtol=1e-9, atol=1e-10)


def test_the_tensor_of_a_normalised_kernel_has_ones_on_its_diagonal():
    tensor = gram_tensor(X[:5], kernel="exp", scale=0.1, normalize_kernel=True)
    np.testing.assert_allclose([tensor[(i,) * 4] for i in range(5)], 1.0, rtol=1e-12)


def test_kernels_count_their_monomials():
    assert kernels.Polynomial(2).cardinality(650) == 211_575
    assert kernels.Anova(1, 2).cardinality(4) == 10
    assert kernels.Exponential().cardinality(3) is None
    assert kernels.Polynomial(10).cardinality(10**6) > 2**64
    assert kernels.Exponential(degrees=(1, 3)).degrees_ == (1, 3)
    assert kernels.Exponential().degrees_ == (0, None)


@pytest.mark.parametrize("make", [datasets.make_sparse_linear, datasets.make_sparse_quadratic, datasets.make_monomials])
def test_data_are_the_same_for_the_same_seed(make):
    one, two, other = make(20, 10, 3, random_state=4), make(20, 10, 3, random_state=4), make(20, 10, 3, random_state=5)
    for a, b in zip(one[:2], two[:2], strict=True):
        np.testing.assert_array_equal(a, b)
    assert one[2] == two[2]
    assert not np.array_equal(one[0], other[0])
    assert one[0].shape == (20, 10)
    assert one[0].flags.f_contiguous
    assert one[1].shape == (20,)
    assert len(one[2]) == 3


def test_data_without_noise_are_their_truth():
    A, y, truth = datasets.make_sparse_linear(20, 10, 3, noise=0.0)
    np.testing.assert_allclose(sum(weight * A[:, j] for j, weight in truth), y)
    A, y, truth = datasets.make_monomials(20, 10, 3, noise=0.0)
    np.testing.assert_allclose(sum(c * np.prod([A[:, j] ** e for j, e in k], axis=0) for k, c in truth), y)


def test_standardized_monomials_are_polynomial_features_and_a_scaler():
    model = LpRegressor(kernel="anova", degree=(1, 2), monomials="standardized", p=1.5, tol=1e-12).fit(X, Y)
    expand = make_pipeline(PolynomialFeatures(2, interaction_only=True, include_bias=False), StandardScaler())
    plain = LpRegressor(p=1.5, tol=1e-12).fit(expand.fit_transform(X), Y)
    np.testing.assert_allclose(model.predict(X), plain.predict(expand.transform(X)), rtol=1e-4, atol=1e-5)
    assert model.primal_value_ == pytest.approx(plain.primal_value_, rel=1e-9)
    assert model.intercept_ == pytest.approx(Y.mean())
    new = rng.standard_normal((7, 5))
    np.testing.assert_allclose(model.predict(new), plain.predict(expand.transform(new)), rtol=1e-4, atol=1e-5)


def test_the_papers_algorithms_are_chosen_with_their_parameters():
    X, y, _ = datasets.make_sparse_linear(n_samples=40, n_features=300, n_informative=3, random_state=0)
    common = {"C": 10.0, "fit_intercept": False, "tol": 1e-8, "max_iter": 5000, "route": "features"}
    newton = LpRegressor(**common).fit(X, y)
    counts = set()
    for options in [
        None,
        {"algorithm": "3.3", "theta": 0.9},
        {"algorithm": "2.1"},
        {"algorithm": "2.1", "lambda_bar": 0.2},
    ]:
        model = LpRegressor(solver="paper", solver_options=options, **common)
        assert clone(model).get_params()["solver_options"] == options
        model.fit(X, y)
        assert model.status_ == "converged"
        np.testing.assert_allclose(model.coef_, newton.coef_, atol=1e-3 * np.abs(newton.coef_).max())
        counts.add(model.n_iter_)
    assert len(counts) == 4, "the options reach the algorithm"
    search = LpRegressorCV(Cs=2, cv=2, solver="paper", solver_options={"delta": 0.3}, tol=1e-3).fit(X, y)
    assert search.get_params()["solver_options"] == {"delta": 0.3}


def test_the_rule_of_the_paper_is_a_sentence_of_the_explanation():
    X, y, _ = datasets.make_sparse_linear(n_samples=20, n_features=1000, n_informative=3, random_state=0)
    assert "(21), n <= 2 card(K)^(1/3), holds: 20 <= 20.0" in LpRegressor().fit(X, y).explain()
    assert "(21)" not in LpRegressor(p=1.1).fit(X, y).explain()
