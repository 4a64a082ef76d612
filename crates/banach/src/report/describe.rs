//! Fitted functions and the tables that are asked for.

use std::fmt;

use super::{
    EquationTable, FunctionReport, GapAfter, ModelSummary, Note, RelevanceTable, Report, StabilityTable, TopTable,
    Validation,
};
use crate::{
    DualProblem, Error, FeatureMatrix, Fit, Model, Observer, Prepared, Status, Target,
    kernel::MonomialScale,
    model::Budget,
    selection::{Refit, SelectionOptions, StabilityOptions, select, stability},
    solver::Folds,
};

/// What is to be told of every function, beside its certificate.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Tables {
    /// So many of the largest monomials.
    pub top: usize,
    /// How much every variable matters.
    pub relevance: bool,
    /// An equation of at most so many monomials.
    pub select: Option<usize>,
    /// Which monomials are among so many largest of most halves of the samples.
    pub stability: Option<usize>,
    /// The folds that choose the length of the equation: those of a search, if there was one. Otherwise they are drawn.
    pub folds: Option<Folds>,
    /// Of halves, and of folds that are drawn.
    pub seed: u64,
}

/// A part of a report that takes time of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The largest monomials.
    Monomials,
    /// How much every variable matters.
    Relevance,
    /// The equation.
    Equation,
    /// The stability.
    Stability,
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Monomials => "table of monomials",
            Self::Relevance => "relevance",
            Self::Equation => "equation",
            Self::Stability => "stability",
        })
    }
}

/// Watches the parts of a report, and may end them.
pub trait Watch {
    /// The observer of a part of so many fits, which end at this relative gap.
    fn begin(&mut self, part: Part, fits: usize, gap: f64) -> Box<dyn Observer + '_>;

    /// Whether the parts that have not begun are left out.
    fn ended(&self) -> bool {
        false
    }

    /// Does work that has no iterates to watch. `false` if it was ended before it was done.
    fn run(&mut self, work: &mut (dyn FnMut() + Send)) -> Result<bool, Error> {
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

/// A column is `(variable - mean)/deviation`.
#[derive(Debug, Clone, Copy)]
pub struct ColumnUnits<'a> {
    /// The mean of every variable.
    pub means: &'a [f64],
    /// The standard deviation of every variable.
    pub deviations: &'a [f64],
}

/// Fitted functions with what they were fitted to.
#[derive(Debug, Clone, Copy)]
pub struct Described<'a> {
    /// What was fitted.
    pub fit: &'a Fit,
    /// The data in the form of the route.
    pub prepared: &'a Prepared<'a>,
    /// One problem for every function.
    pub problems: &'a [DualProblem<'a>],
    /// Their solutions.
    pub model: &'a Model,
    /// The samples.
    pub x: &'a FeatureMatrix<'a>,
    /// What was predicted of them.
    pub y: &'a Target<'a>,
    /// What is known of the columns.
    pub columns: ColumnNames<'a>,
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
        Ok(Report {
            functions: functions.collect::<Result<_, _>>()?,
            model: ModelSummary::new(self.fit, self.x.features(), Some(self.fit.spec().gamma)),
            route: self.model.plan().into(),
            validation,
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
    ) -> Result<FunctionReport, Error> {
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
            .then(|| at_once(Part::Monomials, watch, notes, || function.top_monomials(tables.top, Budget::default())))
            .flatten();
        let relevance = tables.relevance.then(|| at_once(Part::Relevance, watch, notes, || function.relevance(memory)));
        let selection = tables.select.and_then(|terms| {
            in_steps(Part::Equation, watch, notes, |watch, notes| self.select(place, terms, tables, watch, notes))
        });
        let stability = tables.stability.and_then(|terms| {
            in_steps(Part::Stability, watch, notes, |watch, notes| self.stability(place, terms, tables, watch, notes))
        });
        Ok(FunctionReport {
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
            top: top.map(|top| TopTable::new(top, names, linear.map(|units| units.deviations))),
            relevance: relevance.flatten().map(|found| RelevanceTable::new(&found, names)),
            selection,
            stability,
        })
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

    fn select(
        &self,
        place: usize,
        terms: usize,
        tables: &Tables,
        watch: &mut dyn Watch,
        notes: &mut Vec<Note>,
    ) -> Result<EquationTable, Error> {
        let problem = &self.problems[place];
        let folds = match &tables.folds {
            Some(folds) => folds.clone(),
            None => self.y.folds(self.x.samples(), None, tables.seed)?,
        };
        let options =
            SelectionOptions { refit: Refit::for_loss(problem.loss()), ..SelectionOptions::new(terms, folds) };
        let mut observer = watch.begin(Part::Equation, options.folds.count() + 1, self.fit.spec().tolerance);
        let (ranking, solver) = (self.fit.ranking(self.x.view()), self.prepared.solver());
        let found = select(problem, self.x, &ranking, &options, solver, &mut *observer)?;
        drop(observer);
        if watch.ended() {
            notes.push(Note::EquationInterrupted);
        } else if found.unconverged > 0 {
            notes.push(Note::EquationUnconverged(found.unconverged));
        }
        let left = if self.columns.classes.is_some() { "decision" } else { self.columns.target };
        Ok(EquationTable::new(&found, self.columns.names, left))
    }

    fn stability(
        &self,
        place: usize,
        terms: usize,
        tables: &Tables,
        watch: &mut dyn Watch,
        notes: &mut Vec<Note>,
    ) -> Result<StabilityTable, Error> {
        let options = StabilityOptions { seed: tables.seed, ..StabilityOptions::new(terms) };
        let fits = 2 * options.pairs;
        let mut observer = watch.begin(Part::Stability, fits, self.fit.spec().tolerance);
        let (ranking, solver) = (self.fit.ranking(self.x.view()), self.prepared.solver());
        let found = stability(&self.problems[place], &ranking, &options, solver, &mut *observer)?;
        drop(observer);
        if watch.ended() {
            notes.push(Note::StabilityInterrupted { finished: found.subsamples, fits });
        } else if found.unconverged > 0 {
            notes.push(Note::StabilityUnconverged { failed: found.unconverged, fits });
        }
        Ok(StabilityTable::new(&found, self.columns.names))
    }
}

impl ColumnUnits<'_> {
    /// The point at which every variable is 0.
    fn origin(&self) -> Vec<f64> {
        self.means.iter().zip(self.deviations).map(|(mean, deviation)| -mean / deviation).collect()
    }
}

/// A table without iterates; a note if there is none.
fn at_once<T: Send>(
    part: Part,
    watch: &mut dyn Watch,
    notes: &mut Vec<Note>,
    make: impl Fn() -> Result<T, Error> + Sync,
) -> Option<T> {
    let mut made = None;
    let done = watch.run(&mut || made = Some(make()));
    match (done, made) {
        (Ok(true), Some(Ok(made))) => return Some(made),
        (Err(error), _) | (Ok(_), Some(Err(error))) => notes.push(Note::Missing(part, error)),
        (Ok(_), _) => notes.push(Note::Ended(part)),
    }
    None
}

/// A table by fits, unless everything was ended before; a note if there is none.
fn in_steps<T>(
    part: Part,
    watch: &mut dyn Watch,
    notes: &mut Vec<Note>,
    make: impl FnOnce(&mut dyn Watch, &mut Vec<Note>) -> Result<T, Error>,
) -> Option<T> {
    if watch.ended() {
        notes.push(Note::Ended(part));
        return None;
    }
    make(watch, notes).map_err(|error| notes.push(Note::Missing(part, error))).ok()
}
