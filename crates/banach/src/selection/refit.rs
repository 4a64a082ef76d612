//! Fits of the first 0, 1, 2, ... of a few columns.

use crate::{
    DualProblem, Error, Exponent, FeatureMatrix, Loss, Observer, Solver, Status,
    form::Features,
    kernel::Monomial,
    model::{ExplicitModel, monomial_matrix},
    numeric::{binary_exponent, dot, scale_by_exp2},
    solver::Start,
};

/// How the chosen monomials are fitted again.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Refit {
    /// By least squares, whatever the loss. A monomial that the ones before it span gets the coefficient 0.
    #[default]
    LeastSquares,
    /// With the loss of the problem and a penalty `(1/p)||w||_p^p` on monomials of unit mean square.
    Penalised {
        /// The exponent of the penalty.
        exponent: Exponent,
        /// The weight of the loss; the larger, the less the penalty counts.
        gamma: f64,
    },
}

/// A constant and the coefficients of the first columns; all other coefficients are 0.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct LinearFit {
    pub intercept: f64,
    pub coefficients: Vec<f64>,
    pub status: Status,
}

impl LinearFit {
    /// The value at a sample.
    pub(super) fn value(&self, columns: &[Vec<f64>], sample: usize) -> f64 {
        let terms = self.coefficients.iter().zip(columns).filter(|(coefficient, _)| **coefficient != 0.0);
        self.intercept + terms.map(|(coefficient, column)| coefficient * column[sample]).sum::<f64>()
    }
}

/// The weight of the loss in the refit of [`Refit::for_loss`]. The slight penalty is there for classes that a few monomials tell apart
/// without error: without it there would be no solution.
const REFIT_GAMMA: f64 = 10.0;

impl Refit {
    /// Least squares for the squared loss; the loss itself with a slight Euclidean penalty for others.
    ///
    /// # Panics
    ///
    /// Never: 2 is an exponent.
    pub fn for_loss(loss: &dyn Loss) -> Self {
        match loss.curvature() {
            Some(_) => Self::LeastSquares,
            None => Self::Penalised { exponent: Exponent::new(2.0).expect("2 is in range"), gamma: REFIT_GAMMA },
        }
    }

    /// The fits of the first 0, 1, 2, ... columns to the samples of positive weight.
    pub(super) fn fits(
        &self,
        problem: &DualProblem<'_>,
        columns: &[Vec<f64>],
        solver: &dyn Solver,
        observer: &mut dyn Observer,
    ) -> Result<Vec<LinearFit>, Error> {
        match *self {
            Self::LeastSquares => Ok(least_squares(problem, columns)),
            Self::Penalised { exponent, gamma } => penalised(problem, columns, exponent, gamma, solver, observer),
        }
    }
}

/// A column depends on those before it if less than this share of it is orthogonal to them. Rounding leaves some 1e-15; the coefficient
/// of a column with a smaller share than this would have few digits.
const LEAST_INDEPENDENT: f64 = 1e-10;

/// Orthogonalises one column after another (Gram and Schmidt, twice), so that one pass serves every number of columns.
fn least_squares(problem: &DualProblem<'_>, columns: &[Vec<f64>]) -> Vec<LinearFit> {
    let largest = problem.sample_weights().iter().copied().fold(0.0, f64::max);
    let weights: Vec<f64> = problem.sample_weights().iter().map(|weight| weight / largest).collect();
    let total: f64 = weights.iter().sum();
    let centre = |values: &[f64]| {
        let terms = weights.iter().zip(values).map(|(weight, value)| weight / total * value);
        if problem.has_intercept() { terms.sum::<f64>() } else { 0.0 }
    };
    let weighted = |values: &[f64], centre: f64| -> Vec<f64> {
        weights.iter().zip(values).map(|(weight, value)| weight.sqrt() * (value - centre)).collect()
    };
    let target_centre = centre(problem.targets());
    let target = weighted(problem.targets(), target_centre);
    let mut basis: Vec<Vec<f64>> = Vec::new();
    // Of every column in the basis: its index, its power of two, and its products with the basis.
    let mut triangle: Vec<(usize, f64, Vec<f64>)> = Vec::new();
    let mut products: Vec<f64> = Vec::new();
    let mut centres = Vec::new();
    let mut fits = Vec::with_capacity(columns.len() + 1);
    for known in 0..=columns.len() {
        if let Some(column) = known.checked_sub(1).map(|at| &columns[at]) {
            let size = column.iter().zip(&weights).filter(|(_, weight)| **weight > 0.0).map(|(x, _)| x.abs());
            let exponent = f64::from(binary_exponent(size.fold(0.0, f64::max)));
            let scaled: Vec<f64> = column.iter().map(|x| scale_by_exp2(*x, -exponent)).collect();
            // A held-out sample may be far out of range, and has no part in this.
            let scaled: Vec<f64> =
                scaled.iter().zip(&weights).map(|(x, weight)| if *weight > 0.0 { *x } else { 0.0 }).collect();
            centres.push((centre(&scaled), exponent));
            let (mut rest, mut row) = (weighted(&scaled, centre(&scaled)), vec![0.0; basis.len()]);
            for _ in 0..2 {
                for (direction, entry) in basis.iter().zip(&mut row) {
                    let product = dot(direction, &rest);
                    *entry += product;
                    rest.iter_mut().zip(direction).for_each(|(rest, x)| *rest -= product * x);
                }
            }
            let (left, whole) = (dot(&rest, &rest).sqrt(), weighted(&scaled, 0.0));
            if left > LEAST_INDEPENDENT * dot(&whole, &whole).sqrt() {
                rest.iter_mut().for_each(|x| *x /= left);
                row.push(left);
                products.push(dot(&rest, &target));
                triangle.push((known - 1, exponent, row));
                basis.push(rest);
            }
        }
        // Back substitution.
        let mut coefficients = vec![0.0; known];
        let mut solved = vec![0.0; triangle.len()];
        for at in (0..triangle.len()).rev() {
            let later: f64 = (at + 1..triangle.len()).map(|other| triangle[other].2[at] * solved[other]).sum();
            solved[at] = (products[at] - later) / triangle[at].2[at];
            coefficients[triangle[at].0] = scale_by_exp2(solved[at], -triangle[at].1);
        }
        let shift: f64 = triangle.iter().zip(&solved).map(|((column, _, _), x)| x * centres[*column].0).sum();
        let intercept = if problem.has_intercept() { target_centre - shift } else { 0.0 };
        fits.push(LinearFit { intercept, coefficients, status: Status::Converged });
    }
    fits
}

