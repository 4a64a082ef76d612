//! The logistic loss on a few columns: its minimum, and what one more column could change.

use super::{
    Design, Dictionary,
    dictionary::Offers,
    evidence::DevianceEvidence,
    objective::{Estimate, Objective, offers_in},
    search::LEAST_IMPROVEMENT,
    support::DEPENDENT,
};
use crate::{
    loss::{Logistic, Loss},
    numeric::dot_in_lanes,
};

/// Steps of Newton's method, at most. Where classes are separated a step divides what is left by e, so this is far below rounding.
const MOST_NEWTON: usize = 60;
/// Halvings of a step, at most.
const MOST_HALVINGS: usize = 40;
/// Newton's method ends if the next step promises less of the deviance than this, beside 1 for each sample: criteria are compared to 1e-6.
const LEAST_DECREASE: f64 = 1e-11;
/// A share of the diagonal that is added to a Hessian, so that it can be divided by: near rounding.
const RIDGE: f64 = 1e-13;
/// A standard error of what a deviation of a column adds to a decision that no maximum of a likelihood has: Newton's method has gone on while
/// the curvatures fell to 1e-11.
const UNBOUNDED: f64 = 1e3;
/// The standard deviation of the prior on what a deviation of a column adds to a decision, where classes are separated: 5 is a factor of 150
/// on the odds, more than data of this size can show.
const PRIOR_DEVIATION: f64 = 5.0;
/// A dual vector is feasible if it leaves its box by no more than rounding.
const OUTSIDE: f64 = 1e-12;

/// Classes -1 and 1 of samples with positive weights, explained by a linear function of columns.
#[derive(Debug, Clone)]
pub(super) struct Classes {
    pub y: Vec<f64>,
    pub weights: Vec<f64>,
    pub intercept: bool,
    pub evidence: DevianceEvidence,
}

/// The fit of the logistic loss to some columns.
#[derive(Debug, Clone)]
pub(super) struct LogisticFit {
    /// The constant first, where there is one.
    pub coefficients: Vec<f64>,
    /// Twice the loss at its minimum, or what it comes down to where there is none.
    pub deviance: f64,
    /// What the function says at every sample.
    pub decisions: Vec<f64>,
    /// The inverse of the Hessian, one row after another.
    pub covariance: Vec<f64>,
    /// The roots of the curvatures `w c (1 - c)`, c the probability of the other class.
    roots: Vec<f64>,
    /// The residuals `y c w` divided by the roots, orthogonal to the basis.
    residual: Vec<f64>,
    /// An orthonormal basis of the columns and the constant, multiplied by the roots.
    basis: Vec<f64>,
}

impl LogisticFit {
    /// The variance of a coefficient.
    pub(super) fn variance(&self, j: usize) -> f64 {
        self.covariance[j * self.coefficients.len() + j]
    }
}

impl Classes {
    /// Twice the loss.
    fn deviance(&self, decisions: &[f64]) -> f64 {
        let rows = self.y.iter().zip(decisions).zip(&self.weights);
        2.0 * rows.map(|((y, t), weight)| weight * Logistic.value(*y, *t)).sum::<f64>()
    }

    /// The probability of the class that a sample does not have.
    fn miss(y: f64, t: f64) -> f64 {
        Logistic.slopes(y, t).0.abs()
    }

    /// The fit to columns; with a prior, a weight has the mean 0 and a deviation where the column has the deviation 1.
    pub(super) fn fitted(&self, columns: &[&[f64]], prior: bool) -> LogisticFit {
        let n = self.y.len();
        let ones = vec![1.0; n];
        let design: Vec<&[f64]> =
            self.intercept.then_some(&ones[..]).into_iter().chain(columns.iter().copied()).collect();
        let m = design.len();
        let precisions: Vec<f64> = (0..m)
            .map(|j| if prior { self.variance_of(design[j]) / (PRIOR_DEVIATION * PRIOR_DEVIATION) } else { 0.0 })
            .collect();
        let precision = |column: usize| precisions[column];
        let total: f64 = self.weights.iter().sum();
        let mut coefficients = vec![0.0; m];
        let mut decisions = vec![0.0; n];
        let penalised = |coefficients: &[f64], decisions: &[f64]| {
            let own = coefficients.iter().enumerate().map(|(j, b)| precision(j) * b * b).sum::<f64>();
            self.deviance(decisions) + own
        };
        let mut value = penalised(&coefficients, &decisions);
        let mut inverse = Vec::new();
        for _ in 0..MOST_NEWTON {
            let (gradient, hessian) = self.derivatives(&design, &decisions, &coefficients, &precision);
            let Some(factor) = cholesky(hessian, m) else { break };
            let step = solved(&factor, m, &gradient);
            let decrease: f64 = step.iter().zip(&gradient).map(|(step, slope)| step * slope).sum();
            inverse = factor;
            if decrease <= LEAST_DECREASE * total {
                break;
            }
            let change = combined(&design, &step, n);
            let mut length = 1.0;
            let mut next = None;
            for _ in 0..MOST_HALVINGS {
                let tried: Vec<f64> = coefficients.iter().zip(&step).map(|(b, s)| b + length * s).collect();
                let at: Vec<f64> = decisions.iter().zip(&change).map(|(t, c)| t + length * c).collect();
                let reached = penalised(&tried, &at);
                // Armijo's rule; the deviance is twice the loss whose gradient this is.
                if reached <= value - 0.2 * length * decrease {
                    next = Some((tried, at, reached));
                    break;
                }
                length *= 0.5;
            }
            let Some(next) = next else { break };
            (coefficients, decisions, value) = next;
        }
        self.finished(&design, coefficients, decisions, &inverse)
    }

