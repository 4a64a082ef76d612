//! Loops over the entries of a tile and the columns beside it, at the width of the machine's vectors.

use crate::{
    kernel::MonomialScale,
    numeric::{LANES, vectorised},
};

/// `out = x . factors`.
pub(super) fn multiply(out: &mut [f64], x: &[f64], factors: &[f64]) {
    vectorised(
        #[inline(always)]
        move || {
            for ((out, x), factor) in out.iter_mut().zip(x).zip(factors) {
                *out = x * factor;
            }
        },
    );
}

/// `x . x` in place.
pub(super) fn square(x: &mut [f64]) {
    vectorised(
        #[inline(always)]
        move || x.iter_mut().for_each(|x| *x *= *x),
    );
}

/// `out += x . values`.
pub(super) fn add_products(out: &mut [f64], x: &[f64], values: &[f64]) {
    vectorised(
        #[inline(always)]
        move || {
            for ((out, x), value) in out.iter_mut().zip(x).zip(values) {
                *out += x * value;
            }
        },
    );
}

/// Notes the places at which `|u| rho` is at least `limit`, a positive number.
pub(crate) fn note_above(u: &[f64], rho: &[f64], limit: f64, places: &mut Vec<u32>) {
    vectorised(
        #[inline(always)]
        move || {
            let (parts, rest) = u.as_chunks::<LANES>();
            let (rho_parts, rho_rest) = rho.as_chunks::<LANES>();
            for (part, (u, rho)) in parts.iter().zip(rho_parts).enumerate() {
                // Most parts have none, which a loop without branches sees at once.
                let mut any = 0;
                for lane in 0..LANES {
                    any |= u64::from(u[lane].abs() * rho[lane] >= limit);
                }
                if any != 0 {
                    let above = (0..LANES).filter(|&lane| u[lane].abs() * rho[lane] >= limit);
                    places.extend(above.map(|lane| (LANES * part + lane) as u32));
                }
            }
            let above = rest.iter().zip(rho_rest).enumerate().filter(|(_, (u, rho))| u.abs() * **rho >= limit);
            places.extend(above.map(|(at, _)| (LANES * parts.len() + at) as u32));
        },
    );
}

/// Notes the places of numbers that are larger than `limit`.
pub(crate) fn note_beyond(values: &[f64], limit: f64, places: &mut Vec<u32>) {
    vectorised(
        #[inline(always)]
        move || {
            let (parts, rest) = values.as_chunks::<LANES>();
            for (part, values) in parts.iter().enumerate() {
                if values.iter().fold(0, |any, value| any | u64::from(*value > limit)) != 0 {
                    let beyond = values.iter().enumerate().filter(|(_, value)| **value > limit);
                    places.extend(beyond.map(|(lane, _)| (LANES * part + lane) as u32));
                }
            }
            let beyond = rest.iter().enumerate().filter(|(_, value)| **value > limit);
            places.extend(beyond.map(|(at, _)| (LANES * parts.len() + at) as u32));
        },
    );
}

/// Turns the sums of monomials over n samples into their means, and the sums of their squares into the factors
/// ([`MonomialScale::factor`]) that bring them to their scale.
pub(super) fn inverse_sizes(monomial_scale: MonomialScale, n: f64, squares: &mut [f64], sums: &mut [f64]) {
    let inverse = 1.0 / n;
    vectorised(
        #[inline(always)]
        move || {
            for (square, sum) in squares.iter_mut().zip(sums) {
                *sum *= inverse;
                *square = monomial_scale.factor(*sum, *square * inverse);
            }
        },
    );
}

/// `u = (u - total means) . inverse_sizes`.
pub(super) fn standardize(u: &mut [f64], total: f64, means: &[f64], inverse_sizes: &[f64]) {
    vectorised(
        #[inline(always)]
        move || {
            for ((u, mean), inverse_size) in u.iter_mut().zip(means).zip(inverse_sizes) {
                *u = (*u - total * mean) * inverse_size;
            }
        },
    );
}

/// `w = w . inverse_sizes`; returns the product of w and the means.
pub(super) fn unstandardize(w: &mut [f64], means: &[f64], inverse_sizes: &[f64]) -> f64 {
    vectorised(
        #[inline(always)]
        move || {
            let mut sums = [0.0; LANES];
            let parts = w.chunks_mut(LANES).zip(means.chunks(LANES)).zip(inverse_sizes.chunks(LANES));
            for ((w, means), inverse_sizes) in parts {
                for (((sum, w), mean), inverse_size) in sums.iter_mut().zip(w).zip(means).zip(inverse_sizes) {
                    *w *= inverse_size;
                    *sum += *w * mean;
                }
            }
            sums.iter().sum()
        },
    )
}
