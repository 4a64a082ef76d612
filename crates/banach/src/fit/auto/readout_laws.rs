//! Laws of what is read out of a mixture: sums are exact, members add up, and threads do not matter.

use super::{relevance::term_shares, *};
use crate::{
    Fit, Memory, Spec, Unobserved, Workers,
    data::ColumnScaling,
    kernel::{KernelSpec, Monomial},
    loss::LossSpec,
    model::{Budget, PairShares},
    sparse::SparseSpec,
    synthetic::SparseLinear,
};

const SAMPLES: usize = 50;
const VARIABLES: usize = 4;

fn account() -> Account {
    Account::new(Memory::available())
}

/// A table in units that are not standard, with means far from 0.
fn table() -> FeatureMatrix<'static> {
    let drawn = SparseLinear { samples: SAMPLES, features: VARIABLES, relevant: 1, noise: 0.0 }.sample(8).columns;
    let value = |(at, x): (usize, &f64)| (3.0 + (at / SAMPLES) as f64) * x + 2.0 * (at / SAMPLES) as f64;
    let values: Vec<f64> = drawn.iter().enumerate().map(value).collect();
    FeatureMatrix::from_columns(SAMPLES, VARIABLES, values).expect("in range")
}

/// A product, a wave and a line of the table.
fn numbers(x: &FeatureMatrix<'_>) -> Vec<f64> {
    let value = |row: Vec<f64>| 0.3 * row[0] * (row[1] - 2.0) + (0.5 * row[2]).sin() + 0.2 * row[0];
    (0..SAMPLES).map(|i| value(x.row(i))).collect()
}

/// So many classes, by the sizes of these numbers.
fn labels(x: &FeatureMatrix<'_>, classes: usize) -> Vec<i64> {
    let y = numbers(x);
    let smaller = |y: &f64, all: &[f64]| all.iter().filter(|other| *other < y).count();
    y.iter().map(|own| (classes * smaller(own, &y) / SAMPLES) as i64).collect()
}

/// Kernels: linear, products, and Gauss's, whose functions are no sums of monomials.
fn kernels() -> [Spec; 3] {
    let gauss = KernelSpec::Normalized { kernel: Box::new(KernelSpec::Exp { scale: 0.2, degrees: None }) };
    let spec = |p: f64, kernel: KernelSpec| Spec { p, gamma: 3.0, kernel, ..Spec::default() };
    [spec(4.0 / 3.0, KernelSpec::Linear), spec(1.1, products(2).expect("a kernel")), spec(2.0, gauss)]
}

fn dense(spec: &Spec, x: &FeatureMatrix<'_>, target: &Target<'_>, weight: f64) -> AutoMember {
    let (units, spec) = (ColumnScaling::standard(x, None), spec.clone());
    let x = units.apply(x).expect("the same columns");
    let fit = Fit::within(&spec, account()).expect("in range");
    let model = fit.run(&x, target, None, &mut Unobserved).expect("a fit");
    let kind = MemberKind::Dense(Box::new(DenseMember { units, spec, x, model }));
    AutoMember { recipe: Recipe::Gauss { ranks: false }, weight, kind }
}

fn terms(x: &FeatureMatrix<'_>, target: &Target<'_>, loss: LossSpec, weight: f64) -> AutoMember {
    let spec = SparseSpec { kernel: products(2).expect("a kernel"), loss, ..SparseSpec::default() };
    let model = spec.model(x, target, None, &account()).expect("terms");
    assert!(!model.functions()[0].terms().is_empty());
    let shares = term_shares(&model, x, &[1.0; SAMPLES]).expect("shares");
    AutoMember { recipe: Recipe::Terms { degree: 2 }, weight, kind: MemberKind::Terms { model, shares } }
}

fn model_of(members: Vec<AutoMember>, x: &FeatureMatrix<'_>, target: &Target<'_>) -> AutoModel {
    let quick = Auto { effort: Effort::Quick, seconds: Some(1e-9), ..Auto::default() };
    let like = quick.fit(x, target, None, &account()).expect("a constant");
    AutoModel::new(like.record().clone(), members, like.ranges().clone()).expect("members that go together")
}

