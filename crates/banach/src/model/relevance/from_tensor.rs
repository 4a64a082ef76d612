//! How `q Q(alpha) = ||w||_p^p` divides among variables, pairs of variables and degrees, from the tensor.
//!
//! Setting `x_j = 0` leaves the monomials without j, so the part of K on those with it is `K(z) - K(z without z_j)`: a
//! number for every entry of the tensor, which is contracted as K itself is. Only this difference is summed, never two sums
//! that are nearly equal; that of interactions is a product, `z_j` times the interactions of the other variables. For a normalised kernel the features are `phi_k(x)/||Phi(x)||_q`, and the divisor stays that of
//! all features.

use std::{mem::take, ops::RangeInclusive};

use rayon::prelude::*;

use crate::{
    Error, Evaluation, Gram, Parameter, QForm, Scratch,
    kernel::{Anova, TensorKernel, involving},
    numeric::{dot_in_lanes, scaled_copy, sum_in_lanes},
    tensor::{FillBuffers, MAX_COLUMNS, MAX_ROWS, MAX_STRIPES, Staircase, Stripe, Tensor, TensorTile, TileFiller},
    workers::checkpoint,
};

/// Entries that are handled together: what belongs to them stays in the second-level cache.
const CHUNK: usize = 4096;
/// Variables whose products are formed together.
const VARIABLES: usize = 64;
/// Highest degree of a spectrum.
const MAX_SPECTRUM: usize = 128;
/// Degrees beyond which this share is left, at most, are not told apart.
const NEGLIGIBLE_SHARE: f64 = 1e-12;

/// Shares of `q Q(alpha)`.
#[derive(Debug, Clone)]
pub(super) struct TensorShares {
    /// `ln (q Q(alpha))`; minus infinity for `Q = 0`, where all shares are 0.
    pub ln_power_sum: f64,
    /// On the monomials that involve a variable, for the variables that were asked for.
    pub variables: Vec<f64>,
    /// On the monomials that involve both of two of them: a square, row after row, with [`variables`](Self::variables) on
    /// its diagonal.
    pub pairs: Vec<f64>,
    /// On the monomials of a degree.
    pub degrees: Vec<(usize, f64)>,
    /// How far rounding may have moved a share.
    pub error: f64,
}

impl TensorShares {
    /// Bytes that finding the shares of so many variables, or of all their pairs, takes beside a streamed tensor: sums for every
    /// stripe, and for every thread those of its tile.
    pub(super) fn bytes(kernel: &dyn TensorKernel, variables: usize, pairs: bool) -> u64 {
        let (count, sums) = (variables as u64, kernel.symmetric() as u64);
        let part = (count + MAX_SPECTRUM as u64).saturating_add(if pairs { count.saturating_mul(count) } else { 0 });
        let together = if pairs { count } else { VARIABLES as u64 };
        let (rows, columns) = (MAX_ROWS as u64, MAX_COLUMNS as u64);
        let tile = (2 * sums + 1) * rows * columns + together * (rows + columns) + 8 * CHUNK as u64 * (2 * sums + 4);
        let threads = rayon::current_num_threads() as u64;
        8 * (part.saturating_mul(MAX_STRIPES as u64 + 1)).saturating_add(threads * tile)
    }
}

/// The share of every variable and of every degree.
pub(super) fn variable_shares(gram: &Gram<'_>, alpha: &[f64]) -> Result<TensorShares, Error> {
    shares(gram, alpha, &(0..gram.matrix().features()).collect::<Vec<_>>(), false)
}

/// The shares of all pairs of some variables.
pub(super) fn pair_shares(gram: &Gram<'_>, alpha: &[f64], variables: &[usize]) -> Result<TensorShares, Error> {
    shares(gram, alpha, variables, true)
}