fn penalised(
    problem: &DualProblem<'_>,
    columns: &[Vec<f64>],
    exponent: Exponent,
    gamma: f64,
    solver: &dyn Solver,
    observer: &mut dyn Observer,
) -> Result<Vec<LinearFit>, Error> {
    let (n, weights) = (problem.samples(), problem.sample_weights());
    let intercept = if problem.has_intercept() { problem.intercept(&vec![0.0; n]) } else { 0.0 };
    let mut fits = vec![LinearFit { intercept, coefficients: Vec::new(), status: Status::Converged }];
    let present = weights.iter().filter(|weight| **weight > 0.0).count() as f64;
    let size = |column: &Vec<f64>| {
        let own = || column.iter().zip(weights).filter(|(_, weight)| **weight > 0.0).map(|(x, _)| x.abs());
        let largest = own().fold(0.0, f64::max);
        if largest == 0.0 {
            1.0
        } else {
            largest * (own().map(|x| (x / largest).powi(2)).sum::<f64>() / present).sqrt()
        }
    };
    let sizes: Vec<f64> = columns.iter().map(size).collect();
    // Rows that are held out take no part, and may be out of range.
    let scaled = |(column, size): (&Vec<f64>, &f64)| -> Vec<f64> {
        column.iter().zip(weights).map(|(x, weight)| if *weight > 0.0 { x / size } else { 0.0 }).collect()
    };
    let scaled: Vec<f64> = columns.iter().zip(&sizes).flat_map(scaled).collect();
    for known in 1..=columns.len() {
        let form = Features::new(FeatureMatrix::from_columns(n, known, &scaled[..n * known])?, exponent);
        let refit = DualProblem::new(&form, problem.loss(), problem.targets(), gamma)?.with_sample_weights(weights)?;
        let refit = if problem.has_intercept() { refit.with_intercept()? } else { refit };
        let solution = solver.solve_from(&refit, &Start::Auto, observer)?;
        let coefficients = form.weights(&solution.alpha).iter().zip(&sizes).map(|(w, size)| w / size).collect();
        fits.push(LinearFit { intercept: solution.intercept, coefficients, status: solution.status });
    }
    Ok(fits)
}

/// The function of these monomials alone, fitted to the samples of a problem without the shrinkage of its model, and how
/// that fit ended.
///
/// # Panics
///
/// Never: there is always a fit without a monomial.
pub fn refit(
    problem: &DualProblem<'_>,
    x: &FeatureMatrix<'_>,
    monomials: &[Monomial],
    how: Refit,
    solver: &dyn Solver,
    observer: &mut dyn Observer,
) -> Result<(ExplicitModel, Status), Error> {
    if x.samples() != problem.samples() {
        return Err(Error::Shape { what: "X", got: x.samples(), expected: problem.samples() });
    }
    let fits = how.fits(problem, &monomial_columns(monomials, x)?, solver, observer)?;
    let fit = fits.last().expect("there is a fit without a monomial");
    let terms = monomials.iter().cloned().zip(fit.coefficients.iter().copied()).collect();
    Ok((ExplicitModel::new(fit.intercept, terms)?, fit.status))
}

/// The values of monomials, one list for each.
pub(super) fn monomial_columns(monomials: &[Monomial], x: &FeatureMatrix<'_>) -> Result<Vec<Vec<f64>>, Error> {
    if monomials.is_empty() {
        return Ok(Vec::new());
    }
    let matrix = monomial_matrix(monomials, x)?;
    let column = |at: usize| {
        let mut column = vec![0.0; x.samples()];
        matrix.column_into(at, &mut column);
        column
    };
    Ok((0..monomials.len()).map(column).collect())
}