/// One model of each kind of member, and a mixture of all.
fn models(x: &FeatureMatrix<'_>, target: &Target<'_>) -> Vec<AutoModel> {
    let classes = matches!(target, Target::Labels(_));
    let loss = if classes { LossSpec::Logistic } else { LossSpec::Squared };
    let quick = Auto { effort: Effort::Quick, seconds: Some(1e-9), ..Auto::default() };
    let constant = |weight: f64| {
        let like = quick.fit(x, target, None, &account()).expect("a constant");
        AutoMember { weight, ..like.members()[0].clone() }
    };
    let members = |weight: f64| {
        let of_kernels = kernels().map(|spec| dense(&Spec { loss, ..spec }, x, target, weight));
        let mut members = vec![constant(weight), terms(x, target, loss, weight)];
        members.extend(of_kernels);
        members
    };
    let mixture = members(0.2);
    let alone = members(1.0).into_iter().map(|member| vec![member]);
    alone.chain([mixture]).map(|members| model_of(members, x, target)).collect()
}

fn explained(model: &AutoModel, x: &FeatureMatrix<'_>) -> Vec<AutoExplanation> {
    model.explain(x, Memory::available()).expect("an explanation")
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * (1.0 + a.abs() + b.abs())
}

/// The contribution of some variables, 0 where it has none.
fn contribution(found: &AutoExplanation, variables: &[usize], row: usize) -> f64 {
    let source = ContributionSource::Variables(variables.to_vec());
    found.contributions.iter().find(|one| one.source == source).map_or(0.0, |one| one.values[row])
}

#[test]
fn contributions_add_up_to_what_is_predicted() {
    let x = table();
    let (y, two, three) = (numbers(&x), labels(&x, 2), labels(&x, 3));
    for target in [Target::from(&y), Target::from(&two), Target::from(&three)] {
        for model in models(&x, &target) {
            let (decisions, found) = (model.decisions(&x).expect("values"), explained(&model, &x));
            assert_eq!(decisions.len(), found.len() * SAMPLES);
            for (explanation, decisions) in found.iter().zip(decisions.chunks(SAMPLES)) {
                for (row, value) in decisions.iter().enumerate() {
                    let added: f64 = explanation.contributions.iter().map(|one| one.values[row]).sum();
                    assert!(near(explanation.constant + added + explanation.others[row], *value));
                }
            }
        }
    }
}

/// Of numbers every contribution of a mixture is the mean of those of its members by their weights.
#[test]
fn contributions_of_numbers_mix_as_predictions_do() {
    let x = table();
    let y = numbers(&x);
    let target = Target::from(&y);
    let mut all = models(&x, &target);
    let mixture = explained(&all.pop().expect("the mixture is the last"), &x).remove(0);
    // Terms alone are told term by term: two of them are a mixture.
    let halves = vec![terms(&x, &target, LossSpec::Squared, 0.5), terms(&x, &target, LossSpec::Squared, 0.5)];
    all[1] = model_of(halves, &x, &target);
    let alone: Vec<AutoExplanation> = all.iter().map(|model| explained(model, &x).remove(0)).collect();
    let mean = |of: &dyn Fn(&AutoExplanation) -> f64| alone.iter().map(of).sum::<f64>() / 5.0;
    assert!(near(mixture.constant, mean(&|one| one.constant)));
    for row in 0..SAMPLES {
        for first in 0..VARIABLES {
            for pair in (first..VARIABLES).map(|second| if second == first { vec![first] } else { vec![first, second] })
            {
                let found = contribution(&mixture, &pair, row);
                assert!(near(found, mean(&|one| contribution(one, &pair, row))), "{pair:?}");
            }
        }
        assert!(near(mixture.others[row], mean(&|one| one.others[row])));
    }
}

/// The monomials of a member, found by the search, and summed by the variables that they are made of.
#[test]
fn contributions_of_a_polynomial_are_its_monomials() {
    let x = table();
    let y = numbers(&x);
    let target = Target::from(&y);
    for spec in &kernels()[..2] {
        let model = model_of(vec![dense(spec, &x, &target, 1.0)], &x, &target);
        let MemberKind::Dense(member) = &model.members()[0].kind else { panic!("it is dense") };
        let function = member.model.function(0, &member.x).expect("a function");
        let found = explained(&model, &x).remove(0);
        let top = function.top_monomials(100, Budget::default()).expect("all");
        for row in 0..SAMPLES {
            let point = member.x.row(row);
            for first in 0..VARIABLES {
                for second in first..VARIABLES {
                    let mut variables = vec![first, second];
                    variables.dedup();
                    let made_of = |monomial: &Monomial| {
                        monomial.factors().iter().map(|(variable, _)| *variable).collect::<Vec<_>>() == variables
                    };
                    let own = top.entries.iter().filter(|entry| made_of(&entry.monomial));
                    let sum: f64 = own.map(|entry| entry.coefficient * entry.monomial.value(&point)).sum();
                    assert!(near(sum, contribution(&found, &variables, row)), "{variables:?}");
                }
            }
            assert!(found.others[row].abs() < 1e-9, "nothing is left");
        }
        assert!(near(found.constant, member.model.solutions()[0].intercept));
    }
}

