//! The words of pages, each explained once: in the list at the end, and where the word is pointed at.

/// Every word and what it means here.
pub(crate) const GLOSSARY: [(&str, &str); 15] = [
    (
        "certificate",
        "What the answer itself proves of how far it can be from the optimum of its own objective. It says nothing of how well unseen rows are predicted.",
    ),
    ("coefficient", "What a monomial is multiplied by in the model."),
    (
        "constant",
        "The best prediction that uses no variable: the mean, or the most frequent class. A model that does no better has found nothing.",
    ),
    ("contender", "One of the models that were tried."),
    ("duality gap", "An upper bound on how far the objective of a fit is above its minimum."),
    (
        "evidence",
        "How much a criterion on all rows, which knows how many terms could have been named, rises without a term; 10 is odds of 150 to 1.",
    ),
    ("fold", "A part of the rows. Each is held out in turn, and predicted by a model that is fitted to the others."),
    (
        "gamma",
        "How much the fit to the rows counts against the simplicity of the model: the larger, the closer to the rows.",
    ),
    ("held out", "Of rows: not seen by the model that predicts them."),
    (
        "loss",
        "What is paid for a wrong prediction: for numbers half of the squared error, unless another was asked for.",
    ),
    ("monomial", "A variable, or a product of variables and their powers."),
    ("p", "The exponent of the norm: near 1 few monomials have most of the weight, at 2 all have some."),
    ("share", "The part of the model that is made of something: of a monomial, or of all that involve a variable."),
    ("standard error", "How far a number would typically be from itself with other rows of the same kind."),
    ("weight", "The size of a monomial in the norm; of a contender, its part in the model."),
];

/// What a word means.
pub(crate) fn meaning(word: &str) -> Option<&'static str> {
    GLOSSARY.iter().find(|(known, _)| *known == word).map(|(_, meaning)| *meaning)
}
