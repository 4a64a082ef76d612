//! From names to objects: the kernel, the loss, and the targets of every function.

use anyhow::{Context, bail, ensure};
use banach::{
    Exponent, Search, Spec, Target,
    fit::KernelSpace,
    kernel::{KernelChoice, KernelName},
    loss::{LossSpec, Targets},
    solver::Choice,
};
use banach_io::{At, Classes, Dataset, FirstText};

use super::{
    args::{GammaChoice, ModelArgs, Running},
    read::list,
};

/// So many different whole numbers may be classes.
const FEW: usize = 10;

/// The kernels that were asked for, with what they are unless told otherwise.
pub(crate) fn kernels(model: &ModelArgs) -> Vec<KernelChoice> {
    let ModelArgs { degree, coef0, scale, normalize_kernel, .. } = *model;
    let (name, normalize) = (KernelName::Linear, normalize_kernel.unwrap_or(false));
    let said = KernelChoice { name, degree, coef0, scale, normalize };
    said.each(if model.kernel.is_empty() { &[KernelName::Linear] } else { &model.kernel })
}

/// The kernel, where there must be one.
pub(crate) fn kernel(model: &ModelArgs) -> anyhow::Result<KernelChoice> {
    let kernels = kernels(model);
    let names: Vec<&str> = kernels.iter().map(|kernel| kernel.name.name()).collect();
    ensure!(
        kernels.len() == 1,
        "--kernel {}: several kernels are for a search, as banach fit makes it without --sparse and where no single --gamma is given; name one",
        names.join(",")
    );
    Ok(kernels[0])
}

/// The parameters that were asked for.
pub(crate) fn spec(
    model: &ModelArgs,
    running: &Running,
    goal: &Goal,
    gamma: Option<f64>,
) -> Result<Spec, banach::Error> {
    let usual = Spec::default();
    Ok(Spec {
        p: model.p.map_or(usual.p, |p| p.p()),
        gamma: gamma.unwrap_or(usual.gamma),
        // A search takes all of them.
        kernel: kernels(model)[0].spec()?,
        monomials: model.monomials.unwrap_or(usual.monomials),
        interactions: usual.interactions,
        loss: goal.loss,
        fit_intercept: !model.no_intercept,
        tolerance: running.tolerance.unwrap_or(usual.tolerance),
        max_iterations: running.max_iterations.unwrap_or(usual.max_iterations),
        solver: running.algorithm.choice()?,
        route: running.route,
    })
}

/// What is searched: gamma, and of the kernel and p what was not said. A given gamma is validated for the parameters as they are.
pub(crate) fn search(model: &ModelArgs, spec: &Spec, choice: &GammaChoice) -> Search {
    let space = |KernelChoice { name, degree, coef0, scale, .. }: KernelChoice| KernelSpace::Named {
        name,
        degrees: degree.into_iter().collect(),
        coef0,
        scales: scale.into_iter().collect(),
        normalize: model.normalize_kernel,
    };
    let kernels = match choice.one() {
        Some(_) => vec![KernelSpace::Fixed(spec.kernel.clone())],
        None => kernels(model).into_iter().map(space).collect(),
    };
    Search {
        exponents: if choice.one().is_some() { vec![spec.p] } else { model.p.iter().map(Exponent::p).collect() },
        gammas: choice.gamma.clone().unwrap_or_default(),
        choice: if choice.one_se { Choice::OneStandardError } else { Choice::Best },
        kernels,
        tolerance: Search::TOLERANCE,
    }
}

/// The loss with the parameters that were given for it.
fn loss(mut loss: LossSpec, model: &ModelArgs) -> anyhow::Result<LossSpec> {
    for (parameter, given) in [("epsilon", model.epsilon), ("rho", model.rho), ("tau", model.tau)] {
        if let Some(value) = given {
            let belongs = loss.with(parameter, value);
            loss = belongs
                .with_context(|| format!("--{parameter} belongs to another loss; see --loss in banach fit --help"))?;
        }
    }
    Ok(loss)
}

