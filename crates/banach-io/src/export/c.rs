//! C: functions of an array with the inputs of one row.

use super::{
    Equations, InputColumn,
    expression::{digits, remark, sum},
};
use crate::Label;

pub(super) fn text(equations: &Equations) -> String {
    let input = |at: usize| format!("x[{at}]");
    let sums = equations.equations.iter().map(|one| sum(one, "\n        ", digits, input));
    let input_line = |(at, input): (usize, &InputColumn)| match &input.label {
        None => format!("   x[{at}] is {}\n", remark(&input.column)),
        Some(label) => format!("   x[{at}] is 1 where {} is {}, else 0\n", remark(&input.column), remark(label)),
    };
    let inputs = lines(equations.inputs.iter().enumerate().map(input_line));
    let head = format!("/* {}, written by banach. The inputs of a row:\n{inputs}", remark(&equations.target()));
    match equations.names() {
        Some([_]) => {
            let sum: String = sums.collect();
            format!("{head}*/\ndouble predict(const double x[])\n{{\n    (void)x;\n    return {sum};\n}}\n")
        }
        Some(names) => {
            let told = lines(names.iter().enumerate().map(|(at, name)| format!("   out[{at}] is {}\n", remark(name))));
            format!(
                "{head}{told}*/\nvoid predict(const double x[], double out[])\n{{\n    (void)x;\n{}}}\n",
                assignments(sums)
            )
        }
        None => {
            let class_line =
                |(at, label): (usize, &Label)| format!("   class {at} is {}\n", remark(&label.to_string()));
            let told = lines(equations.labels().iter().enumerate().map(class_line));
            let count = equations.labels().len();
            format!(
                "{head}{told}*/\n#include <math.h>\n\n/* How much speaks for every class. */\nvoid decisions(const double x[], double out[])\n{{\n    \
                 (void)x;\n{}}}\n\n/* The probability of every class. */\nvoid probabilities(const double x[], double out[])\n{{\n    double total = 0.0;\n    \
                 decisions(x, out);\n    for (int k = 0; k < {count}; k++) {{\n        out[k] = 1.0 / (1.0 + exp(-out[k]));\n        total += out[k];\n    }}\n    \
                 for (int k = 0; k < {count}; k++)\n        out[k] = total > 0.0 ? out[k] / total : 1.0 / {count};\n}}\n\n/* The class. */\n\
                 int predict(const double x[])\n{{\n    double out[{count}];\n    int best = 0;\n    decisions(x, out);\n    for (int k = 1; k < {count}; k++)\n        \
                 if (out[k] > out[best])\n            best = k;\n    return best;\n}}\n",
                assignments(sums)
            )
        }
    }
}

fn lines(of: impl Iterator<Item = String>) -> String {
    of.collect::<Vec<_>>().concat()
}

fn assignments(sums: impl Iterator<Item = String>) -> String {
    lines(sums.enumerate().map(|(at, sum)| format!("    out[{at}] = {sum};\n")))
}
