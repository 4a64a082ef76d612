use super::{ColumnUnits, SampleExtent, WrittenFunction};
use crate::{
    Account, Error, FeatureMatrix, Memory,
    kernel::{Degrees, KernelChoice, KernelName, Monomial},
    loss::LossSpec,
    sparse::{SparseCertificate, SparseFunction, SparseSpec, SparseTerm},
};

/// Numbers in [-1, 1) without a pattern.
fn jumble(k: usize) -> f64 {
    ((k * k) as f64 * 0.618_033_988).fract() * 2.0 - 1.0
}

fn function(centres: Vec<f64>, terms: &[(&[(usize, usize)], f64)]) -> SparseFunction {
    let term = |&(factors, coefficient): &(&[(usize, usize)], f64)| SparseTerm {
        monomial: Monomial::new(factors),
        coefficient,
        refit: coefficient,
        std_error: 0.0,
        lower: coefficient,
        upper: coefficient,
        evidence: 0.0,
        alternatives: Vec::new(),
    };
    SparseFunction {
        terms: terms.iter().map(term).collect(),
        intercept: 5.0,
        centres,
        extent: None,
        criterion: 0.0,
        unexplained: 0.0,
        certificate: SparseCertificate::Gap { lambda: 1.0, relative_gap: 0.0 },
        separated: false,
        sizes: Vec::new(),
        dictionary: 10.0,
        passes: 0,
    }
}

/// The values of an equation at points in the units of the columns, by what is written in it.
fn values(written: &WrittenFunction, x: &FeatureMatrix<'_>) -> Vec<f64> {
    let moved = x.map_columns(|j, column| {
        if let Some(one) = written.substitutions().iter().find(|one| one.variable == j) {
            column.iter_mut().for_each(|x| *x = (*x - one.minus) / one.over);
        }
    });
    written.model().predict(&moved.expect("in range")).expect("fits")
}

fn largest(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |most, value| value.abs().max(most))
}

#[test]
fn centred_monomials_are_multiplied_out() {
    let terms: [(&[(usize, usize)], f64); 3] = [(&[(0, 1), (1, 2)], 2.0), (&[(1, 1)], 3.0), (&[(2, 3)], 0.5)];
    let x = FeatureMatrix::from_rows(2, 3, &[0.5, 2.0, -1.0, 4.0, 7.0, 3.0]).expect("valid");
    let found = function(vec![1.0, 3.0, 0.0], &terms).with_extent(&x, &[1.0; 2]);
    let written = found.written(None).expect("small");
    // 2 (x0 - 1) (x1 - 3)^2 + 3 (x1 - 3) + 0.5 x2^3 + 5
    let text = written.text::<&str>("y", &[]);
    assert_eq!(text, "y = -22 + 2 * x0 * x1^2 + 15 * x1 + 0.5 * x2^3 + 18 * x0 - 12 * x0 * x1 - 2 * x1^2");
    assert_eq!(found.predict(&x).expect("fits"), [0.5, 126.5]);
    assert_eq!(written.model().predict(&x).expect("fits"), [0.5, 126.5]);
}

#[test]
fn what_cancels_is_left_out() {
    let terms: [(&[(usize, usize)], f64); 2] = [(&[(0, 1), (1, 1)], 0.7), (&[(0, 1)], 0.7 * 0.3)];
    let x = FeatureMatrix::from_rows(3, 2, &[0.5, 2.0, 4.0, 7.0, 1.0, 1.0]).expect("valid");
    let found = function(vec![0.0, 0.3], &terms).with_extent(&x, &[1.0; 3]);
    assert_eq!(found.written(None).expect("small").text::<&str>("y", &[]), "y = 5 + 0.7 * x0 * x1");
}

