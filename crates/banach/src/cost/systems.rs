//! Seconds of the linear algebra between two passes.

use super::Rates;

/// Seconds to copy a column and to weigh it, by one thread, where columns have some hundreds of entries (`banach-lab bench plan`).
const SECONDS_OF_WEIGHING: f64 = 1.5e-7;

impl Rates {
    /// Seconds for `Phi diag(w) Phi'` over so many columns of features, which is symmetric, where so many are made at a time.
    pub(crate) fn square(&self, samples: f64, columns: f64, at_a_time: f64) -> f64 {
        samples * samples * columns / self.product + columns * SECONDS_OF_WEIGHING * self.share(at_a_time)
    }

    /// The share of its own seconds that each of so many tasks takes, if every thread does one.
    pub(crate) fn share(&self, at_a_time: f64) -> f64 {
        1.0 / at_a_time.clamp(1.0, self.cores.max(1.0))
    }

    /// Seconds for Cholesky's factor of a matrix where so many are made at a time, each by a thread of its own.
    pub(crate) fn factorisation(&self, side: f64, at_a_time: f64) -> f64 {
        self.cores * self.share(at_a_time) * side.powi(3) / 3.0 / self.factor
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_factorisation_keeps_one_core_busy() {
        let rates = Rates { cores: 4.0, ..Rates::default() };
        let all = rates.factorisation(300.0, 4.0);
        assert_eq!(rates.factorisation(300.0, 1.0), 4.0 * all);
        assert_eq!(rates.factorisation(300.0, 100.0), all);
    }
}
