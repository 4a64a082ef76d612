//! What is chosen, and that it is honest.

use super::*;
use crate::{Memory, Workers, synthetic::SparseLinear};

fn account() -> Account {
    Account::new(Memory::available())
}

fn quick() -> Auto {
    Auto { effort: Effort::Quick, ..Auto::default() }
}

/// Columns of independent numbers with variance 1.
fn columns(samples: usize, variables: usize, seed: u64) -> Vec<f64> {
    let drawn = SparseLinear { samples, features: variables, relevant: 1, noise: 0.0 }.sample(seed).columns;
    let size = (drawn.iter().map(|x| x * x).sum::<f64>() / drawn.len() as f64).sqrt();
    drawn.iter().map(|x| x / size).collect()
}

fn loss(model: &AutoModel, wanted: &Recipe) -> f64 {
    let standing = model.record().standings.iter().find(|standing| standing.recipe == *wanted);
    standing.and_then(|standing| standing.loss).expect("it was tried").value
}

/// What the model promises against every contender that was held out.
fn is_no_worse_than_the_simple_ones(model: &AutoModel) {
    let chosen = model.record().loss.value();
    for recipe in [Recipe::Constant, Recipe::Linear { p: 2.0 }, Recipe::Linear { p: 4.0 / 3.0 }] {
        assert!(chosen <= loss(model, &recipe), "{recipe}\n{model}");
    }
}

#[test]
fn noise_is_no_discovery() {
    for seed in 0..3 {
        let x = FeatureMatrix::from_columns(40, 30, columns(40, 30, seed)).expect("in range");
        let y = columns(40, 1, 1000 + seed);
        let model = quick().fit(&x, &Target::from(&y), None, &account()).expect("a model");
        let assessment = model.record().assessment.as_ref().expect("others were held out");
        assert!(!assessment.better && assessment.sentence().starts_with("no better"), "{}", assessment.sentence());
        let constant = model.record().verdict == Verdict::Constant;
        assert!(constant || model.record().sentence().contains("no less than chance explains"), "{model}");
        is_no_worse_than_the_simple_ones(&model);
    }
}

#[test]
fn a_wave_is_no_line_and_few_terms_are_named() {
    let x = columns(80, 4, 5);
    let wave: Vec<f64> = x[..80].iter().map(|x| (2.0 * x).sin()).collect();
    let noise = columns(80, 1, 6);
    let terms: Vec<f64> = (0..80).map(|i| 3.0 * x[i] - 2.0 * x[80 + i] + 0.3 * noise[i]).collect();
    let x = FeatureMatrix::from_columns(80, 4, x).expect("in range");
    let model = Auto::default().fit(&x, &Target::from(&wave), None, &account()).expect("a model");
    is_no_worse_than_the_simple_ones(&model);
    assert!(
        model.record().error() < 0.3 * loss(&model, &Recipe::Linear { p: 2.0 }) / model.record().constant_loss,
        "{model}"
    );
    let model = quick().fit(&x, &Target::from(&terms), None, &account()).expect("a model");
    assert_eq!(model.record().verdict, Verdict::Terms, "{model}");
    let relevance = model.relevance(Memory::available()).expect("shares");
    assert!(relevance[0] > relevance[1] && relevance[1] > 0.1 && relevance[3] == 0.0, "{relevance:?}");
}