fn shares(gram: &Gram<'_>, alpha: &[f64], variables: &[usize], pairs: bool) -> Result<TensorShares, Error> {
    let q = gram.exponent().q();
    let mut copy = vec![0.0; alpha.len()];
    scaled_copy(alpha, 0.0, &mut copy);
    // Everything is relative, so that the scale of alpha does not count.
    let mut scratch = Scratch::new();
    let (mut evaluation, mut of_alpha) = (Evaluation::default(), Evaluation::default());
    gram.evaluate(&copy, &mut evaluation, &mut scratch);
    gram.evaluate(alpha, &mut of_alpha, &mut scratch);
    let power_sum = q * evaluation.values[0];
    let square = if pairs { variables.len().pow(2) } else { 0 };
    if power_sum == 0.0 {
        return Ok(TensorShares {
            ln_power_sum: f64::NEG_INFINITY,
            variables: vec![0.0; variables.len()],
            pairs: vec![0.0; square],
            degrees: Vec::new(),
            error: 0.0,
        });
    }
    let moved: f64 = copy.iter().zip(&evaluation.roundings).map(|(alpha, rounding)| alpha.abs() * rounding).sum();
    let degrees = if pairs { Vec::new() } else { spectrum(gram, &copy, power_sum)? };
    let asked = SharesWanted { variables, pairs, degrees: &degrees };
    let ShareSums { total, variables, pairs, degrees: energies } = read(gram.tensor(), &copy, &asked);
    let all = variables.iter().chain(&pairs).chain(&energies);
    if !total.is_finite() || total <= 0.0 || all.clone().any(|part| part.is_nan()) {
        let allowed = "a scale, and samples, at which parts of the kernel are within the range of numbers";
        return Err(Error::Parameter { parameter: Parameter::Kernel, got: gram.kernel().name(), allowed });
    }
    let share = |part: &f64| (part / total).clamp(0.0, 1.0);
    Ok(TensorShares {
        ln_power_sum: of_alpha.ln_values[0] + q.ln(),
        variables: variables.iter().map(share).collect(),
        pairs: pairs.iter().map(share).collect(),
        degrees: degrees.iter().zip(&energies).map(|(term, energy)| (term.degree, share(energy))).collect(),
        error: moved / power_sum,
    })
}

/// One read of the tensor, entries in stripes that depend on the number of samples alone.
fn read(tensor: &Tensor<'_>, alpha: &[f64], asked: &SharesWanted<'_>) -> ShareSums {
    let Staircase { heads, tails, stripes, .. } = &tensor.layout;
    let (mut of_heads, mut of_tails) = (vec![0.0; heads.len()], vec![0.0; tails.len()]);
    heads.weights(alpha, &mut of_heads);
    tails.weights(alpha, &mut of_tails);
    let reader = Reader { products: tensor.products(), heads: &of_heads, tails: &of_tails, asked };
    let read_stripe = |work: &mut (FillBuffers, Buffers), stripe: &Stripe| {
        let mut part = ShareSums::new(asked);
        for tile in &tensor.layout.tiles[stripe.tiles.clone()] {
            checkpoint();
            reader.read_tile(tile, &mut part, &mut work.0, &mut work.1);
        }
        part
    };
    let parts: Vec<ShareSums> = stripes.par_iter().map_init(Default::default, read_stripe).collect();
    let mut whole = ShareSums::new(asked);
    parts.iter().for_each(|part| whole.add(part));
    whole
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
    let ln_t: Vec<f64> = diagonal_sums(tensor).iter().map(|t| (t * kernel.scale().unwrap_or(1.0)).ln()).collect();
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

/// `p_1 = sum_j x_ij^q` of every sample.
fn diagonal_sums(tensor: &Tensor<'_>) -> Vec<f64> {
    let mut column = vec![0.0; tensor.samples()];
    let mut sums = vec![0.0; tensor.samples()];
    for j in 0..tensor.matrix.features() {
        tensor.matrix.column_into(j, &mut column);
        sums.iter_mut().zip(&column).for_each(|(sum, x)| *sum += x.powi(tensor.order() as i32));
    }
    sums
}

/// What is to be found.
struct SharesWanted<'a> {
    variables: &'a [usize],
    pairs: bool,
    degrees: &'a [DegreeTerm],
}

/// One degree of a kernel: `a p^s` with `p = scale p_1`, or `a e_s(z)`.
struct DegreeTerm {
    degree: usize,
    a: f64,
    /// The kernel of all interactions of this degree, for a kernel that is made of them.
    interactions: Option<Anova>,
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
struct ShareSums {
    total: f64,
    variables: Vec<f64>,
    pairs: Vec<f64>,
    degrees: Vec<f64>,
}

impl ShareSums {
    fn new(asked: &SharesWanted<'_>) -> Self {
        let count = asked.variables.len();
        Self {
            total: 0.0,
            variables: vec![0.0; count],
            pairs: vec![0.0; if asked.pairs { count * count } else { 0 }],
            degrees: vec![0.0; asked.degrees.len()],
        }
    }

