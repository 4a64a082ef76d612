use banach::{
    Account, FeatureMatrix, Memory, Target,
    kernel::{Degrees, KernelChoice, KernelName},
    loss::LossSpec,
    sparse::SparseSpec,
};

use super::{EquationFactor, EquationSum, EquationTerm, Equations, ExportError, InputColumn, Language, Outcome};
use crate::{Encoding, Label, Saved, SavedSparse};

/// Numbers in [-1, 1) without a pattern.
fn jumble(k: usize) -> f64 {
    ((k * k) as f64 * 0.618_033_988).fract() * 2.0 - 1.0
}

const ROWS: usize = 60;

/// Three columns: two of numbers, far from 0, and one of 0 and 1.
fn columns() -> FeatureMatrix<'static> {
    let column = |j: usize| (0..ROWS).map(move |i| jumble(ROWS * j + i + 1));
    let values = column(0).map(|x| 50.0 + 9.0 * x).chain(column(1)).chain(column(2).map(|x| f64::from(x > 0.0)));
    FeatureMatrix::from_columns(ROWS, 3, values.collect::<Vec<f64>>()).expect("valid")
}

fn saved(target: &Target<'_>, loss: LossSpec, labels: Option<Vec<Label>>) -> SavedSparse {
    let degree = Some(Degrees::range(1, 2).expect("a range"));
    let kernel = KernelChoice { degree, ..KernelChoice::new(KernelName::Poly) }.spec().expect("valid");
    let spec = SparseSpec { kernel, loss, ..SparseSpec::default() };
    let model = spec.model(&columns(), target, None, &Account::new(Memory::available())).expect("it fits");
    SavedSparse {
        names: Some(["age \"in\" years", "a-b", "color=red"].map(str::to_owned).to_vec()),
        encodings: vec![Encoding { column: "color".to_owned(), labels: vec!["blue".to_owned(), "red".to_owned()] }],
        target: Some("drug's effect".to_owned()),
        labels,
        ..SavedSparse::new(spec, model, (ROWS, 3))
    }
}

fn numbers() -> SavedSparse {
    let x = columns();
    let y = |i: usize| {
        let x = x.row(i);
        3.0 + 0.5 * (x[0] - 48.0) * x[1] - 2.0 * x[2] + 0.01 * jumble(i + 999)
    };
    let y: Vec<f64> = (0..ROWS).map(y).collect();
    saved(&Target::from(&y), LossSpec::Squared, None)
}

/// Values by the fields of the equations, as someone would compute them who has the JSON alone.
fn by_hand(equations: &Equations, x: &[f64]) -> Vec<f64> {
    let place = |input: usize| match &equations.inputs[input].column[..] {
        "age \"in\" years" => 0,
        "a-b" => 1,
        _ => 2,
    };
    let of_sum = |sum: &super::EquationSum| {
        let term = |term: &super::EquationTerm| {
            let factor = |of: &super::EquationFactor| (x[place(of.input)] - of.minus).powi(of.power as i32);
            term.coefficient * term.factors.iter().map(factor).product::<f64>()
        };
        sum.constant + sum.terms.iter().map(term).sum::<f64>()
    };
    equations.equations.iter().map(of_sum).collect()
}

#[test]
fn equations_are_the_functions() {
    let (saved, x) = (numbers(), columns());
    let decisions = saved.model.decisions(&x).expect("fits");
    let equations = Saved::Sparse(Box::new(saved)).equations().expect("few terms");
    assert_eq!(equations.outcome, Outcome::Numbers { names: vec!["drug's effect".to_owned()] });
    assert!(equations.inputs.iter().any(|input| input.column == "color" && input.label.as_deref() == Some("red")));
    for (i, decision) in decisions.iter().enumerate() {
        let value = by_hand(&equations, &x.row(i))[0];
        assert!((value - decision).abs() <= 1e-12 * decision.abs().max(1.0), "{value} {decision}");
    }
}

#[test]
fn of_two_classes_each_has_an_equation() {
    let x = columns();
    let labels: Vec<i64> = (0..ROWS).map(|i| i64::from(x.row(i)[1] + 0.3 * jumble(i + 77) > 0.0)).collect();
    let names = vec![Label::Text("no".to_owned()), Label::Text("yes".to_owned())];
    let saved = saved(&Target::Labels(labels.into()), LossSpec::Logistic, Some(names));
    let decisions = saved.model.decisions(&x).expect("fits");
    let equations = Saved::Sparse(Box::new(saved)).equations().expect("few terms");
    for (i, decision) in decisions.iter().enumerate() {
        let [no, yes] = by_hand(&equations, &x.row(i))[..] else { panic!("two equations") };
        assert!((yes - decision).abs() < 1e-9 && no == -yes);
    }
    for language in Language::ALL {
        let text = equations.written_in(language).expect("short");
        assert!(text.contains("yes") && text.contains("drug"), "{language}: {text}");
    }
}

#[test]
fn every_language_has_the_columns_and_the_digits() {
    let equations = Saved::Sparse(Box::new(numbers())).equations().expect("few terms");
    let coefficient = format!("{:?}", equations.equations[0].terms[0].coefficient.abs());
    for language in Language::ALL {
        let text = equations.written_in(language).expect("short");
        assert!(text.contains(&coefficient), "{language}: {text}");
        assert!(text.contains("color") && text.contains("a-b"), "{language}: {text}");
        assert_eq!(language.name().parse(), Ok(language));
    }
    assert!("cobol".parse::<Language>().is_err_and(|allowed| allowed.contains("python")));
}

