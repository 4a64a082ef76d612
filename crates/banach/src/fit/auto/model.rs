//! The model of an automatic choice: what it predicts, and what it is made of.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Auto, ContenderScore, Recipe, VariableRanges, Verdict, products};
use crate::{
    Error, FeatureMatrix, Model, Spec, Status,
    data::ColumnScaling,
    error::Parameter,
    fit::{
        Assessment, Residuals, SelectedEquation, SparseModel, Task,
        model::{NOT_ALL, half_widths},
    },
    solver::Mean,
    sparse::SparseSpec,
};

/// Why a contender was left out when somebody ended the choice.
pub(super) const INTERRUPTED: &str = "interrupted";

/// A mixture of one or more members, and what is known of it.
#[derive(Debug, Clone)]
pub struct AutoModel {
    record: AutoRecord,
    members: Vec<AutoMember>,
    ranges: VariableRanges,
}

/// What was tried and chosen, without the functions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AutoRecord {
    /// What was asked for.
    pub auto: Auto,
    /// What is predicted.
    pub task: Task,
    /// The number of samples.
    pub samples: usize,
    /// The number of variables.
    pub variables: usize,
    /// What the model is.
    pub verdict: Verdict,
    /// The loss that is to be expected of the model.
    pub loss: ExpectedLoss,
    /// The held-out loss of a constant.
    pub constant_loss: f64,
    /// The share of held-out samples whose class is predicted; `None` for numbers, and where no sample was held out.
    pub accuracy: Option<Mean>,
    /// The predictions of held-out samples, as [`AutoModel::predictions`] has them; `None` where not all samples were held out, of the model or by the folds.
    pub held_out: Option<Vec<f64>>,
    /// How far these were off, of numbers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub residuals: Option<Residuals>,
    /// Every contender, in the order in which they were tried; the first is the constant.
    pub standings: Vec<ContenderScore>,
    /// What was not tried, and why.
    pub left_out: Vec<(Recipe, String)>,
    /// The few terms that evidence names, be they the model or not.
    pub terms: Option<SparseModel>,
    /// What held-out samples say of the model, or where a constant is the model of the best of the others; `None` if nothing else was held out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assessment: Option<Assessment>,
}

/// The loss that is to be expected: the squared error, or the logarithmic loss of classes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExpectedLoss {
    /// What it was on held-out samples.
    HeldOut(Mean),
    /// What evidence on all samples claims.
    Claimed(f64),
}

impl ExpectedLoss {
    /// Its value.
    pub fn value(self) -> f64 {
        match self {
            Self::HeldOut(mean) => mean.value,
            Self::Claimed(value) => value,
        }
    }
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
    Dense(Box<DenseMember>),
    /// A function of few terms.
    Terms {
        /// The functions.
        model: SparseModel,
        /// For every set of variables that a term is made of, the share of these terms of what all contribute.
        shares: Vec<(Vec<usize>, f64)>,
    },
}

/// A function of columns in units of their own.
#[derive(Debug, Clone)]
pub struct DenseMember {
    /// What is done to the columns first.
    pub units: ColumnScaling,
    /// The parameters.
    pub spec: Spec,
    /// The samples in these units.
    pub x: FeatureMatrix<'static>,
    /// The functions.
    pub model: Model,
}

impl AutoMember {
    /// Numbers, or the probabilities of all classes: those of all points for the first class, then for the second, and so on.
    fn predictions(&self, x: &FeatureMatrix<'_>, task: &Task) -> Result<Vec<f64>, Error> {
        let classes = matches!(task, Task::Classes(_));
        match &self.kind {
            MemberKind::Constant(values) => {
                Ok(values.iter().flat_map(|value| std::iter::repeat_n(*value, x.samples())).collect())
            }
            MemberKind::Dense(member) => {
                let x = member.units.apply(x)?;
                if classes { member.model.probabilities(&x) } else { member.model.decisions(&x) }
            }
            MemberKind::Terms { model, .. } if classes => model.probabilities(x),
            MemberKind::Terms { model, .. } => model.decisions(x),
        }
    }
}

impl AutoModel {
    /// For every output, how far a prediction is off at most in this share of cases ([`Residuals`]).
    pub fn half_widths(&self, coverage: f64) -> Result<Vec<f64>, Error> {
        half_widths(&self.record.task, self.record.residuals.as_ref(), coverage, NOT_ALL)
    }

    /// A mixture of members that go together with each other and with what is known of them.
    pub fn new(record: AutoRecord, members: Vec<AutoMember>, ranges: VariableRanges) -> Result<Self, Error> {
        ranges.check(record.variables)?;
        if members.is_empty() {
            return Err(Error::Empty { what: "the members of the mixture" });
        }
        for member in &members {
            member.check(&record)?;
        }
        let sum: f64 = members.iter().map(|member| member.weight).sum();
        if sum.is_nan() || (sum - 1.0).abs() > 1e-6 {
            return Err(Error::BadValue {
                what: "the weights of the mixture",
                row: 0,
                value: sum,
                allowed: "weights that sum to 1",
            });
        }
        Ok(Self { record, members, ranges })
    }