    fn add(&mut self, other: &Self) {
        let add = |to: &mut [f64], from: &[f64]| to.iter_mut().zip(from).for_each(|(to, from)| *to += from);
        self.total += other.total;
        add(&mut self.variables, &other.variables);
        add(&mut self.pairs, &other.pairs);
        add(&mut self.degrees, &other.degrees);
    }
}

struct Reader<'a> {
    products: TileFiller<'a>,
    /// `W` of the heads and tails.
    heads: &'a [f64],
    tails: &'a [f64],
    asked: &'a SharesWanted<'a>,
}

/// Working memory of one thread.
#[derive(Default)]
struct Buffers {
    /// Of a tile: the sums that the kernel is a function of, the same without the variables that are read, and the factor of
    /// every entry in S.
    sums: Vec<f64>,
    others: Vec<f64>,
    weights: Vec<f64>,
    /// Of a tile and some variables: `prod_(i in H) x_ij` and `prod_(i in T) x_ij`, variable after variable.
    rows: Vec<f64>,
    columns: Vec<f64>,
    /// Of a chunk.
    own_sums: Vec<f64>,
    own_others: Vec<f64>,
    values: Vec<f64>,
    z: Vec<f64>,
    involving: Vec<f64>,
    rest: Vec<f64>,
}

/// Some columns of a block: their entries within the tile, rows and tails.
struct Chunk {
    entries: std::ops::Range<usize>,
    height: usize,
    tails: std::ops::Range<usize>,
}

