//! From names to objects: the kernel, the loss, and the targets of every function.

use std::sync::Arc;

use anyhow::{bail, ensure};
use banach::{
    Loss,
    kernel::{self, KernelChoice, KernelSpec},
    loss::{LossSpec, Targets},
};
use banach_io::{At, Classes, Dataset, FirstText};

use super::args::{KernelName, LossName, Model};

/// The kernel that was asked for.
pub(crate) fn kernel(model: &Model) -> Result<KernelSpec, banach::Error> {
    let Model { degree, coef0, scale, normalize_kernel: normalize, .. } = *model;
    KernelChoice { name: model.kernel.into(), degree, coef0, scale, normalize }.spec()
}

impl From<KernelName> for kernel::KernelName {
    fn from(name: KernelName) -> Self {
        match name {
            KernelName::Linear => Self::Linear,
            KernelName::Poly => Self::Poly,
            KernelName::Anova => Self::Anova,
            KernelName::Exp => Self::Exp,
        }
    }
}

fn loss(name: LossName, model: &Model) -> anyhow::Result<LossSpec> {
    let Model { epsilon, rho, tau, .. } = *model;
    for (option, given, owner) in [
        ("--epsilon", epsilon, LossName::EpsilonInsensitive),
        ("--rho", rho, LossName::Huber),
        ("--tau", tau, LossName::Quantile),
    ] {
        ensure!(given.is_none() || name == owner, "{option} belongs to another loss; see --loss in banach fit --help");
    }
    Ok(match name {
        LossName::Squared => LossSpec::Squared,
        LossName::Absolute => LossSpec::Absolute,
        LossName::EpsilonInsensitive => LossSpec::EpsilonInsensitive { epsilon: epsilon.unwrap_or(LossSpec::EPSILON) },
        LossName::Huber => LossSpec::Huber { rho: rho.unwrap_or(LossSpec::RHO) },
        LossName::Quantile => LossSpec::Quantile { tau: tau.unwrap_or(LossSpec::TAU) },
        LossName::Logistic => LossSpec::Logistic,
        LossName::Hinge => LossSpec::Hinge,
        LossName::SquaredHinge => LossSpec::SquaredHinge,
    })
}

/// What is to be predicted: one function for a number or for two classes, otherwise one for every class.
#[derive(Debug)]
pub(crate) struct Goal {
    pub spec: LossSpec,
    pub loss: Arc<dyn Loss>,
    pub functions: Vec<Function>,
    /// Labels, if they are what is predicted.
    pub classes: Option<Classes>,
}

/// The targets of one function.
#[derive(Debug)]
pub(crate) struct Function {
    /// The class that it is positive for.
    pub class: Option<String>,
    pub y: Vec<f64>,
}

impl Goal {
    pub(crate) fn new(data: &Dataset, model: &Model) -> anyhow::Result<Self> {
        let (target, rows) = (&data.target, data.table.rows());
        let name = target.name();
        let two = target.classes().is_some_and(|classes| classes.labels.len() == 2);
        let default = if target.numbers().is_none() || two { LossName::Logistic } else { LossName::Squared };
        let chosen = model.loss.unwrap_or(default);
        let spec = loss(chosen, model)?;
        let loss = spec.build()?;
        if spec.targets() == Targets::Signs {
            let Some(classes) = target.classes() else {
                bail!("the target {name:?} has very many different numbers, which are no classes; use --loss squared");
            };
            check_classes(name, classes, target.first_text())?;
            return Ok(Self { functions: one_for_each(classes), spec, loss, classes: Some(classes.clone()) });
        }
        let Some(numbers) = target.numbers() else {
            let (at, value) = target.first_text().map_or((At::Row(0), ""), |text| (text.at, &text.value[..]));
            bail!(
                "the target {name:?} holds text ({value:?} in {at}), and the {} loss needs numbers; for classes \
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
        Ok(Self { spec, loss, functions, classes: None })
    }

    /// For every row the number of its class, where classes are predicted.
    pub(crate) fn strata(&self) -> Option<Vec<f64>> {
        self.classes.as_ref().map(|classes| classes.rows.iter().map(|&class| class as f64).collect())
    }
}

fn check_classes(name: &str, classes: &Classes, first_text: Option<&FirstText>) -> anyhow::Result<()> {
    let labels = &classes.labels;
    ensure!(labels.len() > 1, "the target {name:?} is {:?} in all rows; there is nothing to predict", labels[0]);
    if let Some(lonely) = classes.counts().iter().position(|count| *count < 2) {
        let hint = match first_text {
            Some(FirstText { at, value }) if labels.len() > 2 => {
                format!(" (should it hold numbers? then correct {value:?} in {at})")
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