/// Smooth spectra of few substances, hardly any noise: neighbouring columns are nearly the same.
#[test]
fn collinear_spectra_are_no_trap() {
    let (n, d) = (95, 200);
    let amounts = columns(n, 5, 77);
    let line = |j: usize, substance: usize| {
        let (centre, width) = (0.15 + 0.17 * substance as f64, 0.05 + 0.02 * substance as f64);
        (-0.5 * ((j as f64 / d as f64 - centre) / width).powi(2)).exp()
    };
    let noise = columns(n, d, 78);
    let entry =
        |i: usize, j: usize| (0..5).map(|s| amounts[s * n + i] * line(j, s)).sum::<f64>() + 1e-4 * noise[j * n + i];
    let x: Vec<f64> = (0..d).flat_map(|j| (0..n).map(move |i| (i, j))).map(|(i, j)| entry(i, j)).collect();
    let of_noise = columns(n, 1, 79);
    let y: Vec<f64> = (0..n).map(|i| amounts[i] - 0.5 * amounts[3 * n + i] + 0.02 * of_noise[i]).collect();
    // Every other sample is for a test of what is promised.
    let side = |first: usize| -> Vec<usize> { (first..n).step_by(2).collect() };
    let x = FeatureMatrix::from_columns(n, d, x).expect("in range");
    let (fitted, held) = (x.select_samples(&side(0)).expect("rows"), x.select_samples(&side(1)).expect("rows"));
    let of = |rows: Vec<usize>| -> Vec<f64> { rows.into_iter().map(|i| y[i]).collect() };
    let (seen, unseen) = (of(side(0)), of(side(1)));
    let model = quick().fit(&fitted, &Target::from(&seen), None, &account()).expect("a model");
    is_no_worse_than_the_simple_ones(&model);
    let found = model.predictions(&held).expect("predictions");
    let error: f64 = found.iter().zip(&unseen).map(|(t, y)| (t - y).powi(2)).sum::<f64>() / unseen.len() as f64;
    assert!(error < 0.01 * model.record().constant_loss, "{error}\n{model}");
}

#[test]
fn classes_have_probabilities_and_threads_do_not_matter() {
    let x = columns(60, 3, 9);
    let class = |x: f64, z: f64| {
        if x + 0.3 * z > 0.4 {
            7
        } else if x < -0.6 {
            2
        } else {
            -1
        }
    };
    let y: Vec<i64> = (0..60).map(|i| class(x[i], x[60 + i])).collect();
    let x = FeatureMatrix::from_columns(60, 3, x).expect("in range");
    let fit = || quick().fit(&x, &Target::from(&y), None, &account()).expect("a model");
    let model = Workers::new(1).expect("a thread").run(fit).expect("nobody ended it");
    let again = Workers::new(3).expect("threads").run(fit).expect("nobody ended it");
    let probabilities = model.predictions(&x).expect("probabilities");
    assert_eq!(probabilities, again.predictions(&x).expect("probabilities"));
    for i in 0..60 {
        let sum: f64 = (0..3).map(|class| probabilities[class * 60 + i]).sum();
        assert!((sum - 1.0).abs() < 1e-9);
    }
    let right = model.labels(&x).expect("labels").iter().zip(&y).filter(|(a, b)| a == b).count();
    assert!(right > 50 && model.record().accuracy.is_some_and(|mean| mean.value > 0.7), "{right} {model}");
    assert!(model.decisions(&x).expect("odds").iter().all(|odds| odds.is_finite()));
}