    /// What was tried and chosen.
    pub fn record(&self) -> &AutoRecord {
        &self.record
    }

    /// With another assessment of the same held-out samples: one that shuffled targets were held against.
    #[must_use]
    pub fn with_assessment(mut self, assessment: Assessment) -> Self {
        self.record.assessment = Some(assessment);
        self
    }

    /// What the model is made of.
    pub fn members(&self) -> &[AutoMember] {
        &self.members
    }

    /// Where the samples of every variable lie.
    pub fn ranges(&self) -> &VariableRanges {
        &self.ranges
    }

    /// Numbers, or the probabilities of all classes: those of all points for the first class, then for the second, and so on.
    pub fn predictions(&self, x: &FeatureMatrix<'_>) -> Result<Vec<f64>, Error> {
        if x.features() != self.record.variables {
            return Err(Error::Shape { what: "a row of X", got: x.features(), expected: self.record.variables });
        }
        let mut sum: Vec<f64> = Vec::new();
        for member in &self.members {
            let predictions = member.predictions(x, &self.record.task)?;
            sum.resize(predictions.len(), 0.0);
            sum.iter_mut().zip(&predictions).for_each(|(sum, prediction)| *sum += member.weight * prediction);
        }
        Ok(sum)
    }

    /// The labels of the classes, in increasing order; none where numbers are predicted.
    pub fn classes(&self) -> &[i64] {
        match &self.record.task {
            Task::Numbers(_) => &[],
            Task::Classes(classes) => classes,
        }
    }

    /// Numbers; of two classes the logarithm of the odds of the second, of more those of each: all points of the first class, then all of the
    /// second, and so on.
    pub fn decisions(&self, x: &FeatureMatrix<'_>) -> Result<Vec<f64>, Error> {
        let predictions = self.predictions(x)?;
        if self.classes().is_empty() {
            return Ok(predictions);
        }
        // Certainty has finite odds.
        let odds = |p: &f64| (p.max(f64::MIN_POSITIVE) / (1.0 - p).max(f64::EPSILON / 2.0)).ln();
        let first = if self.classes().len() == 2 { x.samples() } else { 0 };
        Ok(predictions[first..].iter().map(odds).collect())
    }

    /// The most likely class of every point.
    pub fn labels(&self, x: &FeatureMatrix<'_>) -> Result<Vec<i64>, Error> {
        let Task::Classes(classes) = &self.record.task else {
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

    /// How the fits of the members ended.
    pub fn status(&self) -> Status {
        Status::worst(self.members.iter().filter_map(|member| match &member.kind {
            MemberKind::Dense(member) => Some(member.model.status()),
            MemberKind::Constant(_) | MemberKind::Terms { .. } => None,
        }))
    }

    /// What was chosen, in one line.
    pub fn sentence(&self) -> String {
        self.record.sentence()
    }
}

impl AutoMember {
    /// Whether it predicts what the mixture does.
    fn check(&self, record: &AutoRecord) -> Result<(), Error> {
        let (got, expected) = match &self.kind {
            MemberKind::Constant(values) => {
                Error::check_values("the constant", values, "finite numbers", f64::is_finite)?;
                let classes = if let Task::Classes(classes) = &record.task { classes.len() } else { 1 };
                (values.len(), classes)
            }
            MemberKind::Dense(member) => {
                let fits = *member.model.task() == record.task && member.x.samples() == record.samples;
                let last = member.units.columns().last().map_or(0, |last| last + 1);
                let wide =
                    member.model.plan().shape().inputs == member.units.columns().len() && last <= record.variables;
                (usize::from(fits && wide), 1)
            }
            MemberKind::Terms { model, shares } => {
                let known = |variables: &[usize]| variables.iter().all(|variable| *variable < record.variables);
                let within = shares.iter().all(|(variables, share)| known(variables) && share.is_finite());
                (usize::from(within && *model.task() == record.task), 1)
            }
        };
        let weighs = (0.0..=1.0 + 1e-6).contains(&self.weight);
        if got == expected && weighs {
            Ok(())
        } else {
            Err(Error::Shape { what: "a member of the mixture", got, expected })
        }
    }
}

impl AutoRecord {
    /// The loss as a share of that of the constant.
    pub fn error(&self) -> f64 {
        self.loss.value() / self.constant_loss
    }

    /// The least loss of anything that was tried on held-out samples, as a share of that of the constant; `None` if nothing was held out.
    pub fn least_error(&self) -> Option<f64> {
        let tried = self.standings.iter().skip(1).filter_map(|standing| standing.loss);
        tried.map(|loss| loss.value / self.constant_loss).reduce(f64::min)
    }

    /// Whether it was ended before all was tried.
    pub fn was_interrupted(&self) -> bool {
        self.left_out.iter().any(|(_, why)| why == INTERRUPTED)
    }

    /// What was chosen, in one line.
    pub fn sentence(&self) -> String {
        let chosen: Vec<String> = self
            .standings
            .iter()
            .filter(|standing| standing.weight > 0.0)
            .map(|found| found.recipe.to_string())
            .collect();
        let name = capital(chosen.first().map_or("", |name| name));
        let share = format!("{:.3} %", 100.0 * self.error());
        let of_what = self.of_what();
        let chance = match &self.assessment {
            Some(found) if !found.better => ", no less than chance explains",
            _ => "",
        };
        let chosen = match (self.verdict, self.loss) {
            (Verdict::Constant, _) => {
                "Nothing that was tried predicts held-out samples better than a constant.".to_owned()
            }
            (_, ExpectedLoss::Claimed(_)) => {
                format!("{name}: evidence on all samples claims {share} of the {of_what} of a constant.")
            }
            (Verdict::Mixture, _) => {
                format!(
                    "A mixture of {} models: {share} of the {of_what} of a constant on held-out samples{chance}.",
                    chosen.len()
                )
            }
            _ => format!("{name}: {share} of the {of_what} of a constant on held-out samples{chance}."),
        };
        if self.was_interrupted() { format!("Interrupted before all was tried. {chosen}") } else { chosen }
    }
}

/// The errors of the few terms that are offered as an equation, beside that of the model; shares of the loss of a constant.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct TermsStanding {
    /// On held-out samples; `None` where none were held out of these terms.
    pub held_out: Option<f64>,
    /// What their evidence on all samples claims.
    pub claimed: Option<f64>,
    /// That of the model.
    pub model: f64,
    /// Whether they are the model.
    pub chosen: bool,
}

impl AutoRecord {
    /// How the few terms did that are offered as an equation: those that claim the least. `None` without terms.
    pub fn terms_standing(&self) -> Option<TermsStanding> {
        let own = self.terms_score()?;
        Some(TermsStanding {
            held_out: own.loss.map(|loss| loss.value / self.constant_loss),
            claimed: own.claimed.map(|claimed| claimed / self.constant_loss),
            model: self.error(),
            chosen: self.verdict == Verdict::Terms && own.weight > 0.0,
        })
    }

