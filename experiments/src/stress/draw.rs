//! Random problems, from a seed.

use std::fmt;

use banach::{
    Error, Exponent, FeatureMatrix, Memory, QForm, Route,
    form::{Features, Gram, KernelFeatures, Tiles},
    kernel::{Anova, Exponential, MonomialScale, Normalized, Polynomial, PowerSeries, TensorKernel},
    loss::{LossSpec, Targets},
};
use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;

/// A kernel, by what the oracle needs to know of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Kernel {
    Linear,
    Polynomial {
        degree: usize,
        coef0: f64,
    },
    Anova {
        min: usize,
        max: usize,
    },
    /// `exp(scale t)`, all of it or some of its degrees.
    Exponential {
        scale: f64,
        degrees: Option<(usize, usize)>,
    },
}

/// A problem.
#[derive(Debug, Clone)]
pub(super) struct Draw {
    pub n: usize,
    pub d: usize,
    /// Column after column.
    pub x: Vec<f64>,
    pub y: Vec<f64>,
    pub weights: Vec<f64>,
    pub intercept: bool,
    pub loss: LossSpec,
    pub exponent: Exponent,
    pub kernel: Kernel,
    pub normalized: bool,
    pub scale: MonomialScale,
    pub gamma: f64,
    pub tolerance: f64,
    /// What was done to the columns, for messages.
    trouble: &'static str,
}

struct Random(Xoshiro256PlusPlus);

impl Random {
    fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.0.random_range(0..choices.len())]
    }

    fn chance(&mut self, probability: f64) -> bool {
        self.0.random_range(0.0..1.0) < probability
    }

    fn normal(&mut self) -> f64 {
        StandardNormal.sample(&mut self.0)
    }

    /// A power of ten between two of them.
    fn power(&mut self, low: f64, high: f64) -> f64 {
        10_f64.powf(self.0.random_range(low..high))
    }
}

impl Draw {
    pub(super) fn new(seed: u64) -> Self {
        let mut random = Random(Xoshiro256PlusPlus::seed_from_u64(seed));
        let kernel = match random.0.random_range(0..8) {
            0..=2 => Kernel::Linear,
            3 => Kernel::Polynomial { degree: random.one_of(&[2, 3]), coef0: random.one_of(&[0.0, 1.0, 0.3]) },
            4 | 5 => {
                random.one_of(&[(1, 2), (2, 2), (1, 3), (2, 3), (1, 1)].map(|(min, max)| Kernel::Anova { min, max }))
            }
            6 => Kernel::Exponential { scale: random.power(-3.0, 0.0), degrees: None },
            _ => Kernel::Exponential {
                scale: random.power(-2.0, 0.0),
                degrees: Some(random.one_of(&[(1, 2), (0, 3), (2, 3)])),
            },
        };
        let infinite = matches!(kernel, Kernel::Exponential { degrees: None, .. });
        let (n, d) = match (kernel, infinite) {
            (Kernel::Linear, _) => {
                random.one_of(&[(12, 300), (40, 4), (60, 10), (10, 3), (20, 60), (25, 25), (5, 1), (120, 3)])
            }
            (_, true) => (random.0.random_range(3..9), random.0.random_range(1..7)),
            _ => (random.0.random_range(4..26), random.0.random_range(2..7)),
        };
        let normalized = kernel != Kernel::Linear && random.chance(0.2);
        let even = random.chance(0.5) || infinite;
        let p = if even {
            random.one_of(if infinite { &[2.0, 4.0 / 3.0] } else { &[2.0, 4.0 / 3.0, 4.0 / 3.0, 1.2, 8.0 / 7.0] })
        } else {
            random.one_of(&[1.9, 1.5, 4.0 / 3.0, 1.25, 1.1, 1.05, 1.02, 1.01, 1.001, 1.0005])
        };
        let near = |(a, b): &(u64, u64)| (*a as f64 / *b as f64 - p).abs() < 1e-12;
        let exponent = [(2, 1), (4, 3), (6, 5), (8, 7)].into_iter().find(near);
        let exponent = match exponent {
            Some((a, b)) => Exponent::from_fraction(a, b),
            None => Exponent::new(p),
        };
        let scale = if normalized || infinite || kernel == Kernel::Linear {
            MonomialScale::Raw
        } else {
            random.one_of(&[MonomialScale::Raw, MonomialScale::Raw, MonomialScale::Unit, MonomialScale::Standardized])
        };
        let (x, trouble) = columns(&mut random, kernel, n, d);
        let loss = random.one_of(&LossSpec::ALL);
        let y = targets(&mut random, loss, &x, n, d);
        // Without an intercept, standardised monomials do not see a constant; both are drawn.
        let intercept = random.chance(0.5);
        let weights = if random.chance(0.2) {
            (0..n).map(|i| if i > 1 && random.chance(0.1) { 0.0 } else { random.power(-2.0, 2.0) }).collect()
        } else {
            vec![1.0; n]
        };
        Self {
            n,
            d,
            x,
            y,
            weights,
            intercept,
            loss,
            exponent: exponent.expect("inside"),
            kernel,
            normalized,
            scale,
            gamma: random.power(-8.0, 8.0),
            tolerance: random.one_of(&[1e-3, 1e-6, 1e-8, 1e-8, 1e-8, 1e-10]),
            trouble,
        }
    }

    /// The routes that can hold it.
    pub(super) fn routes(&self) -> Vec<Route> {
        let finite = !matches!(self.kernel, Kernel::Exponential { degrees: None, .. });
        let tensor = self.exponent.order().is_ok() && self.scale == MonomialScale::Raw && self.tensor_is_small();
        let holds = |route: &Route| match route {
            Route::Features => finite,
            Route::Tiles => finite && self.kernel != Kernel::Linear,
            _ => tensor,
        };
        Route::ALL.into_iter().filter(holds).collect()
    }

