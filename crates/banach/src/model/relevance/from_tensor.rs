//! How `q Q(alpha) = ||w||_p^p` divides among variables, pairs of variables and degrees, from the tensor.
//!
//! Setting `x_j = 0` leaves the monomials without j, so the part of K on the monomials with j is `K(z) - K(z without z_j)`: a
//! number for every entry of the tensor, which is contracted as K itself is. This difference is summed entry by entry, so that no two
//! nearly equal sums are subtracted. For interactions it is a product, `z_j` times the interactions of the other variables. For a
//! normalised kernel the features are `phi_k(x)/||Phi(x)||_q`, and the divisor stays that of all features.

use super::{
    FoundShares, bounded,
    tensor_reader::{CHUNK, VARIABLES, read},
};
use crate::{
    Error, QForm,
    data::Scratch,
    error::Parameter,
    form::{Evaluation, Gram},
    kernel::{Anova, TensorKernel},
    numeric::scaled_copy,
    tensor::{MAX_COLUMNS, MAX_ROWS, MAX_STRIPES},
};

/// The highest degree whose share is told apart, as each takes a loop over the entries. Those above it count as one rest.
const MAX_SPECTRUM: usize = 128;
/// The last degrees are not told apart if their shares together are at most this, which no table shows.
const NEGLIGIBLE_SHARE: f64 = 1e-12;

/// Bytes that the shares of this many variables, or of all their pairs, take beside a streamed tensor: sums for every stripe, and for
/// every thread those of its tile.
pub(super) fn bytes(kernel: &dyn TensorKernel, variables: usize, pairs: bool) -> u64 {
    let (count, sums) = (variables as u64, kernel.symmetric() as u64);
    let part = (count + MAX_SPECTRUM as u64).saturating_add(if pairs { count.saturating_mul(count) } else { 0 });
    let together = if pairs { count } else { VARIABLES as u64 };
    let (rows, columns) = (MAX_ROWS as u64, MAX_COLUMNS as u64);
    let tile = (2 * sums + 1) * rows * columns + together * (rows + columns) + 8 * CHUNK as u64 * (2 * sums + 4);
    let threads = rayon::current_num_threads() as u64;
    8 * (part.saturating_mul(MAX_STRIPES as u64 + 1)).saturating_add(threads * tile)
}

/// The share of every variable and of every degree, or those of all pairs of some variables.
pub(super) fn shares(gram: &Gram<'_>, alpha: &[f64], pairs: Option<&[usize]>) -> Result<FoundShares, Error> {
    let q = gram.exponent().q();
    let all: Vec<usize> = (0..gram.matrix().features()).collect();
    let variables = pairs.unwrap_or(&all);
    let mut copy = vec![0.0; alpha.len()];
    scaled_copy(alpha, 0.0, &mut copy);
    // Shares are relative, so that the size of alpha does not matter.
    let mut scratch = Scratch::new();
    let (mut evaluation, mut of_alpha) = (Evaluation::default(), Evaluation::default());
    gram.evaluate(&copy, &mut evaluation, &mut scratch);
    gram.evaluate(alpha, &mut of_alpha, &mut scratch);
    let power_sum = q * evaluation.values[0];
    if power_sum == 0.0 {
        return Ok(FoundShares::nothing(variables.len(), pairs.map_or(0, <[usize]>::len)));
    }
    let moved: f64 = copy.iter().zip(&evaluation.roundings).map(|(alpha, rounding)| alpha.abs() * rounding).sum();
    let degrees = if pairs.is_some() { Vec::new() } else { spectrum(gram, &copy, power_sum)? };
    let asked = SharesWanted { variables, pairs: pairs.is_some(), degrees: &degrees };
    let ShareSums { total, variables, pairs, degrees: energies } = read(gram.tensor(), &copy, &asked);
    let all = variables.iter().chain(&pairs).chain(&energies);
    if !total.is_finite() || total <= 0.0 || all.clone().any(|part| part.is_nan()) {
        let allowed = "a scale, and samples, at which parts of the kernel are within the range of numbers";
        return Err(Error::parameter(Parameter::Kernel, gram.kernel().name(), allowed));
    }
    let share = |part: &f64| (part / total).clamp(0.0, 1.0);
    Ok(FoundShares {
        ln_power_sum: of_alpha.ln_values[0] + q.ln(),
        variables: variables.iter().map(share).collect(),
        pairs: pairs.iter().map(share).collect(),
        degrees: degrees.iter().zip(&energies).map(|(term, energy)| (term.degree, share(energy))).collect(),
        error: bounded(moved / power_sum),
    })
}