#[test]
fn few_terms_alone_are_told_term_by_term() {
    let x = table();
    let y = numbers(&x);
    let target = Target::from(&y);
    let model = model_of(vec![terms(&x, &target, LossSpec::Squared, 1.0)], &x, &target);
    let MemberKind::Terms { model: few, .. } = &model.members()[0].kind else { panic!("they are terms") };
    let (found, function) = (explained(&model, &x).remove(0), &few.functions()[0]);
    assert_eq!((found.constant, found.contributions.len()), (function.intercept(), function.terms().len()));
    assert!(found.others.iter().all(|others| *others == 0.0));
    let names = ["age", "dose", "salt", "time"];
    for (one, term) in found.contributions.iter().zip(function.terms()) {
        assert_eq!(one.source.with_names(&names), term.monomial.with_names(&names));
    }
    assert_eq!(ContributionSource::Variables(vec![0, 1]).with_names(&names), "age with dose");
}

#[test]
fn pairs_matter_as_their_variables_do() {
    let x = table();
    let y = numbers(&x);
    let target = Target::from(&y);
    let all = models(&x, &target);
    let asked = [3, 0, 1, 2];
    let pairs: Vec<PairShares> =
        all.iter().map(|model| model.pair_relevance(&asked, Memory::available()).expect("shares")).collect();
    let share = |at: usize, i: usize, j: usize| pairs[at].share(i, j).expect("asked for");
    for (at, model) in all.iter().enumerate() {
        let relevance = model.relevance(Memory::available()).expect("shares");
        for (i, own) in relevance.iter().enumerate() {
            assert!(near(share(at, i, i), *own), "one variable as a pair is the variable");
            for j in 0..VARIABLES {
                assert!(share(at, i, j) >= 0.0 && share(at, i, j) <= own + 1e-9);
                assert!(near(share(at, i, j), share(at, j, i)));
            }
        }
    }
    for i in 0..VARIABLES {
        for j in 0..VARIABLES {
            let mean = (0..5).map(|member| share(member, i, j)).sum::<f64>() / 5.0;
            assert!(near(share(5, i, j), mean), "{i} {j}");
            assert!(i == j || share(2, i, j) == 0.0, "a linear function has no pairs");
        }
    }
    let (first, second, largest) = pairs[5].ranking()[0];
    assert!((first, second) == (0, 1) && largest > 0.05, "{:?}", pairs[5].ranking());
    // A selection of the variables tells the same.
    let two = all[5].pair_relevance(&[1, 0], Memory::available()).expect("shares");
    assert!(near(two.share(0, 1).expect("asked for"), share(5, 0, 1)) && two.share(0, 2).is_none());
}

#[test]
fn effects_of_a_linear_function_are_straight() {
    let x = table();
    let y: Vec<f64> = (0..SAMPLES).map(|i| x.row(i)).map(|row| 4.0 + 2.0 * row[0] - 0.5 * row[3]).collect();
    let target = Target::from(&y);
    let spec = Spec { p: 2.0, gamma: 1e6, ..Spec::default() };
    let model = model_of(vec![dense(&spec, &x, &target, 1.0)], &x, &target);
    let leading = model.leading_variables(6, Memory::available()).expect("shares");
    let effects = model.effects(&leading, 11).expect("effects");
    assert_eq!(effects[0].variable, 0);
    for effect in &effects {
        let slope = [2.0, 0.0, 0.0, -0.5][effect.variable];
        let (grid, values) = (&effect.grid, &effect.predictions);
        assert_eq!((grid.len(), values.len()), (11, 11));
        for at in 1..11 {
            let found = (values[at] - values[at - 1]) / (grid[at] - grid[at - 1]);
            assert!((found - slope).abs() < 1e-4, "{}: {found}", effect.variable);
        }
        let column: Vec<f64> = (0..SAMPLES).map(|i| x.row(i)[effect.variable]).collect();
        assert!(column.contains(&grid[0]) && column.contains(&grid[10]), "from the least to the largest");
    }
}

