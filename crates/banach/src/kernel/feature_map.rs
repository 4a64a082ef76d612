//! The features of a kernel, listed.

use std::iter;

use num_bigint::BigUint;

use super::{
    MAX_DEGREE, Monomial, TensorKernel, check_range,
    range::{ln_norms, symmetric_sums},
    selections::{Selections, count},
};
use crate::{
    Error, Exponent, FeatureMatrix, Memory,
    data::MAX_ENTRY,
    error::{Parameter, Remedy},
    workers::checkpoint,
};

/// Most features that are listed.
const MAX_FEATURES: u64 = 1 << 32;
/// Columns that are filled before it is asked whether the work was ended.
const COLUMNS_BETWEEN_CHECKS: usize = 1024;

/// What may not fit, and what to do then.
const FEATURE_MATRIX: &str = "the feature matrix";
/// Instead of a list of features.
pub(crate) const INSTEAD: &[Remedy] = &[
    Remedy::Lower(Parameter::Degree),
    Remedy::Do("take fewer samples"),
    Remedy::Choose(Parameter::Route, "tiles"),
    Remedy::Choose(Parameter::Route, "gram"),
];

/// The feature map `Phi` of a kernel in d variables: `phi_k(x) = c_k^(1/q) x^k` for every monomial `x^k`, divided by
/// `||Phi(x)||_q` if the kernel is normalised.
///
/// Features are ordered by degree, and within a degree as the words of their variables are in a dictionary:
/// `1, x0, x1, x2, x0^2, x0 * x1, x0 * x2, x1^2, x1 * x2, x2^2`, the order of scikit-learn's `PolynomialFeatures`. They are
/// generated, not stored.
///
/// ```
/// use banach::{Exponent, kernel::{FeatureMap, Polynomial}};
///
/// let kernel = Polynomial::new(2, 1.0, 0.0)?;
/// let map = FeatureMap::new(&kernel, 2, Exponent::new(4.0 / 3.0)?, None)?;
/// let listed: Vec<String> = map.iter().map(|(monomial, c)| format!("{c} {monomial}")).collect();
/// assert_eq!(listed, ["1 x0^2", "2 x0 * x1", "1 x1^2"]);
/// # Ok::<(), banach::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct FeatureMap<'k> {
    pub(super) kernel: &'k dyn TensorKernel,
    pub(super) inputs: usize,
    pub(super) exponent: Exponent,
    pub(super) blocks: Vec<Block>,
    /// Whether these are all features of the kernel.
    complete: bool,
}

/// The features of one degree.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Block {
    pub degree: usize,
    /// Products of distinct variables only.
    pub distinct: bool,
}

impl Block {
    /// The features of a degree, if the kernel has any. `p_1^s` has every monomial of degree s, `e_s` those without
    /// powers; a kernel between the two would be listed with some coefficients 0.
    fn new(kernel: &dyn TensorKernel, degree: usize) -> Option<Self> {
        let ones = vec![1; degree];
        let power = degree >= 2 && kernel.unscaled_coefficient(&[&[2], &ones[2..]].concat()) > 0.0;
        (power || kernel.unscaled_coefficient(&ones) > 0.0).then_some(Self { degree, distinct: degree >= 2 && !power })
    }

    pub(crate) fn all(kernel: &dyn TensorKernel, max_degree: usize) -> impl Iterator<Item = Self> {
        (kernel.degrees().0..=max_degree).filter_map(move |degree| Self::new(kernel, degree))
    }
}

/// The number of features of a kernel in d variables, card(K), without listing them; `None` if it is infinite.
pub fn cardinality(kernel: &dyn TensorKernel, inputs: usize) -> Option<BigUint> {
    let (_, highest) = kernel.degrees();
    let blocks = Block::all(kernel, highest?);
    Some(blocks.map(|block| count(inputs, block.degree, block.distinct)).sum())
}

