//! The weights of a linearised problem with many features, or with features that are alike: the same equations, solved for alpha.

use super::{
    ListedMethod,
    curve::{MOST_STEPS, is_found},
    normal::Normal,
};
use crate::{
    form::{Hessian, HessianPart, square_of},
    solver::newton::{System, run::SampleTerm},
};

/// A feature whose slope is below this share of the largest does not change a system: it is below the rounding of the sum.
const NEGLIGIBLE: f64 = 1e-18;

impl ListedMethod<'_> {
    /// Finds alpha and the weights with `X' alpha = J_p(w)` and the equations of the samples,
    /// `X w + b = right - curvature (alpha - alpha_0)/gamma`. Where features are many they explain the targets, the curvatures
    /// vanish, and `(X h X' + curvature/gamma) d = ..` keeps its digits where a system for w would not.
    pub(super) fn settle_in_alpha(
        &mut self,
        samples: &[SampleTerm<'_>],
        normal: &Normal,
        (answers, right): (&[f64], &[f64]),
        alpha: &mut [f64],
    ) {
        let n = alpha.len();
        let present: Vec<usize> = samples.iter().map(|sample| sample.i).collect();
        let diagonal: Vec<f64> = samples.iter().map(|sample| answers[sample.i].recip()).collect();
        let even = self.curve.even(normal);
        let mut h = Vec::new();
        let mut last = f64::INFINITY;
        for _ in 0..MOST_STEPS {
            if self.intercept {
                // What rounding left of the sum at a point with larger entries is not small beside these.
                let excess = alpha.iter().sum::<f64>() / present.len() as f64;
                present.iter().for_each(|&i| alpha[i] -= excess);
            }
            self.curve.slopes(&mut h);
            let u: Vec<f64> =
                self.plain_products(alpha).iter().zip(&self.curve.u).map(|(product, u)| product - u).collect();
            let weights: Vec<f64> = self.curve.w.iter().zip(&h).zip(&u).map(|((w, h), u)| w + h * u).collect();
            let predictions = self.x.times(&weights);
            let equations = samples.iter().zip(&diagonal).map(|(sample, diagonal)| {
                right[sample.i] - predictions[sample.i] - diagonal * (alpha[sample.i] - self.alpha[sample.i])
            });
            let equations: Vec<f64> = equations.collect();
            let hessian = Hessian::exact(HessianPart::Dense(self.square(&h)));
            let d = System::new(&hessian, &diagonal, &present, n, self.intercept).solve(&equations);
            let mut change = vec![0.0; n];
            present.iter().zip(&d).for_each(|(&i, d)| change[i] = *d);
            alpha.iter_mut().zip(&change).for_each(|(alpha, d)| *alpha += d);
            let du: Vec<f64> = self.plain_products(&change).iter().zip(&u).map(|(product, u)| product + u).collect();
            let dw: Vec<f64> = du.iter().zip(&h).map(|(du, h)| du * h).collect();
            let asked: Vec<f64> = self.curve.u.iter().zip(&du).map(|(u, du)| u + du).collect();
            let change = self.curve.advance(normal, &even, &dw, &du, &asked);
            if is_found(change, last) {
                break;
            }
            last = change;
        }
    }

    /// `X diag(h) X'`. Features without weight are left out.
    fn square(&self, h: &[f64]) -> Vec<f64> {
        let least = NEGLIGIBLE * h.iter().copied().fold(0.0, f64::max);
        let (heavy, weights): (Vec<usize>, Vec<f64>) =
            h.iter().copied().enumerate().filter(|(_, h)| *h > least).unzip();
        square_of(self.x, &heavy, &weights)
    }

    pub(super) fn plain_products(&self, alpha: &[f64]) -> Vec<f64> {
        let mut products = vec![0.0; self.columns.len()];
        self.x.products(&self.columns, alpha, &mut products);
        products
    }
}
