//! Python: functions of a row, which can be a dict or a row of a data frame; numbers also of a whole data frame.

use super::{
    Equations,
    expression::{LabelKind, digits, label, quoted, remark, sum},
};

const IS: &str = r#"

def _is(value, *spellings):
    """Whether a value, or each value of a column, is one of the spellings of a label."""
    found = value == spellings[0]
    for spelling in spellings[1:]:
        found = found | (value == spelling)
    return found
"#;

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
            Some(label) => is(&format!("row[{}]", quoted(&input.column)), label),
        }
    };
    let has_kinds = equations
        .labels_of_inputs()
        .any(|label| matches!(LabelKind::of(label), LabelKind::Truth(_) | LabelKind::Number(_)));
    let helper = if has_kinds { IS } else { "" };
    let sums = equations.equations.iter().map(|one| sum(one, "\n        ", digits, input));
    let head = format!("# {}, written by banach.\n", remark(&equations.target()));
    match equations.names() {
        Some([_]) => {
            let sum: String = sums.collect();
            format!(
                "{head}{helper}\n\ndef predict(row):\n    \"\"\"The prediction for a row, or for every row of a data frame.\"\"\"\n    \
                 return (\n        {sum}\n    )\n"
            )
        }
        Some(names) => {
            let entries: String = names.iter().zip(sums).map(|(name, sum)| entry(&quoted(name), &sum)).collect();
            format!(
                "{head}{helper}\n\ndef predict(row):\n    \"\"\"The predictions for a row, or for every row of a data frame.\"\"\"\n    \
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
                "{head}from math import exp\n{helper}\n\ndef decisions(row):\n    \"\"\"How much speaks for every class.\"\"\"\n    \
                 return {{{entries}\n    }}\n{CLASSES}"
            )
        }
    }
}

/// Whether a value is a label.
fn is(value: &str, label: &str) -> String {
    match LabelKind::of(label) {
        LabelKind::Truth(true) => format!("_is({value}, True, \"true\", \"True\", \"TRUE\")"),
        LabelKind::Truth(false) => format!("_is({value}, False, \"false\", \"False\", \"FALSE\")"),
        LabelKind::Number(number) => {
            let spellings: Vec<String> = LabelKind::spellings(number).iter().map(|text| quoted(text)).collect();
            format!("_is({value}, {number}, {})", spellings.join(", "))
        }
        LabelKind::Text(text) => format!("({value} == {})", quoted(text)),
    }
}

fn entry(key: &str, sum: &str) -> String {
    format!("\n        {key}: {sum},")
}
