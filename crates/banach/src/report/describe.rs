//! Fitted functions and the tables that are asked for.

use std::fmt;

use super::{
    FunctionReport, GapAfter, ModelSummary, Note, Quantity, Readout, RelevanceTable, Report, SparseTable,
    StabilityTable, TopTable, Validation, name,
    readout::{Reading, predicted_classes},
};
use crate::{
    DualProblem, Error, FeatureMatrix, Fit, Model, Status,
    data::ColumnUnits,
    error::Remedy,
    fit::{SelectedEquation, SparseModel, VariableRanges, repetitions},
    kernel::MonomialScale,
    memory::Taken,
    model::{Budget, PairShares, Relevance},
    selection::{StabilityOptions, stability},
    sparse::{Hierarchy, SparseFunction, SparseSpec},
};

/// What is to be told of every function, beside its certificate.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Tables {
    /// So many of the largest monomials.
    pub top: usize,
    /// How much every variable matters.
    pub relevance: bool,
    /// What is predicted along the variables that matter most, for pictures; it needs their relevance.
    pub readout: bool,
    /// An equation of the terms that can be named, at most so many.
    pub select: Option<usize>,
    /// Which terms most halves of the samples name, at most so many each.
    pub stability: Option<usize>,
    /// Which products may be terms of both.
    pub hierarchy: Hierarchy,
    /// Of the halves.
    pub seed: u64,
}

/// A part of a report that takes time of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The largest monomials.
    Monomials,
    /// How much every variable matters.
    Relevance,
    /// What is predicted along the variables that matter most.
    Readout,
    /// The equation.
    Equation,
    /// The stability.
    Stability,
    /// The score of samples that are left out one at a time.
    LeaveOneOut,
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Monomials => "table of monomials",
            Self::Relevance => "relevance",
            Self::Readout => "effects of variables",
            Self::Equation => "equation",
            Self::Stability => "stability",
            Self::LeaveOneOut => "leave-one-out score",
        })
    }
}

/// Watches the parts of a report, and may end them.
pub trait Watch {
    /// Does the work of a part. `false` if it was ended before it was done.
    fn run(&mut self, part: Part, work: &mut (dyn FnMut() + Send)) -> Result<bool, Error> {
        let _ = part;
        work();
        Ok(true)
    }
}

/// What is known of the columns of X beside their numbers.
#[derive(Debug, Clone, Copy)]
pub struct ColumnNames<'a> {
    /// The names of the variables.
    pub names: &'a [String],
    /// Their units, if the columns are standardised.
    pub units: Option<ColumnUnits<'a>>,
    /// What equations have before the equals sign.
    pub target: &'a str,
    /// The names of the classes, in the order of their labels.
    pub classes: Option<&'a [String]>,
}

/// Fitted functions with what they were fitted to.
#[derive(Debug, Clone, Copy)]
pub struct Described<'a> {
    /// What was fitted.
    pub fit: &'a Fit,
    /// One problem for every function.
    pub problems: &'a [DualProblem<'a>],
    /// Their solutions.
    pub model: &'a Model,
    /// The samples.
    pub x: &'a FeatureMatrix<'a>,
    /// What is known of the columns.
    pub columns: ColumnNames<'a>,
}

/// What is known of one function.
struct DescribedFunction {
    report: FunctionReport,
    relevance: Option<Relevance>,
    selected: Option<SparseFunction>,
}

