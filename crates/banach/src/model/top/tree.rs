//! The monomials of a kernel as a tree, and `u_k` of any of them.

use std::{f64::consts::LN_2, sync::Arc};

use super::bounds::Bound;
use crate::{
    Error,
    data::ExcludedProducts,
    error::{Parameter, Remedy},
    kernel::{Monomial, MonomialScale, check_range, symmetric_sums},
    model::DualModel,
    numeric::{binary_exponent, largest, scale_by_exp2},
};

/// Samples are stored in multiples of this many, the widest vector of today's machines, with zeros at the end: loops over them have
/// no remainder.
pub(super) const LANES: usize = 8;

/// The largest logarithm of a feature of a normalised kernel before it is divided: `e^600` and its reciprocal are numbers.
const MAX_LN_FEATURE: f64 = 600.0;

/// The most powers of two in a product of entries: `2^900` leaves room for coefficients and sums below `2^1024`.
const MAX_SPAN: f64 = 900.0;

/// How `c_k^(1/q)` depends on the exponents: `A_s prod_j B(k_j)` at degree s, with `A_s = (a_s s!)^(1/q)` and
/// `B(e) = (1/e!)^(1/q)` for a function `sum_s a_s p_1^s`. Without powers, as in the ANOVA kernel, or when every
/// monomial is given the same size, all B are 1.
#[derive(Debug)]
pub(super) struct Coefficients {
    /// Whether monomials have no powers.
    pub distinct: bool,
    /// `A_s` from degree 0 on.
    pub by_degree: Vec<f64>,
    /// `B(e)/B(e-1)`; 1 at e = 0.
    pub by_exponent: Vec<f64>,
}

impl Coefficients {
    /// The coefficients up to degree `highest`, or up to the last that is a number.
    pub(super) fn new(model: &DualModel<'_>, highest: usize) -> Result<Self, Error> {
        let (kernel, root) = (&*model.kernel, 1.0 / model.exponent.q());
        let distinct = kernel.symmetric() > 1;
        if distinct && (2..=highest).any(|s| kernel.unscaled_coefficient(&[&[2], &vec![1; s - 2][..]].concat()) > 0.0) {
            let allowed = "a function of the one sum p_1, or a kernel without powers, as the ANOVA kernel";
            return Err(Error::parameter(Parameter::Kernel, kernel.name(), allowed));
        }
        let raw = model.monomial_scale == MonomialScale::Raw;
        let size = |s: usize| {
            let unscaled = kernel.unscaled_coefficient(&vec![1; s]);
            if raw || unscaled == 0.0 { unscaled.powf(root) } else { 1.0 }
        };
        let by_degree = (0..=highest).map(size).take_while(|size| size.is_finite()).collect();
        let quotient = |e: usize| if raw && !distinct { (1.0 / e.max(1) as f64).powf(root) } else { 1.0 };
        Ok(Self { distinct, by_degree, by_exponent: (0..=highest).map(quotient).collect() })
    }
}

/// The monomials up to some degree. A node is a monomial; its children have one factor more, which comes last in the order
/// of the tree (a power of the last variable counts), so that every monomial is met once.
///
/// The entries are `y_ij = eta^(1/q) x_ij 2^-e`. For a kernel with a highest degree, they, the dual vector and the
/// coefficients are scaled by powers of two so that no number is above 1; features that are 1e300 times smaller than others
/// may vanish. For the others, whose range is checked, e = 0.
#[derive(Debug)]
pub(super) struct Tree {
    pub samples: usize,
    pub inputs: usize,
    /// Numbers per column: the samples and zeros.
    pub stride: usize,
    /// y, one column after another, in the order of the tree.
    pub columns: Vec<f64>,
    /// The variable at every place of the tree.
    variables: Vec<usize>,
    /// The powers of two taken out of the variables at every place of the tree.
    exponents: Vec<f64>,
    pub alpha: Vec<f64>,
    /// What every monomial is multiplied with: 1, or `1/||Phi(x_i)||_q`, divided by a power of two.
    pub first: Vec<f64>,
    first_exponent: f64,
    pub coefficients: Coefficients,
    pub monomial_scale: MonomialScale,
    /// The products of variables that are no monomials.
    excluded: Option<Arc<ExcludedProducts>>,
    /// A bound on the distance of the optimal dual vector, in units of `alpha`.
    pub radius: f64,
    /// The true `u_k` is `2^exponent` times the one here.
    pub exponent: f64,
    /// The powers of two in `exponent` that belong to alpha.
    pub alpha_exponent: f64,
}

