//! Save then load predicts the same bits; whatever else the bytes are, there is an error or a model, and no panic.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
};

use banach::{
    Account, FeatureMatrix, Memory, Route, Status, Target, Unobserved,
    fit::{PaperAlgorithm, PaperOptions, SolverChoice},
    kernel::{KernelSpec, MonomialScale},
    loss::{LossSpec, Targets},
    solver::Rule,
};
use proptest::prelude::*;
use safetensors::{Dtype, tensor::TensorView};
use serde_json::{Value, json};

use super::{
    parts::{CHECKSUM, DOCUMENT, digest},
    *,
};

const SAMPLES: usize = 12;
const VARIABLES: usize = 4;

fn jumble(k: usize) -> f64 {
    ((k * k) as f64 * 0.618_033_988).fract() * 2.0 - 1.0
}

fn dense() -> FeatureMatrix<'static> {
    let values: Vec<f64> = (0..SAMPLES * VARIABLES).map(|k| jumble(k + 1)).collect();
    FeatureMatrix::from_columns(SAMPLES, VARIABLES, values).expect("valid")
}

fn sparse() -> FeatureMatrix<'static> {
    let rows: Vec<usize> = (0..VARIABLES).flat_map(|column| (column % 2..SAMPLES).step_by(2)).collect();
    let starts: Vec<usize> = (0..=VARIABLES).map(|column| column * SAMPLES / 2).collect();
    let values: Vec<f64> = (0..rows.len()).map(|k| jumble(k + 3)).collect();
    FeatureMatrix::from_sparse_columns(SAMPLES, VARIABLES, starts, rows, values).expect("valid")
}

/// Points that are no samples.
fn points() -> FeatureMatrix<'static> {
    let values: Vec<f64> = (0..7 * VARIABLES).map(|k| 0.5 * jumble(k + 100)).collect();
    FeatureMatrix::from_columns(7, VARIABLES, values).expect("valid")
}

fn kernels() -> Vec<KernelSpec> {
    let exp = KernelSpec::Exp { scale: 0.3, degrees: None };
    vec![
        KernelSpec::Linear,
        KernelSpec::Poly { degree: 2, scale: 1.0, coef0: 0.0, degrees: None },
        KernelSpec::Poly { degree: 3, scale: 0.7, coef0: 1.0, degrees: Some((1, 3)) },
        KernelSpec::Anova { degrees: (1, 3) },
        exp.clone(),
        KernelSpec::Exp { scale: 0.1, degrees: Some((1, 4)) },
        KernelSpec::PowerSeries { coefficients: vec![0.0, 1.0, 0.1 + 0.2], scale: 0.9 },
        KernelSpec::Series { series: "cosh".to_owned(), scale: 0.2 },
        KernelSpec::Normalized { kernel: Box::new(exp) },
    ]
}

/// A fitted model and the values of its functions at the points; `None` where the route cannot be taken.
fn fitted<'x>(
    spec: &Spec,
    x: &'x FeatureMatrix<'_>,
    functions: usize,
    route: Route,
) -> Option<(SavedModel<'x>, Vec<f64>)> {
    let spec_of_route = Spec { route: Some(route), ..spec.clone() };
    let fit = Fit::within(&spec_of_route, Account::new(Memory::limit(1 << 30))).expect("valid");
    let run = |target: Target<'_>| fit.run(x, &target, None, &mut Unobserved).ok();
    let (model, observed) = if spec.loss.targets() == Targets::Signs {
        let rows: Vec<usize> = (0..SAMPLES).map(|i| (i + i / 5) % functions.max(2)).collect();
        let labels: Vec<i64> = rows.iter().map(|&class| class as i64).collect();
        let texts: Vec<String> = ["1", "2.5", "30"].iter().take(functions.max(2)).map(ToString::to_string).collect();
        (run((&labels).into())?, Observed::Classes { labels: Label::from_texts(&texts), rows })
    } else {
        let least = if spec.loss.targets() == Targets::Counts { 3.0 } else { 0.0 };
        let output = |output: usize| (0..SAMPLES).map(|i| least + 3.0 * jumble(40 + output + i)).collect();
        let outputs: Vec<Vec<f64>> = (0..functions).map(output).collect();
        let slices: Vec<&[f64]> = outputs.iter().map(|y| &y[..]).collect();
        (run(slices[..].into())?, Observed::Numbers(outputs))
    };
    Some((SavedModel::new(spec.clone(), x.view(), observed).with_model(&model), values_of(&model)))
}

