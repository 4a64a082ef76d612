//! The products `u_k = sum_i alpha_i phi_k(x_i)` of all listed features, a few at a time: nothing of size n card(K) is
//! ever kept.

use std::{iter, ops::Range};

use faer::{Accum, MatMut, MatRef, Par, linalg::matmul::matmul};
use num_bigint::BigUint;
use rayon::prelude::*;

use super::{
    FeatureMap, MonomialScale, check_range,
    feature_map::Block,
    range::power_sums,
    selections::{Selections, count},
};
use crate::{
    Error, FeatureMatrix, MAX_ENTRY, Memory,
    exponent::{binary_exponent, largest, scale_by_exp2, scaled_copy},
};

/// Dual vectors are scaled to this power of two, as on the features route.
const DUAL_SIZE: f64 = 300.0;
/// Prefixes that share a matrix product, and last variables in it.
const GROUP: usize = 16;
const LASTS: usize = 512;
/// Most parts into which the features of one degree are divided.
const MAX_STRIPES: usize = 64;
/// A variance below this share of the mean square is found again from the deviations themselves.
const CANCELLED: f64 = 1e-4;

const COPIES: &str = "the columns of X for a pass over all features";
const INSTEAD: &str = "take fewer samples or variables";

/// Neighbouring features that differ in their last variable alone.
pub(crate) struct Run<'a> {
    /// The variables that all of them share, in increasing order.
    pub prefix: &'a [usize],
    /// The last variable of the first of them, which is the next one for each that follows; `None` for the constant.
    pub first: Option<usize>,
    /// `u_k` of each, divided by the power of two of [`FeatureRuns::exponent`].
    pub u: &'a [f64],
}

impl Run<'_> {
    /// The variables of one of them, in increasing order.
    pub(crate) fn variables(&self, at: usize) -> impl Iterator<Item = usize> {
        self.prefix.iter().copied().chain(self.first.map(|first| first + at))
    }
}

/// All features of a map with a dual vector.
pub(crate) struct FeatureRuns<'a> {
    map: &'a FeatureMap<'a>,
    x: &'a FeatureMatrix<'a>,
    scale: MonomialScale,
    /// X by columns, where there are products of variables, each divided by a power of two if its size does not count.
    columns: Vec<f64>,
    /// Their squares, where norms are wanted.
    squares: Vec<f64>,
    dual: Vec<f64>,
    dual_sum: f64,
    exponent: f64,
    stripes: Vec<Stripe>,
}

/// Some features of one degree: those whose first variables are these.
#[derive(Debug, Clone)]
struct Stripe {
    block: Block,
    prefixes: Range<usize>,
}

impl<'a> FeatureRuns<'a> {
    /// The features of a map at the samples of `x`.
    pub(crate) fn new(
        map: &'a FeatureMap<'a>,
        x: &'a FeatureMatrix<'a>,
        alpha: &[f64],
        scale: MonomialScale,
        memory: Memory,
    ) -> Result<Self, Error> {
        if x.features() != map.inputs {
            return Err(Error::Shape { what: "a row of X", got: x.features(), expected: map.inputs });
        }
        if scale == MonomialScale::Raw {
            map.check_products(x)?;
        } else if map.kernel.normalized() {
            let allowed = "raw for a normalised kernel, whose features have their size from it";
            return Err(Error::Parameter { name: "monomials", got: scale.to_string(), allowed });
        }
        let mut divided = alpha.to_vec();
        if map.kernel.normalized() {
            let norms = map.sample_norms(x, memory)?;
            divided.iter_mut().zip(norms).filter(|(_, norm)| *norm > 0.0).for_each(|(alpha, norm)| *alpha /= norm);
        }
        let mut dual = vec![0.0; alpha.len()];
        let exponent = scaled_copy(&divided, DUAL_SIZE, &mut dual);
        let products = map.blocks.iter().any(|block| block.degree >= 2);
        let length = if products { x.samples().saturating_mul(x.features()) } else { 0 };
        let mut columns = memory.zeros(COPIES, length, INSTEAD)?;
        for (j, column) in columns.chunks_exact_mut(x.samples()).enumerate() {
            x.column_into(j, column);
            if scale != MonomialScale::Raw {
                let size = f64::from(binary_exponent(largest(column)));
                column.iter_mut().for_each(|x| *x = scale_by_exp2(*x, -size));
            }
        }
        let mut squares = Vec::new();
        if scale != MonomialScale::Raw {
            squares = memory.zeros(COPIES, length, INSTEAD)?;
            squares.iter_mut().zip(&columns).for_each(|(square, x)| *square = x * x);
        }
        let stripes = map.blocks.iter().flat_map(|block| Stripe::of_block(*block, map.inputs)).collect();
        let dual_sum = dual.iter().sum();
        Ok(Self { map, x, scale, columns, squares, dual, dual_sum, exponent, stripes })
    }