/// `u_k` of one monomial and what depends on its size.
#[derive(Debug, Clone, Copy)]
pub(super) struct Value {
    pub u: f64,
    pub width: f64,
    /// The number that the monomial is divided by, in units of the tree; 1 for raw monomials.
    pub divisor: f64,
}

/// What is to fit in memory, and what to do where it does not.
const TABLE: &str = "the table of the variables, by which the largest monomials are found,";
pub(super) const INSTEAD: &[Remedy] = &[Remedy::Do("take fewer variables")];

impl Tree {
    /// The bytes of the tree of a model. A search that goes deeper keeps the tree before.
    pub(super) fn bytes(model: &DualModel<'_>) -> u64 {
        let (n, d) = (model.samples.samples() as u64, model.samples.features() as u64);
        let trees = if model.kernel.degrees().1.is_none() { 2 } else { 1 };
        trees * 8 * (n + LANES as u64 + 4).saturating_mul(d + 4)
    }

    pub(super) fn new(model: &DualModel<'_>, diagonal: &SampleNorms, highest: usize) -> Result<Self, Error> {
        model.memory.check(TABLE, Some(Self::bytes(model)), INSTEAD)?;
        let (n, d, q) = (model.samples.samples(), model.samples.features(), model.exponent.q());
        let raw = model.monomial_scale == MonomialScale::Raw;
        let mut coefficients = Coefficients::new(model, highest)?;
        let stride = n.next_multiple_of(LANES);
        let mut columns = vec![0.0; stride * d];
        columns.chunks_mut(stride).enumerate().for_each(|(j, column)| model.samples.column_into(j, &mut column[..n]));

        // One power of two for all variables; each its own where the size of a monomial does not matter.
        let infinite = model.kernel.degrees().1.is_none();
        let common = if infinite { 0.0 } else { f64::from(binary_exponent(largest(&columns))) };
        let eta = if raw { model.kernel.scale().unwrap_or(1.0).powf(1.0 / q) } else { 1.0 };
        let eta_exponent = if infinite { 0.0 } else { f64::from(binary_exponent(eta)) };
        let mut exponents = Vec::with_capacity(d);
        for column in columns.chunks_mut(stride) {
            let own = if raw { common } else { f64::from(binary_exponent(largest(column))) };
            let (eta, power) = (scale_by_exp2(eta, -eta_exponent), scale_by_exp2(1.0, -own));
            if power.is_normal() {
                column.iter_mut().for_each(|x| *x = *x * power * eta);
            } else {
                column.iter_mut().for_each(|x| *x = scale_by_exp2(*x, -own) * eta);
            }
            exponents.push(own + eta_exponent);
        }
        // A_s 2^(e s), relative to the largest of them.
        let step = if raw { common + eta_exponent } else { 0.0 };
        let size = |(s, a): (usize, &f64)| if *a > 0.0 { a.log2() + step * s as f64 } else { f64::NEG_INFINITY };
        let shift = coefficients.by_degree.iter().enumerate().map(size).fold(f64::NEG_INFINITY, f64::max);
        let shift = if shift.is_finite() && !infinite { shift.ceil() } else { 0.0 };
        let by_degree = coefficients.by_degree.iter_mut().enumerate();
        by_degree.for_each(|(s, a)| *a = scale_by_exp2(*a, step * s as f64 - shift));

        let mut alpha = vec![0.0; stride];
        let radius = model.radius.unwrap_or(0.0);
        let size = if largest(&model.alpha) > 0.0 { largest(&model.alpha) } else { radius };
        let alpha_exponent = f64::from(binary_exponent(size));
        alpha.iter_mut().zip(&model.alpha).for_each(|(own, alpha)| *own = scale_by_exp2(*alpha, -alpha_exponent));
        let radius = scale_by_exp2(radius, -alpha_exponent).min(f64::MAX);
        let ln_first = &diagonal.ln_first;
        let base = (ln_first.iter().copied().fold(f64::NEG_INFINITY, f64::max) / LN_2).ceil();
        let base = if infinite { 0.0 } else { base };
        let first = ln_first.iter().map(|ln| (ln - base * LN_2).exp());
        let first = first.chain(std::iter::repeat_n(0.0, stride - n)).collect();

        let mut tree = Self {
            samples: n,
            inputs: d,
            stride,
            columns,
            variables: (0..d).collect(),
            exponents,
            alpha,
            first,
            coefficients,
            monomial_scale: model.monomial_scale,
            excluded: model.samples.excluded().filter(|_| !infinite).cloned(),
            radius,
            exponent: alpha_exponent + shift + if raw { base } else { 0.0 },
            first_exponent: base,
            alpha_exponent,
        };
        tree.order();
        Ok(tree)
    }