/// Decisions and, where the loss tells them, probabilities.
fn values_of(model: &Model) -> Vec<f64> {
    let probabilities = model.probabilities(&points()).unwrap_or_default();
    [model.decisions(&points()).expect("valid"), probabilities].concat()
}

fn values(saved: &SavedModel<'_>) -> Vec<f64> {
    values_of(&saved.restore(Memory::limit(1 << 30)).expect("valid"))
}

fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|value| value.to_bits()).collect()
}

/// A small model with everything that a file can hold.
fn example() -> SavedModel<'static> {
    let x = Box::leak(Box::new(dense()));
    let mut spec = Spec { kernel: KernelSpec::Anova { degrees: (1, 2) }, ..Spec::default() };
    spec.p = 4.0 / 3.0;
    let (mut saved, _) = fitted(&spec, x, 2, Route::Tiles).expect("a route for this kernel");
    saved.names = Some(["age", "dose", "a, \"b\"", "\u{e4}\n"].map(str::to_owned).to_vec());
    saved.target = Some("effect".to_owned());
    saved.weights = Some((0..SAMPLES).map(|i| 1.0 + i as f64).collect());
    saved.standardization = Some(Standardization {
        means: vec![1.0, -2.0, 0.1, 1e12],
        corrections: vec![0.0, 0.0, 1e-18, 1e-5],
        deviations: vec![1.0, 2.0, 3.0, 1e-3],
        constant: vec!["same".to_owned()],
        centred: true,
    });
    saved.provenance.source = Some("trial.csv".to_owned());
    saved
}

pub(super) fn flaw(bytes: &[u8]) -> Flaw {
    match Saved::from_bytes(bytes) {
        Ok(model) => panic!("a model: {model:?}"),
        Err(flaw) => flaw,
    }
}

/// The ranks of a chosen model are behind the files of its members.
#[test]
fn chosen_models_of_ranks_come_back() {
    let n = 60;
    let x: Vec<f64> = (0..2 * n).map(|k| (4.0 * jumble(k + 1)).exp()).collect();
    let y: Vec<f64> = (0..n).map(|i| (x[i].ln()).sin() + x[n + i].ln().powi(2)).collect();
    let x = FeatureMatrix::from_columns(n, 2, x).expect("valid");
    let account = Account::new(Memory::available());
    let model = banach::fit::Auto::default().fit(&x, &Target::from(&y), None, &account).expect("a model");
    let is_ranked = |member: &banach::fit::AutoMember| match &member.kind {
        banach::fit::MemberKind::Dense(dense) => dense.units.ranks().is_some(),
        _ => false,
    };
    assert!(model.members().iter().any(is_ranked), "{model}");
    let saved = SavedAuto::new(model.clone(), Observed::Numbers(vec![y]));
    let bytes = saved.to_bytes().expect("a file");
    let Ok(Saved::Auto(loaded)) = Saved::from_bytes(&bytes) else { panic!("not the model that was written") };
    assert_eq!(loaded.model.predictions(&x).expect("numbers"), model.predictions(&x).expect("numbers"));
    assert_eq!(loaded.to_bytes().expect("a file"), bytes);
}

#[test]
fn every_route_kernel_and_scale_predicts_the_same_bits() {
    let (mut counts, dense, sparse) = (HashMap::new(), dense(), sparse());
    for kernel in kernels() {
        for monomials in MonomialScale::ALL {
            for p in [4.0 / 3.0, 1.1, 2.0] {
                for route in Route::ALL {
                    for (x, is_sparse) in [(&dense, false), (&sparse, true)] {
                        let mut spec = Spec { kernel: kernel.clone(), ..Spec::default() };
                        (spec.p, spec.gamma, spec.monomials, spec.route) = (p, 3.7, monomials, Some(route));
                        let Some((saved, expected)) = fitted(&spec, x, 1, route) else { continue };
                        *counts.entry((route.name(), is_sparse)).or_insert(0) += 1;
                        let loaded = SavedModel::from_bytes(&saved.to_bytes().expect("valid")).expect("valid");
                        assert_eq!(bits(&values(&loaded)), bits(&expected), "{spec:?} {route}");
                        assert_eq!((&loaded.spec, loaded.route), (&spec, route));
                        assert_eq!(loaded.x.entries(), x.entries());
                    }
                }
            }
        }
    }
    assert_eq!(counts.len(), 8, "every route has a part, dense and sparse: {counts:?}");
}

