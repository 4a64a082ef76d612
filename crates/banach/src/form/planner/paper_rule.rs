//! (21) `[eq:compucost]`: when the paper takes the tensor.

use super::Plan;
use crate::{cost::feature_count, kernel::MonomialScale};

impl Plan {
    /// What (21) says of these sizes, in a sentence. It counts multiplications at q = 4 for raw monomials: `None` otherwise.
    pub(super) fn paper_rule(&self) -> Option<String> {
        if self.exponent.order() != Ok(4) || self.planner.monomial_scale != MonomialScale::Raw {
            return None;
        }
        let Some(features) = feature_count(&*self.kernel, self.shape.inputs) else {
            return Some(
                "The paper's rule (21), n <= 2 card(K)^(1/3), holds for every n: card(K) is infinite.".to_owned(),
            );
        };
        let limit = 2.0 * features.cbrt();
        let samples = self.shape.samples;
        let (verdict, sign, count) =
            if samples as f64 <= limit { ("holds", "<=", "fewer") } else { ("does not hold", ">", "more") };
        Some(format!(
            "The paper's rule (21), n <= 2 card(K)^(1/3), {verdict}: {samples} {sign} {limit:.1}. By its count of multiplications an \
             evaluation takes {count} with the tensor than with the features; the table compares predicted times."
        ))
    }
}

#[cfg(test)]
mod tests {
    use crate::{
        Exponent, Memory, Planner,
        form::Shape,
        kernel::{Exponential, Linear, MonomialScale, Polynomial, TensorKernel},
    };

    fn rule(
        n: usize,
        d: usize,
        p: f64,
        kernel: impl TensorKernel + 'static,
        monomial_scale: MonomialScale,
    ) -> Option<String> {
        let planner = Planner { memory: Memory::limit(1 << 40), monomial_scale, ..Planner::default() };
        let plan = planner.plan(Shape::dense(n, d), kernel, Exponent::new(p).expect("inside")).expect("a route");
        let sentence = plan.paper_rule();
        assert!(sentence.iter().all(|sentence| plan.to_string().ends_with(sentence)), "{plan}");
        sentence
    }

    /// Table 2: n = 90 and 211575 features, where 2 card(K)^(1/3) is 119.2.
    #[test]
    fn the_papers_second_experiment_is_on_the_side_of_the_tensor() {
        let squares = || Polynomial::new(2, 1.0, 0.0).expect("valid");
        let sentence = rule(90, 650, 4.0 / 3.0, squares(), MonomialScale::Raw).expect("q = 4");
        assert!(sentence.contains("holds: 90 <= 119.2") && sentence.contains("fewer"), "{sentence}");
        let sentence = rule(120, 650, 4.0 / 3.0, squares(), MonomialScale::Raw).expect("q = 4");
        assert!(sentence.contains("does not hold: 120 > 119.2") && sentence.contains("more"), "{sentence}");
        // 2 * 1000^(1/3) = 20, and equality holds.
        assert!(
            rule(20, 1000, 4.0 / 3.0, Linear, MonomialScale::Raw)
                .is_some_and(|sentence| sentence.contains("20 <= 20.0"))
        );
        let exponential = Exponential::new(0.1).expect("valid");
        let sentence = rule(90, 10, 4.0 / 3.0, exponential, MonomialScale::Raw).expect("q = 4");
        assert!(sentence.contains("infinite"), "{sentence}");
        assert_eq!(rule(90, 650, 1.25, squares(), MonomialScale::Raw), None);
        assert_eq!(rule(90, 650, 4.0 / 3.0, squares(), MonomialScale::Unit), None);
    }
}
