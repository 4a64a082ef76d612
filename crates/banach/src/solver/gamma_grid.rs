//! Values of gamma to try, from the data or from the user.

use crate::{DualProblem, Error, data::Scratch, error::Parameter, form::Evaluation, problem::check_gamma};

/// The share of the null model's loss that the smallest gamma can explain: a tenth, so that the grid begins next to the null model.
const LOWER_SHARE: f64 = 0.1;

/// The largest gamma, in units of the knee: cross-validation chose 20 to 50 times the knee (see [`GammaGrid`]), which is well inside.
const UPPER_FACTOR: f64 = 1e3;

/// What rounding may leave of `||Phi_n* alpha||_q`, as a share of `||Phi_n* |alpha| ||_q`: some tens of units in the last place.
const ROUNDING: f64 = 1e-14;

/// Increasing values of gamma.
///
/// # The rule
///
/// The null model predicts a constant: 0, or with an intercept the best constant. Let `e_i` be minus the slope of
/// `L(y_i, .)` there, `a_i = weight_i e_i`, and `L_0 = sum_i weight_i L(y_i, .)` its loss. For gamma -> 0 the solution
/// is `alpha = gamma a`, with the predictions `omega = gamma^(q-1) grad Q(a)`, which lower the loss by
/// `<a, omega> = gamma^(q-1) q Q(a)` to first order. The *knee* is where this is all of it:
///
/// ```text
/// gamma_c = (L_0 / (q Q(a)))^(1/(q-1))
/// ```
///
/// - Below the knee the model explains little, and this is a theorem: at every gamma the solution explains at most the
///   share `(gamma/gamma_c)^(q-1)` of `L_0`. (Write `t` for its predictions beyond the null model, `w` for its weights,
///   `alpha = gamma s`. As `-s_i` and `-a_i` are slopes of convex functions,
///   `||w||_p^p = gamma <s, t> <= gamma <a, t>`, and `<a, t> <= ||Phi_n* a||_q ||w||_p`. The two give
///   `L_0 - L <= <a, t> <= gamma^(q-1) ||Phi_n* a||_q^q`.)
/// - As p -> 1 the knee becomes `1/max_k |<phi_k, a>|`: the `1/lambda_max` of the lasso, below which all weights are
///   zero.
/// - Above the knee, where there are more features than samples, alpha tends to a constant of the size `gamma_c a`, so
///   that the slopes of the loss are about `gamma_c/gamma` of those of the null model: the model interpolates.
///
/// The grid spans `0.1^(1/(q-1)) gamma_c` (at most a tenth is explained) to `1000 gamma_c` in equal steps of the
/// logarithm. It follows the units: X multiplied by c multiplies the grid by `c^-p`. Cross-validation on Friedman's
/// first function (60 samples; exponential, normalised and polynomial kernels; p = 2 and 4/3) chose 20 to 50 times the
/// knee.
///
/// ```
/// use banach::{DualProblem, Exponent, FeatureMatrix, form::Features, loss::Squared, solver::GammaGrid};
/// let x = FeatureMatrix::from_rows(2, 2, &[1.0, 0.0, 0.0, 1.0])?;
/// let form = Features::new(x, Exponent::new(2.0)?);
/// let problem = DualProblem::new(&form, &Squared, &[1.0, -1.0], 1.0)?;
///
/// assert!((GammaGrid::knee(&problem)? - 0.5).abs() < 1e-12);
/// let grid = GammaGrid::from_data(&problem, 5)?;
/// assert!((grid.values()[0] - 0.05).abs() < 1e-12);
/// assert!((grid.values()[4] - 500.0).abs() < 1e-9);
/// # Ok::<(), banach::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct GammaGrid {
    values: Vec<f64>,
}

impl GammaGrid {
    /// The given values, sorted; those that are given twice are kept once.
    pub fn new(mut gammas: Vec<f64>) -> Result<Self, Error> {
        gammas.iter().try_for_each(|&gamma| check_gamma(gamma))?;
        gammas.sort_by(f64::total_cmp);
        gammas.dedup();
        if gammas.is_empty() {
            return Err(Error::Empty { what: "the list of gammas" });
        }
        Ok(Self { values: gammas })
    }

    /// The grid of `count` values by the rule above. The problem's own gamma does not count.
    ///
    /// It costs one evaluation of the form.
    pub fn from_data(problem: &DualProblem<'_>, count: usize) -> Result<Self, Error> {
        Self::around_knee(problem, LOWER_SHARE, UPPER_FACTOR, count)
    }

