//! Python: functions of a row, which can be a dict or a row of a data frame; numbers also of a whole data frame.

use super::{
    Equations,
    expression::{digits, label, quoted, remark, sum},
};

const CLASSES: &str = r#"

def _logistic(t):
    return 1.0 / (1.0 + exp(-t)) if t > 0 else exp(t) / (1.0 + exp(t))


def probabilities(row):
    """The probability of every class."""
    shares = {label: _logistic(value) for label, value in decisions(row).items()}
    total = sum(shares.values())
    return {label: share / total if total > 0 else 1.0 / len(shares) for label, share in shares.items()}


def predict(row):
    """The class of a row."""
    values = decisions(row)
    return max(values, key=values.get)
"#;

pub(super) fn text(equations: &Equations) -> String {
    let input = |at: usize| {
        let input = &equations.inputs[at];
        match &input.label {
            None => format!("row[{}]", quoted(&input.column)),
            Some(label) => format!("(row[{}] == {})", quoted(&input.column), quoted(label)),
        }
    };
    let sums = equations.equations.iter().map(|one| sum(one, "\n        ", digits, input));
    let head = format!("# {}, written by banach.\n", remark(&equations.target()));
    match equations.names() {
        Some([_]) => {
            let sum: String = sums.collect();
            format!(
                "{head}\n\ndef predict(row):\n    \"\"\"The prediction for a row, or for every row of a data frame.\"\"\"\n    \
                 return (\n        {sum}\n    )\n"
            )
        }
        Some(names) => {
            let entries: String = names.iter().zip(sums).map(|(name, sum)| entry(&quoted(name), &sum)).collect();
            format!(
                "{head}\n\ndef predict(row):\n    \"\"\"The predictions for a row, or for every row of a data frame.\"\"\"\n    \
                 return {{{entries}\n    }}\n"
            )
        }
        None => {
            let entries: String = equations
                .labels()
                .iter()
                .zip(sums)
                .map(|(class, sum)| entry(&label(class, ["True", "False"], quoted), &sum))
                .collect();
            format!(
                "{head}from math import exp\n\n\ndef decisions(row):\n    \"\"\"How much speaks for every class.\"\"\"\n    \
                 return {{{entries}\n    }}\n{CLASSES}"
            )
        }
    }
}

fn entry(key: &str, sum: &str) -> String {
    format!("\n        {key}: {sum},")
}
