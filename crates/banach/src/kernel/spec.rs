//! Kernels as values: what users choose by name, and what a file can hold.

use std::{fmt, str::FromStr, sync::Arc};

use serde::{Deserialize, Serialize};

use super::{Anova, Exponential, Linear, Normalized, Polynomial, PowerSeries, TensorKernel};
use crate::{
    Error,
    error::{Parameter, names},
};

/// The kernels that are known by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KernelName {
    /// The variables themselves.
    Linear,
    /// All products with powers.
    Poly,
    /// Products of different variables.
    Anova,
    /// Products of every degree, higher ones with less weight.
    Exp,
}

names! {
    KernelName, Parameter::Kernel, "linear, poly, anova or exp";
    Linear "linear", Poly "poly", Anova "anova", Exp "exp"
}

impl KernelName {
    /// One line of help: the products of variables in it.
    pub fn help(self) -> &'static str {
        match self {
            Self::Linear => "The variables themselves",
            Self::Poly => "All products with powers",
            Self::Anova => "Products of different variables",
            Self::Exp => "Products of every degree, higher ones with less weight",
        }
    }
}

/// One degree, or a range of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Degrees {
    /// The lowest.
    pub min: usize,
    /// The highest.
    pub max: usize,
    /// Whether a range was asked for, be it of one degree.
    pub range: bool,
}

impl Degrees {
    /// The degrees of poly and anova unless told otherwise: the variables and their products. Products alone explain little where a variable acts
    /// by itself.
    pub const USUAL: Self = Self { min: 1, max: 2, range: true };

    /// One degree.
    pub fn one(degree: usize) -> Self {
        Self { min: degree, max: degree, range: false }
    }

    /// A range.
    pub fn range(min: usize, max: usize) -> Result<Self, Error> {
        if min <= max {
            return Ok(Self { min, max, range: true });
        }
        let allowed = "a range that begins with the lower degree";
        Err(Error::parameter(Parameter::Degree, format!("{min}..{max}"), allowed))
    }
}

impl FromStr for Degrees {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let refused = |_| Error::parameter(Parameter::Degree, format!("{text:?}"), "one, as 2, or a range, as 1..2");
        let number = |text: &str| text.trim().parse::<usize>().map_err(refused);
        let range = text.split_once("..=").or_else(|| text.split_once("..")).or_else(|| text.split_once('-'));
        match range {
            Some((min, max)) => Self::range(number(min)?, number(max)?),
            None => Ok(Self::one(number(text)?)),
        }
    }
}

/// A kernel as users choose it: a name, and what they said of the rest.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KernelChoice {
    /// Which kernel.
    pub name: KernelName,
    /// The degree of the products, or a range; 1 to 2 for poly and anova ([`Degrees::USUAL`]), and all degrees for exp, if not given.
    pub degree: Option<Degrees>,
    /// The constant of the polynomial; if not given, 0 with one degree, 1 with a range of degrees.
    pub coef0: Option<f64>,
    /// The scale of poly and exp; 1 if not given.
    pub scale: Option<f64>,
    /// Whether the features of a sample are divided by their norm.
    pub normalize: bool,
}

impl KernelChoice {
    /// The kernel of a name, with nothing said of the rest.
    pub fn new(name: KernelName) -> Self {
        Self { name, degree: None, coef0: None, scale: None, normalize: false }
    }

    /// The same said of several kernels: each takes what it has. What none of them has stays, and is refused as it is of one.
    ///
    /// ```
    /// use banach::kernel::{Degrees, KernelChoice, KernelName};
    ///
    /// let said = KernelChoice { degree: Some(Degrees::one(3)), ..KernelChoice::new(KernelName::Poly) };
    /// let each = said.each(&[KernelName::Linear, KernelName::Poly]);
    /// assert_eq!(each, [KernelChoice::new(KernelName::Linear), said]);
    /// assert!(said.each(&[KernelName::Linear])[0].spec().is_err());
    /// ```
    #[must_use]
    pub fn each(&self, names: &[KernelName]) -> Vec<Self> {
        let takes = |name: KernelName, has: fn(KernelName) -> bool| has(name) || !names.iter().copied().any(has);
        let of = |&name: &KernelName| Self {
            name,
            degree: self.degree.filter(|_| takes(name, |name| name != KernelName::Linear)),
            coef0: self.coef0.filter(|_| takes(name, |name| name == KernelName::Poly)),
            scale: self.scale.filter(|_| takes(name, |name| matches!(name, KernelName::Poly | KernelName::Exp))),
            normalize: self.normalize,
        };
        names.iter().map(of).collect()
    }