    /// Puts the variables that promise most first: products of the later ones are then small.
    fn order(&mut self) {
        let promise = |column: &[f64]| -> f64 {
            let terms = column.iter().zip(&self.alpha).zip(&self.first);
            terms.map(|((y, alpha), first)| (y * alpha * first).abs()).sum()
        };
        let promises: Vec<f64> = self.columns.chunks(self.stride).map(promise).collect();
        self.variables.sort_by(|&a, &b| promises[b].total_cmp(&promises[a]).then(a.cmp(&b)));
        self.move_columns();
        self.exponents = self.variables.iter().map(|&j| self.exponents[j]).collect();
    }

    /// Brings the columns into the order of their variables, cycle by cycle: a copy would take as much memory again.
    fn move_columns(&mut self) {
        let (stride, mut held) = (self.stride, vec![0.0; self.stride]);
        let mut done = vec![false; self.variables.len()];
        for start in 0..done.len() {
            if done[start] || self.variables[start] == start {
                continue;
            }
            held.copy_from_slice(&self.columns[start * stride..(start + 1) * stride]);
            let mut place = start;
            while self.variables[place] != start {
                let from = self.variables[place];
                self.columns.copy_within(from * stride..(from + 1) * stride, place * stride);
                done[place] = true;
                place = from;
            }
            self.columns[place * stride..(place + 1) * stride].copy_from_slice(&held);
            done[place] = true;
        }
    }

    /// The highest degree at which products of entries are in range.
    pub(super) fn highest_in_range(&self) -> usize {
        let size = f64::from(binary_exponent(largest(&self.columns)).max(1));
        (MAX_SPAN / size) as usize
    }

    /// The highest degree.
    pub(super) fn highest(&self) -> usize {
        self.coefficients.by_degree.len() - 1
    }

    pub(super) fn column(&self, place: usize) -> &[f64] {
        &self.columns[place * self.stride..(place + 1) * self.stride]
    }

    /// The first place at which a factor can be added.
    pub(super) fn next_place(&self, places: &[usize]) -> usize {
        places.last().map_or(0, |last| last + usize::from(self.coefficients.distinct))
    }

    /// `z_i = B(k) first_i y_i^k` of a monomial by its places, with `B(k) = prod_j B(k_j)`.
    pub(super) fn product(&self, places: &[usize], out: &mut [f64]) {
        out.copy_from_slice(&self.first);
        let mut power = 0;
        for (at, &place) in places.iter().enumerate() {
            power = if at > 0 && places[at - 1] == place { power + 1 } else { 1 };
            let factor = self.coefficients.by_exponent[power];
            out.iter_mut().zip(self.column(place)).for_each(|(out, y)| *out *= factor * y);
        }
    }