/// The curve of a variable is its own contribution, on the constant.
#[test]
fn effects_are_contributions_of_one_variable() {
    let x = table();
    let y = numbers(&x);
    let model = models(&x, &Target::from(&y)).pop().expect("the mixture");
    let found = explained(&model, &x).remove(0);
    for variable in 0..VARIABLES {
        let column: Vec<f64> = (0..SAMPLES).map(|i| x.row(i)[variable]).collect();
        for (row, value) in model.effect(variable, &column).expect("values").iter().enumerate() {
            assert!(near(*value, found.constant + contribution(&found, &[variable], row)));
        }
    }
    let two_valued: Vec<f64> = (0..SAMPLES).map(|i| if i % 3 == 0 { 5.0 } else { 7.0 }).collect();
    let x = FeatureMatrix::from_columns(SAMPLES, 1, two_valued.clone()).expect("in range");
    let target = Target::from(&two_valued);
    let model = model_of(vec![dense(&kernels()[0], &x, &target, 1.0)], &x, &target);
    assert_eq!(model.effects(&[0], 20).expect("effects")[0].grid, [5.0, 7.0]);
}

#[test]
fn effects_of_classes_are_probabilities() {
    let x = table();
    let three = labels(&x, 3);
    let model = models(&x, &Target::from(&three)).pop().expect("the mixture");
    for effect in model.effects(&[0, 1], 5).expect("effects") {
        for at in 0..5 {
            let sum: f64 = (0..3).map(|class| effect.predictions[class * 5 + at]).sum();
            assert!(near(sum, 1.0));
        }
    }
}

#[test]
fn threads_do_not_matter_to_what_is_read_out() {
    let x = table();
    let y = numbers(&x);
    let read = || {
        let model = models(&x, &Target::from(&y)).pop().expect("the mixture");
        let memory = Memory::available();
        let pairs = model.pair_relevance(&[0, 1, 2, 3], memory).expect("shares");
        (explained(&model, &x), pairs, model.effects(&[2, 0], 7).expect("effects"))
    };
    let one = Workers::new(1).expect("a thread").run(read).expect("nobody ended it");
    assert!(one == Workers::new(3).expect("threads").run(read).expect("nobody ended it"));
}

#[test]
fn what_cannot_be_is_refused_and_far_points_leave_no_nan() {
    let x = table();
    let y = numbers(&x);
    let all = models(&x, &Target::from(&y));
    let mixture = all.last().expect("the mixture");
    assert!(mixture.effect(VARIABLES, &[0.0]).expect_err("no such variable").to_string().contains("variables"));
    assert!(mixture.effect(0, &[f64::NAN]).is_err() && mixture.effect(0, &[]).is_err());
    assert!(mixture.effects(&[0, 4], 5).is_err());
    assert!(mixture.pair_relevance(&[0, 9], Memory::available()).is_err());
    let narrow = FeatureMatrix::from_columns(2, 1, vec![1.0; 2]).expect("in range");
    assert!(mixture.explain(&narrow, Memory::available()).is_err());
    let far = FeatureMatrix::from_columns(1, VARIABLES, vec![1e160; VARIABLES]).expect("in range");
    for model in &all {
        let Ok(found) = model.explain(&far, Memory::available()) else { continue };
        let numbers = found[0].contributions.iter().map(|one| one.values[0]).chain([found[0].others[0]]);
        assert!(numbers.into_iter().all(|number| !number.is_nan()));
    }
    let ranges = VariableRanges { centres: vec![f64::NAN; VARIABLES], ..mixture.ranges().clone() };
    assert!(AutoModel::new(mixture.record().clone(), mixture.members().to_vec(), ranges).is_err());
}

/// A sparse table is taken apart from zeros.
#[test]
fn sparse_tables_have_zeros_as_their_centres() {
    let starts: Vec<usize> = (0..=VARIABLES).map(|j| 10 * j).collect();
    let rows: Vec<usize> = (0..10 * VARIABLES).map(|at| at % 10 + at / 10).collect();
    let values: Vec<f64> = (0..10 * VARIABLES).map(|at| 1.0 + (at % 7) as f64).collect();
    let x = FeatureMatrix::from_sparse_columns(SAMPLES, VARIABLES, starts, rows, values).expect("in range");
    let y: Vec<f64> = (0..SAMPLES).map(|i| x.row(i).iter().sum::<f64>() + 3.0).collect();
    let target = Target::from(&y);
    let model = model_of(vec![dense(&kernels()[0], &x, &target, 1.0)], &x, &target);
    let found = explained(&model, &x).remove(0);
    assert_eq!(model.ranges().centres, [0.0; VARIABLES]);
    for row in 0..SAMPLES {
        let added: f64 = found.contributions.iter().map(|one| one.values[row]).sum();
        assert!(
            found.others[row].abs() < 1e-9 && near(found.constant + added, model.predictions(&x).expect("values")[row])
        );
        assert!(x.row(row).iter().any(|x| *x != 0.0) || added == 0.0);
    }
}