impl<'k> FeatureMap<'k> {
    /// The features of a kernel in `inputs` variables, up to `max_degree`; a kernel with features of every degree
    /// needs one.
    pub fn new(
        kernel: &'k dyn TensorKernel,
        inputs: usize,
        exponent: Exponent,
        max_degree: Option<usize>,
    ) -> Result<Self, Error> {
        if inputs == 0 {
            return Err(Error::Empty { what: "the list of variables" });
        }
        let (lowest, highest) = kernel.degrees();
        let refuse = |allowed| {
            let got = max_degree.map_or("none".to_owned(), |degree| degree.to_string());
            Error::parameter(Parameter::Degree, got, allowed)
        };
        let degree = match (max_degree, highest) {
            (Some(degree), Some(highest)) => degree.min(highest),
            (Some(degree), None) | (None, Some(degree)) => degree,
            (None, None) => return Err(refuse("a number, as this kernel has features of every degree")),
        };
        if degree < lowest || degree > MAX_DEGREE {
            return Err(refuse("from the lowest degree of the kernel to 64"));
        }
        let blocks: Vec<Block> = Block::all(kernel, degree).collect();
        let map = Self { kernel, inputs, exponent, blocks, complete: highest == Some(degree) };
        let cardinality: BigUint = map.counts().sum();
        if cardinality > BigUint::from(MAX_FEATURES) {
            let kernel = kernel.name();
            return Err(Error::TooManyFeatures { kernel, inputs, cardinality });
        }
        if cardinality == BigUint::ZERO {
            return Err(refuse("degrees at which the kernel has a feature in that many variables"));
        }
        if map.blocks.iter().any(|block| !kernel.coefficient(&vec![1; block.degree]).is_finite()) {
            return Err(refuse("degrees at which the coefficients are in range; lower the degree or the scale"));
        }
        Ok(map)
    }

    /// The number of features of every block.
    fn counts(&self) -> impl Iterator<Item = BigUint> {
        self.blocks.iter().map(|block| count(self.inputs, block.degree, block.distinct))
    }

    /// The number of features that are listed.
    #[expect(clippy::len_without_is_empty, reason = "a map without features is refused")]
    pub fn len(&self) -> usize {
        self.counts().map(|count| usize::try_from(&count).unwrap_or(usize::MAX)).sum()
    }

    /// The feature with this index.
    pub fn monomial(&self, index: usize) -> Option<Monomial> {
        let mut rest = BigUint::from(index);
        for (block, count) in self.blocks.iter().zip(self.counts()) {
            if rest < count {
                let variables = Selections::new(self.inputs, block.degree, block.distinct)?.nth(rest);
                return Some(Monomial::of_sorted(&variables));
            }
            rest -= count;
        }
        None
    }

    /// The monomials with their coefficients `c_k`, in order.
    pub fn iter(&self) -> impl Iterator<Item = (Monomial, f64)> {
        self.blocks.iter().flat_map(move |block| {
            let mut selections = Selections::new(self.inputs, block.degree, block.distinct);
            iter::from_fn(move || {
                let current = selections.as_mut()?;
                let (monomial, c) = (Monomial::of_sorted(current.variables()), self.coefficient(current.variables()));
                if current.advance().is_none() {
                    selections = None;
                }
                Some((monomial, c))
            })
        })
    }

    fn coefficient(&self, variables: &[usize]) -> f64 {
        with_exponents(variables, |exponents| self.kernel.coefficient(exponents))
    }

    fn unscaled_coefficient(&self, variables: &[usize]) -> f64 {
        with_exponents(variables, |exponents| self.kernel.unscaled_coefficient(exponents))
    }

    /// `Phi(x)`.
    pub fn phi(&self, x: &[f64]) -> Result<Vec<f64>, Error> {
        Error::check_length("x", x.len(), self.inputs)?;
        Error::check_values("x", x, "finite numbers", f64::is_finite)?;
        self.columns(x, 1, Memory::limit(u64::MAX))
    }

