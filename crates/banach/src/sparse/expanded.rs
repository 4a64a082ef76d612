//! A function of centred variables, multiplied out.

use std::collections::HashMap;

use super::SparseFunction;
use crate::{Error, error::Parameter, kernel::Monomial, model::ExplicitModel};

/// The most monomials that one term may become.
const MOST_OF_TERM: usize = 1 << 12;

impl SparseFunction {
    /// The function of `x`, written out: monomials of centred variables are multiplied out, which brings in those that divide them.
    ///
    /// The terms come first, in their order, and then the monomials that were brought in, as a kernel lists them. Where a variable is far
    /// from 0 beside its deviation, the values of the equation lose digits that those of [`predict`](Self::predict) have.
    pub fn expanded(&self) -> Result<ExplicitModel, Error> {
        let mut terms: Vec<(Monomial, f64)> = self.terms.iter().map(|term| (term.monomial.clone(), 0.0)).collect();
        let mut places: HashMap<Monomial, usize> =
            terms.iter().enumerate().map(|(at, (monomial, _))| (monomial.clone(), at)).collect();
        let mut intercept = self.intercept;
        for term in &self.terms {
            for (monomial, coefficient) in self.multiplied_out(&term.monomial, term.coefficient)? {
                if monomial.degree() == 0 && term.monomial.degree() > 0 {
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
        terms[self.terms.len()..].sort_by(|a, b| a.0.cmp_listed(&b.0));
        ExplicitModel::new(intercept, terms)
    }

    /// The monomials of `coefficient (x - m)^k`, each with its coefficient.
    fn multiplied_out(&self, monomial: &Monomial, coefficient: f64) -> Result<Vec<(Monomial, f64)>, Error> {
        let mut parts = vec![(Monomial::new(&[]), coefficient)];
        for &(j, power) in monomial.factors() {
            let centre = self.centre(j);
            // With nothing to take away there is one summand, x^power.
            let lowest = if centre == 0.0 { power } else { 0 };
            if parts.len().saturating_mul(power - lowest + 1) > MOST_OF_TERM {
                let got = monomial.degree().to_string();
                let allowed = "a degree whose terms, multiplied out, have at most 4096 monomials each";
                return Err(Error::Parameter { parameter: Parameter::Degree, got, allowed });
            }
            // (x - m)^e = sum_i binomial(e, i) x^i (-m)^(e-i), from the highest i.
            let (mut summands, mut factor) = (Vec::new(), 1.0);
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
}

#[cfg(test)]
mod tests {
    use crate::{
        FeatureMatrix,
        kernel::Monomial,
        sparse::{SparseCertificate, SparseFunction, SparseTerm},
    };

    fn function(centres: Vec<f64>, terms: &[(&[(usize, usize)], f64)]) -> SparseFunction {
        let term = |&(factors, coefficient): &(&[(usize, usize)], f64)| SparseTerm {
            monomial: Monomial::new(factors),
            coefficient,
            refit: coefficient,
            std_error: 0.0,
            lower: coefficient,
            upper: coefficient,
            evidence: 0.0,
            alternatives: Vec::new(),
        };
        SparseFunction {
            terms: terms.iter().map(term).collect(),
            intercept: 5.0,
            centres,
            criterion: 0.0,
            unexplained: 0.0,
            certificate: SparseCertificate::Gap { lambda: 1.0, relative_gap: 0.0 },
            separated: false,
            sizes: Vec::new(),
            dictionary: 10.0,
            passes: 0,
        }
    }

    #[test]
    fn centred_monomials_are_multiplied_out() {
        let terms: [(&[(usize, usize)], f64); 3] = [(&[(0, 1), (1, 2)], 2.0), (&[(1, 1)], 3.0), (&[(2, 3)], 0.5)];
        let found = function(vec![1.0, 3.0, 0.0], &terms);
        let expanded = found.expanded().expect("small");
        // 2 (x0 - 1) (x1 - 3)^2 + 3 (x1 - 3) + 0.5 x2^3 + 5
        let text = expanded.equation::<&str>("y", &[]);
        assert_eq!(text, "y = -22 + 2 * x0 * x1^2 + 15 * x1 + 0.5 * x2^3 + 18 * x0 - 12 * x0 * x1 - 2 * x1^2");
        let x = FeatureMatrix::from_rows(2, 3, &[0.5, 2.0, -1.0, 4.0, 7.0, 3.0]).expect("valid");
        assert_eq!(found.predict(&x).expect("fits"), [0.5, 126.5]);
        assert_eq!(expanded.predict(&x).expect("fits"), [0.5, 126.5]);
    }

    #[test]
    fn no_value_is_infinite_or_no_number() {
        let terms: [(&[(usize, usize)], f64); 2] = [(&[(0, 2)], 1.0), (&[(1, 2)], -1.0)];
        let found = function(Vec::new(), &terms);
        let x = FeatureMatrix::from_rows(1, 2, &[1e200, 1e200]).expect("valid");
        assert!(found.predict(&x).is_err());
    }

    #[test]
    fn without_centres_it_is_the_function_itself() {
        let terms: [(&[(usize, usize)], f64); 2] = [(&[], 4.0), (&[(0, 1), (3, 1)], -1.0)];
        let found = function(Vec::new(), &terms);
        assert_eq!(found.expanded().expect("small"), found.explicit().expect("finite"));
    }

    #[test]
    fn a_term_of_too_many_monomials_is_refused() {
        let variables: Vec<(usize, usize)> = (0..13).map(|j| (j, 1)).collect();
        assert!(function(vec![1.0; 13], &[(&variables, 1.0)]).expanded().is_err());
    }
}