    /// The kernel that was chosen. What belongs to another kernel is refused.
    pub fn spec(&self) -> Result<KernelSpec, Error> {
        let &Self { name, degree, coef0, scale, normalize } = self;
        if let (Some(coef0), false) = (coef0, name == KernelName::Poly) {
            return Err(Error::parameter(Parameter::Coef0, coef0, "no value, but for the kernel poly"));
        }
        if let (Some(scale), KernelName::Linear | KernelName::Anova) = (scale, name) {
            let allowed = "no value, but for the kernels poly and exp; multiply the columns";
            return Err(Error::parameter(Parameter::Scale, scale, allowed));
        }
        let (scale, products) = (scale.unwrap_or(1.0), matches!(name, KernelName::Poly | KernelName::Anova));
        // A polynomial without a constant has one degree.
        let usual = if coef0 == Some(0.0) { Degrees::one(2) } else { Degrees::USUAL };
        let spec = match (name, degree.or(products.then_some(usual))) {
            (KernelName::Linear, None | Some(Degrees { min: 1, max: 1, .. })) => KernelSpec::Linear,
            (KernelName::Linear, Some(Degrees { max, .. })) => {
                let allowed = "1 for the kernel linear; choose poly or anova for others";
                return Err(Error::parameter(Parameter::Degree, max, allowed));
            }
            (KernelName::Poly, Some(Degrees { min, max, range: true })) => {
                let coef0 = coef0.unwrap_or(1.0);
                let allowed = "a number > 0 with a range of degrees; 0 leaves one of them";
                Parameter::Coef0.check(coef0, coef0 != 0.0 || min >= max, allowed)?;
                KernelSpec::Poly { degree: max, scale, coef0, degrees: Some((min, max)) }
            }
            (KernelName::Poly, degree) => {
                let degree = degree.map_or(2, |degree| degree.max);
                KernelSpec::Poly { degree, scale, coef0: coef0.unwrap_or(0.0), degrees: None }
            }
            (KernelName::Anova, degree) => {
                let Degrees { min, max, .. } = degree.unwrap_or(Degrees::USUAL);
                KernelSpec::Anova { degrees: (min, max) }
            }
            (KernelName::Exp, degree) => {
                KernelSpec::Exp { scale, degrees: degree.map(|Degrees { min, max, .. }| (min, max)) }
            }
        };
        Ok(if normalize { KernelSpec::Normalized { kernel: Box::new(spec) } } else { spec })
    }
}

/// A kernel as a value, checked when it is built.
///
/// ```
/// use banach::kernel::{KernelChoice, KernelName, KernelSpec, TensorKernel};
/// let spec = KernelChoice { degree: Some("1..2".parse()?), ..KernelChoice::new(KernelName::Poly) }.spec()?;
/// assert_eq!(spec, KernelSpec::Poly { degree: 2, scale: 1.0, coef0: 1.0, degrees: Some((1, 2)) });
/// assert_eq!(spec.build()?.degrees(), (1, Some(2)));
/// # Ok::<(), banach::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum KernelSpec {
    /// [`Linear`].
    Linear,
    /// [`Polynomial`], all of it or a range of its degrees.
    Poly {
        /// The degree.
        degree: usize,
        /// The scale of t.
        scale: f64,
        /// The constant.
        coef0: f64,
        /// The degrees that are kept.
        degrees: Option<(usize, usize)>,
    },
    /// [`Anova`].
    Anova {
        /// The degrees.
        degrees: (usize, usize),
    },
    /// [`Exponential`], all of it or a range of its degrees.
    Exp {
        /// The scale of t.
        scale: f64,
        /// The degrees that are kept.
        degrees: Option<(usize, usize)>,
    },
    /// [`PowerSeries::from_coefficients`].
    PowerSeries {
        /// The coefficients, lowest degree first.
        coefficients: Vec<f64>,
        /// The scale of t.
        scale: f64,
    },
    /// [`PowerSeries::new`], a series by name.
    Series {
        /// One of [`Series::ALL`](super::Series::ALL).
        series: String,
        /// The scale of t.
        scale: f64,
    },
    /// [`Normalized`].
    Normalized {
        /// The kernel that is normalised.
        kernel: Box<KernelSpec>,
    },
}

