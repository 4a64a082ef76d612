//! The model of an automatic choice: what it predicts, and what it is made of.

use std::fmt;

use super::{Auto, Recipe, Standing, Verdict};
use crate::{
    Error, FeatureMatrix, Memory, Model, Spec, Status,
    data::Units,
    error::Parameter,
    fit::{SparseModel, Task},
    model::ExplicitModel,
    solver::Mean,
};

/// A mixture of one or more members.
#[derive(Debug, Clone)]
pub struct AutoModel {
    pub(super) auto: Auto,
    pub(super) task: Task,
    pub(super) variables: usize,
    pub(super) samples: usize,
    pub(super) verdict: Verdict,
    pub(super) loss: Mean,
    pub(super) constant_loss: f64,
    pub(super) accuracy: Option<Mean>,
    pub(super) held_out: Option<Vec<f64>>,
    pub(super) standings: Vec<Standing>,
    pub(super) left_out: Vec<(Recipe, String)>,
    pub(super) members: Vec<AutoMember>,
    pub(super) terms: Option<SparseModel>,
}

/// A member of a mixture.
#[derive(Debug, Clone)]
pub struct AutoMember {
    /// What it is.
    pub recipe: Recipe,
    /// Its weight; those of all members sum to one.
    pub weight: f64,
    /// What it predicts by.
    pub kind: MemberKind,
}

/// What a member predicts by.
#[derive(Debug, Clone)]
pub enum MemberKind {
    /// The mean, or the share of every class.
    Constant(Vec<f64>),
    /// A function of columns in units of their own.
    Dense {
        /// What is done to the columns first.
        units: Units,
        /// The parameters.
        spec: Box<Spec>,
        /// The functions.
        model: Box<Model>,
    },
    /// A function of few terms.
    Terms(SparseModel),
}

impl AutoMember {
    /// Numbers, or the probabilities of all classes: those of all points for the first class, then for the second, and so on.
    fn predictions(&self, x: &FeatureMatrix<'_>, task: &Task) -> Result<Vec<f64>, Error> {
        let classes = matches!(task, Task::Classes(_));
        match &self.kind {
            MemberKind::Constant(values) => {
                Ok(values.iter().flat_map(|value| std::iter::repeat_n(*value, x.samples())).collect())
            }
            MemberKind::Dense { units, model, .. } => {
                let x = units.apply(x)?;
                if classes { model.probabilities(&x) } else { model.decisions(&x) }
            }
            MemberKind::Terms(model) if classes => model.probabilities(x),
            MemberKind::Terms(model) => model.decisions(x),
        }
    }

    /// How much every variable of so many matters: shares of the norm, or for few terms of the squares of what they contribute.
    fn relevance(&self, x: &FeatureMatrix<'_>, memory: Memory) -> Result<Vec<f64>, Error> {
        let mut shares = vec![0.0; x.features()];
        match &self.kind {
            MemberKind::Constant(_) => {}
            MemberKind::Dense { units, model, .. } => {
                let x = units.apply(x)?;
                let functions = model.solutions().len();
                for function in 0..functions {
                    let found = model.function(function, &x)?.relevance(memory)?;
                    for (&column, share) in units.columns().iter().zip(found.variables()) {
                        shares[column] += share / functions as f64;
                    }
                }
            }
            MemberKind::Terms(model) => {
                for function in model.functions() {
                    add_relevance(&function.expanded()?, x, model.functions().len(), &mut shares)?;
                }
            }
        }
        Ok(shares)
    }
}

/// Adds for every variable the share of the terms that involve it.
fn add_relevance(
    function: &ExplicitModel,
    x: &FeatureMatrix<'_>,
    functions: usize,
    shares: &mut [f64],
) -> Result<(), Error> {
    let mut sizes = Vec::new();
    for (monomial, coefficient) in function.terms() {
        let alone = ExplicitModel::new(0.0, vec![(monomial.clone(), *coefficient)])?;
        let values = alone.predict(x)?;
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        sizes.push((monomial, values.iter().map(|value| (value - mean).powi(2)).sum::<f64>()));
    }
    let total: f64 = sizes.iter().map(|(_, size)| size).sum();
    for (monomial, size) in sizes.iter().filter(|_| total > 0.0) {
        for (variable, _) in monomial.factors() {
            shares[*variable] += size / total / functions as f64;
        }
    }
    Ok(())
}

impl AutoModel {
    /// What was asked for.
    pub fn auto(&self) -> &Auto {
        &self.auto
    }

    /// What is predicted.
    pub fn task(&self) -> &Task {
        &self.task
    }

    /// The number of variables.
    pub fn variables(&self) -> usize {
        self.variables
    }

    /// The number of samples.
    pub fn samples(&self) -> usize {
        self.samples
    }

    /// What the model is.
    pub fn verdict(&self) -> Verdict {
        self.verdict
    }

    /// Every contender, in the order in which they were tried; the first is the constant.
    pub fn standings(&self) -> &[Standing] {
        &self.standings
    }

    /// What was not tried, and why.
    pub fn left_out(&self) -> &[(Recipe, String)] {
        &self.left_out
    }

