//! Models of few terms: what was written is read, bit by bit, and anything else is an error or a model.

use banach::{Account, FeatureMatrix, Memory, Target, kernel::KernelSpec, sparse::SparseSpec};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{
    tests::{flaw, forged, parts_of},
    *,
};

const SAMPLES: usize = 40;

fn jumble(k: usize) -> f64 {
    ((k * k) as f64 * 0.618_033_988).fract() * 2.0 - 1.0
}

/// Five variables, far from 0 so that products of centred ones are terms.
fn samples() -> FeatureMatrix<'static> {
    let x: Vec<f64> = (0..SAMPLES * 5).map(|k| 7.0 + jumble(k + 1)).collect();
    FeatureMatrix::from_columns(SAMPLES, 5, x).expect("valid")
}

fn spec() -> SparseSpec {
    let kernel = KernelSpec::Poly { degree: 2, scale: 1.0, coef0: 1.0, degrees: Some((1, 2)) };
    SparseSpec { kernel, ..SparseSpec::default() }
}

/// A model of two outputs with everything that a file can hold.
fn example() -> SavedSparse {
    let x = samples();
    let value = |i: usize, j: usize| 7.0 + jumble(SAMPLES * j + i + 1);
    // Enough that the means of the samples are as good as the true centres.
    let noise = |i: usize| 0.5 * jumble(i + 5000);
    let first: Vec<f64> =
        (0..SAMPLES).map(|i| 3.0 * (value(i, 1) - 7.0) * (value(i, 2) - 7.0) + value(i, 4) + noise(i)).collect();
    let second: Vec<f64> = (0..SAMPLES).map(|i| 0.1 + 2.0 * value(i, 3) + noise(i + 60)).collect();
    let target = Target::from(&[&first[..], &second[..]][..]);
    let model = spec().model(&x, &target, None, &Account::new(Memory::limit(1 << 30))).expect("works");
    SavedSparse {
        names: Some(["age", "dose", "a, \"b\"", "\u{e4}\n", "color=red"].map(str::to_owned).to_vec()),
        encodings: vec![Encoding { column: "color".to_owned(), labels: vec!["blue".to_owned(), "red".to_owned()] }],
        target: Some("effect".to_owned()),
        weight: Some(40.0),
        standardization: Some(Standardization {
            means: vec![1.0, -2.0, 0.1, 1e12, 0.0],
            corrections: vec![0.0, 0.0, 1e-18, 1e-5, 0.0],
            deviations: vec![1.0, 2.0, 3.0, 1e-3, 1.0],
            constant: vec!["same".to_owned()],
            centred: true,
        }),
        provenance: Provenance { source: Some("trial.csv".to_owned()), ..Provenance::default() },
        ..SavedSparse::new(spec(), model, (SAMPLES, 5))
    }
}

fn loaded(bytes: &[u8]) -> SavedSparse {
    match Saved::from_bytes(bytes) {
        Ok(Saved::Sparse(model)) => *model,
        other => panic!("{other:?}"),
    }
}

#[test]
fn everything_comes_back_and_the_same_model_is_the_same_file() {
    let saved = example();
    assert!(!saved.model.functions()[0].centres().is_empty(), "products of centred variables: {saved:?}");
    let bytes = saved.to_bytes().expect("valid");
    assert_eq!(bytes, saved.to_bytes().expect("valid"));
    let again = loaded(&bytes);
    assert_eq!(bytes, again.to_bytes().expect("valid"));
    let provenance = again.provenance.clone();
    assert!(provenance.program.starts_with("banach ") && provenance.source.as_deref() == Some("trial.csv"));
    assert_eq!(SavedSparse { provenance, ..saved.clone() }, again);
    let points = samples();
    let bits = |model: &SavedSparse| -> Vec<u64> {
        model.model.decisions(&points).expect("fits").iter().map(|value| value.to_bits()).collect()
    };
    assert_eq!(bits(&saved), bits(&again));
    // No sample is in the file: the arrays say how columns were scaled, and no more.
    let (_, parts) = parts_of(&bytes);
    let mut names: Vec<&str> = parts.iter().map(|part| part.0).collect();
    names.sort_unstable();
    assert_eq!(names, ["checksum", "scaling.correction", "scaling.deviation", "scaling.mean"]);
}