#[test]
fn absent_samples_and_constant_columns_do_not_matter() {
    let mut x = columns(50, 2, 21);
    x.extend([4.0; 50]);
    let y: Vec<f64> = (0..50).map(|i| x[i] + 0.5 * x[50 + i]).collect();
    let mut weights = vec![1.0; 50];
    weights[13] = 0.0;
    let fit = |x: &[f64], y: &[f64]| {
        let x = FeatureMatrix::from_columns(50, 3, x.to_vec()).expect("in range");
        quick().fit(&x, &Target::from(y), Some(&weights), &account()).expect("a model")
    };
    let model = fit(&x, &y);
    let (mut other_x, mut other_y) = (x.clone(), y.clone());
    (other_x[13], other_y[13]) = (1e3, -1e3);
    let other = fit(&other_x, &other_y);
    let x = FeatureMatrix::from_columns(50, 3, x).expect("in range");
    let (a, b) = (model.predictions(&x).expect("numbers"), other.predictions(&x).expect("numbers"));
    let apart = a.iter().zip(&b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(apart < 1e-6, "{apart}");

    let flat = FeatureMatrix::from_columns(50, 1, vec![3.0; 50]).expect("in range");
    let model = quick().fit(&flat, &Target::from(&y), None, &account()).expect("a model");
    assert_eq!(model.record().verdict, Verdict::Constant, "{model}");
}

/// A function of the logarithms of two incomes, a few of which are enormous.
#[test]
fn ranks_see_what_a_few_large_values_hide() {
    let (n, x) = (120, columns(120, 3, 51));
    let noise = columns(n, 1, 52);
    let y: Vec<f64> = (0..n).map(|i| (1.5 * x[i]).sin() + x[n + i].powi(2) + 0.1 * noise[i]).collect();
    let incomes: Vec<f64> = x.iter().map(|x| (4.0 * x).exp()).collect();
    let x = FeatureMatrix::from_columns(n, 3, incomes).expect("in range");
    let model = Auto::default().fit(&x, &Target::from(&y), None, &account()).expect("a model");
    for of in [|ranks: bool| Recipe::Gauss { ranks }, |ranks: bool| Recipe::Lengths { ranks }] {
        assert!(loss(&model, &of(true)) < 0.5 * loss(&model, &of(false)), "{model}");
    }
    let of_ranks =
        |member: &AutoMember| matches!(member.recipe, Recipe::Gauss { ranks: true } | Recipe::Lengths { ranks: true });
    assert!(model.members().iter().filter(|member| of_ranks(member)).map(|member| member.weight).sum::<f64>() > 0.9);
    let relevance = model.relevance(Memory::available()).expect("shares");
    assert!(relevance[0] > relevance[2] && relevance[1] > relevance[2], "{relevance:?}");
    // Beyond all samples nothing is new.
    let at = |income: f64| {
        let x = FeatureMatrix::from_rows(1, 3, &[income, 1.0, 1.0]).expect("in range");
        model.predictions(&x).expect("a number")[0]
    };
    assert_eq!(at(1e30), at(1e100));
}

/// Noise, every row of which is there twice.
#[test]
fn copies_are_told() {
    let (n, x, y) = (40, columns(40, 3, 71), columns(40, 1, 72));
    let twice = |values: &[f64]| [values, values].concat();
    let x: Vec<f64> = x.chunks(n).flat_map(twice).collect();
    let (x, y) = (FeatureMatrix::from_columns(2 * n, 3, x).expect("in range"), twice(&y));
    let told = |folds: Option<&Folds>| {
        let model = quick().run(&x, &Target::from(&y), None, folds, &account(), &mut |_| ControlFlow::Continue(()));
        model.expect("a model").record().assessment.clone().expect("others were held out")
    };
    let apart = told(None);
    assert!(apart.copies > 40 && apart.lines().iter().any(|line| line.contains("copies of other rows")), "{apart:?}");
    let groups = HoldOut { groups: Some((0..2 * n).map(|row| row % n).collect()), ..HoldOut::default() };
    let together = told(Some(&groups.folds(&Target::from(&y), 2 * n).expect("folds")));
    assert!(together.copies == 0 && !together.better, "{together:?}");
}

/// Weights are relative: how large all of them are together changes nothing.
#[test]
fn the_size_of_weights_does_not_matter() {
    let x = FeatureMatrix::from_columns(60, 5, columns(60, 5, 81)).expect("in range");
    let noise = columns(60, 1, 82);
    for y in [noise.clone(), (0..60).map(|i| 2.0 * x.row(i)[0] - x.row(i)[1] + 0.5 * noise[i]).collect()] {
        let fit = |weight: f64| quick().fit(&x, &Target::from(&y), Some(&[weight; 60]), &account()).expect("a model");
        let (one, hundred) = (fit(1.0), fit(100.0));
        assert_eq!(one.record().verdict, hundred.record().verdict, "{one}\n{hundred}");
        let (a, b) = (one.predictions(&x).expect("numbers"), hundred.predictions(&x).expect("numbers"));
        assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-4), "{one}\n{hundred}");
    }
    let refused = quick().fit(&x, &Target::from(&noise), Some(&[0.0; 60]), &account());
    assert!(refused.expect_err("no weight").to_string().contains("no sample counts"));
}

