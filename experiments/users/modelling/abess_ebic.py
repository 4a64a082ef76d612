"""abess: best subsets by splicing, their size by the extended BIC."""

from types import SimpleNamespace

from .expansion import found, written_out

__all__ = ["GIVEN", "NEEDS", "TITLE", "build", "found", "with_option"]

TITLE = "abess, EBIC"
NEEDS = ("abess",)
GIVEN = (
    "`abess.LinearRegression(ic_type='ebic')` on the same monomials, with sizes of up to a third of the samples, as ours has "
    "(its default, n/(log log n log d), is below the true number); no folds"
)


def build(task, variables="standardised"):
    from abess import LinearRegression

    class UpToAThird(LinearRegression):
        """The sizes that are tried depend on the samples."""

        def fit(self, X, y):
            self.support_size = range(min(len(y) // 3, X.shape[1]) + 1)
            return super().fit(X, y)

    return written_out(task, UpToAThird(ic_type="ebic", thread=task.threads), variables)


def with_option(variables):
    """The contender whose products are of the variables as they are: it is told what ours finds out."""
    return SimpleNamespace(
        TITLE=f"{TITLE}, {variables} variables",
        NEEDS=NEEDS,
        GIVEN="the same with products of the variables as they were drawn, which ours finds out by the criterion",
        build=lambda task: build(task, variables),
        found=found,
    )