    /// A bound on the relative rounding of a sum over the samples of products of degree s, with its coefficient: of each
    /// factor y and B, one more for every sample, and some for the rest.
    pub(super) fn rounding(&self, degree: usize) -> f64 {
        (self.samples + 8 * degree + 64) as f64 * f64::EPSILON
    }

    /// `u_k` from [`product`](Self::product) and the degree.
    #[inline(always)]
    pub(super) fn value(&self, z: &[f64], degree: usize) -> Value {
        let coefficient = self.coefficients.by_degree[degree];
        let (z, alpha, n) = (&z[..self.samples], &self.alpha[..self.samples], self.samples as f64);
        let nothing = Value { u: 0.0, width: 0.0, divisor: 1.0 };
        let largest = largest(z);
        if coefficient == 0.0 || largest < f64::MIN_POSITIVE {
            return nothing;
        }
        if self.monomial_scale == MonomialScale::Raw {
            let (u, moduli) = (sum(z, alpha, |z, a| z * a), sum(z, alpha, |z, a| (z * a).abs()));
            let norm = norm(sum(z, alpha, |z, _| z * z), || sum(z, alpha, |z, _| z.abs()));
            let width = self.radius * norm + self.rounding(degree) * moduli;
            return Value { u: coefficient * u, width: coefficient * width, divisor: 1.0 };
        }
        let (mean, factor) = self.monomial_scale.of_column(z);
        if factor == 0.0 {
            return nothing;
        }
        let u = sum(z, alpha, |z, a| (z - mean) * factor * a);
        let moduli = sum(z, alpha, |z, a| (z.abs() + mean.abs()) * factor * a.abs());
        // The mean and the deviation are rounded too.
        let rounding = 4.0 * self.rounding(degree) * (1.0 + mean.abs() * factor) * moduli;
        Value { u, width: self.radius * n.sqrt() + rounding, divisor: 1.0 / factor }
    }

    /// The monomial at the end of a path of places.
    pub(super) fn monomial(&self, places: &[usize]) -> Monomial {
        let mut variables: Vec<usize> = places.iter().map(|&place| self.variables[place]).collect();
        variables.sort_unstable();
        Monomial::of_sorted(&variables)
    }

    /// Whether the product of the variables at these places and at one more is no monomial because of the last.
    pub(super) fn excludes(&self, places: &[usize], last: usize) -> bool {
        let of = |place: usize| self.variables[place];
        let excluded = self.excluded.as_ref();
        excluded.is_some_and(|excluded| places.iter().any(|&place| excluded.pair(of(place), of(last))))
    }

    /// The path of a monomial.
    pub(super) fn places(&self, monomial: &Monomial) -> Vec<usize> {
        let mut places = Vec::with_capacity(monomial.degree());
        for &(variable, power) in monomial.factors() {
            let place = self.variables.iter().position(|&j| j == variable).expect("a variable of the samples");
            places.extend(std::iter::repeat_n(place, power));
        }
        places.sort_unstable();
        places
    }

    /// The power of two that was taken out of a monomial.
    pub(super) fn exponent_of(&self, places: &[usize]) -> f64 {
        self.first_exponent + places.iter().map(|&place| self.exponents[place]).sum::<f64>()
    }
}

/// The sum of `f(z_i, a_i)`, several at a time.
#[inline(always)]
fn sum(z: &[f64], a: &[f64], f: impl Fn(f64, f64) -> f64) -> f64 {
    let mut sums = [0.0; LANES];
    let ((z, z_rest), (a, a_rest)) = (z.as_chunks::<LANES>(), a.as_chunks::<LANES>());
    for (z, a) in z.iter().zip(a) {
        for lane in 0..LANES {
            sums[lane] += f(z[lane], a[lane]);
        }
    }
    sums.iter().sum::<f64>() + z_rest.iter().zip(a_rest).map(|(z, a)| f(*z, *a)).sum::<f64>()
}

/// The root of a sum of squares, or where squares may have vanished the sum of moduli, which is larger.
pub(super) fn norm(squares: f64, moduli: impl Fn() -> f64) -> f64 {
    if squares > 1e-280 { squares.sqrt() } else { moduli() }
}