    /// The score of the terms that claim the least.
    fn terms_score(&self) -> Option<&ContenderScore> {
        self.terms.as_ref()?;
        let claim = |standing: &ContenderScore| standing.claimed.unwrap_or(f64::INFINITY);
        let all = self.standings.iter().filter(|standing| standing.is_terms());
        all.min_by(|a, b| claim(a).total_cmp(&claim(b)))
    }

    /// The few terms that are offered as an equation, as a model of their own. `None` without terms.
    pub fn equation(&self) -> Result<Option<SelectedEquation>, Error> {
        let (Some(own), Some(model)) = (self.terms_score(), &self.terms) else { return Ok(None) };
        let Recipe::Terms { degree } = own.recipe else { return Ok(None) };
        let spec = SparseSpec { kernel: products(degree)?, loss: model.loss(), ..SparseSpec::default() };
        Ok(Some(SelectedEquation { spec, model: model.clone() }))
    }

    /// The same in one line.
    pub fn terms_sentence(&self) -> Option<String> {
        let TermsStanding { held_out, claimed, model, chosen } = self.terms_standing()?;
        let percent = |share: f64| format!("{:.3} %", 100.0 * share);
        let held_out = held_out.map(|share| format!("{} on held-out samples", percent(share)));
        let claimed = claimed.map(|share| format!("{} by their evidence on all samples", percent(share)));
        let known: Vec<String> = held_out.into_iter().chain(claimed).collect();
        let known = if known.is_empty() { "an unknown part".to_owned() } else { known.join(", ") };
        let whose = if chosen { "These terms are the model and" } else { "These terms alone" };
        let beside = match self.loss {
            _ if chosen => String::new(),
            ExpectedLoss::HeldOut(_) => format!("; the model leaves {} on held-out samples", percent(model)),
            ExpectedLoss::Claimed(_) => format!("; the model leaves {} by its evidence", percent(model)),
        };
        Some(format!("{whose} leave of the {} of a constant {known}{beside}.", self.of_what()))
    }

    /// What errors are shares of.
    fn of_what(&self) -> &'static str {
        if matches!(self.task, Task::Numbers(_)) { "squared error" } else { "logarithmic loss" }
    }
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

impl fmt::Display for AutoModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let record = &self.record;
        writeln!(f, "{}", record.sentence())?;
        for ContenderScore { recipe, loss, claimed, weight, .. } in &record.standings {
            let share = |loss: f64| loss / record.constant_loss;
            let error = match (loss, claimed) {
                (Some(loss), _) => format!("{:.4} +- {:.4}", share(loss.value), share(loss.standard_error)),
                (None, Some(claimed)) => format!("{:.4} claimed", share(*claimed)),
                (None, None) => String::new(),
            };
            let weight = if *weight > 0.0 { format!("{weight:.2}") } else { String::new() };
            writeln!(f, "  {:<46} {error:<20} {weight}", recipe.to_string())?;
        }
        for (recipe, why) in &record.left_out {
            writeln!(f, "  {:<46} not tried: {why}", recipe.to_string())?;
        }
        Ok(())
    }
}