impl Reader<'_> {
    fn read_tile(&self, tile: &TensorTile, part: &mut ShareSums, work: &mut FillBuffers, buffers: &mut Buffers) {
        let (kernel, length) = (self.products.kernel, tile.entries.len());
        let orders = kernel.symmetric();
        buffers.sums.resize(orders * length, 0.0);
        self.products.sums(orders, &[], tile, &mut buffers.sums, work);
        self.form_weights(tile, &mut buffers.weights);
        let mut shifts = Vec::new();
        if kernel.normalized() {
            self.products.form_shifts(tile, work);
            shifts = take(&mut work.shifts);
        }
        let shifts = |chunk: &Chunk| kernel.normalized().then(|| &shifts[chunk.entries.clone()]);
        for (at, variables) in self.asked.variables.chunks(self.together()).enumerate() {
            self.form_products(tile, variables, work, buffers);
            if orders > 1 {
                buffers.others.resize(orders * length, 0.0);
                self.products.sums(orders, variables, tile, &mut buffers.others, work);
            }
            for chunk in self.chunks(tile) {
                self.read_chunk(tile, &chunk, at == 0, shifts(&chunk), variables, at * VARIABLES, part, buffers);
            }
        }
    }

    /// Variables that are read together: all of them, where pairs are wanted.
    fn together(&self) -> usize {
        if self.asked.pairs { self.asked.variables.len().max(1) } else { VARIABLES }
    }

    fn form_weights(&self, tile: &TensorTile, weights: &mut Vec<f64>) {
        weights.resize(tile.entries.len(), 0.0);
        for block in self.products.layout.tile_blocks(tile) {
            let heads = &self.heads[block.rows.clone()];
            for (tail, column) in block.tails.zip(weights[block.entries].chunks_mut(heads.len())) {
                column.iter_mut().zip(heads).for_each(|(weight, head)| *weight = head * self.tails[tail]);
            }
        }
        self.products.divide_ties(tile, weights);
    }

    fn form_products(&self, tile: &TensorTile, variables: &[usize], work: &mut FillBuffers, buffers: &mut Buffers) {
        let (height, width) = (tile.rows.len(), tile.tails.len());
        buffers.rows.clear();
        buffers.columns.clear();
        for &j in variables {
            self.products.form_rows(&tile.rows, &(j..j + 1), work);
            self.products.form_columns(&tile.tails, &(j..j + 1), work);
            buffers.rows.extend_from_slice(&work.rows[..height]);
            buffers.columns.extend_from_slice(&work.columns[..width]);
        }
    }

    fn chunks(&self, tile: &TensorTile) -> Vec<Chunk> {
        let mut chunks = Vec::new();
        for block in self.products.layout.tile_blocks(tile) {
            let height = block.rows.len();
            let step = (CHUNK / height).max(1);
            for start in block.tails.clone().step_by(step) {
                let tails = start..(start + step).min(block.tails.end);
                let first = block.entries.start + (start - block.tails.start) * height;
                chunks.push(Chunk { entries: first..first + tails.len() * height, height, tails });
            }
        }
        chunks
    }

    #[expect(clippy::too_many_arguments, reason = "a chunk of a tile with all that belongs to it")]
    fn read_chunk(
        &self,
        tile: &TensorTile,
        chunk: &Chunk,
        first: bool,
        shifts: Option<&[f64]>,
        variables: &[usize],
        place: usize,
        part: &mut ShareSums,
        buffers: &mut Buffers,
    ) {
        let kernel = self.products.kernel;
        let (length, count) = (tile.entries.len(), chunk.entries.len());
        let Buffers { sums, others, weights, rows, columns, own_sums, own_others, values, z, involving, rest } =
            buffers;
        let weights = &weights[chunk.entries.clone()];
        let own = |of_tile: &[f64], own: &mut Vec<f64>| {
            own.clear();
            of_tile.chunks(length).for_each(|sums| own.extend_from_slice(&sums[chunk.entries.clone()]));
        };
        own(sums, own_sums);
        apply(kernel, own_sums, shifts, count, values);
        if first {
            part.total += dot_in_lanes(weights, values);
            self.read_degrees(own_sums, weights, shifts, &mut part.degrees);
        }
        z.resize(variables.len() * count, 0.0);
        involving.resize(variables.len() * count, 0.0);
        for (at, (z, involving)) in z.chunks_mut(count).zip(involving.chunks_mut(count)).enumerate() {
            let rows = &rows[at * tile.rows.len()..][..chunk.height];
            let columns = &columns[at * tile.tails.len()..][chunk.tails.start - tile.tails.start..];
            for (z, column) in z.chunks_mut(chunk.height).zip(columns) {
                z.iter_mut().zip(rows).for_each(|(z, row)| *z = row * column);
            }
            if kernel.symmetric() == 1 {
                kernel.apply_involving(own_sums, values, z, shifts, involving);
            }
        }
        if kernel.symmetric() > 1 {
            own(others, own_others);
            interactions(self.degrees(), own_others, z, shifts, count, involving);
        }
        for (share, involving) in part.variables[place..].iter_mut().zip(involving.chunks(count)) {
            *share += dot_in_lanes(weights, involving);
        }
        match (self.asked.pairs, kernel.symmetric() > 1) {
            (false, _) => {}
            (true, false) => read_pairs(kernel, weights, shifts, part, own_sums, z, involving, [values, rest]),
            (true, true) => read_pairs_of_interactions(self.degrees(), weights, shifts, part, own_others, z, involving),
        }
    }

    /// The degrees of a kernel of interactions.
    fn degrees(&self) -> RangeInclusive<usize> {
        let (lowest, highest) = self.products.kernel.degrees();
        lowest..=highest.unwrap_or(lowest)
    }

    /// The sum of every degree.
    fn read_degrees(&self, sums: &[f64], weights: &[f64], shifts: Option<&[f64]>, out: &mut [f64]) {
        let count = weights.len();
        let scale = self.products.kernel.scale().unwrap_or(1.0);
        let mut terms: Vec<f64> = match shifts {
            Some(shifts) => weights.iter().zip(shifts).map(|(weight, shift)| weight * (-shift).exp()).collect(),
            None => weights.to_vec(),
        };
        let mut before = DegreeTerm { degree: 0, a: 1.0, interactions: None };
        let mut values = Vec::new();
        for (term, out) in self.asked.degrees.iter().zip(out) {
            if let Some(interactions) = &term.interactions {
                apply(interactions, sums, shifts, count, &mut values);
                *out += term.a * dot_in_lanes(weights, &values);
                continue;
            }
            // From one power to the next, so that neither the power nor its coefficient leaves the range.
            let ratio = term.a / before.a;
            let steps = term.degree - before.degree;
            if steps == 0 {
                terms.iter_mut().for_each(|term| *term *= ratio);
            }
            for step in 0..steps {
                let factor = if step == 0 { ratio * scale } else { scale };
                terms.iter_mut().zip(sums).for_each(|(term, p_1)| *term *= factor * p_1);
            }
            *out += sum_in_lanes(&terms);
            before = DegreeTerm { degree: term.degree, a: term.a, interactions: None };
        }
    }
}

