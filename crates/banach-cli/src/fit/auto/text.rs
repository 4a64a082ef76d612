//! What was chosen, for people to read.

use banach::{
    error::counted,
    fit::{AutoRecord, ContenderScore},
    report::{PairShare, Readout, SparseFunctionReport, VariableShare},
};

use super::FittedAuto;
use crate::{
    fit::{
        sparse::text::tables,
        text::{data, significant},
        verdict,
    },
    table::Table,
    visible::visible_name,
};

/// Lines of the table of variables.
const VARIABLES: usize = 10;
/// Lines of the table of pairs, and the least share of one that people want to hear of.
const PAIRS: usize = 5;
const TOLD: f64 = 0.01;

/// Everything, the verdict first.
pub(super) fn page(fitted: &FittedAuto) -> String {
    let mut lines = verdict::lines(fitted.assessment.as_ref(), fitted.test.as_ref());
    lines.extend([data(&fitted.data), format!("model:  {}", fitted.choice.sentence())]);
    lines.extend(fitted.saved.iter().map(|path| format!("saved:  {}", visible_name(path))));
    lines.extend(fitted.saved_equation.iter().map(|path| format!("saved:  the equation, {}", visible_name(path))));
    lines.extend(fitted.notes.iter().map(|note| format!("note: {note}")));
    let confused = verdict::confusion(fitted.assessment.as_ref(), fitted.test.as_ref());
    lines.extend(confused.map(|table| format!("\n{}", table.text().trim_end())));
    lines.push(format!("\n{}", contenders(&fitted.choice).text().trim_end()));
    lines.extend(matters(&fitted.readout).iter().map(|table| format!("\n{}", table.text().trim_end())));
    lines.extend(terms(&fitted.terms, &fitted.choice));
    lines.join("\n") + "\n"
}

/// What was tried.
pub(crate) fn contenders(choice: &AutoRecord) -> Table {
    let share = |loss: f64| significant(loss / choice.constant_loss);
    let accuracy = choice.standings.iter().any(|standing| standing.accuracy.is_some());
    let mut header = vec!["", "error", "+-"];
    header.extend(accuracy.then_some("right class"));
    header.extend(["weight", "seconds"]);
    let row = |standing: &ContenderScore| {
        let (error, spread) = match (standing.loss, standing.claimed) {
            (Some(loss), _) => (share(loss.value), share(loss.standard_error)),
            (None, Some(claimed)) => (share(claimed), "claimed".to_owned()),
            (None, None) => Default::default(),
        };
        let mut row = vec![standing.recipe.to_string(), error, spread];
        let right = standing.accuracy.map_or_else(String::new, |mean| format!("{:.1} %", 100.0 * mean.value));
        row.extend(accuracy.then_some(right));
        row.push(if standing.weight > 0.0 { format!("{:.2}", standing.weight) } else { String::new() });
        row.push(format!("{:.2}", standing.seconds));
        row
    };
    let left_out = choice.left_out.iter().map(|(recipe, why)| format!("Not tried: {recipe}; {why}."));
    Table {
        title: "What was tried".to_owned(),
        setting: "Error: the loss on held-out rows as a share of that of a constant; weight: the part in the model."
            .to_owned(),
        header: header.into_iter().map(str::to_owned).collect(),
        rows: choice.standings.iter().map(row).collect(),
        notes: left_out.collect(),
    }
}

/// The variables that matter most, and the pairs.
pub(crate) fn matters(readout: &Readout) -> Vec<Table> {
    variables(&readout.relevance).into_iter().chain(pairs(&readout.pairs)).collect()
}

fn pairs(shares: &[PairShare]) -> Option<Table> {
    let rows: Vec<Vec<String>> = { shares.iter().filter(|pair| pair.share >= TOLD).take(PAIRS) }
        .map(|pair| vec![pair.first.clone(), pair.second.clone(), significant(pair.share)])
        .collect();
    (!rows.is_empty()).then(|| Table {
        title: "What matters together".to_owned(),
        setting: "Share: the part of the model that involves both variables, of those that matter most.".to_owned(),
        header: ["first", "second", "share"].map(str::to_owned).to_vec(),
        rows,
        notes: Vec::new(),
    })
}

/// The variables that matter most.
fn variables(shares: &[VariableShare]) -> Option<Table> {
    let matters = |entry: &&VariableShare| entry.share > 0.0;
    let rows: Vec<Vec<String>> = { shares.iter().filter(matters).take(VARIABLES) }
        .map(|entry| vec![entry.variable.clone(), significant(entry.share)])
        .collect();
    let others = shares.len() - rows.len();
    let next = shares.get(rows.len()).map_or(0.0, |entry| entry.share);
    (!rows.is_empty()).then(|| Table {
        title: "What matters".to_owned(),
        setting: "Share: the part of the model that involves the variable.".to_owned(),
        header: vec!["variable".to_owned(), "share".to_owned()],
        rows,
        notes: (others > 0)
            .then(|| {
                let have = counted(others, "other has a share", "others have shares");
                format!("{have} of at most {}.", significant(next))
            })
            .into_iter()
            .collect(),
    })
}

/// The few terms that can be named, with their own errors beside that of the model.
pub(crate) fn terms(functions: &[SparseFunctionReport], choice: &AutoRecord) -> Vec<String> {
    let several = functions.len() > 1;
    let mut lines = Vec::new();
    for SparseFunctionReport { class, table } in functions {
        let of = class.as_ref().filter(|_| several).map_or_else(String::new, |class| format!(" of class {class:?}"));
        lines.extend(tables(table, &of));
    }
    if !lines.is_empty() {
        lines.extend(choice.terms_sentence());
    }
    lines
}