/// A file has the name of a loss as the list of losses has it.
#[test]
fn a_loss_is_written_by_its_name() {
    for loss in LossSpec::ALL {
        let written = serde_json::to_value(loss).expect("a value");
        assert_eq!(written["name"], loss.name());
        assert_eq!(serde_json::from_value::<LossSpec>(written).expect("a loss"), loss);
    }
}

#[test]
fn every_loss_and_number_of_functions_predicts_the_same_bits() {
    let x = dense();
    for loss in LossSpec::ALL {
        for functions in [1, 3] {
            for (fit_intercept, solver) in [(true, SolverChoice::Newton), (false, SolverChoice::Auto)] {
                let mut spec = Spec { loss, ..Spec::default() };
                (spec.fit_intercept, spec.solver, spec.tolerance) = (fit_intercept, solver, 1e-6);
                let (saved, expected) = fitted(&spec, &x, functions, Route::Features).expect("a fit");
                let loaded = SavedModel::from_bytes(&saved.to_bytes().expect("valid")).expect("valid");
                assert_eq!(bits(&values(&loaded)), bits(&expected), "{spec:?}");
                assert_eq!((&loaded.observed, &loaded.radii), (&saved.observed, &saved.radii));
            }
        }
    }
}

/// The options of the paper's algorithms are in the file; without any, the file is as before there were options.
#[test]
fn what_a_solver_was_told_comes_back() {
    let algorithm = Some(PaperAlgorithm::Gradient);
    let told = PaperOptions { algorithm, delta: Some(0.1 + 0.2), lambda_bar: Some(1e-3), ..PaperOptions::default() };
    let x = dense();
    for options in [PaperOptions::default(), told] {
        let mut spec = Spec::default();
        (spec.solver, spec.tolerance) = (SolverChoice::Paper(options), 1e-3);
        let (saved, expected) = fitted(&spec, &x, 1, Route::Features).expect("a fit");
        let bytes = saved.to_bytes().expect("valid");
        let loaded = SavedModel::from_bytes(&bytes).expect("valid");
        assert_eq!((loaded.spec.solver, bits(&values(&loaded))), (spec.solver, bits(&expected)));
        let written = String::from_utf8_lossy(&bytes).contains(r#"\"solver\":\"paper\""#);
        assert_eq!(written, options == PaperOptions::default());
    }
}

#[test]
fn everything_comes_back_and_the_same_model_is_the_same_file() {
    let saved = example();
    let bytes = saved.to_bytes().expect("valid");
    assert_eq!(bytes, saved.to_bytes().expect("valid"));
    let loaded = SavedModel::from_bytes(&bytes).expect("valid");
    assert_eq!(bytes, loaded.to_bytes().expect("valid"));
    // The container is written as its own library would.
    let (_, metadata) = safetensors::SafeTensors::read_metadata(&bytes).expect("valid");
    let tensors = safetensors::SafeTensors::deserialize(&bytes).expect("valid");
    let again = safetensors::serialize(tensors.tensors(), metadata.metadata().clone()).expect("serialised");
    assert_eq!(bytes, again);
    assert_eq!((&loaded.names, &loaded.target, &loaded.weights), (&saved.names, &saved.target, &saved.weights));
    assert_eq!((&loaded.standardization, &loaded.observed), (&saved.standardization, &saved.observed));
    for (loaded, saved) in loaded.solutions.iter().zip(&saved.solutions) {
        assert_eq!((loaded.status, loaded.certificate), (saved.status, saved.certificate));
        assert_eq!((loaded.iterations, loaded.passes), (saved.iterations, saved.passes));
    }
    assert_eq!(loaded.provenance.source.as_deref(), Some("trial.csv"));
    assert!(loaded.provenance.program.starts_with("banach "));
    assert_eq!(loaded.provenance.data.len(), "sha256:".len() + 64);
    // An end without convergence and without a bound is kept as well.
    let mut open = saved;
    open.solutions[0].status = Status::Interrupted;
    open.solutions[0].certificate.gap = f64::INFINITY;
    open.radii[1] = None;
    let loaded = SavedModel::from_bytes(&open.to_bytes().expect("valid")).expect("valid");
    assert_eq!((loaded.solutions[0].status, &loaded.radii), (Status::Interrupted, &open.radii));
    assert_eq!(loaded.solutions[0].certificate.gap, f64::INFINITY);
}

/// A file that the first program of this version has written.
const KEPT: &[u8] = include_bytes!("version1.banach");

#[test]
fn a_file_of_version_1_is_read_for_ever() {
    let model = SavedModel::from_bytes(KEPT).expect("readable");
    assert_eq!(model.names.as_deref().map(|names| &names[0][..]), Some("age"));
    assert_eq!((model.target.as_deref(), model.route), (Some("effect"), Route::Tiles));
    assert_eq!(model.spec.kernel, KernelSpec::Anova { degrees: (1, 2) });
    // Its predictions at the samples are in it.
    let predicted = model.restore(Memory::limit(1 << 30)).expect("valid").decisions(&model.x).expect("valid");
    let kept =
        model.solutions.iter().flat_map(|solution| solution.omega.iter().map(|omega| omega + solution.intercept));
    for (predicted, kept) in predicted.iter().zip(kept) {
        assert!((predicted - kept).abs() < 1e-9, "{predicted} {kept}");
    }
}

#[test]
fn labels_are_numbers_where_all_of_them_are() {
    let labels = |texts: &[&str]| Label::from_texts(&texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>());
    assert_eq!(labels(&["0", "-7"]), [Label::Integer(0), Label::Integer(-7)]);
    assert_eq!(labels(&["1.0", "2"]), [Label::Number(1.0), Label::Number(2.0)]);
    assert_eq!(labels(&["1", "b"]), [Label::Text("1".to_owned()), Label::Text("b".to_owned())]);
    let text = |label: Label| label.to_string();
    assert_eq!([text(Label::Integer(1)), text(Label::Number(1.0))], ["1", "1.0"]);
}

/// The bytes of a file with another document and other parts; its checksum is right.
pub(super) fn forged(document: &str, parts: &[(&str, Dtype, Vec<usize>, Vec<u8>)]) -> Vec<u8> {
    let mut sorted: Vec<_> = parts.iter().filter(|part| part.0 != CHECKSUM).collect();
    sorted.sort_by_key(|part| part.0);
    let sum = digest(document, sorted.iter().map(|part| (part.0, &part.3[..])));
    let mut views: Vec<(&str, TensorView<'_>)> = Vec::new();
    for (name, dtype, shape, bytes) in sorted {
        views.push((name, TensorView::new(*dtype, shape.clone(), bytes).expect("consistent")));
    }
    views.push((CHECKSUM, TensorView::new(Dtype::U8, vec![32], &sum).expect("consistent")));
    safetensors::serialize(views, Some([(DOCUMENT.to_owned(), document.to_owned())].into())).expect("serialised")
}

pub(super) type RawPart = (&'static str, Dtype, Vec<usize>, Vec<u8>);

/// The document and the parts of the example.
fn taken_apart() -> (Value, Vec<RawPart>) {
    parts_of(&example().to_bytes().expect("valid"))
}

/// The document and the parts of a file.
pub(super) fn parts_of(bytes: &[u8]) -> (Value, Vec<RawPart>) {
    let (_, metadata) = safetensors::SafeTensors::read_metadata(bytes).expect("valid");
    let document = metadata.metadata().as_ref().expect("there")[DOCUMENT].clone();
    let tensors = safetensors::SafeTensors::deserialize(bytes).expect("valid");
    let parts = tensors
        .iter()
        .map(|(name, view)| {
            let name: &'static str = name.to_owned().leak();
            (name, view.dtype(), view.shape().to_vec(), view.data().to_vec())
        })
        .collect();
    (serde_json::from_str(&document).expect("JSON"), parts)
}

#[test]
fn other_files_are_told_apart() {
    let bytes = example().to_bytes().expect("valid");
    let header = u64::from_le_bytes(bytes[..8].try_into().expect("8 bytes")) as usize;
    assert!(matches!(flaw(b""), Flaw::NotAModel(_)));
    assert!(matches!(flaw(b"age,dose,effect\n1,2,3\n"), Flaw::NotAModel(_)));
    assert!(matches!(flaw(&[0xff; 100]), Flaw::NotAModel(_)));
    let other = [&2_u64.to_le_bytes()[..], b"{}"].concat();
    assert!(matches!(flaw(&other), Flaw::NotAModel(_)));
    let others = safetensors::serialize(Vec::<(&str, TensorView<'_>)>::new(), Some([("a".into(), "b".into())].into()));
    assert!(matches!(flaw(&others.expect("serialised")), Flaw::NotAModel(_)));
    for length in [9, 100, header, header + 8, bytes.len() - 1] {
        assert!(matches!(flaw(&bytes[..length]), Flaw::Truncated { .. }), "{length}");
    }
    assert!(matches!(flaw(&[&bytes[..], b"x"].concat()), Flaw::Header(_)));
    let mut changed = bytes.clone();
    let at = changed.len() - 5;
    changed[at] ^= 1;
    assert_eq!(flaw(&changed), Flaw::Checksum);
    assert!(Saved::from_bytes_ignoring_checksum(&bytes).is_ok());
}

#[test]
fn versions_of_the_future_are_told_so_whatever_else_they_hold() {
    let (_, parts) = taken_apart();
    let document = json!({"format": FORMAT, "version": VERSION + 6, "novelty": {"a": [1, 2]}}).to_string();
    let new = [&parts[..], &[("novel", Dtype::F32, vec![1], vec![0; 4])]].concat();
    let found = flaw(&forged(&document, &new));
    assert_eq!(found, Flaw::Version { found: VERSION + 6, known: VERSION });
    assert!(found.to_string().contains("newer banach"), "{found}");
}

#[test]
fn hostile_documents_are_refused() {
    let (document, parts) = taken_apart();
    assert!(SavedModel::from_bytes(&forged(&document.to_string(), &parts)).is_ok());
    let change = |path: &str, value: Value| {
        let mut changed = document.clone();
        *changed.pointer_mut(path).unwrap_or_else(|| panic!("no {path}")) = value;
        flaw(&forged(&changed.to_string(), &parts)).to_string()
    };
    for (path, value, expected) in [
        ("/format", json!("other"), "no model file of banach"),
        ("/version", json!(0), "no version 0"),
        ("/version", json!("1"), "header"),
        ("/spec/p", json!(2.5), "p = 2.5"),
        ("/spec/p", json!(1), "p = 1"),
        ("/spec/gamma", json!(-1.0), "gamma = -1"),
        ("/spec/tolerance", json!(-1e-9), "tolerance"),
        ("/spec/kernel", json!({"name": "rbf"}), "rbf"),
        ("/spec/kernel", json!({"name": "anova", "degrees": [3, 2]}), "degree"),
        (
            "/spec/kernel",
            json!({"name": "poly", "degree": 1_000_000_000, "scale": 1.0, "coef0": 0.0, "degrees": null}),
            "degree",
        ),
        ("/spec/kernel", json!({"name": "exp", "scale": 1e300, "degrees": null}), "lower scale"),
        (
            "/spec/kernel",
            json!({"name": "poly", "degree": 60, "scale": 1e100, "coef0": 0.0, "degrees": null}),
            "lower the degree or the scale",
        ),
        ("/spec/loss", json!({"name": "huber", "rho": -1.0}), "rho"),
        ("/spec/loss", json!({"name": "logistic"}), "another kind"),
        ("/spec/monomials", json!("large"), "large"),
        ("/spec/solver", json!("magic"), "magic"),
        ("/spec/solver", json!({"name": "paper", "delta": 7.0}), "delta = 7"),
        ("/spec/solver", json!({"name": "newton", "delta": 0.5}), "the name of a solver"),
        ("/spec/route", json!("magic"), "magic"),
        ("/route", json!("magic"), "magic"),
        ("/spec/max_iterations", json!(-1), "header"),
        ("/names", json!(["a", "b", "c"]), "3 entries instead of 4"),
        ("/names", json!(["a", "b", "c", "a"]), "two variables are named \"a\""),
        ("/names", json!([1, 2, 3, 4]), "header"),
        ("/classes", json!(["a", "b"]), "wrong part"),
        ("/functions/0/status", json!("fine"), "fine"),
        ("/functions", json!([]), "shape"),
        ("/functions/1", json!(null), "header"),
        ("/provenance", json!({}), "header"),
    ] {
        let message = change(path, value.clone());
        assert!(message.contains(expected), "{path} = {value}: {message}");
    }
    let nested = |depth: usize| {
        let kernel = format!(
            "{}{{\"name\":\"linear\"}}{}",
            "{\"name\":\"normalized\",\"kernel\":".repeat(depth),
            "}".repeat(depth)
        );
        document.to_string().replace("{\"degrees\":[1,2],\"name\":\"anova\"}", &kernel)
    };
    assert!(nested(3).contains("normalized"), "the kernel was found");
    assert!(SavedModel::from_bytes(&forged(&nested(3), &parts)).is_ok());
    for depth in [200, 100_000] {
        assert!(matches!(flaw(&forged(&nested(depth), &parts)), Flaw::Header(_)));
    }
    let twice = document.to_string().replacen('{', "{\"target\":\"effect\",", 1);
    assert!(flaw(&forged(&twice, &parts)).to_string().contains("duplicate field"));
}

#[test]
fn hostile_parts_are_refused() {
    let (document, parts) = taken_apart();
    let text = document.to_string();
    let change = |name: &str, change: &dyn Fn(&mut RawPart)| {
        let mut changed = parts.clone();
        change(changed.iter_mut().find(|part| part.0 == name).unwrap_or_else(|| panic!("no {name}")));
        changed.retain(|part| part.0 != "gone");
        flaw(&forged(&text, &changed)).to_string()
    };
    for (name, _, shape, bytes) in parts.iter().filter(|part| part.0 != CHECKSUM) {
        if name.starts_with('x') || ["y", "alpha", "omega", "intercept", "certificate", "radius"].contains(name) {
            let message = change(name, &|part| part.0 = "gone");
            assert!(message.contains("missing"), "{name}: {message}");
        }
        let message = change(name, &|part| part.0 = "zzz");
        assert!(message.contains("no part \"zzz\""), "{name}: {message}");
        let message = change(name, &|part| part.1 = Dtype::I64);
        assert!(message.contains("I64"), "{name}: {message}");
        let message = change(name, &|part| part.2 = vec![bytes.len() / 8, 1, 1]);
        assert!(message.contains("shape") || message.contains("dimensions"), "{name}: {message}");
        let turned: Vec<usize> = shape.iter().rev().copied().collect();
        if turned != *shape {
            let message = change(name, &|part| part.2.clone_from(&turned));
            assert!(message.contains("shape"), "{name}: {message}");
        }
        let message = change(name, &|part| part.3[..8].copy_from_slice(&f64::NAN.to_le_bytes()));
        assert!(message.contains("wrong"), "{name}: {message}");
        if !["certificate", "radius"].contains(name) {
            let message = change(name, &|part| part.3[..8].copy_from_slice(&f64::NEG_INFINITY.to_le_bytes()));
            assert!(message.contains("wrong"), "{name}: {message}");
        }
    }
    let message = change("scaling.deviation", &|part| part.3[..8].copy_from_slice(&0.0_f64.to_le_bytes()));
    assert!(message.contains("positive"), "{message}");
    // In range one by one, and not together.
    let filled = |part: &mut RawPart, value: f64| part.3.as_chunks_mut::<8>().0.fill(value.to_le_bytes());
    for size in [1e308, -1e308, 1e150] {
        let message = change("alpha", &|part| filled(part, size));
        assert!(message.contains("f(x)[0]") && message.contains("too large"), "{size}: {message}");
    }
    let together = |names: [&str; 2]| {
        let mut changed = parts.clone();
        changed.iter_mut().filter(|part| names.contains(&part.0)).for_each(|part| filled(part, f64::MAX));
        flaw(&forged(&text, &changed)).to_string()
    };
    for names in [["omega", "intercept"], ["scaling.mean", "scaling.deviation"]] {
        let message = together(names);
        assert!(message.contains(names[1]) && message.contains("infinite"), "{message}");
    }
    let message = change("weights", &|part| part.3[..8].copy_from_slice(&(-1.0_f64).to_le_bytes()));
    assert!(message.contains("negative"), "{message}");
}

#[test]
fn sparse_samples_are_checked() {
    let x = sparse();
    let (saved, _) =
        fitted(&Spec { loss: LossSpec::Logistic, ..Spec::default() }, &x, 3, Route::Features).expect("a fit");
    let mut bytes = saved.to_bytes().expect("valid");
    assert!(SavedModel::from_bytes(&bytes).is_ok());
    let tensors = safetensors::SafeTensors::deserialize(&bytes).expect("valid");
    let place = |name: &str| tensors.tensor(name).expect("there").data().as_ptr() as usize - bytes.as_ptr() as usize;
    for (name, number) in [("x.starts", u64::MAX), ("x.rows", 1 << 40), ("x.rows", SAMPLES as u64), ("y", 3)] {
        let at = place(name);
        let mut changed = bytes.clone();
        changed[at..at + 8].copy_from_slice(&number.to_le_bytes());
        assert!(Saved::from_bytes_ignoring_checksum(&changed).is_err(), "{name} {number}");
    }
    bytes.clear();
}

/// A container with this header and so many bytes behind it.
fn raw(header: &str, data: usize) -> Vec<u8> {
    [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &vec![0; data]].concat()
}

#[test]
fn hostile_headers_are_refused() {
    let meta = r#""__metadata__":{"banach":"{}"}"#;
    let huge = u64::MAX / 8;
    let sized = |name: &str, from: u64, to: u64| {
        format!(r#""{name}":{{"dtype":"U8","shape":[{}],"data_offsets":[{from},{to}]}}"#, to.saturating_sub(from))
    };
    for header in [
        format!("{{{meta},{}}}", sized("x", 0, huge)),
        // Sums that do not fit into a machine word.
        format!("{{{meta},{},{}}}", sized("a", 0, u64::MAX / 2), sized("b", u64::MAX / 2, u64::MAX - 3)),
        format!("{{{meta},{},{}}}", sized("a", 0, 8), sized("b", 4, 8)),
        format!("{{{meta},{},{}}}", sized("a", 0, 8), sized("a", 0, 8)),
        format!("{{{meta},{}}}", sized("a", 8, 4)),
        format!("{{{meta},{meta}}}"),
        r#"{"__metadata__":{"banach":"{}","banach":"{}"}}"#.to_owned(),
        r#"{"__metadata__":{"banach":5}}"#.to_owned(),
        format!("{{{meta},\"a\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000)),
        format!("{{{meta},\"a\":{{\"dtype\":\"F64\",\"shape\":[4294967296,4294967296],\"data_offsets\":[0,8]}}}}"),
        format!("{{{meta}"),
        "{".to_owned(),
    ] {
        assert!(SavedModel::from_bytes(&raw(&header, 8)).is_err(), "{}", &header[..header.len().min(200)]);
    }
    let long = [&u64::MAX.to_le_bytes()[..], b"{}"].concat();
    assert!(matches!(flaw(&long), Flaw::NotAModel(_)));
    let beyond = [&90_000_000_u64.to_le_bytes()[..], b"{}"].concat();
    assert!(matches!(flaw(&beyond), Flaw::Truncated { .. }));
}

#[test]
fn models_whose_parts_do_not_fit_are_not_written() {
    let folder = folder("not_written");
    let path = folder.join("model.banach");
    let broken = SavedModel { names: Some(vec!["a".to_owned()]), ..example() };
    assert!(matches!(broken.write(&path), Err(ModelFileError::Invalid { .. })));
    assert_eq!(std::fs::read_dir(&folder).expect("a folder").count(), 0);
}

fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("banach-io-{}-{name}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

#[test]
fn a_file_is_replaced_whole_or_not_at_all() {
    let folder = folder("replaced");
    let path = folder.join("model.banach");
    let model = example();
    model.write(&path).expect("written");
    model.write(&path).expect("written again");
    assert_eq!(std::fs::read(&path).expect("there"), model.to_bytes().expect("valid"));
    assert_eq!(std::fs::read_dir(&folder).expect("a folder").count(), 1, "nothing is left beside it");
    assert!(SavedModel::read(&path).is_ok());
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let plain = folder.join("plain");
        std::fs::write(&plain, "").expect("written");
        let mode = |path: &Path| std::fs::metadata(path).expect("there").permissions().mode();
        assert_eq!(mode(&path), mode(&plain), "as any other new file");
    }
    let message = |path: &Path| model.write(path).expect_err("unwritable").to_string();
    assert!(message(&folder).contains("folder"), "{}", message(&folder));
    let nowhere = folder.join("nowhere").join("model.banach");
    assert!(message(&nowhere).contains("cannot write the model"), "{}", message(&nowhere));

    let message = |path: &Path| SavedModel::read(path).expect_err("unreadable").to_string();
    assert!(message(&nowhere).contains("nowhere"), "{}", message(&nowhere));
    assert!(message(&folder).contains("it is a folder"), "{}", message(&folder));
    let csv = folder.join("trial.csv");
    std::fs::write(&csv, "age,dose\n1,2\n").expect("written");
    assert!(message(&csv).contains("trial.csv: no model file of banach"), "{}", message(&csv));
}

/// What is done with bytes that may be a model: everything that a reader can do without much memory or time.
fn use_fully(bytes: &[u8]) {
    let Ok(Saved::Lp(model)) = Saved::from_bytes_ignoring_checksum(bytes) else { return };
    assert!(model.to_bytes().is_ok(), "what was read can be written");
    let Ok(fitted) = model.restore(Memory::limit(1 << 26)) else { return };
    let x = FeatureMatrix::from_columns(1, model.x.features(), vec![0.5; model.x.features()]).expect("valid");
    let _ = fitted.decisions(&x);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn changed_bytes_never_panic(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        in_header in any::<bool>(),
        cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        thread_local!(static BYTES: Vec<u8> = example().to_bytes().expect("valid"));
        let mut bytes = BYTES.with(Clone::clone);
        let header = 8 + u64::from_le_bytes(bytes[..8].try_into().expect("8 bytes")) as usize;
        let original = bytes.clone();
        for (at, byte) in changes {
            let at = at.index(if in_header { header } else { bytes.len() });
            bytes[at] = byte;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        use_fully(&bytes);
        if let Ok(model) = SavedModel::from_bytes(&bytes) {
            // Only what says nothing may change: blanks, and escapes of the same text.
            prop_assert_eq!(model.to_bytes().expect("valid"), original);
        }
    }

    #[test]
    fn any_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..300), header in 0_u64..300) {
        use_fully(&bytes);
        use_fully(&[&header.to_le_bytes()[..], b"{", &bytes].concat());
    }

    /// Any numbers in the place of alpha and of the samples, with a checksum that is right.
    #[test]
    fn any_numbers_never_panic(numbers in prop::collection::vec(prop::num::f64::ANY, 1..20), which in 0_usize..8) {
        thread_local!(static PARTS: (Value, Vec<RawPart>) = taken_apart());
        let (document, mut parts) = PARTS.with(Clone::clone);
        let which = which % parts.len();
        let part = &mut parts[which];
        for (place, number) in part.3.chunks_exact_mut(8).zip(numbers.iter().cycle()) {
            place.copy_from_slice(&number.to_le_bytes());
        }
        use_fully(&forged(&document.to_string(), &parts));
    }
}

#[test]
fn a_solver_is_its_name_or_an_object_and_comes_back() {
    for choice in SolverChoice::ALL {
        assert_eq!(serde_json::to_string(&choice).expect("text"), format!("\"{}\"", choice.name()));
    }
    let told = PaperOptions {
        algorithm: Some(PaperAlgorithm::Gradient),
        rule: Some(Rule::Restart),
        delta: Some(0.3),
        theta: Some(0.1 + 0.2),
        lambda_bar: Some(0.2),
    };
    let json = r#"{"name":"paper","algorithm":"2.1","rule":"restart","delta":0.3,"theta":0.30000000000000004,"lambda_bar":0.2}"#;
    assert_eq!(serde_json::to_string(&SolverChoice::Paper(told)).expect("text"), json);
    let some = PaperOptions { theta: Some(0.9), ..PaperOptions::default() };
    for choice in SolverChoice::ALL.into_iter().chain([told, some].map(SolverChoice::Paper)) {
        let json = serde_json::to_string(&choice).expect("text");
        assert_eq!(serde_json::from_str::<SolverChoice>(&json).expect("valid"), choice, "{json}");
    }
}

#[test]
fn a_solver_that_is_written_wrongly_is_refused() {
    for (json, expected) in [
        (r#""magic""#, "magic"),
        (r#"{"name":"newton","delta":0.5}"#, "the name of a solver"),
        (r#"{"name":"paper","gamma":0.5}"#, "the name of a solver"),
        (r#"{"name":"paper","algorithm":"2.2"}"#, "the name of a solver"),
        (r#"{"name":"paper","delta":1.5}"#, "delta = 1.5"),
        ("3", "the name of a solver"),
    ] {
        let error = serde_json::from_str::<SolverChoice>(json).expect_err("wrong").to_string();
        assert!(error.contains(expected), "{json}: {error}");
    }
}
