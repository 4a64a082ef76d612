//! `banach features`: what the functions of a model are made of.

use std::time::Instant;

use banach::{
    Memory,
    error::counted,
    model::Budget,
    report::{Note, Part, RelevanceTable, SparseFunctionReport, SparseTable, TopTable},
};
use banach_io::{Label, Saved, SavedModel, SavedSparse, Standardization};
use serde::Serialize;

use super::{args::Features, info_auto, open, stopped};
use crate::{
    fit::{
        sparse::text as sparse_text,
        text::{ROWS, scaling, show, significant, top_table},
    },
    options::Common,
    print,
    visible::visible_name,
    words,
};

/// The JSON object; its parts are those of `banach fit --json`.
#[derive(Debug, Serialize)]
struct FeatureList {
    version: &'static str,
    model: String,
    functions: Vec<ListedFunction>,
    notes: Vec<String>,
}

#[derive(Debug, Serialize)]
struct ListedFunction {
    class: Option<Label>,
    top: Option<TopTable>,
    relevance: Option<RelevanceTable>,
}

/// The JSON object of a model of few terms.
#[derive(Debug, Serialize)]
struct TermList {
    version: &'static str,
    model: String,
    functions: Vec<SparseFunctionReport>,
    notes: Vec<String>,
}

pub(crate) fn features(what: &Features, common: &Common) -> anyhow::Result<()> {
    let account = common.account()?;
    let (saved, _taken) = open(&what.model, &account)?;
    let model = match &saved {
        Saved::Lp(model) => model,
        Saved::Sparse(model) => return list_terms(what, &saved, model, common),
        Saved::Auto(model) => return info_auto::features(what, &saved, model, account.left(), common),
    };
    let memory = account.left();
    let (mut notes, begin) = (Vec::new(), Instant::now());
    let functions: Vec<ListedFunction> = (0..model.solutions.len())
        .map(|function| describe(what, model, (function, what.budget.left(begin)), memory, &mut notes))
        .collect::<Result<_, _>>()?;
    let described =
        FeatureList { version: env!("CARGO_PKG_VERSION"), model: what.model.display().to_string(), functions, notes };
    let scaling = model.standardization.as_ref().and_then(|done| scaling(true, done.centred));
    print::result(common, &described, || described.text(scaling, common.explain), || Ok(described.how(model)))
}

/// The terms are all that there is.
fn list_terms(what: &Features, saved: &Saved, model: &SavedSparse, common: &Common) -> anyhow::Result<()> {
    let functions = functions_of(saved, model)?;
    let none = "no relevance: all monomials but the terms have the coefficient 0";
    let notes = what.relevance.then(|| none.to_owned()).into_iter().collect();
    let described =
        TermList { version: env!("CARGO_PKG_VERSION"), model: what.model.display().to_string(), functions, notes };
    let text = || {
        let mut lines = Vec::new();
        for SparseFunctionReport { class, table } in &described.functions {
            lines.push(sparse_text::found(table, class.as_deref()));
            lines.extend(sparse_text::tables(table, ""));
        }
        lines.extend(described.notes.iter().map(|note| format!("note: {note}")));
        lines.join("\n") + "\n"
    };
    let how = || {
        let proofs = described.functions.iter().map(|function| format!("  {}", sparse_text::proof(&function.table)));
        Ok(format!("How (docs/sparse.md has the proofs):\n{}", proofs.collect::<Vec<_>>().join("\n")))
    };
    print::result(common, &described, text, how)
}

/// Every function of a model of few terms, with names.
pub(super) fn functions_of(saved: &Saved, model: &SavedSparse) -> Result<Vec<SparseFunctionReport>, banach::Error> {
    let names = saved.variable_names();
    let left = match saved.labels() {
        Some(_) => "decision",
        None => saved.target().map_or("y", |name| &name[..]),
    };
    let units = saved.standardization().map(Standardization::units);
    let told = |(at, function)| {
        let class = saved.class(at).map(ToString::to_string);
        let table = SparseTable::new(function, &names, units, left)?;
        Ok(SparseFunctionReport { class, table })
    };
    model.model.functions().iter().enumerate().map(told).collect()
}

/// A table that cannot be made becomes a note.
fn describe(
    what: &Features,
    model: &SavedModel<'_>,
    (function, budget): (usize, Budget),
    memory: Memory,
    notes: &mut Vec<String>,
) -> Result<ListedFunction, banach::Error> {
    let (names, described) = (model.variable_names(), model.function(function)?.with_memory(memory));
    let kernel = model.spec.kernel.build()?;
    let deviations = model.standardization.as_ref().map(|done| &done.deviations[..]);
    let linear = deviations.filter(|_| kernel.degrees() == (1, Some(1)) && !kernel.normalized());
    let missing = |notes: &mut Vec<String>, part, error| notes.push(words::note(&Note::Missing(part, error)));
    let top = (what.top > 0).then(|| described.top_monomials(what.top, budget));
    let top = top.and_then(|top| top.map_err(|error| missing(notes, Part::Monomials, error)).ok());
    notes.extend(top.as_ref().and_then(stopped));
    let relevance = what.relevance.then(|| described.relevance(memory));
    let relevance = relevance.and_then(|found| found.map_err(|error| missing(notes, Part::Relevance, error)).ok());
    Ok(ListedFunction {
        class: model.class(function).cloned(),
        top: top.map(|top| TopTable::new(top, &names, linear)),
        relevance: relevance.map(|found| RelevanceTable::new(&found, &names)),
    })
}

impl FeatureList {
    /// How the lists were found.
    fn how(&self, model: &SavedModel<'_>) -> String {
        let found = self.functions.iter().zip(&model.radii);
        let line = |(function, radius): (&ListedFunction, &Option<f64>)| {
            let of = function
                .class
                .as_ref()
                .map_or_else(String::new, |class| format!("{}: ", visible_name(&class.to_string())));
            let search = function.top.as_ref().map_or_else(String::new, |top| {
                let end = if top.complete { "no larger one was left out" } else { "the search ended early" };
                let unlisted = significant(top.unlisted);
                let looked = counted(top.nodes, "monomial was", "monomials were");
                format!("{looked} looked at, {end}; no other has a weight above {unlisted}. ")
            });
            let radius = match radius {
                Some(radius) => format!(
                    "The duality gap puts the optimal dual vector within {radius:.1e} of the one in the file, which bounds every weight"
                ),
                None => "The loss gives no bound on the distance to the optimum, so the error of the solver is not known by weight".to_owned(),
            };
            format!("  {of}{search}{radius}.")
        };
        format!("How (docs/interactions.md has the proofs):\n{}", found.map(line).collect::<Vec<_>>().join("\n"))
    }

    fn text(&self, scaling: Option<&str>, explain: bool) -> String {
        let mut parts = Vec::new();
        for function in &self.functions {
            let of = match (&function.class, self.functions.len()) {
                (Some(class), 2..) => format!(" of class {}", visible_name(&class.to_string())),
                _ => String::new(),
            };
            parts.extend(function.top.as_ref().map(|top| top_table(top, &of, scaling, explain).trim_end().to_owned()));
            let relevance = function.relevance.as_ref();
            parts.extend(relevance.map(|found| format!("Relevance{of}: {}", found.text(ROWS, show).trim_end())));
        }
        parts.extend(self.notes.iter().map(|note| format!("note: {note}")));
        parts.join("\n\n") + "\n"
    }
}
