//! The proximity operator of `(lambda/p)|.|^p`, which the primal baseline FISTA needs.
//!
//! The answer `z = sign(x) s^(q-1)` comes from the positive root of `s^(q-1) + lambda s = |x|`.
//! It is closed for `p = 3/2` (quadratic), `4/3` (cubic) and `5/4` (quartic); any other `p` takes Newton's
//! method, which descends monotonically because the left side is convex and increasing.

use super::Exponent;

impl Exponent {
    /// `argmin_z (lambda/p)|z|^p + (z-x)^2/2` for a finite `lambda >= 0`.
    pub fn prox(&self, lambda: f64, x: f64) -> f64 {
        let size = x.abs();
        if lambda == 0.0 || size == 0.0 || !size.is_finite() {
            return x;
        }
        let z = match self.q {
            2.0 => size / (1.0 + lambda),
            3.0 => square_root(lambda, size).powi(2),
            4.0 => cube_root(lambda, size).powi(3),
            5.0 => fourth_root(lambda, size).powi(4),
            q => newton_root(q - 1.0, lambda, size).powf(q - 1.0),
        };
        z.min(size).copysign(x)
    }
}

/// `s^2 + lambda s = x`.
fn square_root(lambda: f64, x: f64) -> f64 {
    2.0 * x / (lambda + (lambda * lambda + 4.0 * x).sqrt())
}

/// `s^3 + lambda s = x`, by the hyperbolic form of Cardano's formula.
fn cube_root(lambda: f64, x: f64) -> f64 {
    let third = (lambda / 3.0).sqrt();
    let argument = x / (2.0 * third * third * third);
    if argument.is_finite() { 2.0 * third * (argument.asinh() / 3.0).sinh() } else { x.cbrt() }
}

/// `s^4 + lambda s = x`, by Ferrari's resolvent `y^3 + x y = lambda^2/8`.
fn fourth_root(lambda: f64, x: f64) -> f64 {
    let y = cube_root(x, lambda * lambda / 8.0);
    if y == 0.0 || !y.is_finite() {
        return newton_root(4.0, lambda, x);
    }
    let inner = lambda / (8.0 * y).sqrt();
    let outer = (2.0 * y).sqrt();
    2.0 * x / ((inner + y) * (outer + (4.0 * inner - 2.0 * y).max(0.0).sqrt()))
}

/// `s^r + lambda s = x`, by Newton's method from above.
fn newton_root(r: f64, lambda: f64, x: f64) -> f64 {
    let mut s = (x / lambda).min(x.powf(1.0 / r));
    for _ in 0..100 {
        let power = s.powf(r);
        let next = s - s * (power + lambda * s - x) / (r * power + lambda * s);
        if next >= s || next <= 0.0 {
            break;
        }
        s = next;
    }
    s
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The optimality condition `z + lambda J_p(z) = x`, in the variable in which it is well conditioned.
        #[test]
        fn solves_its_optimality_condition(
            which in 0_usize..8, ln_lambda in -30.0_f64..30.0, ln_x in -30.0_f64..30.0, negative in any::<bool>(),
        ) {
            let p = [2.0, 1.5, 4.0 / 3.0, 1.25, 1.2, 1.7, 1.05, 1.001][which];
            let exponent = Exponent::new(p).expect("inside");
            let (lambda, x) = (ln_lambda.exp(), ln_x.exp() * if negative { -1.0 } else { 1.0 });
            let z = exponent.prox(lambda, x);
            prop_assert!(z.is_finite() && z * x >= 0.0 && z.abs() <= x.abs());
            let residual = z + lambda * z.abs().powf(p - 1.0).copysign(z) - x;
            // z = s^(q-1) magnifies the rounding of s by q-1; below 1e-290 it is gone.
            let slack = if z.abs() < 1e-290 { 1.0 } else { 4e-14 };
            prop_assert!(residual.abs() <= slack * exponent.q() * x.abs(), "{z:e} {residual:e}");
        }

        /// The closed forms agree with Newton's method.
        #[test]
        fn closed_forms_agree_with_newton(which in 0_usize..3, ln_lambda in -20.0_f64..20.0, ln_x in -20.0_f64..20.0) {
            let q = [3.0, 4.0, 5.0][which];
            let exponent = Exponent::new(q / (q - 1.0)).expect("inside");
            let (lambda, x) = (ln_lambda.exp(), ln_x.exp());
            let newton = newton_root(q - 1.0, lambda, x).powf(q - 1.0);
            let closed = exponent.prox(lambda, x);
            prop_assert!((closed - newton).abs() <= 1e-12 * newton.abs(), "{closed:e} {newton:e}");
        }
    }
}