/// What is to be predicted.
#[derive(Debug)]
pub(crate) struct Goal {
    pub loss: LossSpec,
    /// Numbers, or for every row the place of its label.
    pub target: Target<'static>,
    /// Labels, if they are what is predicted.
    pub classes: Option<Classes>,
}

impl Goal {
    pub(crate) fn new(data: &Dataset, model: &ModelArgs) -> anyhow::Result<Self> {
        let (target, rows) = (&data.target, data.table.rows());
        let name = target.name();
        // Numbers of which one is there only once are no classes: each needs two rows.
        let two = target.classes().is_some_and(|classes| matches!(classes.counts()[..], [a, b] if a.min(b) > 1));
        let default = if target.numbers().is_none() || two { LossSpec::Logistic } else { LossSpec::Squared };
        let chosen = model.loss.unwrap_or(default);
        let loss = loss(chosen, model)?;
        loss.build()?;
        if loss.targets() == Targets::Signs {
            let Some(classes) = target.classes() else {
                bail!("the target {name:?} has very many different numbers, which are no classes; use --loss squared");
            };
            check_classes(name, classes, target.first_text())?;
            let rows: Vec<i64> = classes.rows.iter().map(|&class| class as i64).collect();
            return Ok(Self { loss, target: Target::Labels(rows.into()), classes: Some(classes.clone()) });
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
        Ok(Self { loss, target: Target::Numbers(vec![numbers.to_vec().into()]), classes: None })
    }

    /// What is predicted, if it is a number.
    fn numbers(&self) -> Option<&[f64]> {
        match &self.target {
            Target::Numbers(outputs) => outputs.first().map(|y| &y[..]),
            Target::Labels(_) => None,
        }
    }

    /// The class that each function is positive for; nothing for the one function of a number.
    pub(crate) fn positive(&self) -> Vec<Option<String>> {
        match &self.classes {
            None => vec![None],
            Some(Classes { labels, .. }) => {
                let first = usize::from(labels.len() == 2);
                labels[first..].iter().cloned().map(Some).collect()
            }
        }
    }
}

/// Leaves out the rows of classes that only one row has, and says which; numbers stay as they are.
pub(crate) fn drop_rare_classes(data: &mut Dataset, model: &ModelArgs) -> anyhow::Result<Option<String>> {
    let numbers = data.target.numbers().is_some() && model.loss.is_none_or(|loss| loss.targets() != Targets::Signs);
    let Some(classes) = data.target.classes().filter(|_| !numbers) else { return Ok(None) };
    let counts = classes.counts();
    let rare: Vec<&str> =
        classes.labels.iter().zip(&counts).filter(|(_, count)| **count < 2).map(|(label, _)| &label[..]).collect();
    if rare.is_empty() {
        return Ok(None);
    }
    ensure!(rare.len() < counts.len(), "no class of the target {:?} has two rows", data.target.name());
    let note = format!("rows of classes that only one row has were left out: {}", list(&rare));
    let kept: Vec<bool> = classes.rows.iter().map(|class| counts[*class] > 1).collect();
    data.keep(&kept);
    Ok(Some(note))
}

/// What is to be said of a target of few whole numbers, which may be classes.
pub(crate) fn few_numbers(data: &Dataset, goal: &Goal, model: &ModelArgs) -> Option<String> {
    let classes = data.target.classes().filter(|_| goal.classes.is_none() && model.loss.is_none())?;
    let whole = goal.numbers()?.iter().all(|y| y.fract() == 0.0);
    let count = classes.labels.len();
    (whole && count <= FEW && data.table.rows() >= 3 * count).then(|| {
        format!(
            "the target {:?} has {count} different whole numbers and is treated as a quantity, so that 2 is halfway between 1 and 3; if \
             they are names of classes, say --loss logistic",
            data.target.name()
        )
    })
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
            "the target {name:?} has the label {:?} in one row only, and every class needs two; leave such rows out with \
             --drop-rare-classes{hint}",
            labels[lonely]
        );
    }
    Ok(())
}
