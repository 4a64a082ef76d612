//! A function of centred variables, multiplied out.

use super::SparseFunction;
use crate::{Error, model::ExplicitModel};

impl SparseFunction {
    /// The function of `x`, written out: monomials of centred variables are multiplied out, which brings in those that divide them.
    ///
    /// The terms come first, in their order, and then the monomials that were brought in, as a kernel lists them. Where a variable is far
    /// from 0 beside its deviation, the values of the equation lose digits that those of [`predict`](Self::predict) have.
    pub fn expanded(&self) -> Result<ExplicitModel, Error> {
        self.explicit()?.substituted(|j| (self.centre(j), 1.0))
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
