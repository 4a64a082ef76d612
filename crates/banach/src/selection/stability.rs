//! Stability selection: which monomials are terms of most halves of the samples.
//!
//! N. Meinshausen and P. Buhlmann, "Stability selection", J. R. Stat. Soc. B 72 (2010); complementary pairs and the bounds
//! below are those of R. Shah and R. Samworth, "Variable selection with error control: another look at stability
//! selection", J. R. Stat. Soc. B 75 (2013).

use std::collections::HashMap;

use crate::{
    Account, Error, FeatureMatrix,
    error::{Parameter, Remedy},
    kernel::Monomial,
    loss::Targets,
    solver::{SplitMix64, shuffle},
    sparse::SparseSpec,
};

/// Pairs of subsamples at most: more is a mistake, and would take all memory.
const MOST_PAIRS: usize = 100_000;

/// What stability selection is told.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StabilityOptions {
    /// Pairs of complementary halves, B; there are twice as many searches. From 1 to 100000.
    pub pairs: usize,
    /// The share of the searches that must name a monomial for it to be stable, above 1/2.
    pub threshold: f64,
    /// The halves for the same seed are the same, on every machine and in every version.
    pub seed: u64,
}

impl Default for StabilityOptions {
    /// Fifty pairs and the threshold 3/4.
    fn default() -> Self {
        Self { pairs: 50, threshold: 0.75, seed: 0 }
    }
}

impl StabilityOptions {
    fn check(&self) -> Result<(), Error> {
        let pairs = (1..=MOST_PAIRS).contains(&self.pairs);
        Parameter::Pairs.check(self.pairs, pairs, "a whole number from 1 to 100000")?;
        let threshold = self.threshold > 0.5 && self.threshold <= 1.0;
        Parameter::Threshold.check(self.threshold, threshold, "a number above 1/2, at most 1")
    }
}

/// How often a monomial is a term.
#[derive(Debug, Clone, PartialEq)]
pub struct StableMonomial {
    /// The monomial.
    pub monomial: Monomial,
    /// The share of the searches that name it.
    pub frequency: f64,
}

/// What the halves agree on.
#[derive(Debug, Clone, PartialEq)]
pub struct Stability {
    /// Every monomial that a search has named, the most frequent first. Equally frequent ones are ordered by degree, then by variables.
    pub entries: Vec<StableMonomial>,
    /// The searches.
    pub subsamples: usize,
    /// The mean number of terms that a search names.
    pub selected_per_fit: f64,
    /// Searches that ended without their proof and count all the same.
    pub unproven: usize,
    /// What was asked.
    pub options: StabilityOptions,
    /// The monomials that could be named.
    pub dictionary: f64,
}

impl Stability {
    /// The stable monomials: those that reach the threshold.
    pub fn stable(&self) -> &[StableMonomial] {
        // Frequencies are ratios of whole numbers, which the threshold may mean exactly.
        let reached = self.options.threshold * (1.0 - 4.0 * f64::EPSILON);
        &self.entries[..self.entries.partition_point(|entry| entry.frequency >= reached)]
    }

    /// A bound on the expected number of stable monomials that are named no more often than by chance, `q^2/((2 pi - 1) N)` with q terms per
    /// search, the threshold pi and N monomials that could be named.
    ///
    /// *By chance* is a probability of at most `q/N`, that of a random choice. No assumption is made on the data but that samples are
    /// exchangeable.
    pub fn expected_false(&self) -> f64 {
        self.selected_per_fit.powi(2) / self.dictionary / (2.0 * self.options.threshold - 1.0)
    }

    /// A smaller bound, which holds if the distribution of how many of the pairs name a monomial in both halves has one
    /// mode. `None` where it does not apply: below the threshold `1/2 + 1/B`, or beyond `q/N = 1/sqrt 3`.
    pub fn expected_false_unimodal(&self) -> Option<f64> {
        let pairs = (self.subsamples / 2) as f64;
        let (threshold, chance) = (self.options.threshold, self.selected_per_fit / self.dictionary);
        let least = (0.5 + chance * chance).min(0.5 + 0.5 / pairs + 0.75 * chance * chance);
        if pairs == 0.0 || threshold < 0.5 + 1.0 / pairs || threshold <= least || chance > 1.0 / 3.0_f64.sqrt() {
            return None;
        }
        let factor = if threshold <= 0.75 {
            1.0 / (2.0 * (2.0 * threshold - 1.0 - 0.5 / pairs))
        } else {
            4.0 * (1.0 - threshold + 0.5 / pairs) / (1.0 + 1.0 / pairs)
        };
        Some(factor * chance * self.selected_per_fit)
    }
}