#[test]
fn a_formula_that_a_spreadsheet_does_not_take_is_refused() {
    let mut equations = Saved::Sparse(Box::new(numbers())).equations().expect("few terms");
    let terms = equations.equations[0].terms.clone();
    equations.equations[0].terms = terms.iter().cycle().take(500).cloned().collect();
    assert!(matches!(equations.written_in(Language::Excel), Err(ExportError::TooLong { most: 8192, .. })));
    assert!(equations.written_in(Language::Sql).is_ok());
}

/// The sum of 1 for every column that has its label.
fn of_labels(inputs: &[(&str, &str)], outcome: Outcome) -> Equations {
    let input =
        |(column, label): &(&str, &str)| InputColumn { column: (*column).to_owned(), label: Some((*label).to_owned()) };
    let term =
        |input: usize| EquationTerm { coefficient: 1.0, factors: vec![EquationFactor { input, minus: 0.0, power: 1 }] };
    let sum = EquationSum { constant: -1000.0, terms: (0..inputs.len()).map(term).collect() };
    let count = match &outcome {
        Outcome::Numbers { names } => names.len(),
        Outcome::Classes { labels, .. } => labels.len(),
    };
    Equations { outcome, inputs: inputs.iter().map(input).collect(), equations: vec![sum; count] }
}

#[test]
fn truth_values_and_numbers_are_labels_however_they_are_written() {
    let inputs = [("flag", "true"), ("open", "false"), ("ward", "1"), ("share", "0.5"), ("color", "dark red")];
    let equations = of_labels(&inputs, Outcome::Numbers { names: vec!["y".to_owned()] });
    for (language, expected) in [
        (
            Language::Python,
            [
                r#"_is(row["flag"], True, "true", "True", "TRUE")"#,
                r#"_is(row["open"], False, "false", "False", "FALSE")"#,
                r#"_is(row["ward"], 1, "1", "1.0")"#,
                r#"_is(row["share"], 0.5, "0.5")"#,
                r#"(row["color"] == "dark red")"#,
            ],
        ),
        (
            Language::R,
            [
                r#"(tolower(data[["flag"]]) == "true")"#,
                r#"(tolower(data[["open"]]) == "false")"#,
                r#"is_number(data[["ward"]], 1)"#,
                r#"is_number(data[["share"]], 0.5)"#,
                r#"(data[["color"]] == "dark red")"#,
            ],
        ),
        (
            Language::Sql,
            [
                r#"LOWER(CAST("flag" AS VARCHAR(255))) IN ('true', '1')"#,
                r#"LOWER(CAST("open" AS VARCHAR(255))) IN ('false', '0')"#,
                r#"CAST("ward" AS VARCHAR(255)) IN ('1', '1.0')"#,
                r#"CAST("share" AS VARCHAR(255)) IN ('0.5')"#,
                r#""color" = 'dark red'"#,
            ],
        ),
        (
            Language::Excel,
            [
                r#"IF(IF(ISLOGICAL(A2),A2,LOWER(A2)="true"),1,0)"#,
                r#"IF(IF(ISLOGICAL(B2),NOT(B2),LOWER(B2)="false"),1,0)"#,
                r#"IF(IF(ISNUMBER(C2),C2=1,EXACT(C2,"1")),1,0)"#,
                r#"IF(IF(ISNUMBER(D2),D2=0.5,EXACT(D2,"0.5")),1,0)"#,
                r#"IF(EXACT(E2,"dark red"),1,0)"#,
            ],
        ),
    ] {
        let text = equations.written_in(language).expect("short");
        assert!(expected.iter().all(|part| text.contains(part)), "{language}: {text}");
    }
    // Plain labels need no function of their own.
    let plain = of_labels(&[("color", "red"), ("dose", "-inf"), ("kind", "True north")], equations.outcome.clone());
    let python = plain.written_in(Language::Python).expect("short");
    let r = plain.written_in(Language::R).expect("short");
    assert!(!python.contains("_is") && !r.contains("is_number") && !r.contains("tolower"), "{python}{r}");
}

#[test]
fn where_nothing_speaks_for_a_class_all_have_the_same_probability() {
    let labels = ["a", "b", "c"].map(|label| Label::Text(label.to_owned())).to_vec();
    let equations = of_labels(&[("color", "red")], Outcome::Classes { name: "y".to_owned(), labels });
    for (language, guard) in [
        (Language::Python, "if total > 0 else 1.0 / len(shares)"),
        (Language::R, "ifelse(totals > 0, 0, 1 / length(labels))"),
        (Language::Sql, "CASE WHEN s0 + s1 + s2 > 0 THEN s0 / (s0 + s1 + s2) ELSE 1.0 / 3 END"),
        (Language::Excel, "=IF(MAX(B2,C2,D2)<-700,1/3,EXP(MIN(B2,0))/(1+EXP(-ABS(B2)))/("),
        (Language::C, "total > 0.0 ? out[k] / total : 1.0 / 3"),
    ] {
        let text = equations.written_in(language).expect("short");
        assert!(text.contains(guard), "{language}: {text}");
    }
}
