//! The verdict in words, the same at every door.

use super::{Assessment, ClassScores, NumberScores};
use crate::error::counted;

/// Said where there is nothing to read.
const DO_NOT_READ: &str = "Do not read the tables as findings: noise looks like this.";

impl Assessment {
    /// The verdict and the scores, in one line.
    pub fn sentence(&self) -> String {
        let against =
            if self.classes.is_some() { "than always predicting the most frequent class" } else { "than a constant" };
        let gains = self.loss < self.constant_loss;
        let (better, as_far) = match (self.better, gains) {
            (true, true) => (format!("better {against}"), ""),
            (true, false) => (format!("better {against} by evidence on all rows alone, no better"), ""),
            (false, true) => (format!("no better {against}"), ", as far as they can tell"),
            (false, false) => (format!("no better {against}"), ""),
        };
        let of = self.candidate.as_ref().map_or_else(String::new, |name| format!(" ({name})"));
        let scores = match (&self.classes, &self.numbers[..]) {
            (Some(classes), _) => Self::of_classes(classes),
            (None, [scores]) => self.of_number(scores),
            (None, outputs) => {
                let told: Vec<String> = outputs.iter().map(|scores| self.of_number(scores)).collect();
                told.join("; ")
            }
        };
        format!("{better} on unseen rows{of}{as_far}: {scores} ({}, {})", self.how, counted(self.rows, "row", "rows"))
    }

    /// The verdict, then what chance and shuffled targets say, and what not to do where nothing was found.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = vec![self.sentence()];
        lines.extend(self.chance_sentence());
        if self.evidence {
            lines.push(
                "evidence on all rows names terms, beyond what the best of as many columns of noise explains"
                    .to_owned(),
            );
        }
        lines.extend(self.permutation_sentence());
        if self.copies > 0 {
            lines.push(format!(
                "{} of other rows that were not held out with them, which makes all of this too good: leave copies out, or hold \
                 them out together, as groups",
                counted(self.copies, "row is a copy", "rows are copies")
            ));
        }
        if !self.better {
            lines.push(DO_NOT_READ.to_owned());
        }
        lines
    }

    /// How often chance would do as well.
    pub fn chance_sentence(&self) -> Option<String> {
        let among = match self.candidates {
            1 => String::new(),
            count => format!(", the best of {count} tried"),
        };
        let gain = format!("the loss falls by {} of that of the constant{among}", percent(self.gain.value));
        Some(match self.chance {
            _ if self.loss >= self.constant_loss => return None,
            None => format!("{gain}; too few independent rows to tell that from chance"),
            Some(chance) => format!("{gain}; chance alone does that in {} tables without a signal", often(chance)),
        })
    }

    /// How shuffled targets did.
    pub fn permutation_sentence(&self) -> Option<String> {
        let check = self.permutations?;
        Some(format!(
            "{} of {} shuffles of the target were predicted as well (p = {:.3}){}",
            check.as_good,
            check.permutations,
            check.chance(),
            if check.can_decide() { "" } else { "; so few cannot decide, 19 or more can" }
        ))
    }

    fn of_number(&self, scores: &NumberScores) -> String {
        let own = if self.loss_name == "squared" {
            String::new()
        } else {
            format!("{} loss {:.4} against {:.4}, ", self.loss_name, self.loss, self.constant_loss)
        };
        let NumberScores { rmse, constant_rmse, q2 } = scores;
        format!("{own}RMSE {} against {}, Q2 {q2:.2}", digits(*rmse), digits(*constant_rmse))
    }

    fn of_classes(scores: &ClassScores) -> String {
        let ClassScores { accuracy, largest_class, balanced_accuracy, auc, .. } = scores;
        format!(
            "{:.1} % right against {:.1} %, balanced accuracy {balanced_accuracy:.2}, AUC {auc:.2}",
            100.0 * accuracy,
            100.0 * largest_class
        )
    }
}

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

/// A share as a number of cases, never more exact than it is.
fn often(chance: f64) -> String {
    if chance < 0.001 { "fewer than 1 of 1000".to_owned() } else { format!("{:.1} % of", 100.0 * chance) }
}

/// Four significant digits.
fn digits(value: f64) -> String {
    if value == 0.0 || !(1e-3..1e5).contains(&value) {
        return format!("{value:.3e}");
    }
    let decimals = (3.0 - value.log10().floor()).max(0.0) as usize;
    format!("{value:.decimals$}")
}