impl Described<'_> {
    /// All that is asked. A table that cannot be made becomes a note. `history` tells what the fit of a function went through.
    pub fn report(
        &self,
        tables: &Tables,
        validation: Option<Validation>,
        history: impl Fn(usize) -> Vec<GapAfter>,
        watch: &mut dyn Watch,
    ) -> Result<Report, Error> {
        let mut notes = validation.as_ref().map_or_else(Vec::new, |validation| validation.notes.clone());
        let functions = 0..self.problems.len();
        let functions = functions.map(|place| self.function(place, tables, history(place), watch, &mut notes));
        let (mut reports, mut relevances, mut found) = (Vec::new(), Some(Vec::new()), Some(Vec::new()));
        for DescribedFunction { report, relevance, selected } in functions.collect::<Result<Vec<_>, Error>>()? {
            reports.push(report);
            relevances = relevances.zip(relevance).map(|(mut all, own)| {
                all.push(own);
                all
            });
            found = found.zip(selected).map(|(mut all, own)| {
                all.push(own);
                all
            });
        }
        let selected = found.zip(self.few_terms(tables)).map(|(functions, spec)| {
            let spec = spec?;
            let model = SparseModel::new(self.model.task().clone(), spec.loss, functions)?;
            Ok::<_, Error>(SelectedEquation { spec, model })
        });
        let readout = relevances
            .filter(|_| tables.readout)
            .and_then(|relevances| made(Part::Readout, watch, &mut notes, || self.readout(&relevances)));
        let leave_one_out = self
            .can_leave_out()
            .then(|| made(Part::LeaveOneOut, watch, &mut notes, || Ok(self.leave_one_out())).flatten())
            .flatten();
        Ok(Report {
            functions: reports,
            selected: selected.transpose()?,
            readout,
            learning_curve: None,
            model: ModelSummary::new(self.fit, self.model.plan(), Some(self.fit.spec().gamma)),
            route: self.model.plan().into(),
            assessment: validation.as_ref().and_then(|validation| validation.assessment.clone()),
            test: None,
            validation,
            leave_one_out,
            status: self.model.status(),
            notes,
        })
    }

    fn function(
        &self,
        place: usize,
        tables: &Tables,
        history: Vec<GapAfter>,
        watch: &mut dyn Watch,
        notes: &mut Vec<Note>,
    ) -> Result<DescribedFunction, Error> {
        let ColumnNames { names, units, .. } = self.columns;
        let memory = self.fit.account().left();
        let function = self.model.function(place, self.x)?.with_memory(memory);
        let (kernel, scale) = (self.fit.kernel(), self.fit.spec().monomials);
        let linear = units.filter(|_| kernel.degrees() == (1, Some(1)) && !kernel.normalized());

        let solution = &self.model.solutions()[place];
        // What was ended before its first pass is a constant, and nobody waits for a search among weights of zero.
        let untouched = solution.status == Status::Interrupted && solution.passes == 0;
        notes.extend((untouched && tables.top > 0).then_some(Note::Ended(Part::Monomials)));
        let top = (tables.top > 0 && !untouched)
            .then(|| made(Part::Monomials, watch, notes, || function.top_monomials(tables.top, Budget::default())))
            .flatten();
        let wanted = tables.relevance || tables.readout;
        let relevance = wanted.then(|| made(Part::Relevance, watch, notes, || function.relevance(memory))).flatten();
        let few = self.few_terms(tables);
        let selected = few.and_then(|few| {
            made(Part::Equation, watch, notes, || self.select(place, few.as_ref().map_err(Error::clone)?))
        });
        let left = if self.columns.classes.is_some() { "decision" } else { self.columns.target };
        let selection = selected.as_ref().map(|found| SparseTable::new(found, names, None, left)).transpose()?;
        notes.extend(selection.as_ref().is_some_and(|found| found.terms.is_empty()).then_some(Note::NothingNamed));
        let stability = tables
            .stability
            .and_then(|terms| made(Part::Stability, watch, notes, || self.stability(place, terms, tables)));
        notes.extend(
            stability
                .as_ref()
                .filter(|found| found.unproven > 0)
                .map(|found| Note::StabilityUnproven { failed: found.unproven, searches: found.subsamples }),
        );
        let report = FunctionReport {
            class: self.class(place),
            status: solution.status,
            certificate: solution.certificate.into(),
            iterations: solution.iterations,
            passes: solution.passes,
            history,
            intercept: match scale {
                // Every monomial has a mean, which takes part in the constant.
                MonomialScale::Standardized => self.value_at(place, vec![0.0; self.x.features()])?,
                _ => solution.intercept,
            },
            intercept_original: linear
                .filter(|_| scale == MonomialScale::Raw)
                .and_then(|units| self.value_at(place, units.origin()).ok()),
            leaders: Vec::new(),
            top: top.map(|top| TopTable::new(top, names, linear.map(|units| units.deviations))),
            relevance: relevance.as_ref().map(|found| RelevanceTable::new(found, names)),
            selection,
            stability,
        };
        Ok(DescribedFunction { report, relevance, selected })
    }

    /// What matters to all functions together, by the mean of their shares.
    fn readout(&self, relevances: &[Relevance]) -> Result<Readout, Error> {
        let (functions, kernel) = (relevances.len() as f64, self.fit.kernel());
        let classes = self.columns.classes.unwrap_or_default();
        let likely = !classes.is_empty() && self.fit.loss().probability(1.0, 0.0).is_some();
        let mean = |j: usize| relevances.iter().map(|own| own.variables()[j] / functions).sum();
        let alone = kernel.degrees().1 == Some(1) && !kernel.normalized();
        let pairs = |variables: &[usize]| -> Result<PairShares, Error> {
            let mut sum = PairShares::none(variables);
            // Without a product there is no pair.
            for place in 0..if alone { 0 } else { relevances.len() } {
                let function = self.model.function(place, self.x)?;
                sum.add(&function.pair_shares(variables, self.fit.account().left())?, 1.0 / functions);
            }
            Ok(sum)
        };
        let class = |i: usize| match self.problems {
            [only] => f64::from(u8::from(only.targets()[i] > 0.0)),
            all => all.iter().position(|problem| problem.targets()[i] > 0.0).unwrap_or(0) as f64,
        };
        let numbers = || self.problems[0].targets().to_vec();
        let targets = if classes.is_empty() { numbers() } else { (0..self.x.samples()).map(class).collect() };
        Reading {
            shares: (0..self.x.features()).map(mean).collect(),
            pairs: &pairs,
            ranges: &VariableRanges::of(self.x, self.problems[0].sample_weights()),
            predict: &|x| if likely { self.model.probabilities(x) } else { self.model.responses(x, None) },
            quantity: Quantity::of(!classes.is_empty(), likely),
            classes: predicted_classes(classes, likely, self.problems.len()),
            name: &|variable| name(self.columns.names, variable),
            units: self.columns.units,
            samples: Some((self.x, targets)),
        }
        .readout()
    }

    /// The class that a function is positive for.
    fn class(&self, place: usize) -> Option<String> {
        let classes = self.columns.classes?;
        classes.get(if classes.len() == 2 { 1 } else { place }).cloned()
    }

    /// `f(x) + b` of one function at one point.
    fn value_at(&self, place: usize, point: Vec<f64>) -> Result<f64, Error> {
        let point = FeatureMatrix::from_columns(1, self.x.features(), point)?;
        Ok(self.model.decisions(&point)?[place])
    }

    /// What is looked for where an equation is asked for; nothing where the model has no such terms, which making the equation tells.
    fn few_terms(&self, tables: &Tables) -> Option<Result<SparseSpec, Error>> {
        let few = self.fit.spec().few_terms(Some(tables.select?));
        Some(few.map(|spec| SparseSpec { hierarchy: tables.hierarchy, ..spec }))
    }

    /// The terms that can be named, of the variables as they were measured.
    fn select(&self, place: usize, spec: &SparseSpec) -> Result<SparseFunction, Error> {
        let problem = &self.problems[place];
        let (x, _taken) = self.measured()?;
        let weights = repetitions(problem.sample_weights());
        spec.run(&x, problem.targets(), weights.as_deref(), self.fit.account())
    }

    fn stability(&self, place: usize, terms: usize, tables: &Tables) -> Result<StabilityTable, Error> {
        let &Tables { hierarchy, seed, .. } = tables;
        let spec = SparseSpec { hierarchy, ..self.fit.spec().few_terms(Some(terms))? };
        let problem = &self.problems[place];
        let (x, _taken) = self.measured()?;
        let weights = repetitions(problem.sample_weights());
        let (given, options) =
            ((problem.targets(), weights.as_deref()), StabilityOptions { seed, ..StabilityOptions::default() });
        let found = stability(&spec, &x, given, &options, self.fit.account(), |_| {})?;
        Ok(StabilityTable::new(&found, self.columns.names))
    }

    /// The samples before they were standardised, and what a copy of them takes: products of variables are others then.
    fn measured(&self) -> Result<(FeatureMatrix<'_>, Option<Taken>), Error> {
        let Some(ColumnUnits { means, deviations }) = self.columns.units else { return Ok((self.x.view(), None)) };
        let bytes = 8 * (self.x.samples() as u64) * (self.x.features() as u64);
        let taken =
            self.fit.account().take(bytes).map_err(|short| {
                short.error("the variables as they were measured", &[Remedy::Do("take fewer columns")])
            })?;
        let measured = self.x.map_columns(|j, column| {
            column.iter_mut().for_each(|x| *x = *x * deviations[j] + means[j]);
        })?;
        Ok((measured, Some(taken)))
    }
}

/// A part of the report; a note if there is none.
fn made<T: Send>(
    part: Part,
    watch: &mut dyn Watch,
    notes: &mut Vec<Note>,
    make: impl Fn() -> Result<T, Error> + Sync,
) -> Option<T> {
    let mut made = None;
    let done = watch.run(part, &mut || made = Some(make()));
    match (done, made) {
        (Ok(true), Some(Ok(made))) => return Some(made),
        (Err(error), _) | (Ok(_), Some(Err(error))) => notes.push(Note::Missing(part, error)),
        (Ok(_), _) => notes.push(Note::Ended(part)),
    }
    None
}