impl KernelSpec {
    /// All products of so many variables, with powers: `t^degree`.
    pub fn poly(degree: usize) -> Self {
        Self::Poly { degree, scale: 1.0, coef0: 0.0, degrees: None }
    }

    /// The kernel.
    pub fn build(&self) -> Result<Arc<dyn TensorKernel>, Error> {
        fn cut(
            kernel: impl TensorKernel + 'static,
            degrees: Option<(usize, usize)>,
        ) -> Result<Arc<dyn TensorKernel>, Error> {
            Ok(match degrees {
                Some((min, max)) => Arc::new(PowerSeries::cut(&kernel, min, max)?),
                None => Arc::new(kernel),
            })
        }
        Ok(match self {
            Self::Linear => Arc::new(Linear),
            &Self::Poly { degree, scale, coef0, degrees } => cut(Polynomial::new(degree, scale, coef0)?, degrees)?,
            &Self::Anova { degrees: (min, max) } => Arc::new(Anova::new(min, max)?),
            &Self::Exp { scale, degrees } => cut(Exponential::new(scale)?, degrees)?,
            Self::PowerSeries { coefficients, scale } => {
                Arc::new(PowerSeries::from_coefficients(coefficients.clone(), *scale)?)
            }
            Self::Series { series, scale } => Arc::new(PowerSeries::new(series.parse()?, *scale)?),
            Self::Normalized { kernel } => Arc::new(Normalized(kernel.build()?)),
        })
    }
}

impl fmt::Display for KernelSpec {
    /// The name of the kernel that is built, or this value where it cannot be.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.build() {
            Ok(kernel) => f.write_str(&kernel.name()),
            Err(_) => write!(f, "{self:?}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn degrees_are_one_or_a_range() {
        let degrees = |text: &str| text.parse::<Degrees>();
        assert_eq!(degrees("2"), Ok(Degrees::one(2)));
        for text in ["1..3", "1-3", "1..=3", " 1 .. 3 "] {
            assert_eq!(degrees(text), Degrees::range(1, 3), "{text}");
        }
        for text in ["", "x", "3..1", "-1", "1..", "1.5"] {
            assert!(degrees(text).is_err(), "{text}");
        }
    }

    #[test]
    fn every_name_has_a_kernel() {
        for name in KernelName::ALL {
            assert_eq!(name.name().parse(), Ok(name));
            let normalised = KernelChoice { normalize: true, ..KernelChoice::new(name) };
            for choice in [KernelChoice::new(name), normalised] {
                let kernel = choice.spec().and_then(|spec| spec.build()).expect("valid");
                assert_eq!(kernel.normalized(), choice.normalize);
            }
        }
        assert!("rbf".parse::<KernelName>().is_err());
        let degrees = |choice: KernelChoice| choice.spec().and_then(|spec| spec.build()).expect("valid").degrees();
        let [_, poly, anova, _] = KernelName::ALL.map(KernelChoice::new);
        assert_eq!((degrees(poly), degrees(anova)), ((1, Some(2)), (1, Some(2))), "the variables and their products");
        assert_eq!(degrees(KernelChoice { coef0: Some(0.0), ..poly }), (2, Some(2)), "no constant, one degree");
    }

    #[test]
    fn what_belongs_to_another_kernel_is_refused() {
        let refused = |choice: KernelChoice| match choice.spec() {
            Err(Error::Parameter { parameter, .. }) => parameter,
            other => panic!("{other:?}"),
        };
        let [linear, poly, anova, exp] = KernelName::ALL.map(KernelChoice::new);
        for choice in [linear, anova, exp] {
            assert_eq!(refused(KernelChoice { coef0: Some(1.0), ..choice }), Parameter::Coef0);
        }
        for choice in [linear, anova] {
            assert_eq!(refused(KernelChoice { scale: Some(2.0), ..choice }), Parameter::Scale);
        }
        assert_eq!(refused(KernelChoice { degree: Some(Degrees::one(2)), ..linear }), Parameter::Degree);
        let range = Degrees::range(1, 3).expect("a range");
        assert_eq!(refused(KernelChoice { degree: Some(range), coef0: Some(0.0), ..poly }), Parameter::Coef0);
    }
}
