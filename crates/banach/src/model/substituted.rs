//! Equations in other units, multiplied out.

use std::collections::HashMap;

use super::ExplicitModel;
use crate::{Error, error::Parameter, kernel::Monomial};

/// The most monomials that one term may become.
const MOST_OF_TERM: usize = 1 << 12;

impl ExplicitModel {
    /// The function of x, where this one is of `(x_j - centre)/deviation` for the pair that `unit` says of variable j: its monomials are multiplied
    /// out, which brings in those that divide them.
    ///
    /// The terms come first, in their order, and then the monomials that were brought in, as a kernel lists them. Where a variable is far
    /// from 0 beside its deviation, values of the equation lose digits.
    ///
    /// ```
    /// use banach::{kernel::Monomial, model::ExplicitModel};
    /// let scaled = ExplicitModel::new(1.0, vec![(Monomial::new(&[(0, 1)]), 6.0)])?;
    /// assert_eq!(scaled.substituted(|_| (10.0, 2.0))?.to_string(), "y = -29 + 3 * x0"); // 1 + 6 (x0 - 10)/2
    /// # Ok::<(), banach::Error>(())
    /// ```
    pub fn substituted(&self, unit: impl Fn(usize) -> (f64, f64)) -> Result<Self, Error> {
        let own = self.terms();
        let mut terms: Vec<(Monomial, f64)> = own.iter().map(|(monomial, _)| (monomial.clone(), 0.0)).collect();
        let mut places: HashMap<Monomial, usize> =
            terms.iter().enumerate().map(|(at, (monomial, _))| (monomial.clone(), at)).collect();
        let mut intercept = self.intercept();
        for (term, coefficient) in own {
            for (monomial, coefficient) in multiplied_out(term, *coefficient, &unit)? {
                if monomial.degree() == 0 && term.degree() > 0 {
                    intercept += coefficient;
                    continue;
                }
                let place = *places.entry(monomial.clone()).or_insert_with(|| {
                    terms.push((monomial, 0.0));
                    terms.len() - 1
                });
                terms[place].1 += coefficient;
            }
        }
        terms[own.len()..].sort_by(|a, b| a.0.cmp_listed(&b.0));
        Self::new(intercept, terms)
    }
}

/// The monomials of `coefficient prod_j ((x_j - m_j)/s_j)^k_j`, each with its coefficient.
fn multiplied_out(
    monomial: &Monomial,
    coefficient: f64,
    unit: impl Fn(usize) -> (f64, f64),
) -> Result<Vec<(Monomial, f64)>, Error> {
    let mut parts = vec![(Monomial::new(&[]), coefficient)];
    for &(j, power) in monomial.factors() {
        let (centre, deviation) = unit(j);
        // With nothing to take away there is one summand, x^power.
        let lowest = if centre == 0.0 { power } else { 0 };
        if parts.len().saturating_mul(power - lowest + 1) > MOST_OF_TERM {
            let got = monomial.degree().to_string();
            let allowed = "a degree whose terms, multiplied out, have at most 4096 monomials each";
            return Err(Error::Parameter { parameter: Parameter::Degree, got, allowed });
        }
        // (x - m)^e = sum_i binomial(e, i) x^i (-m)^(e-i), from the highest i.
        let (mut summands, mut factor) = (Vec::new(), deviation.powi(-(power as i32)));
        for i in (lowest..=power).rev() {
            summands.push((i, factor));
            factor *= -centre * i as f64 / (power - i + 1) as f64;
        }
        let mut next = Vec::with_capacity(parts.len() * summands.len());
        for (part, coefficient) in &parts {
            let times = |&(i, factor): &(usize, f64)| {
                (Monomial::new(&[part.factors(), &[(j, i)]].concat()), coefficient * factor)
            };
            next.extend(summands.iter().map(times));
        }
        parts = next;
    }
    Ok(parts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FeatureMatrix;

    #[test]
    fn values_are_those_of_the_scaled_variables() {
        let units = [(3.0, 0.5), (0.0, 4.0), (-2.0, 1.0)];
        let terms = [(&[(0, 2), (1, 1)][..], 2.0), (&[(2, 3)], -0.25), (&[], 0.5), (&[(1, 1)], 1.0)];
        let terms = terms.map(|(factors, value)| (Monomial::new(factors), value)).to_vec();
        let scaled = ExplicitModel::new(7.0, terms).expect("finite");
        let x = [2.5, -1.0, 0.75, 4.0, 8.0, -3.0];
        let own: Vec<f64> = x.iter().enumerate().map(|(at, x)| (x - units[at % 3].0) / units[at % 3].1).collect();
        let matrix = |values: &[f64]| FeatureMatrix::from_rows(2, 3, values).expect("valid");
        let found = scaled.substituted(|j| units[j]).expect("small");
        assert_eq!(found.predict(&matrix(&x)).expect("fits"), scaled.predict(&matrix(&own)).expect("fits"));
    }
}
