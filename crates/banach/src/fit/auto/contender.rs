//! What is tried: recipes, and what came of each on held-out samples.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{gamma_search::Learned, learning_set::LearningSet, validation::Trial};
use crate::{
    Error, FeatureMatrix, Spec,
    data::ColumnScaling,
    fit::SparseModel,
    kernel::{Degrees, KernelChoice, KernelName, KernelSpec, MonomialScale},
    solver::Mean,
};

/// A way to a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind", deny_unknown_fields)]
pub enum Recipe {
    /// The mean, or the shares of the classes.
    Constant,
    /// A linear function of all variables.
    Linear {
        /// The exponent of its penalty.
        p: f64,
    },
    /// Gauss's kernel: smooth functions of all variables.
    Gauss {
        /// Of the ranks of their values ([`RankScores`](crate::data::RankScores)).
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        ranks: bool,
    },
    /// Gauss's kernel with a length for every variable, by the marginal likelihood.
    Lengths {
        /// Of the ranks of their values.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        ranks: bool,
    },
    /// Products of every degree of the variables, each variable scaled by how much it mattered in the round before.
    Relevance {
        /// The exponent of the penalty.
        p: f64,
        /// How often the scales were learned; 0 for equal ones.
        round: usize,
    },
    /// The variables, their squares and their products.
    Products {
        /// The exponent of the penalty.
        p: f64,
        /// The size of a product on the samples.
        monomials: MonomialScale,
    },
    /// The few terms that evidence names.
    Terms {
        /// The highest degree of a term.
        degree: usize,
    },
}

impl Recipe {
    /// Whether it leads to few terms.
    pub fn is_terms(&self) -> bool {
        matches!(self, Self::Terms { .. })
    }
}

impl fmt::Display for Recipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = |p: f64| if (p - 4.0 / 3.0).abs() < 1e-9 { "4/3".to_owned() } else { p.to_string() };
        match self {
            Self::Constant => f.write_str("constant"),
            Self::Linear { p: 2.0 } => f.write_str("linear, p = 2 (ridge)"),
            Self::Linear { p: 1.0 } => f.write_str("linear, p = 1 (Lasso)"),
            Self::Linear { p } => write!(f, "linear, p = {}", number(*p)),
            Self::Gauss { ranks } => write!(f, "Gauss's kernel{}", of_ranks(*ranks)),
            Self::Lengths { ranks } => write!(f, "Gauss's kernel{}, a length per variable", of_ranks(*ranks)),
            Self::Relevance { p, round: 0 } => write!(f, "exp kernel, p = {}", number(*p)),
            Self::Relevance { p, round } => write!(f, "exp kernel by relevance, round {round}, p = {}", number(*p)),
            Self::Products { p, monomials: MonomialScale::Raw } => write!(f, "products, p = {}", number(*p)),
            Self::Products { p, monomials } => write!(f, "products, {monomials}, p = {}", number(*p)),
            Self::Terms { degree: 1 } => f.write_str("few terms"),
            Self::Terms { degree } => write!(f, "few terms up to degree {degree}"),
        }
    }
}

/// How a contender did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ContenderScore {
    /// What it is.
    pub recipe: Recipe,
    /// Its loss on held-out samples: the squared error, or the logarithmic loss of classes; on those of the first folds, where it was far
    /// behind others after these. `None` where no sample was held out.
    pub loss: Option<Mean>,
    /// The loss that the evidence of few terms claims.
    pub claimed: Option<f64>,
    /// The share of held-out samples whose class was predicted, for classes.
    pub accuracy: Option<Mean>,
    /// Its weight in the model.
    pub weight: f64,
    /// The seconds that it took.
    pub seconds: f64,
}

impl ContenderScore {
    /// Whether it is made of few terms.
    pub fn is_terms(&self) -> bool {
        self.recipe.is_terms()
    }
}

/// A contender that was tried.
#[derive(Debug, Clone)]
pub(super) struct Contender {
    pub recipe: Recipe,
    pub blueprint: Blueprint,
    /// Its predictions of held-out samples, if any were.
    pub predictions: Option<Vec<f64>>,
    /// The losses of held-out samples with all parameters that the folds have compared.
    pub looked_at: Vec<Vec<f64>>,
    /// The loss that evidence claims.
    pub claimed: Option<f64>,
    /// The loss on the first folds, after which it was so far behind that the others were left out.
    pub behind: Option<Mean>,
    pub seconds: f64,
}

