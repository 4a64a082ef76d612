"""What the parameters and attributes of the estimators of few terms mean."""

from __future__ import annotations

#: Parameters that both estimators of few terms have, beside those of all.
PARAMETERS = {
    "kernel": """{"linear", "poly", "anova"} or an object of banach.kernels, default="linear"
    Which monomials can be named: the variables; all products of a degree, with powers; products of different variables.
    There must be finitely many, so ``"exp"`` needs a pair of degrees. How a kernel weights them does not matter here.""",
    "degree": """int, (int, int) or None, default=None
    The degree of poly and anova, or its lowest and highest value, 1 to 2 if None; a pair also cuts exp.""",
    "monomials": """{"standardized", "raw", "unit"}, default="standardized"
    The size of monomials on the samples. It matters to a penalty alone, which asks for ``"standardized"``; by evidence, sizes
    and units do not matter.""",
    "penalty": """{"evidence", "l1", "mcp", "scad"}, default="evidence"
    What keeps the function to few terms. ``"evidence"`` compares supports by the criterion, and shrinks nothing. The others
    are penalties on the weights of all monomials, at the point of their path with the best criterion: ``"l1"`` is the Lasso,
    which shrinks all weights; ``"mcp"`` and ``"scad"`` leave large ones as they are.""",
    "max_terms": """int or None, default=None
    The most terms; a third of the rows, for classes of those of the smaller class, if None, and never more.""",
    "hierarchy": """{"weak", "strong"} or None, default=None
    Which supports are allowed: with ``"strong"``, those in which every product has all its factors (what is left of it without
    one variable) among the terms; with ``"weak"``, those in which it has one of them. By evidence only.""",
    "cv": """int, splitter, iterable or None, default=None
    Which samples are held out: so many folds, or what a splitter of scikit-learn's says. The terms are searched again without
    each fold, which takes as many searches more; then ``assessment_`` and ``verdict_`` say how well unseen samples are
    predicted, and a regressor has intervals (``predict_interval``). Nothing is held out if None, unless ``fit`` is given
    ``groups``. No choice depends on it.""",
}

#: What a fit gives them.
ATTRIBUTES = {
    "terms_": """Table
    The terms, the one with the most evidence first; of more than two classes those of each, with a column ``class``. Columns
    ``monomial``, ``exponents`` (pairs of a variable and its exponent), ``coefficient``, ``std_error``, ``lower`` and ``upper``
    (the standard error and the interval of confidence of 95 % of the coefficient without a penalty, as if the terms had been
    known beforehand: conditional on the selection), ``evidence`` (how much the criterion rises without the term) and
    ``alternatives`` (pairs: a monomial that could stand in its place, and how much the criterion rises with it; 0 for one
    that does the same on these samples). With a penalty, ``refit`` is the coefficient without it. The caption says what
    holds.""",
    "n_terms_": "int, or array of shape (n_classes,)\n    The number of terms; 0 if nothing can be named at this number of samples.",
    "n_monomials_": "int\n    The number of monomials that could have been named.",
    "criterion_": "float, or array of shape (n_classes,)\n    The criterion: below 0 if the terms are better than a constant, and 0 without.",
    "certificate_": """LocalOptimality, DualityGap or Stationarity, or a list of them
    What holds over all monomials: by evidence what single steps lead to, for the Lasso a duality gap, for the other penalties
    how far the function is from a stationary point. ``holds`` says whether that is as it should be.""",
    "path_": """Table
    The best function of every number of terms that was found: ``terms``, ``unexplained`` (the share of the variance of y, or
    of the deviance) and ``criterion``.""",
    "intercept_": "float, or array of shape (n_classes,)\n    The constant beside the monomials of ``terms_``.",
    "means_": """array or None, or a list of them
    What is taken from every variable before products are made; None if nothing is. Both ways are tried, and the criterion
    decides; for variables far from 0 there is one way.""",
    "assessment_": """dict or None
    How well held-out samples are predicted by terms that were found without them, against a constant; None without ``cv``.""",
    "verdict_": "str or None\n    The same in words.",
    "n_features_in_": "int\n    The number of variables.",
    "feature_names_in_": "array\n    Their names, if X had any.",
}
