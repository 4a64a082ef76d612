//! What can be set, by ids; every door to the library spells them in its own words.

use std::fmt;

use super::Error;

macro_rules! parameters {
    ($($id:ident $name:literal $doc:literal)*) => {
        /// Something that an error can name: what callers set, or what follows from it.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Parameter {
            $(#[doc = $doc] $id,)*
        }

        impl Parameter {
            /// Every parameter.
            pub const ALL: &[Self] = &[$(Self::$id),*];

            /// Its name in this library.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$id => $name,)*
                }
            }
        }
    };
}

parameters! {
    Data "X" "The samples."
    Columns "the number of columns" "The number of variables, d."
    Target "y" "The numbers or classes that are predicted."
    Gamma "gamma" "The weight of the loss."
    GammaCount "the number of gammas" "How many values of gamma a grid has."
    LowerShare "lower_share" "Where a grid of gammas begins."
    UpperFactor "upper_factor" "Where a grid of gammas ends."
    P "p" "The exponent of the penalty."
    Kernel "kernel" "The kernel."
    Degree "degree" "The degree of the products of a kernel, or a range of degrees."
    Coef0 "coef0" "The constant of a polynomial."
    Scale "scale" "The scale of a kernel."
    Coefficients "coefficients" "The coefficients of a power series."
    Series "series" "A power series by name."
    NormalizeKernel "normalize" "Whether the features of a sample are divided by their norm."
    Points "the number of points" "The number of points at which a kernel is evaluated."
    Monomials "monomials" "The size of monomials on the samples."
    Loss "loss" "The loss."
    Epsilon "epsilon" "The width of the epsilon-insensitive loss."
    Rho "rho" "Where the Huber loss becomes linear."
    Tau "tau" "The quantile of the quantile loss."
    FitIntercept "fit_intercept" "Whether there is an intercept."
    Tolerance "tolerance" "The relative duality gap to reach."
    Solver "solver" "The solver."
    Algorithm "algorithm" "The algorithm of the paper."
    Rule "rule" "Where the search for a step begins."
    Delta "delta" "How much of the linear decrease a step may lose."
    Theta "theta" "The factor from one trial step to the next."
    LambdaBar "lambda_bar" "The first trial step."
    Momentum "a" "The momentum of FISTA."
    Route "route" "The route to Q."
    MemoryLimit "the limit on memory" "How much memory may be taken."
    Threads "threads" "The number of threads."
    Folds "the number of folds" "Into how many sets cross-validation splits the samples."
    Coverage "coverage" "The share of new samples that intervals are to hold."
    Permutations "permutations" "How many orders by chance targets are tried in."
    ClassWeight "the weights of classes" "How much classes count."
    Top "top" "How many of the largest monomials are listed."
    Nodes "nodes" "How many monomials a search may look at."
    Seconds "seconds" "How long a search may take."
    Effort "effort" "How much an automatic choice tries."
    MaxTerms "max_terms" "The most terms of a sparse function."
    Penalty "penalty" "What keeps a sparse function to few terms."
    Hierarchy "hierarchy" "Which supports a sparse function may have."
    Resamples "resamples" "How many half samples tell how stable the terms of a sparse function are."
    Pairs "pairs" "The pairs of random halves of a stability selection."
    Threshold "threshold" "How often a stable monomial is selected."
    Samples "the number of samples of positive weight" "How many samples count."
    Intercept "intercept" "The constant of an equation."
    Radius "radius" "The distance of a dual vector from the solution."
    Status "status" "How a run ended."
}

impl Parameter {
    /// Refuses a value that does not fit.
    pub(crate) fn check(self, got: impl fmt::Display, fits: bool, allowed: &'static str) -> Result<(), Error> {
        if fits { Ok(()) } else { Err(Error::parameter(self, got, allowed)) }
    }
}

/// How the users of a door to the library spell its parameters.
pub trait Words {
    /// The parameter.
    fn name(&self, parameter: Parameter) -> &'static str;

    /// The parameter with a value that it could have.
    fn choice(&self, parameter: Parameter, value: &str) -> String;
}

/// The words of this library.
#[derive(Debug, Clone, Copy)]
pub struct Plain;

impl Words for Plain {
    fn name(&self, parameter: Parameter) -> &'static str {
        parameter.name()
    }

    fn choice(&self, parameter: Parameter, value: &str) -> String {
        format!("{} = {value}", parameter.name())
    }
}

/// What else would work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Remedy {
    /// A value of a parameter.
    Choose(Parameter, &'static str),
    /// Another value of a parameter.
    Change(Parameter),
    /// A smaller value of a parameter.
    Lower(Parameter),
    /// What no parameter can say.
    Do(&'static str),
}

impl Remedy {
    /// As advice.
    pub(super) fn text(self, words: &dyn Words) -> String {
        match self {
            Self::Choose(parameter, value) => format!("take {}", words.choice(parameter, value)),
            Self::Change(parameter) => format!("take another {}", words.name(parameter)),
            Self::Lower(parameter) => format!("lower {}", words.name(parameter)),
            Self::Do(text) => text.to_owned(),
        }
    }
}

/// A number with the word for what it counts.
///
/// ```
/// use banach::error::counted;
///
/// assert_eq!([counted(1, "row", "rows"), counted(20, "row", "rows")], ["1 row", "20 rows"]);
/// ```
pub fn counted(number: impl fmt::Display, one: &str, many: &str) -> String {
    let number = number.to_string();
    let word = if number == "1" { one } else { many };
    format!("{number} {word}")
}