    /// The feature matrix `Phi_n` (23) `[featmat]` of the samples in the rows of `x`: one column per monomial; those of products
    /// that the samples exclude ([`FeatureMatrix::with_excluded`]) are 0. With its copy of `x` it is kept within the memory allowed.
    pub fn matrix(&self, x: &FeatureMatrix<'_>, memory: Memory) -> Result<FeatureMatrix<'static>, Error> {
        Error::check_length("a row of X", x.features(), self.inputs)?;
        memory.check(FEATURE_MATRIX, self.bytes(x.samples()), INSTEAD)?;
        let mut columns = vec![0.0; x.samples() * x.features()];
        for (j, column) in columns.chunks_exact_mut(x.samples()).enumerate() {
            x.column_into(j, column);
        }
        let mut phi = self.columns(&columns, x.samples(), memory)?;
        if let Some(excluded) = x.excluded() {
            let of_monomials = phi.chunks_exact_mut(x.samples()).zip(self.iter());
            let no_monomials = of_monomials.filter(|(_, (monomial, _))| excluded.excludes(&monomial.variables()));
            no_monomials.for_each(|(column, _)| column.fill(0.0));
        }
        FeatureMatrix::from_columns(x.samples(), self.len(), phi)
    }

    /// The bytes that [`matrix`](Self::matrix) takes for n samples; `None` beyond all counting.
    pub fn bytes(&self, samples: usize) -> Option<u64> {
        let numbers = self.len().checked_add(self.inputs)?.checked_mul(samples)?;
        u64::try_from(numbers).ok()?.checked_mul(8)
    }

    /// `Phi_n` by columns, from the columns of X.
    fn columns(&self, x: &[f64], samples: usize, memory: Memory) -> Result<Vec<f64>, Error> {
        let mut phi = memory.zeros(FEATURE_MATRIX, self.len().saturating_mul(samples), INSTEAD)?;
        let mut columns = phi.chunks_exact_mut(samples);
        for block in &self.blocks {
            self.fill(*block, x, samples, &mut columns);
        }
        let outside = |value: &f64| !value.is_finite() || value.abs() > MAX_ENTRY;
        if let Some(at) = phi.iter().position(outside) {
            let (row, column) = (at % samples, at / samples);
            return Err(Error::BadEntry { what: "Phi_n", row, column, value: phi[at], limit: MAX_ENTRY });
        }
        if self.kernel.normalized() {
            let norms = self.norms(x, samples)?;
            for column in phi.chunks_exact_mut(samples) {
                column.iter_mut().zip(&norms).filter(|(_, norm)| **norm > 0.0).for_each(|(phi, norm)| *phi /= norm);
            }
        }
        Ok(phi)
    }

    /// Fills the columns of one degree. Neighbours share all variables but the last few, and their products.
    fn fill<'b>(&self, block: Block, x: &[f64], samples: usize, columns: impl Iterator<Item = &'b mut [f64]>) {
        let Some(mut selections) = Selections::new(self.inputs, block.degree, block.distinct) else { return };
        let scale = self.root_of_scale(block.degree);
        // Products of the first 0, 1, 2, ... variables.
        let mut products = vec![1.0; (block.degree + 1) * samples];
        let mut changed = 0;
        for (at, phi) in columns.enumerate() {
            if at % COLUMNS_BETWEEN_CHECKS == 0 {
                checkpoint();
            }
            let variables = selections.variables();
            for (place, &variable) in variables.iter().enumerate().skip(changed) {
                let (before, after) = products.split_at_mut((place + 1) * samples);
                let column = &x[variable * samples..(variable + 1) * samples];
                for ((after, before), x) in after.iter_mut().zip(&before[place * samples..]).zip(column) {
                    *after = before * x;
                }
            }
            let c = self.root_of_coefficient(variables, scale);
            phi.iter_mut().zip(&products[block.degree * samples..]).for_each(|(phi, product)| *phi = c * product);
            match selections.advance() {
                Some(place) => changed = place,
                None => return,
            }
        }
    }

    /// `scale^(s/q)`.
    fn root_of_scale(&self, degree: usize) -> f64 {
        self.kernel.scale().unwrap_or(1.0).powf(1.0 / self.exponent.q()).powi(degree as i32)
    }

    /// `c_k^(1/q)` from the root of the scale: `c_k` itself may be out of range.
    fn root_of_coefficient(&self, variables: &[usize], root_of_scale: f64) -> f64 {
        self.unscaled_coefficient(variables).powf(1.0 / self.exponent.q()) * root_of_scale
    }

    /// `||Phi(x_i)||_q` of every sample, with the features that are not listed.
    fn norms(&self, x: &[f64], samples: usize) -> Result<Vec<f64>, Error> {
        let q = self.exponent.q();
        if self.complete {
            let column = |j: usize, out: &mut [f64]| out.copy_from_slice(&x[j * samples..(j + 1) * samples]);
            let norms = ln_norms(self.kernel, self.exponent, samples, self.inputs, column);
            return Ok(norms.into_iter().map(f64::exp).collect());
        }
        (0..samples)
            .map(|row| {
                let sums = symmetric_sums(self.kernel, self.inputs, |j| x[j * samples + row].abs().powf(q));
                check_range(self.kernel, "X", row, sums[0])?;
                Ok((self.kernel.ln_value(&sums).1 / q).exp())
            })
            .collect()
    }
}