    /// What the model is made of.
    pub fn members(&self) -> &[AutoMember] {
        &self.members
    }

    /// The few terms that evidence names, be they the model or not.
    pub fn terms(&self) -> Option<&SparseModel> {
        self.terms.as_ref()
    }

    /// The loss of the model on held-out samples: the squared error, or the logarithmic loss of classes. Where few terms are the model, what
    /// their evidence claims, without a standard error.
    pub fn loss(&self) -> Mean {
        self.loss
    }

    /// The held-out loss of a constant.
    pub fn constant_loss(&self) -> f64 {
        self.constant_loss
    }

    /// The loss as a share of that of the constant.
    pub fn held_out_error(&self) -> f64 {
        self.loss.value / self.constant_loss
    }

    /// The share of held-out samples whose class is predicted; `None` for numbers, and where no sample was held out.
    pub fn accuracy(&self) -> Option<Mean> {
        self.accuracy
    }

    /// The predictions of held-out samples, as [`predictions`](Self::predictions) has them; `None` where few terms are the model by their
    /// evidence.
    pub fn held_out(&self) -> Option<&[f64]> {
        self.held_out.as_deref()
    }

    /// Numbers, or the probabilities of all classes: those of all points for the first class, then for the second, and so on.
    pub fn predictions(&self, x: &FeatureMatrix<'_>) -> Result<Vec<f64>, Error> {
        if x.features() != self.variables {
            return Err(Error::Shape { what: "a row of X", got: x.features(), expected: self.variables });
        }
        let mut sum: Vec<f64> = Vec::new();
        for member in &self.members {
            let predictions = member.predictions(x, &self.task)?;
            sum.resize(predictions.len(), 0.0);
            sum.iter_mut().zip(&predictions).for_each(|(sum, prediction)| *sum += member.weight * prediction);
        }
        Ok(sum)
    }

    /// The most likely class of every point.
    pub fn labels(&self, x: &FeatureMatrix<'_>) -> Result<Vec<i64>, Error> {
        let Task::Classes(classes) = &self.task else {
            let (parameter, got) = (Parameter::Target, "numbers".to_owned());
            return Err(Error::Parameter { parameter, got, allowed: "classes, for labels" });
        };
        let (probabilities, n) = (self.predictions(x)?, x.samples());
        let likely = |i: usize| {
            let probability = |class: usize| probabilities[class * n + i];
            (1..classes.len()).fold(0, |best, class| if probability(class) > probability(best) { class } else { best })
        };
        Ok((0..n).map(|i| classes[likely(i)]).collect())
    }

    /// How much every variable matters: the mean of the shares of the members by their weights. The samples are those of the fit.
    pub fn relevance(&self, x: &FeatureMatrix<'_>, memory: Memory) -> Result<Vec<f64>, Error> {
        let mut sum = vec![0.0; self.variables];
        for member in &self.members {
            let shares = member.relevance(x, memory)?;
            sum.iter_mut().zip(&shares).for_each(|(sum, share)| *sum += member.weight * share);
        }
        Ok(sum)
    }

    /// How the fits of the members ended.
    pub fn status(&self) -> Status {
        Status::worst(self.members.iter().filter_map(|member| match &member.kind {
            MemberKind::Dense { model, .. } => Some(model.status()),
            MemberKind::Constant(_) | MemberKind::Terms(_) => None,
        }))
    }

    /// What was chosen, in one line.
    pub fn sentence(&self) -> String {
        let names: Vec<String> = self.members.iter().map(|member| member.recipe.to_string()).collect();
        let share = 100.0 * self.held_out_error();
        let of_what = if matches!(self.task, Task::Numbers(_)) { "squared error" } else { "logarithmic loss" };
        match self.verdict {
            Verdict::Constant => "Nothing that was tried predicts held-out samples better than a constant.".to_owned(),
            Verdict::Terms if self.held_out.is_none() => {
                format!("{}: evidence on all samples claims {share:.2} % of the {of_what} of a constant.", capital(&names[0]))
            }
            Verdict::Terms | Verdict::One => {
                format!("{}: {share:.2} % of the {of_what} of a constant on held-out samples.", capital(&names[0]))
            }
            Verdict::Mixture => format!(
                "A mixture of {} models: {share:.2} % of the {of_what} of a constant on held-out samples.",
                names.len()
            ),
        }
    }
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

impl fmt::Display for AutoModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.sentence())?;
        for Standing { recipe, loss, claimed, weight, .. } in &self.standings {
            let error = match (loss, claimed) {
                (Some(loss), _) => format!("{:.4} +- {:.4}", loss.value / self.constant_loss, loss.standard_error / self.constant_loss),
                (None, Some(claimed)) => format!("{:.4} claimed", claimed / self.constant_loss),
                (None, None) => String::new(),
            };
            let weight = if *weight > 0.0 { format!("{weight:.2}") } else { String::new() };
            writeln!(f, "  {:<44} {error:<20} {weight}", recipe.to_string())?;
        }
        for (recipe, why) in &self.left_out {
            writeln!(f, "  {:<44} not tried: {why}", recipe.to_string())?;
        }
        Ok(())
    }
}
