//! Where the dual iteration starts.

use rayon::prelude::*;

use super::newton::term::is_bounded_regression;
use crate::{
    DualProblem, Error,
    data::Scratch,
    form::{Evaluation, Expansion},
    loss::Targets,
    numeric::search::{bisect, zero_between},
};

/// The choice of `alpha_0`.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Start {
    /// The solver's own choice. The paper's algorithms start at zero, as in its experiments, where Lambda is
    /// differentiable there, otherwise (logistic loss) on the ray; [`Newton`](super::Newton) starts on the ray.
    #[default]
    Auto,
    /// The minimiser of Lambda on the ray `alpha_i = t a_i`. It costs one evaluation, because
    /// `Q(t alpha) = t^q Q(alpha)`.
    ///
    /// `a_i = gamma_i y_i`, for counts `gamma_i (y_i - 1)`. With an intercept the entries sum to zero: `a_i = gamma_i (y_i - y_bar)` with the mean
    /// `y_bar = sum_i gamma_i y_i / sum_i gamma_i`, or for labels `y_i gamma_i` over the sum of gamma in the class.
    /// For regression losses with a bounded domain [`Newton`](super::Newton) takes a bounded function of the residuals.
    Ray,
    /// A given vector; with an intercept its entries sum to zero.
    At(Vec<f64>),
    /// The solution of another problem over the same form, where Q may still be known; then it costs no pass.
    Known(Box<KnownPoint>),
}

/// A dual vector with what a pass has found there, if that was kept: it takes as much memory as the products with all features.
#[derive(Debug, Clone, Default)]
pub struct KnownPoint {
    pub(crate) alpha: Vec<f64>,
    pub(crate) expansion: Option<Expansion>,
}

/// What is known of a dual vector follows from it.
impl PartialEq for KnownPoint {
    fn eq(&self, other: &Self) -> bool {
        self.alpha == other.alpha
    }
}

impl Start {
    /// The vector, where one is given.
    pub(super) fn given(&self) -> Option<&[f64]> {
        match self {
            Self::Auto | Self::Ray => None,
            Self::At(alpha) => Some(alpha),
            Self::Known(known) => Some(&known.alpha),
        }
    }

    /// The starting vector, and the passes over the data that it took.
    pub(crate) fn alpha(&self, problem: &DualProblem<'_>, scratch: &mut Scratch) -> Result<(Vec<f64>, usize), Error> {
        let zero = vec![0.0; problem.samples()];
        let (alpha, passes) = match self {
            Self::At(alpha) => (alpha.clone(), 0),
            Self::Known(known) => (known.alpha.clone(), 0),
            Self::Auto if problem.first_inadmissible(&zero).is_none() => (zero, 0),
            Self::Auto | Self::Ray => (ray(problem, scratch)?, 1),
        };
        problem.check_start(&alpha)?;
        Ok((alpha, passes))
    }
}

/// The minimiser of Lambda on the ray, by one evaluation.
fn ray(problem: &DualProblem<'_>, scratch: &mut Scratch) -> Result<Vec<f64>, Error> {
    let a = direction(problem);
    let mut evaluation = Evaluation::default();
    problem.form().evaluate(&a, &mut evaluation, scratch);
    let t = ray_length(problem, &a, evaluation.ln_values[0], 1.0);
    let mut alpha: Vec<f64> = a.iter().map(|a| t * a).collect();
    problem.balance(&mut alpha);
    if problem.first_inadmissible(&alpha).is_none() { Ok(alpha) } else { Err(Error::NoStart { t }) }
}