#[test]
fn only_the_variables_of_terms_are_looked_for() {
    let saved = example();
    assert_eq!(saved.used(), [1, 2, 3, 4]);
    let columns = saved.columns();
    assert_eq!(columns.names, ["dose", "a, \"b\"", "\u{e4}\n", "color=red"]);
    assert_eq!((columns.encodings.len(), columns.fills), (1, Some(vec![-2.0, 0.1, 1e12, 0.0])));
    let nameless = SavedSparse { names: None, ..saved };
    assert!(nameless.columns().names.is_empty() && nameless.columns().fills.is_none());
}

/// A file that the first program of this version has written.
const KEPT: &[u8] = include_bytes!("version2.banach");

#[test]
fn a_file_of_version_2_is_read_for_ever() {
    let model = loaded(KEPT);
    assert_eq!((model.samples, model.variables, model.target.as_deref()), (SAMPLES, 5, Some("effect")));
    let names = model.names.clone().expect("there");
    let terms: Vec<String> =
        model.model.functions()[0].terms().iter().map(|term| term.monomial.with_names(&names)).collect();
    assert_eq!(terms[..2], ["dose * a, \"b\"", "color=red"]);
    let values = model.model.decisions(&samples()).expect("fits");
    assert_eq!(values.len(), 2 * SAMPLES);
    let expected = 3.0 * jumble(SAMPLES + 1) * jumble(2 * SAMPLES + 1) + 7.0 + jumble(4 * SAMPLES + 1);
    assert!((values[0] - expected).abs() < 0.5, "{} {expected}", values[0]);
}

/// Run with `--ignored` once for a new version, under its name.
#[test]
#[ignore = "writes a file of the project"]
fn write_the_kept_file() {
    let name = format!("src/model_file/version{VERSION}.banach");
    example().write(&Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).expect("written");
}

#[test]
fn one_kind_is_not_taken_for_the_other() {
    let bytes = example().to_bytes().expect("valid");
    assert_eq!(SavedModel::from_bytes(&bytes).expect_err("another kind"), Flaw::Kind);
    let (mut document, parts) = parts_of(&bytes);
    document["version"] = json!(1);
    assert!(matches!(flaw(&forged(&document.to_string(), &parts)), Flaw::Header(_)));
}

