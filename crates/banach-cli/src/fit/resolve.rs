//! From names to objects: the kernel, the loss, and the targets of every function.

use std::sync::Arc;

use anyhow::{bail, ensure};
use banach::{
    Absolute, EpsilonInsensitive, Hinge, Huber, Logistic, Loss, Quantile, Squared, SquaredHinge,
    kernel::{Anova, Exponential, Linear, Normalized, Polynomial, PowerSeries, TensorKernel},
};
use banach_io::{Classes, Dataset, FirstText};

use super::args::{Degrees, KernelName, LossName, Model};

/// The kernel that was asked for.
pub(super) fn kernel(model: &Model) -> anyhow::Result<Arc<dyn TensorKernel>> {
    let Model { kernel: name, degree, coef0, scale, .. } = *model;
    ensure!(
        coef0.is_none() || name == KernelName::Poly,
        "--coef0 belongs to --kernel poly; leave it out, or choose that kernel"
    );
    ensure!(
        scale.is_none() || matches!(name, KernelName::Poly | KernelName::Exp),
        "--scale belongs to --kernel poly and --kernel exp; for others multiply the columns"
    );
    let scale = scale.unwrap_or(1.0);
    let pairs = Degrees { min: 2, max: 2, range: false };
    let kernel: Arc<dyn TensorKernel> = match (name, degree) {
        (KernelName::Linear, None | Some(Degrees { min: 1, max: 1, .. })) => Arc::new(Linear),
        (KernelName::Linear, Some(_)) => {
            bail!("--kernel linear has degree 1; for others choose --kernel poly or anova")
        }
        (KernelName::Poly, Some(Degrees { min, max, range: true })) => {
            let coef0 = coef0.unwrap_or(1.0);
            ensure!(
                coef0 > 0.0 || min == max,
                "--coef0 0 leaves the degree {max} alone; choose it above 0 for a range"
            );
            Arc::new(PowerSeries::cut(&Polynomial::new(max, scale, coef0)?, min, max)?)
        }
        (KernelName::Poly, degree) => {
            Arc::new(Polynomial::new(degree.unwrap_or(pairs).max, scale, coef0.unwrap_or(0.0))?)
        }
        (KernelName::Anova, degree) => {
            let Degrees { min, max, .. } = degree.unwrap_or(pairs);
            Arc::new(Anova::new(min, max)?)
        }
        (KernelName::Exp, None) => Arc::new(Exponential::new(scale)?),
        (KernelName::Exp, Some(Degrees { min, max, .. })) => {
            Arc::new(PowerSeries::cut(&Exponential::new(scale)?, min, max)?)
        }
    };
    Ok(if model.normalize_kernel { Arc::new(Normalized(kernel)) } else { kernel })
}

impl LossName {
    fn for_classes(self) -> bool {
        matches!(self, Self::Logistic | Self::Hinge | Self::SquaredHinge)
    }
}

fn loss(name: LossName, model: &Model) -> anyhow::Result<Box<dyn Loss>> {
    let Model { epsilon, rho, tau, .. } = *model;
    for (option, given, owner) in [
        ("--epsilon", epsilon, LossName::EpsilonInsensitive),
        ("--rho", rho, LossName::Huber),
        ("--tau", tau, LossName::Quantile),
    ] {
        ensure!(given.is_none() || name == owner, "{option} belongs to another loss; see --loss in banach fit --help");
    }
    Ok(match name {
        LossName::Squared => Box::new(Squared),
        LossName::Absolute => Box::new(Absolute),
        LossName::EpsilonInsensitive => Box::new(EpsilonInsensitive::new(epsilon.unwrap_or(0.1))?),
        LossName::Huber => Box::new(Huber::new(rho.unwrap_or(1.35))?),
        LossName::Quantile => Box::new(Quantile::new(tau.unwrap_or(0.5))?),
        LossName::Logistic => Box::new(Logistic),
        LossName::Hinge => Box::new(Hinge),
        LossName::SquaredHinge => Box::new(SquaredHinge),
    })
}

/// What is to be predicted: one function for a number or for two classes, otherwise one for every class.
#[derive(Debug)]
pub(super) struct Goal {
    pub loss: Box<dyn Loss>,
    pub functions: Vec<Function>,
    /// Labels, if they are what is predicted.
    pub classes: Option<Classes>,
}

/// The targets of one function.
#[derive(Debug)]
pub(super) struct Function {
    /// The class that it is positive for.
    pub class: Option<String>,
    pub y: Vec<f64>,
}

impl Goal {
    pub(super) fn new(data: &Dataset, model: &Model) -> anyhow::Result<Self> {
        let (target, rows) = (&data.target, data.table.rows());
        let name = target.name();
        let two = target.classes().is_some_and(|classes| classes.labels.len() == 2);
        let default = if target.numbers().is_none() || two { LossName::Logistic } else { LossName::Squared };
        let chosen = model.loss.unwrap_or(default);
        let loss = loss(chosen, model)?;
        if chosen.for_classes() {
            let Some(classes) = target.classes() else {
                bail!("the target {name:?} has very many different numbers, which are no classes; use --loss squared");
            };
            check_classes(name, classes, target.first_text())?;
            return Ok(Self { functions: one_for_each(classes), loss, classes: Some(classes.clone()) });
        }
        let Some(numbers) = target.numbers() else {
            let (line, value) = target.first_text().map_or((0, ""), |text| (text.line, &text.value[..]));
            bail!(
                "the target {name:?} holds text ({value:?} in line {line}), and the {} loss needs numbers; for classes \
                 use --loss logistic",
                loss.name()
            );
        };
        ensure!(
            numbers.iter().any(|y| *y != numbers[0]),
            "the target {name:?} is {} in all {rows} rows; there is nothing to predict",
            numbers[0]
        );
        let functions = vec![Function { class: None, y: numbers.to_vec() }];
        Ok(Self { loss, functions, classes: None })
    }

    /// For every row the number of its class, where classes are predicted.
    pub(super) fn strata(&self) -> Option<Vec<f64>> {
        self.classes.as_ref().map(|classes| classes.rows.iter().map(|&class| class as f64).collect())
    }
}

fn check_classes(name: &str, classes: &Classes, first_text: Option<&FirstText>) -> anyhow::Result<()> {
    let labels = &classes.labels;
    ensure!(labels.len() > 1, "the target {name:?} is {:?} in all rows; there is nothing to predict", labels[0]);
    if let Some(lonely) = classes.counts().iter().position(|count| *count < 2) {
        let hint = match first_text {
            Some(FirstText { line, value }) if labels.len() > 2 => {
                format!(" (should it hold numbers? then correct {value:?} in line {line})")
            }
            _ => String::new(),
        };
        bail!(
            "the target {name:?} has the label {:?} in one row only, and every class needs two; leave that row out{hint}",
            labels[lonely]
        );
    }
    Ok(())
}

fn one_for_each(classes: &Classes) -> Vec<Function> {
    let first = usize::from(classes.labels.len() == 2);
    let function = |class: usize| Function {
        class: Some(classes.labels[class].clone()),
        y: classes.rows.iter().map(|&row| if row == class { 1.0 } else { -1.0 }).collect(),
    };
    (first..classes.labels.len()).map(function).collect()
}
