//! The verdict: how a model predicts rows that it has not seen, against a constant. The first lines of everything that is printed.

use banach::fit::{Assessment, ClassScores};

use crate::table::Table;

/// What is said where no row was held out.
const UNKNOWN: &str = "unknown: no row was held out (--cv 5 holds out each row once)";

/// The verdict on held-out rows, and on those of a test.
pub(crate) fn lines(assessment: Option<&Assessment>, test: Option<&Assessment>) -> Vec<String> {
    let mut lines = assessment.map_or_else(|| vec![UNKNOWN.to_owned()], Assessment::lines);
    if let Some(test) = test {
        // The test is the last word, but the first line is where people look.
        lines = [vec![test.sentence()], test.chance_sentence().into_iter().collect(), lines].concat();
    }
    let mark =
        |(at, line): (usize, String)| if at == 0 { format!("verdict: {line}") } else { format!("         {line}") };
    lines.into_iter().enumerate().map(mark).collect()
}

/// The same for a page.
pub(crate) fn page(assessment: Option<&Assessment>, test: Option<&Assessment>) -> Vec<String> {
    lines(assessment, test).iter().map(|line| line.trim_start_matches("verdict:").trim().to_owned()).collect()
}

/// Which classes are taken for which, in the test if there is one.
pub(crate) fn confusion(assessment: Option<&Assessment>, test: Option<&Assessment>) -> Option<Table> {
    let assessment = test.or(assessment)?;
    let ClassScores { labels, confusion, .. } = assessment.classes.as_ref()?;
    let row = |(label, counts): (&String, &Vec<usize>)| {
        std::iter::once(label.clone()).chain(counts.iter().map(ToString::to_string)).collect()
    };
    Some(Table {
        title: "Confusion".to_owned(),
        setting: format!(
            "Rows that were not seen{}: the class that they have, and the one that was predicted.",
            if confusion.iter().flatten().sum::<usize>() > assessment.rows {
                ", each as often as it was held out"
            } else {
                ""
            }
        ),
        header: std::iter::once("has".to_owned()).chain(labels.iter().cloned()).collect(),
        rows: labels.iter().zip(confusion).map(row).collect(),
        notes: Vec::new(),
    })
}