    /// The negative gradient and the Hessian of the loss, and of the prior.
    fn derivatives(
        &self,
        design: &[&[f64]],
        decisions: &[f64],
        coefficients: &[f64],
        precision: &dyn Fn(usize) -> f64,
    ) -> (Vec<f64>, Vec<f64>) {
        let rows = || self.y.iter().zip(decisions).zip(&self.weights);
        let residual: Vec<f64> = rows().map(|((y, t), weight)| weight * y * Self::miss(*y, *t)).collect();
        let curvature: Vec<f64> =
            rows().map(|((y, t), weight)| weight * Self::miss(*y, *t) * Self::miss(-y, *t)).collect();
        let m = design.len();
        let (mut gradient, mut hessian) = (vec![0.0; m], vec![0.0; m * m]);
        for (i, column) in design.iter().enumerate() {
            gradient[i] = dot_in_lanes(column, &residual) - precision(i) * coefficients[i];
            let weighted: Vec<f64> = column.iter().zip(&curvature).map(|(x, curvature)| x * curvature).collect();
            for (j, other) in design.iter().enumerate().take(i + 1) {
                hessian[i * m + j] = dot_in_lanes(&weighted, other);
                hessian[j * m + i] = hessian[i * m + j];
            }
        }
        for i in 0..m {
            hessian[i * m + i] += precision(i) + RIDGE * hessian[i * m + i];
        }
        (gradient, hessian)
    }

    /// What is known of a fit.
    fn finished(&self, design: &[&[f64]], coefficients: Vec<f64>, decisions: Vec<f64>, factor: &[f64]) -> LogisticFit {
        let rows = || self.y.iter().zip(&decisions).zip(&self.weights);
        let roots: Vec<f64> = rows().map(|((y, t), w)| (w * Self::miss(*y, *t) * Self::miss(-y, *t)).sqrt()).collect();
        let mut residual: Vec<f64> = rows()
            .zip(&roots)
            .map(|(((y, t), w), root)| if *root > 0.0 { w * y * Self::miss(*y, *t) / root } else { 0.0 })
            .collect();
        let mut basis: Vec<f64> = Vec::new();
        for column in design {
            let mut rooted: Vec<f64> = column.iter().zip(&roots).map(|(x, root)| x * root).collect();
            let whole = dot_in_lanes(&rooted, &rooted);
            for _ in 0..2 {
                project_on(&basis, &mut rooted);
            }
            let rest = dot_in_lanes(&rooted, &rooted);
            if rest > DEPENDENT * whole && rest > 0.0 {
                basis.extend(rooted.iter().map(|x| x / rest.sqrt()));
            }
        }
        for _ in 0..2 {
            project_on(&basis, &mut residual);
        }
        let m = design.len();
        let covariance = if factor.is_empty() {
            vec![f64::INFINITY; m * m]
        } else {
            let unit = |i: usize| -> Vec<f64> { (0..m).map(|j| f64::from(u8::from(i == j))).collect() };
            (0..m).flat_map(|i| solved(factor, m, &unit(i))).collect()
        };
        let deviance = self.deviance(&decisions);
        LogisticFit { coefficients, deviance, decisions, covariance, roots, residual, basis }
    }

    /// The weighted variance of a column, around 0 where there is no constant; that of the constant itself is 0.
    fn variance_of(&self, column: &[f64]) -> f64 {
        let total: f64 = self.weights.iter().sum();
        let mean_of = |value: &dyn Fn(f64) -> f64| {
            column.iter().zip(&self.weights).map(|(x, weight)| weight * value(*x)).sum::<f64>() / total
        };
        let mean = if self.intercept { mean_of(&|x| x) } else { 0.0 };
        mean_of(&|x| (x - mean) * (x - mean))
    }

    /// Whether larger coefficients always fit better.
    pub(super) fn separated(&self, columns: &[&[f64]], fit: &LogisticFit) -> bool {
        let first = usize::from(self.intercept);
        let of_columns =
            columns.iter().enumerate().map(|(i, column)| fit.variance(first + i) * self.variance_of(column));
        let of_constant = self.intercept.then(|| fit.variance(0));
        of_constant.into_iter().chain(of_columns).any(|variance| variance.sqrt() > UNBOUNDED)
    }

