//! A report holds what was fitted, by name, and its tables are read at a glance.

use super::*;
use crate::{
    Error, FeatureMatrix, Fit, Spec, Target, Unobserved,
    data::ColumnUnits,
    fit::{KernelSpace, Search},
    kernel::KernelSpec,
    solver::Start,
    sparse::Hierarchy,
};

/// Lets every part run, or none.
struct Watched {
    ended: bool,
    begun: Vec<Part>,
}

impl Watch for Watched {
    fn run(&mut self, part: Part, work: &mut (dyn FnMut() + Send)) -> Result<bool, Error> {
        if !self.ended {
            self.begun.push(part);
            work();
        }
        Ok(!self.ended)
    }
}

fn jumble(count: usize) -> Vec<f64> {
    (1..=count).map(|k| ((k * k) as f64 * 0.618_033_988).fract() * 2.0 - 1.0).collect()
}

/// Monomials of degrees 1 and 2.
fn pairs() -> KernelSpec {
    KernelSpec::Anova { degrees: (1, 2) }
}

const N: usize = 40;
const NAMES: [&str; 4] = ["age", "dose", "weight", "noise"];
const MEANS: [f64; 4] = [50.0, 3.0, -7.0, 0.0];
const DEVIATIONS: [f64; 4] = [10.0, 0.5, 2.0, 1.0];

/// The report on a search and a fit to `y = 2 age - 1 + 3 age * dose` or its sign.
fn report(kernel: KernelSpec, classes: bool, ended: bool) -> (Report, Vec<Part>) {
    let x = FeatureMatrix::from_columns(N, 4, jumble(4 * N)).expect("valid");
    let names = NAMES.map(str::to_owned);
    let value = |i: usize| 2.0 * x.row(i)[0] - 1.0 + 3.0 * x.row(i)[0] * x.row(i)[1];
    let numbers: Vec<f64> = (0..N).map(value).collect();
    let labels: Vec<i64> = numbers.iter().map(|&y| i64::from(y > -1.0)).collect();
    let y = if classes { Target::from(&labels) } else { Target::from(&numbers) };
    let loss = if classes { crate::loss::LossSpec::Logistic } else { crate::loss::LossSpec::Squared };
    let asked = Spec { p: 1.2, kernel, loss, ..Spec::default() };
    let search = Search { exponents: vec![1.2, 1.5], ..Search::new(KernelSpace::Fixed(asked.kernel.clone())) };
    let fit = Fit::new(&asked).expect("in range");
    let folds = y.folds(N, 4, 0).expect("enough");
    let found = search.run(&fit, &x, &y, None, &folds, &mut Unobserved).expect("works");
    let validation = Validation::new(&found, search.choice, &y, &**fit.loss(), None).expect("the same targets");

    let fit = Fit::new(&found.chosen_or_middle()).expect("in range");
    let (task, outputs) = y.outputs(N, fit.loss().targets(), None).expect("its targets");
    let prepared = fit.prepare(&x, outputs.len()).expect("fits");
    let problems = prepared.problems(&outputs, None).expect("in range");
    let solutions = prepared.solver().solve_all(&problems, &[Start::Auto], &mut Unobserved).expect("works");
    let model = prepared.model(&x, task, &problems, solutions);
    let labelled = ["no", "yes"].map(str::to_owned);
    let columns = ColumnNames {
        names: &names,
        units: Some(ColumnUnits { means: &MEANS, deviations: &DEVIATIONS }),
        target: "effect",
        classes: classes.then_some(&labelled),
    };
    let described = Described { fit: &fit, problems: &problems, model: &model, x: &x, columns };
    let mut watched = Watched { ended, begun: Vec::new() };
    let step = GapAfter { passes: 1, relative_gap: 0.5 };
    let tables = Tables {
        top: 3,
        relevance: true,
        readout: true,
        select: Some(3),
        stability: Some(2),
        hierarchy: Hierarchy::None,
        seed: 1,
    };
    let report = described.report(&tables, Some(validation), |_| vec![step], &mut watched).expect("works");
    (report, watched.begun)
}