/// How often each monomial is a term where only half of the samples are known.
///
/// - Solves: the search of a [`SparseSpec`] for both halves of every pair.
/// - Given: targets and optional weights of samples, as [`SparseSpec::run`] takes them.
/// - Returns: the monomials by the share of the searches that name them, with bounds on how many are there by chance.
/// - Cost: `2 pairs` searches of half of the samples, one after another; `done` is told after each how many there were.
///
/// Classes are spread evenly over both halves. Evidence grows with the samples, so a half names fewer terms than the whole.
pub fn stability(
    spec: &SparseSpec,
    x: &FeatureMatrix<'_>,
    (y, sample_weight): (&[f64], Option<&[f64]>),
    options: &StabilityOptions,
    account: &Account,
    mut done: impl FnMut(usize),
) -> Result<Stability, Error> {
    Error::check_length("y", y.len(), x.samples())?;
    let mut run = StabilityRun::new(spec, (y, sample_weight), options)?;
    let _half = account
        .take(4 * (x.samples() as u64) * (x.features() as u64))
        .map_err(|short| short.error("half of the samples", &[Remedy::Do("take fewer columns")]))?;
    while let Some(half) = run.half() {
        let own = x.select_samples(half)?;
        run.search(&own, None, account)?;
        done(run.finished());
    }
    Ok(run.stability())
}

/// [`stability`] one half after another, for tables that are made anew of the samples of every half, as by steps that learn from them.
///
/// ```
/// use banach::{Account, FeatureMatrix, Memory, Spec, selection::{StabilityOptions, StabilityRun}};
/// let (x, y) = ((0..20).map(f64::from).collect::<Vec<_>>(), (0..20).map(|i| f64::from(3 * i)).collect::<Vec<_>>());
/// let spec = Spec::default().few_terms(Some(1))?;
/// let mut run = StabilityRun::new(&spec, (&y, None), &StabilityOptions { pairs: 2, ..StabilityOptions::default() })?;
/// while let Some(half) = run.half() {
///     let own: Vec<f64> = half.iter().map(|&i| x[i] / 2.0).collect();
///     // The only column of the half is the one that is known as 7.
///     run.search(&FeatureMatrix::from_columns(own.len(), 1, own)?, Some(&[7]), &Account::new(Memory::available()))?;
/// }
/// assert_eq!(run.stability().stable()[0].monomial.factors(), [(7, 1)]);
/// # Ok::<(), banach::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct StabilityRun {
    spec: SparseSpec,
    y: Vec<f64>,
    sample_weight: Option<Vec<f64>>,
    options: StabilityOptions,
    halves: Vec<Vec<usize>>,
    finished: usize,
    counts: HashMap<Monomial, usize>,
    unproven: usize,
    selected: usize,
    dictionary: f64,
}

impl StabilityRun {
    /// No half is searched yet.
    pub fn new(
        spec: &SparseSpec,
        (y, sample_weight): (&[f64], Option<&[f64]>),
        options: &StabilityOptions,
    ) -> Result<Self, Error> {
        options.check()?;
        if let Some(weights) = sample_weight {
            Error::check_length("sample_weight", weights.len(), y.len())?;
        }
        let halves = halves(y, sample_weight, spec.loss.targets() == Targets::Signs, options)?;
        Ok(Self {
            spec: spec.clone(),
            y: y.to_vec(),
            sample_weight: sample_weight.map(<[f64]>::to_vec),
            options: *options,
            halves,
            finished: 0,
            counts: HashMap::new(),
            unproven: 0,
            selected: 0,
            dictionary: f64::INFINITY,
        })
    }

    /// The samples of the half that is to be searched next, in increasing order; `None` after the last one.
    pub fn half(&self) -> Option<&[usize]> {
        self.halves.get(self.finished).map(Vec::as_slice)
    }

    /// How many halves were searched.
    pub fn finished(&self) -> usize {
        self.finished
    }