#[test]
fn far_from_0_terms_stay_products_of_differences() {
    let terms: [(&[(usize, usize)], f64); 2] = [(&[(0, 1), (1, 2)], 2.0), (&[(1, 1)], 3.0)];
    let x = FeatureMatrix::from_rows(3, 2, &[1.5, 1e6, 0.5, 1e6 + 2.0, 1.0, 1e6 - 2.0]).expect("valid");
    let found = function(vec![1.0, 1e6], &terms).with_extent(&x, &[1.0; 3]);
    let written = found.written(None).expect("small");
    assert_eq!(
        written.text("y", &["a", "b-c"]),
        "y = 5 + 2 * z_a * `z_b-c`^2 + 3 * `z_b-c`\nwhere\n  z_a = a - 1\n  `z_b-c` = `b-c` - 1000000"
    );
    assert_eq!(
        written.latex::<&str>("y", &[]),
        "y = 5 + 2\\, z_{0}\\, z_{1}^{2} + 3\\, z_{1} \\quad\\text{where}\\quad z_{0} = x_{0} - 1,\\quad z_{1} = x_{1} - 1000000"
    );
    // So do they where nothing is known of the samples.
    let unknown = function(vec![1.0, 3.0], &terms).written(None).expect("small");
    assert_eq!(unknown.where_lines::<&str>(&[]), ["z0 = x0 - 1", "z1 = x1 - 3"]);
}

#[test]
fn standardised_columns_have_the_units_of_the_variables() {
    let terms: [(&[(usize, usize)], f64); 2] = [(&[(0, 1), (1, 1)], 2.0), (&[(1, 1)], 3.0)];
    let columns = FeatureMatrix::from_rows(3, 2, &[-1.0, 1.0, 1.0, 0.5, 0.5, -1.5]).expect("valid");
    let found = function(Vec::new(), &terms).with_extent(&columns, &[1.0; 3]);
    let (near, far) = ([8.0, -2.0], [8e7, -2.0]);
    let deviations = [4.0, 0.5];
    let text = |means: &[f64]| {
        found.written(Some(ColumnUnits { means, deviations: &deviations })).expect("small").text("y", &["a", "b"])
    };
    // 5 + 2 (a - 8)/4 (b + 2)/0.5 + 3 (b + 2)/0.5
    assert_eq!(text(&near), "y = 1 + 1 * a * b - 2 * b + 2 * a");
    assert_eq!(text(&far), "y = 5 + 2 * z_a * z_b + 3 * z_b\nwhere\n  z_a = (a - 80000000)/4\n  z_b = (b + 2)/0.5");
}

#[test]
fn without_centres_it_is_the_function_itself() {
    let terms: [(&[(usize, usize)], f64); 2] = [(&[], 4.0), (&[(0, 1), (3, 1)], -1.0)];
    let found = function(Vec::new(), &terms);
    assert_eq!(found.written(None).expect("small").model(), &found.explicit().expect("finite"));
}

#[test]
fn no_value_is_infinite_or_no_number() {
    let terms: [(&[(usize, usize)], f64); 2] = [(&[(0, 2)], 1.0), (&[(1, 2)], -1.0)];
    let found = function(Vec::new(), &terms);
    let x = FeatureMatrix::from_rows(1, 2, &[1e200, 1e200]).expect("valid");
    assert!(found.predict(&x).is_err());
    assert_eq!(found.with_extent(&x, &[1.0]).extent, None);
}

#[test]
fn a_term_of_too_many_monomials_stays_a_product() {
    let variables: Vec<(usize, usize)> = (0..7).map(|j| (j, 1)).collect();
    let x = FeatureMatrix::from_rows(2, 7, &[[1.5; 7], [0.5; 7]].concat()).expect("valid");
    let found = function(vec![1.0; 7], &[(&variables, 1.0)]).with_extent(&x, &[1.0; 2]);
    assert_eq!(found.written(None).expect("a product").substitutions().len(), 7);
}

#[test]
fn numbers_have_the_digits_that_their_values_need() {
    let x = FeatureMatrix::from_rows(2, 1, &[1000.25, 1001.25]).expect("valid");
    let found = function(Vec::new(), &[(&[(0, 1)], 1.0 / 3.0)]).with_extent(&x, &[1.0; 2]);
    let written = found.written(None).expect("small");
    // The deviation of the values is 1/6; four digits of the coefficient would be off by 0.03.
    assert_eq!(written.text::<&str>("y", &[]), "y = 5 + 0.3333333 * x0");
}