/// What makes a model of a contender.
#[derive(Debug, Clone)]
pub(super) enum Blueprint {
    Constant,
    Dense { units: ColumnScaling, spec: Box<Spec> },
    Terms(Box<SparseModel>),
}

impl Contender {
    /// The constant, without each fold.
    pub(super) fn constant(set: &LearningSet<'_>) -> Self {
        let n = set.x.samples();
        let values = |weights: &[f64]| set.scoring.constant(weights);
        let count = values(&set.all().weights).len();
        let mut predictions = vec![0.0; count * n];
        for lane in &set.lanes {
            let constant = values(&lane.weights);
            for &i in lane.fold.iter().flat_map(|fold| &fold.held_out()[0]) {
                constant.iter().enumerate().for_each(|(place, value)| predictions[place * n + i] = *value);
            }
        }
        Self {
            recipe: Recipe::Constant,
            blueprint: Blueprint::Constant,
            predictions: Some(predictions),
            looked_at: Vec::new(),
            claimed: None,
            behind: None,
            seconds: 0.0,
        }
    }
}

impl Recipe {
    /// The contenders of the recipe; `before` are those of earlier ones.
    pub(super) fn contenders(&self, trial: &mut Trial<'_, '_>, before: &[Contender]) -> Result<Vec<Contender>, Error> {
        match self {
            Self::Constant => Ok(Vec::new()),
            Self::Relevance { p, round } => trial.relevance_rounds(*p, *round),
            Self::Lengths { ranks } => trial.lengths(*ranks, before),
            Self::Terms { degree } => trial.terms(*degree, before),
            Self::Linear { .. } | Self::Gauss { .. } | Self::Products { .. } => {
                let (set, options) = (trial.set(), self.options(trial.set())?);
                let (lanes, units) = match self {
                    Self::Gauss { ranks: true } => (&set.ranked()?.lanes[..], &set.ranked()?.all),
                    _ => (set.seen_by(options.first().map_or(1.0, |spec| spec.p))?, &set.all().units),
                };
                let found = trial.validate(lanes, units, &options, Learned::FromColumns)?;
                Ok(found.map(|found| found.contender(self.clone())).into_iter().collect())
            }
        }
    }

    /// The parameters that are tried, but for gamma, for variables in the units of all samples.
    pub(super) fn options(&self, set: &LearningSet<'_>) -> Result<Vec<Spec>, Error> {
        let usual = Spec { loss: set.loss, ..Spec::default() };
        Ok(match self {
            Self::Linear { p } => vec![Spec { p: *p, ..usual }],
            Self::Products { p, monomials } => {
                vec![Spec { p: *p, monomials: *monomials, kernel: products(2)?, ..usual }]
            }
            Self::Gauss { ranks } => {
                let x = if *ranks { of_all(&set.ranked()?.lanes) } else { of_all(set.in_units()?) };
                super::plan::exponential_options(set, x, &Spec { p: 2.0, ..usual })?
            }
            Self::Relevance { p, .. } => {
                super::plan::exponential_options(set, of_all(set.in_units()?), &Spec { p: *p, ..usual })?
            }
            Self::Constant | Self::Lengths { .. } | Self::Terms { .. } => Vec::new(),
        })
    }
}

/// What the fit of all samples sees.
fn of_all<'s>(lanes: &'s [FeatureMatrix<'static>]) -> &'s FeatureMatrix<'static> {
    lanes.last().expect("there is a lane of all samples")
}

fn of_ranks(ranks: bool) -> &'static str {
    if ranks { " of ranks" } else { "" }
}

/// The variables and their products up to a degree.
pub fn products(degree: usize) -> Result<KernelSpec, Error> {
    if degree == 1 {
        return Ok(KernelSpec::Linear);
    }
    KernelChoice { degree: Some(Degrees::range(1, degree)?), ..KernelChoice::new(KernelName::Poly) }.spec()
}