    /// Searches the next half, in its own table. `columns` says by which numbers its variables are known, their places if `None`; where halves
    /// have different ones, the smallest number of monomials is the one that counts, which makes the bounds larger.
    pub fn search(&mut self, x: &FeatureMatrix<'_>, columns: Option<&[usize]>, account: &Account) -> Result<(), Error> {
        let Some(half) = self.halves.get(self.finished) else { return Ok(()) };
        let of_half = |values: &[f64]| -> Vec<f64> { half.iter().map(|&i| values[i]).collect() };
        let (y, weights) = (of_half(&self.y), self.sample_weight.as_deref().map(of_half));
        Error::check_length("y", y.len(), x.samples())?;
        if let Some(columns) = columns {
            Error::check_length("columns", columns.len(), x.features())?;
        }
        let found = self.spec.run(x, &y, weights.as_deref(), account)?;
        self.unproven += usize::from(!found.certificate().holds());
        self.selected += found.terms().len();
        self.dictionary = self.dictionary.min(found.dictionary());
        for term in found.terms() {
            let known = |&(j, exponent): &(usize, usize)| (columns.map_or(j, |columns| columns[j]), exponent);
            let factors: Vec<(usize, usize)> = term.monomial.factors().iter().map(known).collect();
            *self.counts.entry(Monomial::new(&factors)).or_default() += 1;
        }
        self.finished += 1;
        Ok(())
    }

    /// What the halves that were searched agree on.
    pub fn stability(self) -> Stability {
        let mut counts: Vec<(Monomial, usize)> = self.counts.into_iter().collect();
        counts.sort_by(|(a, a_count), (b, b_count)| {
            b_count.cmp(a_count).then_with(|| a.degree().cmp(&b.degree())).then_with(|| a.cmp(b))
        });
        let share = |count: usize| count as f64 / self.finished.max(1) as f64;
        let entry = |(monomial, count): (Monomial, usize)| StableMonomial { monomial, frequency: share(count) };
        Stability {
            entries: counts.into_iter().map(entry).collect(),
            subsamples: self.finished,
            selected_per_fit: share(self.selected),
            unproven: self.unproven,
            options: self.options,
            dictionary: self.dictionary,
        }
    }
}

/// Pairs of neighbours that are alike, and then pairs of the samples that are left over. Of an odd number the last one is left out.
fn pairs_of(order: &[usize], alike: impl Fn(usize, usize) -> bool) -> Vec<[usize; 2]> {
    let (mut pairs, mut waiting): (Vec<[usize; 2]>, Vec<usize>) = (Vec::new(), Vec::new());
    for &i in order {
        match waiting.iter().position(|&j| alike(i, j)) {
            Some(at) => pairs.push([waiting.remove(at), i]),
            None => waiting.push(i),
        }
    }
    pairs.extend(waiting.as_chunks().0);
    pairs
}

/// The samples of both halves of every pair, in increasing order.
fn halves(
    y: &[f64],
    sample_weight: Option<&[f64]>,
    classes: bool,
    options: &StabilityOptions,
) -> Result<Vec<Vec<usize>>, Error> {
    let counts = |i: &usize| sample_weight.is_none_or(|weights| weights[*i] > 0.0);
    let mut present: Vec<usize> = (0..y.len()).filter(counts).collect();
    if present.len() < 2 {
        return Err(Error::parameter(Parameter::Samples, present.len() as f64, "2 or more"));
    }
    if classes {
        present.sort_by(|&i, &j| y[i].total_cmp(&y[j]));
        if let Some(class) = present.chunk_by(|&i, &j| y[i] == y[j]).find(|class| class.len() < 2) {
            let allowed = "labels that at least two samples of positive weight share";
            return Err(Error::BadValue { what: "y", row: class[0], value: y[class[0]], allowed });
        }
    }
    let mut random = SplitMix64::new(options.seed);
    let mut halves = Vec::with_capacity(2 * options.pairs);
    for _ in 0..options.pairs {
        shuffle(&mut present, &mut random);
        let pairs = pairs_of(&present, |i, j| !classes || y[i] == y[j]);
        for half in 0..2 {
            let mut own: Vec<usize> = pairs.iter().map(|pair| pair[half]).collect();
            own.sort_unstable();
            halves.push(own);
        }
    }
    Ok(halves)
}