    /// The power of two by which every `u_k` is divided.
    pub(crate) fn exponent(&self) -> f64 {
        self.exponent
    }

    /// How many readers there will be.
    pub(crate) fn readers(&self) -> usize {
        self.stripes.len()
    }

    /// Hands every feature to one of several readers and returns these, in an order and with features that do not depend
    /// on the number of threads.
    pub(crate) fn read<R: Send>(
        &self,
        reader: impl Fn() -> R + Sync,
        visit: impl Fn(&mut R, Run<'_>) + Sync,
    ) -> Vec<R> {
        let read_stripe = |stripe: &Stripe| {
            let mut reader = reader();
            let mut visit = |run: Run<'_>| visit(&mut reader, run);
            match stripe.block.degree {
                0 => self.read_constant(&mut visit),
                1 => self.read_variables(&mut visit),
                _ => self.read_products(stripe, &mut visit),
            }
            reader
        };
        self.stripes.par_iter().map(read_stripe).collect()
    }

    fn read_constant(&self, visit: &mut impl FnMut(Run<'_>)) {
        let factor = match self.scale {
            MonomialScale::Raw => self.map.root_of_coefficient(&[], 1.0),
            MonomialScale::Unit => 1.0,
            MonomialScale::Standardized => 0.0,
        };
        visit(Run { prefix: &[], first: None, u: &[factor * self.dual_sum] });
    }

    fn read_variables(&self, visit: &mut impl FnMut(Run<'_>)) {
        let (mut column, ones) = (vec![0.0; self.x.samples()], vec![1.0; self.x.samples()]);
        let factor = self.map.root_of_coefficient(&[0], self.map.root_of_scale(1));
        let mut u = [0.0; LASTS];
        for start in (0..self.map.inputs).step_by(LASTS) {
            let lasts = start..(start + LASTS).min(self.map.inputs);
            for (u, j) in u.iter_mut().zip(lasts.clone()) {
                self.x.column_into(j, &mut column);
                *u = match self.scale {
                    MonomialScale::Raw => factor * dot(&self.dual, &column),
                    _ => self.scaled_product(&ones, &column),
                };
            }
            visit(Run { prefix: &[], first: Some(start), u: &u[..lasts.len()] });
        }
    }

    fn read_products(&self, stripe: &Stripe, visit: &mut impl FnMut(Run<'_>)) {
        let (size, distinct) = (stripe.block.degree - 1, stripe.block.distinct);
        let start = BigUint::from(stripe.prefixes.start);
        let Some(selections) = Selections::new(self.map.inputs, size, distinct) else { return };
        let mut selections = selections.starting_at(start);
        let mut group = Group::new(self.x.samples(), size);
        for left in stripe.prefixes.clone().rev() {
            group.push(selections.variables());
            let changed = if left == stripe.prefixes.start { None } else { selections.advance() };
            if changed != Some(size - 1) || group.len() == GROUP {
                self.read_group(stripe.block, &mut group, visit);
                group.clear();
            }
        }
    }

    /// The features of several prefixes that differ in their last variable alone.
    fn read_group(&self, block: Block, group: &mut Group, visit: &mut impl FnMut(Run<'_>)) {
        let n = self.x.samples();
        group.form(&self.columns, &self.dual, self.scale);
        let root_of_scale = self.map.root_of_scale(block.degree);
        let begin = group.first(0, block.distinct);
        for start in (begin..self.map.inputs).step_by(LASTS) {
            let lasts = start..(start + LASTS).min(self.map.inputs);
            let width = lasts.len();
            let columns = &self.columns[lasts.start * n..lasts.end * n];
            product(columns, &group.duals[..group.len() * n], n, &mut group.u);
            if self.scale != MonomialScale::Raw {
                let squares = &self.squares[lasts.start * n..lasts.end * n];
                product(squares, &group.squares[..group.len() * n], n, &mut group.norms);
            }
            if self.scale == MonomialScale::Standardized {
                product(columns, &group.products[..group.len() * n], n, &mut group.sums);
            }
            for at in 0..group.len() {
                let first = group.first(at, block.distinct).max(start);
                if first >= lasts.end {
                    continue;
                }
                let own = at * width + first - start..(at + 1) * width;
                if self.scale == MonomialScale::Raw {
                    self.apply_coefficients(group, at, first, own.clone(), root_of_scale);
                } else {
                    self.apply_scale(group, at, first, own.clone());
                }
                visit(Run { prefix: group.prefix(at), first: Some(first), u: &group.u[own] });
            }
        }
    }

    /// All features of a run have the same coefficient, but for the first if its last variable is in the prefix.
    fn apply_coefficients(&self, group: &mut Group, at: usize, first: usize, own: Range<usize>, root_of_scale: f64) {
        let mut variables = group.prefix(at).to_vec();
        let last = variables[variables.len() - 1];
        let mut coefficient = |variable: usize| {
            variables.push(variable);
            let c = self.map.root_of_coefficient(&variables, root_of_scale);
            variables.pop();
            c
        };
        let u = &mut group.u[own];
        let (repeated, others) = u.split_at_mut(usize::from(first == last));
        repeated.iter_mut().for_each(|u| *u *= coefficient(last));
        if !others.is_empty() {
            let c = coefficient(last + 1);
            others.iter_mut().for_each(|u| *u *= c);
        }
    }

    fn apply_scale(&self, group: &mut Group, at: usize, first: usize, own: Range<usize>) {
        let n = self.x.samples();
        for (last, place) in (first..).zip(own) {
            let mean_square = group.norms[place] / n as f64;
            let mean = if self.scale == MonomialScale::Standardized { group.sums[place] / n as f64 } else { 0.0 };
            let variance = mean_square - mean * mean;
            group.u[place] = if mean_square == 0.0 {
                0.0
            } else if variance < CANCELLED * mean_square {
                let prefix = &group.products[at * n..(at + 1) * n];
                self.scaled_product(prefix, &self.columns[last * n..(last + 1) * n])
            } else {
                (group.u[place] - mean * self.dual_sum) / variance.sqrt()
            };
        }
    }

    /// `u_k` of the unit or standardised product of two columns, from its deviations.
    fn scaled_product(&self, prefix: &[f64], column: &[f64]) -> f64 {
        let n = column.len() as f64;
        let size = f64::from(binary_exponent(largest(column)));
        let factor = scale_by_exp2(1.0, -size.clamp(-1000.0, 1000.0));
        let values = || prefix.iter().zip(column).map(|(prefix, x)| prefix * (x * factor));
        let centred = self.scale == MonomialScale::Standardized;
        let mean = if centred { values().sum::<f64>() / n } else { 0.0 };
        let variance = values().map(|x| (x - mean) * (x - mean)).sum::<f64>() / n;
        if is_constant(variance, mean) {
            return 0.0;
        }
        values().zip(&self.dual).map(|(x, dual)| (x - mean) * dual).sum::<f64>() / variance.sqrt()
    }
}

/// A monomial whose variance is at most this share of its mean square counts as constant, on every route.
const CONSTANT: f64 = 1e-9;

/// Whether a monomial with this variance and mean has nothing to standardise.
fn is_constant(variance: f64, mean: f64) -> bool {
    variance <= CONSTANT * (variance + mean * mean)
}

/// `columns' vectors`.
fn product(columns: &[f64], vectors: &[f64], n: usize, out: &mut Vec<f64>) {
    let (width, count) = (columns.len() / n, vectors.len() / n);
    out.resize(GROUP * LASTS, 0.0);
    let out = MatMut::from_column_major_slice_mut(&mut out[..width * count], width, count);
    let columns = MatRef::from_column_major_slice(columns, n, width);
    let vectors = MatRef::from_column_major_slice(vectors, n, count);
    matmul(out, Accum::Replace, columns.transpose(), vectors, 1.0, Par::Seq);
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; 8];
    for (a, b) in a.chunks(8).zip(b.chunks(8)) {
        sums.iter_mut().zip(a.iter().zip(b)).for_each(|(sum, (a, b))| *sum += a * b);
    }
    sums.iter().sum()
}

impl Stripe {
    /// The features of a degree, in parts that depend on their number alone.
    fn of_block(block: Block, inputs: usize) -> Vec<Self> {
        let prefixes = match block.degree {
            0 | 1 => 1,
            degree => usize::try_from(&count(inputs, degree - 1, block.distinct)).unwrap_or(usize::MAX),
        };
        let length = prefixes.div_ceil(MAX_STRIPES).max(1);
        let part = |start: usize| Self { block, prefixes: start..(start + length).min(prefixes) };
        (0..prefixes).step_by(length).map(part).collect()
    }
}

/// Prefixes that differ in their last variable alone, and what belongs to them.
struct Group {
    samples: usize,
    size: usize,
    prefixes: Vec<usize>,
    /// `prod x_ij` over the prefix, its product with the dual vector, and its square.
    products: Vec<f64>,
    duals: Vec<f64>,
    squares: Vec<f64>,
    u: Vec<f64>,
    norms: Vec<f64>,
    sums: Vec<f64>,
}

impl Group {
    fn new(samples: usize, size: usize) -> Self {
        let room = || vec![0.0; samples * GROUP];
        let (products, duals, squares) = (room(), room(), room());
        let (u, norms, sums) = (Vec::new(), Vec::new(), Vec::new());
        Self { samples, size, prefixes: Vec::new(), products, duals, squares, u, norms, sums }
    }

    fn push(&mut self, prefix: &[usize]) {
        self.prefixes.extend_from_slice(prefix);
    }

    fn clear(&mut self) {
        self.prefixes.clear();
    }

    fn len(&self) -> usize {
        self.prefixes.len() / self.size
    }

    fn prefix(&self, at: usize) -> &[usize] {
        &self.prefixes[at * self.size..(at + 1) * self.size]
    }

    /// The first variable that can follow a prefix.
    fn first(&self, at: usize, distinct: bool) -> usize {
        self.prefix(at)[self.size - 1] + usize::from(distinct)
    }

    fn form(&mut self, columns: &[f64], dual: &[f64], scale: MonomialScale) {
        let n = self.samples;
        let mut shared = vec![1.0; n];
        for &variable in &self.prefixes[..self.size - 1] {
            shared.iter_mut().zip(&columns[variable * n..]).for_each(|(product, x)| *product *= x);
        }
        for at in 0..self.len() {
            let last = self.prefix(at)[self.size - 1];
            let own = at * n..(at + 1) * n;
            let products = &mut self.products[own.clone()];
            products.iter_mut().zip(&shared).zip(&columns[last * n..]).for_each(|((out, shared), x)| *out = shared * x);
            self.duals[own.clone()].iter_mut().zip(&*products).zip(dual).for_each(|((out, x), dual)| *out = x * dual);
            if scale != MonomialScale::Raw {
                self.squares[own].iter_mut().zip(&*products).for_each(|(out, x)| *out = x * x);
            }
        }
    }
}

impl FeatureMap<'_> {
    /// Refuses samples whose features leave the range.
    fn check_products(&self, x: &FeatureMatrix<'_>) -> Result<(), Error> {
        let mut column = vec![0.0; x.samples()];
        let mut worst = (0, 0, 0.0_f64);
        for j in 0..x.features() {
            x.column_into(j, &mut column);
            for (row, &value) in column.iter().enumerate() {
                if value.abs() > worst.2.abs() {
                    worst = (row, j, value);
                }
            }
        }
        for Block { degree, .. } in self.blocks.iter().filter(|block| block.degree > 0) {
            let different: Vec<usize> = (0..*degree).collect();
            let c = self.root_of_coefficient(&different, self.root_of_scale(*degree));
            let limit = (MAX_ENTRY / c.max(1.0)).powf(1.0 / *degree as f64);
            let (row, column, value) = worst;
            if value.abs() > limit {
                return Err(Error::BadEntry { what: "X", row, column, value, limit });
            }
        }
        Ok(())
    }

    /// `||Phi(x_i)||_q` of every sample.
    fn sample_norms(&self, x: &FeatureMatrix<'_>, memory: Memory) -> Result<Vec<f64>, Error> {
        let (q, inputs) = (self.exponent.q(), self.inputs);
        let mut columns = memory.zeros(COPIES, x.samples().saturating_mul(inputs), INSTEAD)?;
        columns.chunks_exact_mut(x.samples()).enumerate().for_each(|(j, column)| x.column_into(j, column));
        let norm = |row: usize| {
            let entry = |j: usize| columns[j * x.samples() + row];
            let sums = power_sums(self.kernel, inputs, |j| entry(j).abs().powf(q));
            // Interactions from power sums lose digits where one power dwarfs the others.
            let exact = sums.len() == 1;
            let in_range = exact && sums[0].is_finite() && sums[0] >= f64::MIN_POSITIVE;
            if in_range && check_range(self.kernel, "X", row, sums[0]).is_ok() {
                return Ok((self.kernel.ln_value(&sums).1 / q).exp());
            }
            // Otherwise the listed features of this sample tell.
            let point: Vec<f64> = (0..inputs).map(entry).collect();
            let divided = self.phi(&point)?;
            let largest = (0..divided.len()).max_by(|&a, &b| divided[a].abs().total_cmp(&divided[b].abs()));
            let Some((at, monomial)) = largest.and_then(|at| Some((at, self.monomial(at)?))) else { return Ok(0.0) };
            let variables: Vec<usize> =
                monomial.factors().iter().flat_map(|&(variable, power)| iter::repeat_n(variable, power)).collect();
            let c = self.root_of_coefficient(&variables, self.root_of_scale(variables.len()));
            Ok(if divided[at] == 0.0 { 0.0 } else { c * monomial.value(&point) / divided[at] })
        };
        (0..x.samples()).map(norm).collect()
    }
}