    fn tensor_is_small(&self) -> bool {
        let q = self.exponent.q();
        (0..q as usize).map(|k| (self.n + k) as f64 / (k + 1) as f64).product::<f64>() < 3e5
    }

    /// The form of a route.
    pub(super) fn form(&self, route: Route) -> Result<Box<dyn QForm + '_>, Error> {
        let matrix = FeatureMatrix::from_columns(self.n, self.d, &self.x[..])?;
        let (kernel, exponent, memory) = (self.kernel()?, self.exponent, || Memory::limit(1 << 30));
        Ok(match route {
            Route::Features if self.kernel == Kernel::Linear => Box::new(Features::new(matrix, exponent)),
            Route::Features => {
                Box::new(KernelFeatures::with_monomial_scale(&matrix, kernel, self.scale, exponent, memory())?)
            }
            Route::Tiles => Box::new(Tiles::new(matrix, kernel, self.scale, exponent, memory())?),
            Route::Gram => Box::new(Gram::new(matrix, kernel, exponent, memory())?),
            Route::Streamed => Box::new(Gram::streamed(matrix, kernel, exponent, memory())?),
            other => unreachable!("problems are drawn for no route {other}"),
        })
    }

    fn kernel(&self) -> Result<Box<dyn TensorKernel>, Error> {
        let kernel: Box<dyn TensorKernel> = match self.kernel {
            Kernel::Linear => Box::new(banach::kernel::Linear),
            Kernel::Polynomial { degree, coef0 } => Box::new(Polynomial::new(degree, 1.0, coef0)?),
            Kernel::Anova { min, max } => Box::new(Anova::new(min, max)?),
            Kernel::Exponential { scale, degrees: None } => Box::new(Exponential::new(scale)?),
            Kernel::Exponential { scale, degrees: Some((min, max)) } => {
                Box::new(PowerSeries::cut(&Exponential::new(scale)?, min, max)?)
            }
        };
        Ok(if self.normalized { Box::new(Normalized(kernel)) } else { kernel })
    }
}

/// Data with something wrong with them, and what.
fn columns(random: &mut Random, kernel: Kernel, n: usize, d: usize) -> (Vec<f64>, &'static str) {
    let linear = kernel == Kernel::Linear;
    let mut x: Vec<f64> = (0..n * d).map(|_| random.normal()).collect();
    let trouble = random.0.random_range(0..11);
    let name = match trouble {
        0 => {
            let size = random.power(-6.0, 6.0);
            x[..n].iter_mut().for_each(|x| *x *= size);
            "one column of another size"
        }
        1 => {
            let most = if linear { 12.0 } else { 4.0 };
            for column in x.chunks_mut(n) {
                let size = random.power(-most, most);
                column.iter_mut().for_each(|x| *x *= size);
            }
            "columns of all sizes"
        }
        2 if linear => {
            let size = random.power(-150.0, 150.0);
            x.iter_mut().for_each(|x| *x *= size);
            "very large or very small"
        }
        3 => {
            let offset = random.power(0.0, 6.0);
            x[..n].iter_mut().for_each(|x| *x += offset);
            "a column far from zero"
        }
        4 if d > 1 => {
            let (first, rest) = x.split_at_mut(n);
            rest[..n].copy_from_slice(first);
            "two columns alike"
        }
        5 => {
            for i in 1..n {
                let factor = random.normal();
                x.chunks_mut(n).for_each(|column| column[i] = factor * column[0]);
            }
            "rank one"
        }
        6 => {
            x.iter_mut().for_each(|x| *x = x.powi(5));
            "heavy tails"
        }
        7 => {
            x.fill(0.0);
            let at = random.0.random_range(0..n * d);
            x[at] = 1.0;
            "one cell that is not zero"
        }
        8 => {
            for i in n / 2..n {
                x.chunks_mut(n).for_each(|column| column[i] = column[i - n / 2]);
            }
            "rows alike"
        }
        _ => "nothing",
    };
    (x, name)
}

fn targets(random: &mut Random, loss: LossSpec, x: &[f64], n: usize, d: usize) -> Vec<f64> {
    let size = x[..n].iter().fold(0.0_f64, |size, x| size.max(x.abs())).max(f64::MIN_POSITIVE);
    let noise = random.one_of(&[0.0, 0.3, 1.0]);
    let mut y: Vec<f64> =
        (0..n).map(|i| x[i] / size - x[(d - 1) * n + i].clamp(-1.0, 1.0) + noise * random.normal()).collect();
    if loss.targets() == Targets::Signs {
        y.iter_mut().for_each(|y| *y = if *y < 0.0 { -1.0 } else { 1.0 });
    } else if loss.targets() == Targets::Counts {
        let size = random.power(-1.0, 6.0);
        y.iter_mut().for_each(|y| *y = (size * y.clamp(-2.0, 2.0).exp()).round());
        // Counts that are all 0 are refused.
        y[0] += 1.0;
    } else if random.chance(0.2) {
        let (size, offset) = (random.power(-3.0, 3.0), random.one_of(&[0.0, 1.0, 1e6]));
        y.iter_mut().for_each(|y| *y = size * *y + offset);
    }
    y
}

impl fmt::Display for Draw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { n, d, kernel, normalized, scale, loss, gamma, tolerance, intercept, trouble, .. } = self;
        let p = self.exponent.p();
        let normalized = if *normalized { ", normalised" } else { "" };
        write!(
            f,
            "{n} x {d} ({trouble}), {kernel:?}{normalized}, {scale} monomials, p = {p:.4}, {loss:?}, gamma = {gamma:.2e}, \
             intercept {intercept}, tolerance {tolerance:.0e}"
        )
    }
}
