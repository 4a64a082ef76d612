//! Penalties that leave most weights exactly 0.

/// What a weight costs, in units in which its column has length 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Penalty {
    /// `lambda |w|`: convex.
    Lasso,
    /// As `lambda |w|` at 0, and constant from `gamma lambda` on, gamma > 1: large weights are not shrunk (C.-H. Zhang, "Nearly unbiased
    /// variable selection under minimax concave penalty", Ann. Stat. 38, 2010).
    Mcp(f64),
    /// `lambda |w|` up to `lambda`, and constant from `gamma lambda` on, gamma > 2 (J. Fan and R. Li, "Variable selection via nonconcave
    /// penalized likelihood and its oracle properties", J. Am. Stat. Assoc. 96, 2001).
    Scad(f64),
}

impl Penalty {
    /// The minimiser of `(w - z)^2/2 + penalty(w)`.
    pub(crate) fn minimiser(self, z: f64, lambda: f64) -> f64 {
        let size = z.abs();
        let shrunk = (size - lambda).max(0.0);
        let minimiser = match self {
            Self::Lasso => shrunk,
            Self::Mcp(gamma) if size <= gamma * lambda => shrunk / (1.0 - 1.0 / gamma),
            Self::Scad(_) if size <= 2.0 * lambda => shrunk,
            Self::Scad(gamma) if size <= gamma * lambda => {
                (size - gamma * lambda / (gamma - 1.0)) / (1.0 - 1.0 / (gamma - 1.0))
            }
            Self::Mcp(_) | Self::Scad(_) => size,
        };
        minimiser.copysign(z)
    }

    /// What a weight costs.
    pub(crate) fn value(self, w: f64, lambda: f64) -> f64 {
        let size = w.abs();
        match self {
            Self::Mcp(gamma) if size > gamma * lambda => 0.5 * gamma * lambda * lambda,
            Self::Mcp(gamma) => size * (lambda - 0.5 * size / gamma),
            Self::Scad(gamma) if size > gamma * lambda => 0.5 * (gamma + 1.0) * lambda * lambda,
            Self::Scad(gamma) if size > lambda => lambda * size - 0.5 * (size - lambda).powi(2) / (gamma - 1.0),
            Self::Lasso | Self::Scad(_) => lambda * size,
        }
    }

    /// By how much a weight breaks the first-order condition, given the negative slope of the loss in it.
    pub(crate) fn violation(self, product: f64, weight: f64, lambda: f64) -> f64 {
        if weight == 0.0 {
            return (product.abs() - lambda).max(0.0);
        }
        (product - self.slope(weight, lambda).copysign(weight)).abs()
    }

    /// The slope of the penalty in `|w|`.
    pub(crate) fn slope(self, w: f64, lambda: f64) -> f64 {
        let size = w.abs();
        match self {
            Self::Lasso => lambda,
            Self::Mcp(gamma) => (lambda - size / gamma).max(0.0),
            Self::Scad(_) if size <= lambda => lambda,
            Self::Scad(gamma) => ((gamma * lambda - size) / (gamma - 1.0)).max(0.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Penalty; 4] = [Penalty::Lasso, Penalty::Mcp(1.5), Penalty::Mcp(3.0), Penalty::Scad(3.7)];

    #[test]
    fn the_minimiser_is_the_least_of_many_and_stationary() {
        for penalty in ALL {
            for z in (-80..=80).map(|z| f64::from(z) / 10.0) {
                let lambda = 1.25;
                // The penalty by its slope.
                let value = |w: f64| {
                    let steps = 2000;
                    let h = w.abs() / f64::from(steps);
                    let sum: f64 = (0..steps).map(|i| h * penalty.slope((f64::from(i) + 0.5) * h, lambda)).sum();
                    0.5 * (w - z).powi(2) + sum
                };
                assert!((value(z) - penalty.value(z, lambda)).abs() < 1e-6, "{penalty:?} {z}");
                let w = penalty.minimiser(z, lambda);
                assert!(penalty.violation(z - w, w, lambda) < 1e-12, "{penalty:?} {z}: {w}");
                let least = (-90..=90).map(|w| value(f64::from(w) / 10.0)).fold(f64::INFINITY, f64::min);
                assert!(value(w) <= least + 1e-5, "{penalty:?} {z}: {w}");
                if w == 0.0 {
                    assert!(z.abs() <= lambda);
                } else {
                    assert!((z - w - penalty.slope(w, lambda).copysign(w)).abs() < 1e-12, "{penalty:?} {z}: {w}");
                }
            }
        }
    }
}