/// The `t` that minimises the convex function `t -> Lambda(t a)` within a share of the ray's part in the domain, given
/// `ln Q(a)`, by its slope over `ln t`: the optimal `t` can be as small as the data are large.
pub(super) fn ray_length(problem: &DualProblem<'_>, a: &[f64], ln_value: f64, share: f64) -> f64 {
    let (loss, q) = (problem.loss(), problem.form().exponent().q());
    // (a_i, a_i/gamma_i, y_i) of the samples that move.
    let moving: Vec<(f64, f64, f64)> = (0..a.len())
        .filter(|&i| a[i] != 0.0)
        .map(|i| (a[i], a[i] / problem.gammas()[i], problem.centred(problem.targets()[i])))
        .collect();
    let slope = |ln_t: f64| {
        let t = ln_t.exp();
        let term =
            |&(a, s, y): &(f64, f64, f64)| loss.conjugate_slope(y, t * s).map_or(f64::INFINITY, |slope| a * slope);
        // The blocks do not depend on the number of threads.
        let blocks: Vec<f64> = moving.par_chunks(BLOCK).map(|block| block.iter().map(term).sum()).collect();
        let of_form = if ln_value == f64::NEG_INFINITY { 0.0 } else { (q.ln() + ln_value + (q - 1.0) * ln_t).exp() };
        of_form + blocks.iter().sum::<f64>()
    };
    // The ray leaves the domain where its first sample does. Without an end, every sample is past its minimum from
    // alpha_i/gamma_i = y_i on, for counts from y_i - 1 on: the slope of the loss at 0.
    let ends = moving.iter().map(|&(_, s, y)| {
        let (lower, upper) = loss.domain(y);
        (if s > 0.0 { upper } else { lower }) / s
    });
    let end = share * ends.fold(f64::INFINITY, f64::min);
    let least = |y: f64| if loss.targets() == Targets::Counts { y - 1.0 } else { y };
    let past = moving.iter().map(|&(_, s, y)| (least(y) / s).abs()).fold(0.0, f64::max);
    let upper = if end.is_finite() { end.ln() } else { past.ln().max(LEAST_LN_T) };
    let lower = (LEAST_LN_T, slope(LEAST_LN_T));
    let upper = (upper, slope(upper));
    // In units of its size at the lower end, so that products of slopes stay in range.
    let size = lower.1.abs();
    let known = size.is_finite() && lower.1 < 0.0 && upper.1 > 0.0;
    let near = known
        .then(|| zero_between((lower.0, -1.0), (upper.0, upper.1 / size), 1e-12, |ln_t| slope(ln_t) / size))
        .filter(|ln_t| slope(*ln_t).is_finite());
    // Where the slope is no number at the end, its sign still tells.
    let ln_t = near.unwrap_or_else(|| bisect(lower.0, upper.0, 60, |ln_t| slope(ln_t) < 0.0));
    // A start needs few digits, and must be inside the domain. The other digits would be those of the search, which depend on the units of
    // the data.
    f64::from_bits(ln_t.exp().next_down().to_bits() >> DROPPED_BITS << DROPPED_BITS)
}

/// The logarithm of the smallest `t`.
const LEAST_LN_T: f64 = -700.0;
/// Bits that are not kept of the 52 behind the point of `t`.
const DROPPED_BITS: u32 = 36;
/// Samples whose slopes one thread adds up.
const BLOCK: usize = 1 << 13;

/// Residuals of less than this share of the largest do not set the usual size: half of the samples may be fitted exactly.
const LEAST_USUAL: f64 = 1e-3;

/// A direction along which a method that stays inside the domain starts. For regression losses with a bounded domain residuals beyond the
/// usual size count as that size: the dual variables of their samples end at the border.
pub(super) fn inner_direction(problem: &DualProblem<'_>) -> Vec<f64> {
    if !is_bounded_regression(problem.loss()) {
        return direction(problem);
    }
    let residuals = || {
        let samples = problem.gammas().iter().zip(problem.targets()).enumerate();
        samples.filter(|(_, (gamma, _))| **gamma > 0.0).map(|(i, (gamma, y))| (i, *gamma, problem.centred(*y)))
    };
    let mut sizes: Vec<f64> = residuals().map(|(_, _, residual)| residual.abs()).collect();
    sizes.sort_unstable_by(f64::total_cmp);
    let usual = sizes[sizes.len() / 2].max(sizes[sizes.len() - 1] * LEAST_USUAL);
    let mut a = vec![0.0; problem.samples()];
    if usual == 0.0 {
        return a;
    }
    residuals().for_each(|(i, gamma, residual)| a[i] = gamma * (residual / usual).tanh());
    if problem.has_intercept() {
        // Both sides of the middle weigh the same.
        let side = |sign: f64| a.iter().map(|a| (sign * a).max(0.0)).sum::<f64>();
        let (plus, minus) = (side(1.0), side(-1.0));
        let least = plus.min(minus);
        if least == 0.0 {
            // The best constant is an end of the targets.
            return direction(problem);
        }
        a.iter_mut().for_each(|a| *a *= least / if *a > 0.0 { plus } else { minus });
        problem.balance(&mut a);
    }
    a
}

/// The direction of the ray.
pub(super) fn direction(problem: &DualProblem<'_>) -> Vec<f64> {
    let (y, gammas) = (problem.targets(), problem.gammas());
    let samples = || gammas.iter().zip(y);
    match (problem.has_intercept(), problem.loss().targets()) {
        (false, Targets::Counts) => samples().map(|(gamma, y)| gamma * (y - 1.0)).collect(),
        (false, _) => samples().map(|(gamma, y)| gamma * y).collect(),
        (true, Targets::Real | Targets::Counts) => {
            let largest = problem.largest_gamma();
            let total: f64 = gammas.iter().map(|gamma| gamma / largest).sum();
            let centred = |y: f64| problem.centred(y);
            let mean = samples().map(|(gamma, y)| gamma / largest / total * centred(*y)).sum::<f64>();
            samples().map(|(gamma, y)| gamma * (centred(*y) - mean)).collect()
        }
        (true, Targets::Signs) => {
            let class = |label: f64| samples().filter(|(_, y)| **y == label).map(|(gamma, _)| gamma).sum::<f64>();
            let (plus, minus) = (class(1.0), class(-1.0));
            if plus == 0.0 || minus == 0.0 {
                return vec![0.0; y.len()];
            }
            samples().map(|(gamma, y)| y * gamma / if *y > 0.0 { plus } else { minus }).collect()
        }
    }
}