/// The part on monomials with both of two variables is that with the second, less that with the second but not the
/// first.
#[expect(clippy::too_many_arguments, reason = "a chunk of a tile with all that belongs to it")]
fn read_pairs(
    kernel: &dyn TensorKernel,
    weights: &[f64],
    shifts: Option<&[f64]>,
    part: &mut ShareSums,
    sums: &[f64],
    z: &[f64],
    involving: &[f64],
    [values, rest]: [&mut Vec<f64>; 2],
) {
    let count = weights.len();
    let variables = z.len() / count;
    for a in 0..variables {
        let z_a = &z[a * count..(a + 1) * count];
        let without: Vec<f64> = sums.iter().zip(z_a).map(|(sum, z)| sum - z).collect();
        apply(kernel, &without, shifts, count, values);
        rest.resize(count, 0.0);
        part.pairs[a * variables + a] += dot_in_lanes(weights, &involving[a * count..(a + 1) * count]);
        for b in a + 1..variables {
            kernel.apply_involving(&without, values, &z[b * count..(b + 1) * count], shifts, rest);
            let all = &involving[b * count..(b + 1) * count];
            rest.iter_mut().zip(all).for_each(|(rest, all)| *rest = all - *rest);
            let both = dot_in_lanes(weights, rest);
            part.pairs[a * variables + b] += both;
            part.pairs[b * variables + a] += both;
        }
    }
}

/// The part of interactions on those with each of some variables, `K exp(-shift)`, given the sums of the others.
fn interactions(
    degrees: RangeInclusive<usize>,
    others: &[f64],
    z: &[f64],
    shifts: Option<&[f64]>,
    count: usize,
    out: &mut [f64],
) {
    involving(degrees, others, z, count, out);
    if let Some(shifts) = shifts {
        let factors: Vec<f64> = shifts.iter().map(|shift| (-shift).exp()).collect();
        for out in out.chunks_mut(count) {
            out.iter_mut().zip(&factors).for_each(|(out, factor)| *out *= factor);
        }
    }
}

/// The interactions with both of two variables are `z_a` times those with the second, one degree lower, without the first.
fn read_pairs_of_interactions(
    degrees: RangeInclusive<usize>,
    weights: &[f64],
    shifts: Option<&[f64]>,
    part: &mut ShareSums,
    others: &[f64],
    z: &[f64],
    involving: &[f64],
) {
    let count = weights.len();
    let variables = z.len() / count;
    let lower = degrees.start() - 1..=degrees.end() - 1;
    for a in 0..variables {
        part.pairs[a * variables + a] += dot_in_lanes(weights, &involving[a * count..(a + 1) * count]);
        let rest: Vec<f64> =
            z.chunks(count).enumerate().filter(|(b, _)| *b != a).flat_map(|(_, z)| z).copied().collect();
        let mut both = vec![0.0; rest.len()];
        interactions(lower.clone(), others, &rest, shifts, count, &mut both);
        let z_a = &z[a * count..(a + 1) * count];
        for (b, both) in (a + 1..variables).zip(both.chunks_mut(count).skip(a)) {
            both.iter_mut().zip(z_a).for_each(|(both, z)| *both *= z);
            let both = dot_in_lanes(weights, both);
            part.pairs[a * variables + b] += both;
            part.pairs[b * variables + a] += both;
        }
    }
}

/// `K exp(-shift)` of every entry.
fn apply(kernel: &dyn TensorKernel, sums: &[f64], shifts: Option<&[f64]>, count: usize, values: &mut Vec<f64>) {
    values.clear();
    values.extend_from_slice(&sums[..kernel.symmetric() * count]);
    match shifts {
        None => kernel.apply(values, count),
        Some(shifts) => kernel.apply_shifted(values, shifts),
    }
    values.truncate(count);
}