/// Hands on how often each variable of a sorted list occurs.
fn with_exponents(variables: &[usize], f: impl Fn(&[usize]) -> f64) -> f64 {
    let mut exponents = [0; MAX_DEGREE];
    let runs = variables.chunk_by(|a, b| a == b);
    let used = exponents.iter_mut().zip(runs).map(|(exponent, run)| *exponent = run.len()).count();
    f(&exponents[..used])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{Anova, Exponential, Linear, Normalized, Polynomial, PowerSeries, Series};

    fn exponent() -> Exponent {
        Exponent::new(4.0 / 3.0).expect("inside")
    }

    fn listed(kernel: &dyn TensorKernel, inputs: usize, max_degree: Option<usize>) -> Vec<String> {
        let map = FeatureMap::new(kernel, inputs, exponent(), max_degree).expect("finite");
        map.iter().map(|(monomial, _)| monomial.to_string()).collect()
    }

    /// The order of `PolynomialFeatures` in scikit-learn.
    #[test]
    fn features_are_in_the_documented_order() {
        let all = ["1", "x0", "x1", "x2", "x0^2", "x0 * x1", "x0 * x2", "x1^2", "x1 * x2", "x2^2"];
        assert_eq!(listed(&Polynomial::new(2, 1.0, 1.0).expect("valid"), 3, None), all);
        assert_eq!(listed(&Exponential::new(1.0).expect("valid"), 3, Some(2)), all);
        assert_eq!(listed(&Polynomial::new(2, 1.0, 1.0).expect("valid"), 3, Some(1)), all[..4]);
        assert_eq!(
            listed(&PowerSeries::new(Series::Cosh, 1.0).expect("valid"), 2, Some(3)),
            ["1", "x0^2", "x0 * x1", "x1^2"]
        );
        let interactions = ["x0 * x1", "x0 * x2", "x1 * x2", "x0 * x1 * x2"];
        assert_eq!(listed(&Anova::new(2, 5).expect("valid"), 3, None), interactions);
        assert_eq!(listed(&Linear, 2, None), ["x0", "x1"]);
    }

    #[test]
    fn monomials_carry_names_and_values() {
        let kernel = Polynomial::new(3, 1.0, 0.0).expect("valid");
        let map = FeatureMap::new(&kernel, 2, exponent(), None).expect("finite");
        let monomial = map.monomial(1).expect("listed");
        assert_eq!(monomial.factors(), [(0, 2), (1, 1)]);
        assert_eq!((monomial.degree(), monomial.value(&[3.0, 5.0])), (3, 45.0));
        assert_eq!(monomial.with_names(&["age", "height"]), "age^2 * height");
        assert_eq!(monomial.with_names(&["age"]), "age^2 * x1");
    }

    /// `phi_k(x) = (s!/k!)^(1/q) x^k`, and what the paper says of the polynomial kernel.
    #[test]
    fn features_are_scaled_monomials() {
        let kernel = Polynomial::new(2, 1.0, 0.0).expect("valid");
        let map = FeatureMap::new(&kernel, 2, exponent(), None).expect("finite");
        let phi = map.phi(&[3.0, -5.0]).expect("in range");
        for (phi, expected) in phi.iter().zip([9.0, -15.0 * 2.0_f64.powf(0.25), 25.0]) {
            assert!((phi - expected).abs() < 1e-14 * expected.abs());
        }
        let normalized = Normalized(kernel);
        for p in [2.0, 4.0 / 3.0, 1.37, 1.001] {
            let exponent = Exponent::new(p).expect("inside");
            let phi =
                FeatureMap::new(&normalized, 2, exponent, None).expect("finite").phi(&[3.0, -5.0]).expect("in range");
            let norm = phi.iter().map(|phi| phi.abs().powf(exponent.q())).sum::<f64>().powf(1.0 / exponent.q());
            assert!((norm - 1.0).abs() < 1e-12, "{p}");
        }
        // What is not listed counts in the norm all the same: exp((3^4 + 5^4)/1000)^(1/4).
        let exponential = Normalized(Exponential::new(0.001).expect("valid"));
        let map = FeatureMap::new(&exponential, 2, exponent(), Some(0)).expect("finite");
        let phi = map.phi(&[3.0, -5.0]).expect("in range");
        assert!((phi[0] - (-0.706_f64 / 4.0).exp()).abs() < 1e-15 && phi.len() == 1);
        let zero = FeatureMap::new(&normalized, 2, exponent(), None).expect("finite").phi(&[0.0, 0.0]);
        assert_eq!(zero, Ok(vec![0.0; 3]));
    }

    #[test]
    fn matrices_hold_the_features_of_every_sample() {
        let rows = [[0.0, 2.0, -1.0], [0.5, 0.0, 3.0], [0.0, 0.0, 0.0], [1.5, -0.7, 0.2]];
        let dense = FeatureMatrix::from_rows(4, 3, rows.as_flattened()).expect("valid");
        let sparse = FeatureMatrix::from_sparse_columns(
            4,
            3,
            vec![0, 2, 4, 7],
            vec![1, 3, 0, 3, 0, 1, 3],
            vec![0.5, 1.5, 2.0, -0.7, -1.0, 3.0, 0.2],
        )
        .expect("valid");
        let exponential = Exponential::new(0.01).expect("valid");
        let kernels: [(&dyn TensorKernel, _); 4] = [
            (&Polynomial::new(3, 0.3, 0.2).expect("valid"), None),
            (&Normalized(Anova::new(1, 2).expect("valid")), None),
            (&Normalized(exponential), Some(3)),
            (&exponential, Some(4)),
        ];
        for (kernel, max_degree) in kernels {
            let map = FeatureMap::new(kernel, 3, exponent(), max_degree).expect("finite");
            for x in [&dense, &sparse] {
                let phi = map.matrix(x, Memory::default()).expect("in range");
                assert_eq!((phi.samples(), phi.features()), (4, map.len()));
                let mut column = [0.0; 4];
                for k in 0..map.len() {
                    phi.column_into(k, &mut column);
                    for (row, value) in rows.iter().zip(column) {
                        assert_eq!(map.phi(row).expect("in range")[k], value, "{kernel:?}");
                    }
                }
            }
        }
    }

    /// The paper's second experiment.
    #[test]
    fn the_size_of_the_second_experiment_is_no_trouble() {
        let kernel = Polynomial::new(2, 1.0, 0.0).expect("valid");
        assert_eq!(cardinality(&kernel, 650), Some(211_575_u32.into()));
        let map = FeatureMap::new(&kernel, 650, exponent(), None).expect("finite");
        assert_eq!(map.len(), 211_575);
        assert_eq!(map.monomial(211_574).expect("last").to_string(), "x649^2");
        let x: Vec<f64> = (0..2 * 650).map(|i| f64::from(i).sin()).collect();
        let x = FeatureMatrix::from_columns(2, 650, &x).expect("valid");
        let phi = map.matrix(&x, Memory::default()).expect("fits");
        assert_eq!(phi.features(), 211_575);
        let needed = 2 * 8 * (211_575 + 650);
        assert!(map.matrix(&x, Memory::limit(needed)).is_ok());
        match map.matrix(&x, Memory::limit(needed - 1)).expect_err("one byte is missing") {
            Error::Memory { needed: got, allowed, instead, .. } => {
                assert_eq!((got, allowed), (needed, needed - 1));
                assert!(instead.contains(&Remedy::Lower(Parameter::Degree)));
            }
            other => panic!("{other}"),
        }
    }

    #[test]
    fn what_cannot_be_listed_is_refused() {
        let exponential = Exponential::new(1.0).expect("valid");
        let polynomial = Polynomial::new(10, 1.0, 0.0).expect("valid");
        let refused = |kernel: &dyn TensorKernel, inputs, max_degree| {
            FeatureMap::new(kernel, inputs, exponent(), max_degree).expect_err("cannot be listed").to_string()
        };
        assert!(refused(&exponential, 3, None).contains("features of every degree"));
        assert!(refused(&exponential, 3, Some(65)).contains("to 64"));
        assert!(refused(&polynomial, 3, Some(9)).contains("lowest degree"));
        assert!(refused(&polynomial, 0, None).contains("empty"));
        // C(1009, 10)
        assert!(refused(&polynomial, 1000, None).contains("288216356245328994082600"));
        assert!(refused(&Anova::new(3, 3).expect("valid"), 2, None).contains("has a feature"));
        assert!(refused(&Exponential::new(1e300).expect("valid"), 2, Some(2)).contains("in range"));
        assert_eq!(cardinality(&exponential, 3), None);

        let map = FeatureMap::new(&polynomial, 2, exponent(), None).expect("finite");
        assert!(matches!(map.phi(&[1.0]), Err(Error::Shape { got: 1, expected: 2, .. })));
        assert!(matches!(map.phi(&[1.0, f64::NAN]), Err(Error::BadValue { row: 1, .. })));
        assert!(matches!(map.phi(&[1e100, 0.0]), Err(Error::BadEntry { what: "Phi_n", column: 0, .. })));
    }
}