    /// As [`from_data`](Self::from_data), from the gamma that can explain the share `lower_share` of the null model's
    /// loss, up to `upper_factor` times the knee. A single value is the geometric mean of these ends.
    pub(crate) fn around_knee(
        problem: &DualProblem<'_>,
        lower_share: f64,
        upper_factor: f64,
        count: usize,
    ) -> Result<Self, Error> {
        Parameter::LowerShare.check(lower_share, lower_share > 0.0 && lower_share <= 1.0, "a number > 0, at most 1")?;
        Parameter::UpperFactor.check(
            upper_factor,
            (1.0..f64::INFINITY).contains(&upper_factor),
            "a finite number >= 1",
        )?;
        Parameter::GammaCount.check(count, count > 0, "at least 1")?;
        let ln_knee = ln_knee(problem);
        let lower = ln_knee + lower_share.ln() / (problem.form().exponent().q() - 1.0);
        let upper = ln_knee + upper_factor.ln();
        let share = |j: usize| if count == 1 { 0.5 } else { j as f64 / (count - 1) as f64 };
        let values = (0..count).map(|j| in_range(lower + share(j) * (upper - lower)));
        Self::new(values.collect::<Result<_, _>>()?)
    }

    /// The knee `gamma_c`. Where the null model is the solution for every gamma (it has no loss, or no feature
    /// lowers it) there is none, and the answer is the problem's own gamma.
    ///
    /// It costs one evaluation of the form.
    pub fn knee(problem: &DualProblem<'_>) -> Result<f64, Error> {
        in_range(ln_knee(problem))
    }

    /// The values, in increasing order.
    pub fn values(&self) -> &[f64] {
        &self.values
    }
}

/// `exp(ln_gamma)`, if that is a normal number.
fn in_range(ln_gamma: f64) -> Result<f64, Error> {
    let gamma = ln_gamma.exp();
    if gamma.is_normal() { Ok(gamma) } else { Err(Error::GammaRange { log10: ln_gamma / std::f64::consts::LN_10 }) }
}

/// The logarithm of the knee. The gamma of the problem serves as unit: with `alpha = gamma a` the condition reads
/// `(gamma_c/gamma)^(q-1) = gamma L_0 / (q Q(alpha))`, whose parts are in range because the problem is.
fn ln_knee(problem: &DualProblem<'_>) -> f64 {
    let alpha = first_alpha(problem);
    let sizes = alpha.iter().map(|alpha| alpha.abs());
    let both: Vec<f64> = alpha.iter().copied().chain(sizes).collect();
    let ln_loss = problem.zero_value().ln();
    let q = problem.form().exponent().q();
    if let Some(form) = problem.form().endpoint() {
        // The smallest gamma at which a weight is not 0.
        let found = &form.largest(&alpha, 1, &mut Scratch::new())[0];
        let largest = found.bound() - found.rounding;
        let ln_knee = if largest > found.rounding { -largest.ln() } else { 0.0 };
        return problem.gamma().ln() + if ln_knee.is_finite() { ln_knee } else { 0.0 };
    }
    let mut evaluation = Evaluation::default();
    problem.form().evaluate(&both, &mut evaluation, &mut Scratch::new());
    let (ln_value, ln_size) = (evaluation.ln_values[0], evaluation.ln_values[1]);
    // Of constant features an intercept leaves rounding.
    let rounding = ln_value < ln_size + q * ROUNDING.ln();
    let ln_ratio = (ln_loss - q.ln() - ln_value) / (q - 1.0);
    problem.gamma().ln() + if ln_ratio.is_finite() && !rounding { ln_ratio } else { 0.0 }
}

/// `gamma a`, the dual vector in which the solution leaves zero. At a kink of the loss the slope is an interval. All samples take
/// the same share of theirs: with an intercept the share for which the entries sum to zero, otherwise a half.
pub(super) fn first_alpha(problem: &DualProblem<'_>) -> Vec<f64> {
    let null = problem.intercept(&vec![0.0; problem.samples()]);
    let samples = problem.gammas().iter().zip(problem.targets());
    let slopes: Vec<(f64, f64)> = samples
        .map(|(gamma, &y)| {
            let (left, right) = problem.loss().slopes(y, null);
            (gamma * left, gamma * right)
        })
        .collect();
    let share = if problem.has_intercept() {
        let (left, width) = slopes.iter().fold((0.0, 0.0), |(sum, width), (l, r)| (sum + l, width + (r - l)));
        if width > 0.0 { (-left / width).clamp(0.0, 1.0) } else { 0.0 }
    } else {
        0.5
    };
    let mut alpha: Vec<f64> = slopes.iter().map(|(left, right)| -(left + share * (right - left))).collect();
    problem.project(&mut alpha);
    alpha
}