    /// Least squares that has the quadratic approximation of the loss around a fit, with its samples and target.
    pub(super) fn working(&self, fit: &LogisticFit) -> Design {
        let target =
            fit.decisions.iter().zip(&fit.roots).zip(&fit.residual).map(|((t, root), r)| t * root + r).collect();
        let roots = if fit.roots.iter().all(|root| *root == 0.0) { vec![1.0; self.y.len()] } else { fit.roots.clone() };
        Design::of_rooted(roots, target, self.intercept, self.weights.iter().sum())
    }
}

impl Objective for Classes {
    type Fit = LogisticFit;

    fn fit(&self, columns: &[&[f64]]) -> LogisticFit {
        self.fitted(columns, false)
    }

    fn left(&self, fit: &LogisticFit) -> f64 {
        fit.deviance
    }

    fn criterion(&self, left: f64, terms: usize) -> f64 {
        self.evidence.criterion(left, terms)
    }

    fn most_terms(&self) -> usize {
        self.evidence.most_terms()
    }

    /// By the score statistic chi^2, the deviance falls by chi^2 most likely. At least so much is left as a dual vector of the larger problem
    /// says: the one of the fit, made orthogonal to the column in the geometry of the curvatures (docs/sparse.md).
    fn besides(&self, fit: &LogisticFit, column: &[f64]) -> Estimate {
        // All samples are certain: any column leaves the same, up to what criteria are compared to.
        if fit.deviance <= LEAST_IMPROVEMENT {
            return Estimate { likely: 0.0, least: 0.0, exact: true };
        }
        let mut outside: Vec<f64> = column.iter().zip(&fit.roots).map(|(x, root)| x * root).collect();
        let whole = dot_in_lanes(&outside, &outside);
        project_on(&fit.basis, &mut outside);
        let rest = dot_in_lanes(&outside, &outside);
        if rest <= DEPENDENT * whole || rest == 0.0 {
            return Estimate::DEPENDENT;
        }
        let product = dot_in_lanes(&outside, &fit.residual);
        let (score, step) = (product * product / rest, product / rest);
        let likely = (fit.deviance - score).max(0.0);
        // Of each sample the share of its dual variable in its box.
        let mut entropy = 0.0;
        for (i, outside) in outside.iter().enumerate() {
            let share = self.y[i] * fit.roots[i] * (fit.residual[i] - step * outside) / self.weights[i];
            if !(-OUTSIDE..=1.0 + OUTSIDE).contains(&share) {
                return Estimate { likely, least: 0.0, exact: false };
            }
            entropy -= self.weights[i] * Logistic.conjugate(1.0, share.clamp(0.0, 1.0));
        }
        let least = (2.0 * entropy).max(0.0);
        Estimate { likely: likely.max(least), least, exact: false }
    }

    fn offers(&self, dictionary: &Dictionary<'_>, support: &[u64], fit: &LogisticFit, count: usize) -> Offers {
        let design = self.working(fit);
        offers_in(&dictionary.reweighted(&design), &design, support, count)
    }
}

/// Takes from a vector what an orthonormal basis explains of it.
fn project_on(basis: &[f64], vector: &mut [f64]) {
    for q in basis.chunks(vector.len()) {
        let part = dot_in_lanes(q, vector);
        vector.iter_mut().zip(q).for_each(|(x, q)| *x -= part * q);
    }
}

/// A combination of columns of n numbers.
fn combined(columns: &[&[f64]], factors: &[f64], n: usize) -> Vec<f64> {
    let mut sum = vec![0.0; n];
    for (column, factor) in columns.iter().zip(factors) {
        sum.iter_mut().zip(*column).for_each(|(sum, x)| *sum += factor * x);
    }
    sum
}

/// The lower triangular L with `L L' = a`, one row after another; `None` if the matrix is not positive.
fn cholesky(mut a: Vec<f64>, m: usize) -> Option<Vec<f64>> {
    for i in 0..m {
        for j in 0..=i {
            let inner: f64 = (0..j).map(|k| a[i * m + k] * a[j * m + k]).sum();
            let rest = a[i * m + j] - inner;
            if i == j {
                if rest.is_nan() || rest <= 0.0 {
                    return None;
                }
                a[i * m + i] = rest.sqrt();
            } else {
                a[i * m + j] = rest / a[j * m + j];
            }
        }
    }
    Some(a)
}

/// `(L L')^-1 b`.
fn solved(l: &[f64], m: usize, b: &[f64]) -> Vec<f64> {
    let mut x = b.to_vec();
    for i in 0..m {
        let known: f64 = (0..i).map(|k| l[i * m + k] * x[k]).sum();
        x[i] = (x[i] - known) / l[i * m + i];
    }
    for i in (0..m).rev() {
        let known: f64 = (i + 1..m).map(|k| l[k * m + i] * x[k]).sum();
        x[i] = (x[i] - known) / l[i * m + i];
    }
    x
}
