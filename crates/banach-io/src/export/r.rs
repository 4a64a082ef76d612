//! R: functions of a data frame.

use super::{
    Equations,
    expression::{LabelKind, digits, label, quoted, remark, sum},
};

/// Texts and factors are compared as numbers, and what is no number is another label.
const IS_NUMBER: &str = "is_number <- function(x, number) {
  values <- if (is.numeric(x)) x else suppressWarnings(as.numeric(as.character(x)))
  ifelse(is.na(x), NA, values %in% number)
}

";

pub(super) fn text(equations: &Equations) -> String {
    let input = |at: usize| {
        let input = &equations.inputs[at];
        let column = format!("data[[{}]]", quoted(&input.column));
        match &input.label {
            None => column,
            Some(label) => match LabelKind::of(label) {
                // In lower case TRUE is "true", be it a truth value or a text.
                LabelKind::Truth(_) => format!("(tolower({column}) == {})", quoted(label)),
                LabelKind::Number(number) => format!("is_number({column}, {number})"),
                LabelKind::Text(text) => format!("({column} == {})", quoted(text)),
            },
        }
    };
    // A constant alone is repeated for every row.
    let sums: Vec<String> = equations
        .equations
        .iter()
        .map(|one| format!("rep(0, nrow(data)) + {}", sum(one, " ", digits, input)))
        .collect();
    let has_numbers = equations.labels_of_inputs().any(|label| matches!(LabelKind::of(label), LabelKind::Number(_)));
    let helper = if has_numbers { IS_NUMBER } else { "" };
    let head = format!("# {}, written by banach.\n{helper}", remark(&equations.target()));
    let columns = |names: Vec<String>| {
        let each: Vec<String> = names.iter().zip(&sums).map(|(name, sum)| format!("    {name} = {sum}")).collect();
        each.join(",\n")
    };
    match equations.names() {
        Some([_]) => format!("{head}predict_rows <- function(data) {{\n  {}\n}}\n", sums[0]),
        Some(names) => {
            let columns = columns(names.iter().map(|name| format!("`{}`", name.replace('`', "'"))).collect());
            format!(
                "{head}predict_rows <- function(data) {{\n  data.frame(\n{columns},\n    check.names = FALSE\n  )\n}}\n"
            )
        }
        None => {
            let labels: Vec<String> =
                equations.labels().iter().map(|own| label(own, ["TRUE", "FALSE"], quoted)).collect();
            let rows = sums.iter().map(|sum| format!("    {sum}")).collect::<Vec<_>>().join(",\n");
            format!(
                "{head}labels <- c({})\n\ndecisions <- function(data) {{\n  matrix(c(\n{rows}\n  ), nrow = nrow(data))\n}}\n\n\
                 probabilities <- function(data) {{\n  shares <- 1 / (1 + exp(-decisions(data)))\n  totals <- rowSums(shares)\n  \
                 shares <- shares / ifelse(totals > 0, totals, 1) + ifelse(totals > 0, 0, 1 / length(labels))\n  \
                 colnames(shares) <- labels\n  shares\n}}\n\npredict_rows <- function(data) {{\n  \
                 labels[max.col(decisions(data), ties.method = \"first\")]\n}}\n",
                labels.join(", ")
            )
        }
    }
}