/// The sizes of the feature vectors of the samples, from the kernel at each sample alone.
#[derive(Debug)]
pub(super) struct SampleNorms {
    /// `t_i = sum_j |x_ij|^q`.
    sums: Vec<f64>,
    /// `-ln ||Phi(x_i)||_q` for a normalised kernel, else 0.
    ln_first: Vec<f64>,
}

impl SampleNorms {
    /// The range of the kernel is checked where it has no highest degree, or is normalised.
    pub(super) fn new(model: &DualModel<'_>) -> Result<Self, Error> {
        let (kernel, q) = (&*model.kernel, model.exponent.q());
        let (n, d) = (model.samples.samples(), model.samples.features());
        let infinite = kernel.degrees().1.is_none();
        if !kernel.normalized() && !infinite {
            return Ok(Self { sums: Vec::new(), ln_first: vec![0.0; n] });
        }
        let mut x = vec![0.0; n * d];
        x.chunks_mut(n).enumerate().for_each(|(j, column)| model.samples.column_into(j, column));
        let (mut sums, mut norms) = (Vec::with_capacity(n), Vec::with_capacity(n));
        for row in 0..n {
            let own = symmetric_sums(kernel, d, |j| x[j * n + row].abs().powf(q));
            check_range(kernel, "X", row, own[0])?;
            let ln = kernel.ln_value(&own).1 / q;
            if infinite && ln > MAX_LN_FEATURE {
                let (kernel, limit) = (kernel.name(), own[0] * MAX_LN_FEATURE / ln);
                return Err(Error::KernelRange {
                    kernel,
                    what: "X",
                    row,
                    sum: own[0],
                    limit,
                    scale: None,
                    normalize: false,
                });
            }
            sums.push(own[0]);
            norms.push(ln);
        }
        // A sample with Phi(x) = 0 is not divided.
        let first = |ln: &f64| if kernel.normalized() && ln.is_finite() { -ln } else { 0.0 };
        Ok(Self { sums, ln_first: norms.iter().map(first).collect() })
    }

    /// Bounds `|u_k|` for all monomials of a degree above `highest`, for a kernel without a highest degree.
    ///
    /// As `|phi_k(x_i)|^q <= a_s t_i^s` and `a_s T^s <= K(T)` for every T, it is at most `K(T) (t_i/T)^s`, and that
    /// decreases with s for `T > t_i` (Cauchy's estimate).
    pub(super) fn tail(&self, model: &DualModel<'_>, tree: &Tree, highest: usize) -> Bound {
        let (kernel, s) = (&*model.kernel, (highest + 1) as f64);
        let ln_size = (tree.exponent - tree.alpha_exponent) * LN_2;
        let (mut value, mut squares) = (0.0, 0.0);
        for ((&t, ln_first), alpha) in self.sums.iter().zip(&self.ln_first).zip(&tree.alpha) {
            if t == 0.0 {
                continue;
            }
            let radius = kernel.radius();
            let wide = (1..=200).map(|step| t * (f64::from(step) / 8.0).exp2()).take_while(|&at| at < radius);
            let near = (1..=40).map(|step| radius - (radius - t) * (-f64::from(step) / 2.0).exp2());
            let near = near.filter(|at| at.is_finite() && *at > t && *at < radius);
            let estimate = |at: f64| {
                let (_, ln) = kernel.ln_value(&[at]);
                let fall = s * (at / t).ln();
                // Logarithms are rounded.
                let estimate = ln - fall + 1e-12 * (ln.abs() + fall);
                if estimate.is_nan() { f64::INFINITY } else { estimate }
            };
            let least = wide.chain(near).map(estimate).fold(f64::INFINITY, f64::min);
            let phi = (least / model.exponent.q() + ln_first - ln_size).exp() * (1.0 + 1e-10);
            value += alpha.abs() * phi;
            squares += phi * phi;
        }
        Bound { value, upper: value + tree.radius * squares.sqrt() }
    }
}
