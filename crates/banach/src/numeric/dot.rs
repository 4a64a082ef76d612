//! Inner products.

/// `sum_k a_k b_k`, added up in order.
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Partial sums of an inner product: two vectors of four numbers, so that additions do not wait for each other.
pub(super) const LANES: usize = 8;

/// `sum_k a_k b_k` by eight partial sums, which is faster than [`dot`] on long slices and rounds differently.
pub(crate) fn dot_in_lanes(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; LANES];
    for (a, b) in a.chunks(LANES).zip(b.chunks(LANES)) {
        sums.iter_mut().zip(a.iter().zip(b)).for_each(|(sum, (a, b))| *sum += a * b);
    }
    sums.iter().sum()
}

/// `sum_k a_k` in the same way.
pub(crate) fn sum_in_lanes(a: &[f64]) -> f64 {
    let mut sums = [0.0; LANES];
    a.chunks(LANES).for_each(|a| sums.iter_mut().zip(a).for_each(|(sum, a)| *sum += a));
    sums.iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_orders_of_addition_agree_on_whole_numbers() {
        for length in [0, 1, 7, 8, 9, 100] {
            let a: Vec<f64> = (0..length).map(f64::from).collect();
            let b: Vec<f64> = a.iter().map(|a| 3.0 - a).collect();
            assert_eq!(dot(&a, &b), dot_in_lanes(&a, &b));
            assert_eq!(sum_in_lanes(&a), a.iter().sum::<f64>());
        }
    }
}