/// The degrees that may matter. On degree s there is at most `(sum_i |alpha_i| ||Phi_s(x_i)||_q)^q`, and
/// `||Phi_s(x_i)||_q^q = a_s (scale p_1)^s` (Minkowski).
fn spectrum(gram: &Gram<'_>, alpha: &[f64], power_sum: f64) -> Result<Vec<DegreeTerm>, Error> {
    let (tensor, kernel) = (gram.tensor(), gram.kernel());
    let (lowest, highest) = kernel.degrees();
    if kernel.symmetric() > 1 {
        let highest = highest.unwrap_or(lowest);
        return (lowest..=highest).map(|degree| DegreeTerm::of_interactions(kernel, degree)).collect();
    }
    let terms = (lowest..=highest.unwrap_or(MAX_SPECTRUM)).map(|degree| DegreeTerm::of_power(kernel, degree));
    // A coefficient that is too small to be a number belongs to a degree that cannot matter, or is beyond the end.
    let terms: Vec<DegreeTerm> = terms.filter(|term| term.a.is_normal()).collect();
    if highest.is_some() {
        return Ok(terms);
    }
    let q = gram.exponent().q();
    let scale = kernel.scale().unwrap_or(1.0);
    let ln_t: Vec<f64> = tensor.diagonal.sums.iter().map(|t| (t * scale).ln()).collect();
    let most = |term: &DegreeTerm| {
        let size = |(i, alpha): (usize, &f64)| {
            let power = if term.degree == 0 { 0.0 } else { term.degree as f64 * ln_t[i] };
            let shift = tensor.diagonal.shifts.get(i).copied().unwrap_or(0.0);
            alpha.abs() * ((term.a.ln() + power) / q - shift).exp()
        };
        alpha.iter().enumerate().map(size).sum::<f64>().powf(q)
    };
    let matters = |term: &DegreeTerm| most(term) > 1e-3 * NEGLIGIBLE_SHARE * power_sum;
    let end = terms.iter().rposition(matters).map_or(1, |last| last + 1);
    Ok(terms.into_iter().take(end).collect())
}

/// The shares to be found.
pub(super) struct SharesWanted<'a> {
    pub variables: &'a [usize],
    pub pairs: bool,
    pub degrees: &'a [DegreeTerm],
}

/// One degree of a kernel: `a p^s` with `p = scale p_1`, or `a e_s(z)`.
pub(super) struct DegreeTerm {
    pub degree: usize,
    pub a: f64,
    /// The kernel of all interactions of this degree, for a kernel that is made of them.
    pub interactions: Option<Anova>,
}

impl DegreeTerm {
    fn of_power(kernel: &dyn TensorKernel, degree: usize) -> Self {
        let a = kernel.unscaled_coefficient(if degree == 0 { &[] } else { std::slice::from_ref(&degree) });
        Self { degree, a, interactions: None }
    }

    fn of_interactions(kernel: &dyn TensorKernel, degree: usize) -> Result<Self, Error> {
        let a = kernel.coefficient(&vec![1; degree]);
        Ok(Self { degree, a, interactions: Some(Anova::new(degree, degree)?) })
    }
}

/// Sums over some of the entries.
pub(super) struct ShareSums {
    pub total: f64,
    pub variables: Vec<f64>,
    pub pairs: Vec<f64>,
    pub degrees: Vec<f64>,
}

impl ShareSums {
    pub(super) fn new(asked: &SharesWanted<'_>) -> Self {
        let count = asked.variables.len();
        Self {
            total: 0.0,
            variables: vec![0.0; count],
            pairs: vec![0.0; if asked.pairs { count * count } else { 0 }],
            degrees: vec![0.0; asked.degrees.len()],
        }
    }

    pub(super) fn add(&mut self, other: &Self) {
        let add = |to: &mut [f64], from: &[f64]| to.iter_mut().zip(from).for_each(|(to, from)| *to += from);
        self.total += other.total;
        add(&mut self.variables, &other.variables);
        add(&mut self.pairs, &other.pairs);
        add(&mut self.degrees, &other.degrees);
    }
}