#[test]
fn what_is_asked_is_told_by_name() {
    let (report, begun) = report(pairs(), false, false);
    assert_eq!(
        begun,
        [Part::Monomials, Part::Relevance, Part::Equation, Part::Stability, Part::Readout, Part::LeaveOneOut]
    );
    let [function] = &report.functions[..] else { panic!("{report:?}") };
    let top = function.top.as_ref().expect("asked for");
    assert_eq!(top.monomials.len(), 3);
    assert!(top.monomials.iter().any(|entry| entry.monomial == "age * dose"), "{top:?}");
    // Not linear: no coefficient has a unit.
    assert!(top.monomials.iter().all(|entry| entry.coefficient_original.is_none()));
    assert_eq!((function.intercept_original, function.class.as_ref()), (None, None));
    let relevance = function.relevance.as_ref().expect("asked for");
    assert_eq!((relevance.variables.len(), &relevance.variables[0].variable[..]), (4, "age"));
    let equation = function.selection.as_ref().expect("asked for");
    assert!(equation.equation.starts_with("effect = ") && equation.equation.contains("age * dose"), "{equation:?}");
    assert!(equation.certificate.holds() && equation.terms[0].evidence > 10.0, "{equation:?}");
    let validation = report.validation.as_ref().expect("searched");
    assert_eq!((validation.searched.len(), validation.rule), (2, ChoiceRule::Best));
    assert_eq!(validation.taken().map(|taken| Some(taken.gamma)), Some(report.model.gamma));
    let held_out = validation.held_out.as_ref().expect("something was taken");
    assert_eq!((held_out.samples.len(), held_out.classes.len()), (N, 0));
    assert!(report.notes.iter().all(|note| !matches!(note, Note::Missing(..) | Note::Ended(_))), "{:?}", report.notes);
}

/// In units of its own, a linear model says the same.
#[test]
fn linear_models_are_told_in_units() {
    let (report, _) = report(KernelSpec::Linear, false, false);
    let function = &report.functions[0];
    let top = function.top.as_ref().expect("asked for");
    let all: f64 = top
        .monomials
        .iter()
        .map(|entry| {
            let j = NAMES.iter().position(|name| *name == entry.monomial).expect("a variable");
            let original = entry.coefficient_original.expect("linear");
            assert!((original - entry.coefficient / DEVIATIONS[j]).abs() < 1e-15);
            original * MEANS[j]
        })
        .sum();
    // The one variable that is not listed has the mean 0 or the smallest weight.
    let moved = function.intercept - function.intercept_original.expect("linear");
    let unlisted = top.unlisted
        * MEANS.iter().zip(DEVIATIONS).map(|(mean, deviation)| (mean / deviation).abs()).fold(0.0, f64::max);
    assert!((moved - all).abs() <= unlisted + 1e-12, "{moved} {all} {unlisted}");
}

#[test]
fn classes_are_named_and_separated() {
    let (report, _) = report(pairs(), true, false);
    let function = &report.functions[0];
    assert_eq!(function.class.as_deref(), Some("yes"));
    assert!(function.selection.as_ref().is_some_and(|found| found.equation.starts_with("decision = ")));
    let held_out = report.validation.as_ref().and_then(|validation| validation.held_out.as_ref()).expect("taken");
    assert!(held_out.classes[0].auc > 0.8 && !held_out.classes[0].calibration.is_empty(), "{held_out:?}");
}

#[test]
fn parts_that_are_ended_become_notes() {
    let (report, begun) = report(pairs(), false, true);
    assert!(begun.is_empty());
    let ended = |part: Part| report.notes.contains(&Note::Ended(part));
    // What variables do is read out by their relevance, and not begun without it.
    let parts = [Part::Monomials, Part::Relevance, Part::Equation, Part::Stability, Part::LeaveOneOut];
    assert!(parts.into_iter().all(ended), "{report:?}");
    let function = &report.functions[0];
    assert!(function.top.is_none() && function.relevance.is_none() && function.selection.is_none());
    assert_eq!(report.status, Status::Converged);
}

#[test]
fn tables_are_read_at_a_glance() {
    let (report, _) = report(pairs(), false, false);
    let function = &report.functions[0];
    let text = function.relevance.as_ref().expect("asked for").text(2, str::to_uppercase);
    let line = text.lines().nth(1).expect("a variable");
    assert!(line.starts_with("  AGE") && line.contains(&"#".repeat(40)), "{text}");
    assert!(text.contains("2 others, each at most") && text.contains("by degree\n  1"), "{text}");
    let stability = function.stability.as_ref().expect("asked for");
    let text = stability.text(1, str::to_uppercase);
    let (first, share) = (stability.monomials[0].monomial.to_uppercase(), stability.monomials[0].frequency);
    assert!(share > 0.9, "{stability:?}");
    assert!(
        text.lines().nth(1).is_some_and(|line| line.starts_with(&format!("* {first}  {share:.3}  ####"))),
        "{text}"
    );
    assert!(text.contains("reach 0.75; of these at most"), "{text}");
    let unsure = StabilityTable { unproven: 4, ..stability.clone() }.text(1, str::to_owned);
    assert!(unsure.ends_with("4 searches ended without their proof\n") && !text.contains("proof"), "{unsure}");
}