/// Samples far from 0 and near it, of classes and numbers, of every degree: the equation is the function.
#[test]
fn written_functions_are_the_functions() -> Result<(), Error> {
    let (n, d) = (60, 4);
    let (mut expanded, mut scaled) = (0, 0);
    for ratio in [0.0, 1.0, 10.0, 100.0, 1e6] {
        for degree in [1, 2, 3] {
            for loss in [LossSpec::Squared, LossSpec::Logistic] {
                let units = [1e-3, 1.0, 50.0, 1e4];
                let column = |j: usize| (0..n).map(move |i| units[j] * (ratio + jumble(n * j + i + 1)));
                let x = FeatureMatrix::from_columns(n, d, (0..d).flat_map(column).collect::<Vec<f64>>())?;
                let z = |i: usize, j: usize| jumble(n * j + i + 1);
                let truth = |i: usize| match degree {
                    1 => 3.0 * z(i, 0) - 2.0 * z(i, 3),
                    2 => 3.0 * z(i, 0) * z(i, 1) - 2.0 * z(i, 3),
                    _ => 3.0 * z(i, 0) * z(i, 1) * z(i, 2) - 2.0 * z(i, 3) * z(i, 3),
                };
                let noisy = |i: usize| truth(i) + 0.3 * jumble(i + 999);
                let y: Vec<f64> = match loss {
                    LossSpec::Squared => (0..n).map(noisy).collect(),
                    _ => (0..n).map(|i| noisy(i).signum()).collect(),
                };
                let kernel =
                    KernelChoice { degree: Some(Degrees::range(1, degree)?), ..KernelChoice::new(KernelName::Poly) }
                        .spec()?;
                let spec = SparseSpec { kernel, loss, max_terms: Some(4), ..SparseSpec::default() };
                let found = spec.run(&x, &y, None, &Account::new(Memory::available()))?;
                assert!(!found.terms().is_empty(), "{ratio} {degree} {loss:?}");
                let written = found.written(None)?;
                let (own, predicted) = (values(&written, &x), found.predict(&x)?);
                let off = own.iter().zip(&predicted).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                assert!(off <= 1e-10 * largest(&predicted), "{ratio} {degree} {loss:?}: {off}");
                match (found.centres().is_empty(), written.substitutions().is_empty()) {
                    (false, true) => expanded += 1,
                    (false, false) => scaled += 1,
                    (true, _) => assert!(written.substitutions().is_empty()),
                }
                // What is printed is the function too: every number changes it by at most 0.5 % of its deviation.
                let SampleExtent { deviation, .. } = found.extent.clone().expect("known");
                let rounded = printed(&written);
                let off = values(&rounded, &x).iter().zip(&predicted).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                let numbers = written.model().digits().len() + written.substitutions().len();
                let most = 0.005 * numbers as f64 * deviation;
                assert!(off <= 1.01 * most, "{ratio} {degree} {loss:?}: {off} {most}");
            }
        }
    }
    assert!(expanded >= 3 && scaled >= 3, "{expanded} {scaled}");
    Ok(())
}

/// The equation with the digits that people read.
fn printed(written: &WrittenFunction) -> WrittenFunction {
    let rounded = |value: f64, digits: usize| format!("{value:.*e}", digits - 1).parse::<f64>().expect("a number");
    let (model, digits) = (written.model(), written.model().digits());
    let terms = model.terms().iter().zip(&digits[1..]);
    let terms = terms.map(|((monomial, value), digits)| (monomial.clone(), rounded(*value, *digits))).collect();
    let model = super::ExplicitModel::new(rounded(model.intercept(), digits[0]), terms).expect("finite");
    let one = |one: &super::Substitution| super::Substitution { minus: rounded(one.minus, one.digits), ..*one };
    WrittenFunction::new(model, written.substitutions().iter().map(one).collect())
}