#[test]
fn hostile_documents_are_refused() {
    let (document, parts) = parts_of(&example().to_bytes().expect("valid"));
    assert!(Saved::from_bytes(&forged(&document.to_string(), &parts)).is_ok());
    let first = "/model/functions/0";
    let many = usize::MAX;
    for (path, value, expected) in [
        ("/spec/kernel", json!({"name": "rbf"}), "rbf"),
        ("/spec/kernel", json!({"name": "linear"}), "degree 2, and 1 is the highest"),
        ("/spec/kernel", json!({"name": "exp", "scale": 1.0, "degrees": null}), "degree"),
        ("/spec/penalty", json!("large"), "large"),
        ("/model/task", json!({"numbers": 3}), "length 2, expected 3"),
        ("/model/task", json!({"numbers": many}), "length 2, expected"),
        ("/model/task", json!({"classes": [0, 1, 2]}), "with the squared loss"),
        ("/model/functions", json!([]), "length 0, expected 2"),
        ("/variables", json!(4), "its shape is [5], and [4] is needed"),
        ("/names", json!(["a", "b", "c", "d", "a"]), "two variables are named \"a\""),
        ("/classes", json!(["a", "b"]), "classes"),
        ("/samples", json!(-1), "header"),
        ("/provenance", json!({}), "header"),
        (&format!("{first}/centres"), json!([1.0]), "1 centres instead of 5"),
        (&format!("{first}/centres"), json!([1e300, 1e300, 1e300, 1e300, 1e300]), "infinite"),
        (&format!("{first}/terms/0/coefficient"), json!(null), "header"),
        (&format!("{first}/terms/0/coefficient"), json!(1.7e308), "infinite"),
        (&format!("{first}/terms/0/monomial"), json!([[5, 1]]), "no variable 5"),
        (&format!("{first}/terms/0/monomial"), json!([[0, many]]), "is the highest"),
        (&format!("{first}/terms/0/monomial"), json!([[0, many], [0, many]]), "is the highest"),
        (&format!("{first}/terms/0/monomial"), json!([[1, 1], [1, 1], [1, 1]]), "is the highest"),
        (
            &format!("{first}/terms/1/monomial"),
            document["model"]["functions"][0]["terms"][0]["monomial"].clone(),
            "twice",
        ),
        (&format!("{first}/terms/0/alternatives"), json!([{"monomial": [[9, 1]], "evidence": 1.0}]), "no variable 9"),
    ] {
        let mut changed = document.clone();
        *changed.pointer_mut(path).unwrap_or_else(|| panic!("no {path}")) = value.clone();
        let message = flaw(&forged(&changed.to_string(), &parts)).to_string();
        assert!(message.contains(expected), "{path} = {value}: {message}");
    }
    let mut wide: Vec<_> = parts.clone();
    wide.retain(|part| part.0 != "scaling.deviation");
    assert!(flaw(&forged(&document.to_string(), &wide)).to_string().contains("missing"));
    wide.push(("alpha", safetensors::Dtype::F64, vec![1], vec![0; 8]));
    assert!(Saved::from_bytes(&forged(&document.to_string(), &wide)).is_err());
}

/// Everything that a reader can do.
fn use_fully(bytes: &[u8]) {
    let Ok(Saved::Sparse(model)) = Saved::from_bytes_ignoring_checksum(bytes) else { return };
    assert!(model.to_bytes().is_ok(), "what was read can be written");
    assert!(model.columns().names.len() <= model.variables);
    if model.variables > 1000 {
        return;
    }
    let x = FeatureMatrix::from_columns(1, model.variables, vec![0.5; model.variables]);
    let Ok(values) = x.and_then(|x| model.model.decisions(&x)) else { return };
    assert!(values.iter().all(|value| !value.is_nan()), "{values:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn changed_bytes_never_panic(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let mut bytes = KEPT.to_vec();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        use_fully(&bytes);
    }

    /// Any numbers in the place of one of the document, with a checksum that is right.
    #[test]
    fn any_numbers_never_panic(number in prop::num::f64::ANY, whole in any::<u64>(), at in any::<prop::sample::Index>()) {
        thread_local!(static PARTS: (Value, Vec<super::tests::RawPart>) = parts_of(KEPT));
        let (mut document, parts) = PARTS.with(Clone::clone);
        let mut places = Vec::new();
        numbers(&document, String::new(), &mut places);
        let place = &places[at.index(places.len())];
        let old = document.pointer_mut(place).expect("there");
        *old = if old.is_u64() { json!(whole) } else { json!(number) };
        use_fully(&forged(&document.to_string(), &parts));
    }
}

/// Where the numbers of a document are.
fn numbers(value: &Value, path: String, places: &mut Vec<String>) {
    match value {
        Value::Number(_) => places.push(path),
        Value::Array(values) => {
            values.iter().enumerate().for_each(|(at, value)| numbers(value, format!("{path}/{at}"), places));
        }
        Value::Object(values) => {
            values.iter().for_each(|(key, value)| numbers(value, format!("{path}/{key}"), places));
        }
        _ => {}
    }
}