/// One target that is far from all others is explained by whatever is large there.
#[test]
fn an_extreme_target_is_no_evidence() {
    for seed in 0..4 {
        let x = FeatureMatrix::from_columns(60, 5, columns(60, 5, 90 + seed)).expect("in range");
        let mut y = columns(60, 1, 190 + seed);
        y[7] = 1e8;
        let model = quick().fit(&x, &Target::from(&y), None, &account()).expect("a model");
        assert!(!model.record().assessment.as_ref().expect("others were held out").better, "{model}");
    }
}

#[test]
fn ranks_of_two_values_are_not_tried() {
    let x: Vec<f64> = columns(40, 3, 61).iter().map(|x| f64::from(u8::from(*x > 0.0))).collect();
    let y: Vec<f64> = (0..40).map(|i| x[i] - x[40 + i]).collect();
    let x = FeatureMatrix::from_columns(40, 3, x).expect("in range");
    let model = Auto::default().fit(&x, &Target::from(&y), None, &account()).expect("a model");
    let why = |ranks: &Recipe| model.record().left_out.iter().find(|(recipe, _)| recipe == ranks).map(|left| &left.1);
    assert!(why(&Recipe::Gauss { ranks: true }).is_some_and(|why| why.contains("more than two values")), "{model}");
}

/// Products with weights that are all but right predict as well, and cannot be read.
#[test]
fn an_exact_equation_is_the_model() {
    let x = columns(60, 3, 41);
    let y: Vec<f64> = (0..60).map(|i| 2.0 * x[i] + x[i] * x[60 + i]).collect();
    let x = FeatureMatrix::from_columns(60, 3, x).expect("in range");
    let model = Auto::default().fit(&x, &Target::from(&y), None, &account()).expect("a model");
    assert_eq!(model.record().verdict, Verdict::Terms, "{model}");
}

#[test]
fn whoever_watches_can_end_it() {
    let x = FeatureMatrix::from_columns(40, 3, columns(40, 3, 31)).expect("in range");
    let y: Vec<f64> = x.row(0).iter().cycle().take(40).copied().collect();
    let mut calls = 0;
    let mut watch = |progress: AutoProgress<'_>| {
        assert!((0.0..=1.0 + 1e-9).contains(&progress.done));
        calls += 1;
        ControlFlow::Break(())
    };
    let model = quick().run(&x, &Target::from(&y), None, None, &account(), &mut watch).expect("what there is");
    assert_eq!((model.record().verdict, calls), (Verdict::Constant, 1), "{model}");
    assert!(model.record().was_interrupted() && model.to_string().starts_with("Interrupted before"), "{model}");
}

#[test]
fn wrong_input_is_refused() {
    let x = FeatureMatrix::from_columns(4, 1, vec![1.0, 2.0, 3.0, 4.0]).expect("in range");
    let y = [1.0, 2.0, 3.0, 5.0];
    let refused = Auto { seconds: Some(0.0), ..Auto::default() }.fit(&x, &Target::from(&y), None, &account());
    assert!(refused.expect_err("no time").to_string().contains("seconds"));
    let two = Target::from(&[&y[..], &y[..]][..]);
    assert!(quick().fit(&x, &two, None, &account()).expect_err("two outputs").to_string().contains("2 outputs"));
    assert!(quick().fit(&x, &Target::from(&[1.0, f64::NAN, 2.0, 3.0]), None, &account()).is_err());
    assert!("brisk".parse::<Effort>().is_err());
    // Four samples are enough for an answer.
    assert!(quick().fit(&x, &Target::from(&y), None, &account()).is_ok());
}
