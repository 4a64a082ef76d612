//! The fitted function of listed features.

use super::Features;
use crate::{
    Error, FeatureMatrix,
    data::Scratch,
    exponent::NEGLIGIBLE,
    form::{Predict, QForm},
    numeric::WidePower,
};

/// `f(x) = <w, x>` for one or several w.
#[derive(Debug)]
pub(in crate::form) struct Weights {
    features: usize,
    /// Each w relative to its largest entry.
    relative: Vec<f64>,
    sizes: Vec<WidePower>,
}

impl Weights {
    pub(in crate::form) fn new(form: &Features<'_>, alphas: &[f64]) -> Self {
        let (n, q, features) = (form.samples(), form.exponent.q(), form.matrix.features());
        assert_eq!(alphas.len() % n, 0, "every alpha has n entries");
        let (mut scratch, mut relative, mut sizes) = (Scratch::new(), Vec::new(), Vec::new());
        for alpha in alphas.chunks(n) {
            let (u, size, exponent) = form.products(alpha, &mut scratch);
            if size < NEGLIGIBLE {
                relative.resize(relative.len() + features, 0.0);
                sizes.push(WidePower::new(1.0, 0.0, 1.0));
                continue;
            }
            form.exponent.duality_map(u, 1.0 / size);
            relative.extend_from_slice(u);
            sizes.push(WidePower::new(size, exponent, q - 1.0));
        }
        Self { features, relative, sizes }
    }
}

impl Predict for Weights {
    fn predict(&self, x: &FeatureMatrix<'_>) -> Result<Vec<f64>, Error> {
        Error::check_length("a row of the new X", x.features(), self.features)?;
        let functions = self.relative.chunks(self.features).zip(&self.sizes);
        Ok(functions.flat_map(|(w, size)| x.times(w).into_iter().map(|f| size.times(f))).collect())
    }

    fn weights(&self) -> Option<Vec<f64>> {
        let functions = self.relative.chunks(self.features).zip(&self.sizes);
        Some(functions.flat_map(|(w, size)| w.iter().map(|w| size.times(*w))).collect())
    }
}
