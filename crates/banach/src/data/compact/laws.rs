//! Compact columns are their decoded ones, to the last bit, whatever is read of them or made from them.

use super::*;
use crate::{Error, FeatureMatrix, data::scratch::Pool};

/// Numbers in [0, 1) without a pattern.
fn jumble(count: usize) -> impl Iterator<Item = f64> {
    (1..=count).map(|k| ((k * k) as f64 * 0.618_033_988_749_895).fract())
}

/// A matrix of compact columns, and the same one decoded, for every way to store them.
pub(crate) struct Instance {
    pub name: &'static str,
    pub compact: FeatureMatrix<'static>,
    pub decoded: FeatureMatrix<'static>,
}

/// Every kind of columns, as they were given and in units of their own. No column is constant and none is far from 1.
pub(crate) fn instances(n: usize, d: usize) -> Vec<Instance> {
    let f32s: Vec<f32> = jumble(n * d).map(|x| (2.0 * x - 1.0) as f32).collect();
    let i8s: Vec<i8> = jumble(n * d).map(|x| (7.0 * x).floor() as i8 - 3).collect();
    let bytes: Vec<u8> = jumble(n.div_ceil(4) * d).map(|x| (256.0 * x) as u8).collect();
    let levels: Vec<[f64; 4]> = (0..d).map(|j| [0.1, -0.7, 1.3, 0.3 + 0.01 * j as f64]).collect();
    let centres: Vec<f64> = jumble(d).map(|x| 0.3 * x - 0.1).collect();
    let factors: Vec<f64> = jumble(d).map(|x| 0.3 + x).collect();
    let of_f32 = FeatureMatrix::from_columns_f32(n, d, f32s).expect("valid");
    let of_i8 = FeatureMatrix::from_columns_i8(n, d, i8s).expect("valid");
    let two_bit = FeatureMatrix::from_two_bit(n, d, bytes, levels).expect("valid");
    let moved = |x: &FeatureMatrix<'static>| x.clone().rescaled(&centres, &factors).expect("in range");
    let matrices = [
        ("f32, rescaled", moved(&of_f32)),
        ("i8, rescaled", moved(&of_i8)),
        ("two bits, rescaled", moved(&two_bit)),
        ("f32", of_f32),
        ("i8", of_i8),
        ("two bits", two_bit),
    ];
    matrices
        .map(|(name, compact)| {
            let mut columns = vec![0.0; n * d];
            columns.chunks_mut(n).enumerate().for_each(|(j, column)| compact.column_into(j, column));
            let decoded = FeatureMatrix::from_columns(n, d, columns).expect("in range");
            Instance { name, compact, decoded }
        })
        .into()
}

fn bits(numbers: &[f64]) -> Vec<u64> {
    numbers.iter().map(|x| x.to_bits()).collect()
}

fn entries(x: &FeatureMatrix<'_>) -> Vec<u64> {
    let mut column = vec![f64::NAN; x.samples()];
    let read = |j| {
        x.column_into(j, &mut column);
        bits(&column)
    };
    (0..x.features()).flat_map(read).collect()
}

/// Everything that is computed from a matrix without a form.
fn read(x: &FeatureMatrix<'_>) -> Vec<u64> {
    let (n, d) = (x.samples(), x.features());
    let vector: Vec<f64> = jumble(n).collect();
    let weights: Vec<f64> = jumble(d).collect();
    let all: Vec<usize> = (0..d).collect();
    let (mut products, mut squares, mut square) = (vec![0.0; d], vec![0.0; d], vec![0.0; n]);
    x.products(&all, &vector, &mut products);
    x.squares(&mut squares);
    x.weighted_square_times(&all, &weights, &vector, &mut Pool::default(), &mut square);
    let (rows, parts) = x.weighted_squares(&all, &weights, 1.0);
    let mut product = vector.clone();
    all.iter().take(3).for_each(|&j| x.multiply_by_column(j, &mut product));
    let mut scaled = vec![0.0; n];
    x.scaled_column_into(d - 1, 0.7, &mut scaled);
    let sizes: Vec<f64> = x.sample_sizes(&[]).iter().flat_map(|(size, j)| [*size, *j as f64]).collect();
    let exponents = [x.column_exponents(), vec![x.exponent_of(&all), x.size()]].concat();
    let numbers = [
        products,
        squares,
        square,
        rows,
        parts,
        product,
        scaled,
        sizes,
        exponents,
        x.times(&weights),
        x.scaled_squares().0,
    ];
    bits(&numbers.concat())
}

/// Few samples, whole bytes and rests of them, more samples than a product has in a part, one sample and one feature.
#[test]
fn what_is_read_is_what_is_read_of_the_decoded_matrix() {
    for (n, d) in [(1, 1), (7, 30), (64, 9), (301, 21), (2500, 9)] {
        for Instance { name, compact, decoded } in instances(n, d) {
            assert!(!compact.is_sparse() && !compact.is_read_in_place() && compact.stored() == n * d);
            assert_eq!(entries(&compact), entries(&decoded), "{name} {n} {d}");
            assert_eq!(read(&compact), read(&decoded), "{name} {n} {d}");
        }
    }
}

#[test]
fn parts_of_columns_begin_and_end_anywhere() {
    let (n, d) = (21, 3);
    for Instance { name, compact, decoded } in instances(n, d) {
        for (first, last) in (0..n).flat_map(|first| (first + 1..=n).map(move |last| (first, last))) {
            let mut buffers = [vec![0.0; n * d], vec![0.0; n * d]];
            let [own, expected] = &mut buffers;
            let part = compact.column_part(1, first..last, own).to_vec();
            assert_eq!(part, decoded.column_part(1, first..last, expected), "{name} {first} {last}");
            assert_eq!(compact.panel(1..3, first..last, own), decoded.panel(1..3, first..last, expected), "{name}");
        }
    }
}

#[test]
fn what_is_made_of_them_is_what_is_made_of_the_decoded_matrix() {
    let (n, d) = (23, 8);
    let exponents: Vec<f64> = (0..d).map(|j| j as f64 - 3.0).collect();
    let chosen = [5, 0, 22, 5, 7];
    for Instance { name, compact, decoded } in instances(n, d) {
        let made = |x: &FeatureMatrix<'static>| {
            [
                x.clone().into_scaled_columns(&exponents),
                x.clone().into_moduli(),
                x.select_samples(&chosen),
                x.sample_range(3..17),
                Ok(x.view().into_owned()),
            ]
            .map(|made| made.expect("in range"))
        };
        for (made, expected) in made(&compact).iter().zip(&made(&decoded)) {
            assert_eq!((entries(made), made.size()), (entries(expected), expected.size()), "{name}");
            assert!(!made.is_read_in_place(), "{name} stays compact");
        }
    }
}

#[test]
fn moduli_can_be_scaled_and_scaled_columns_be_moduli() {
    let exponents = [1.0, -2.0, 0.0, 3.0];
    for Instance { name, compact, decoded } in instances(9, 4) {
        let both = |x: FeatureMatrix<'static>| {
            let scaled = x.into_moduli().and_then(|x| x.into_scaled_columns(&exponents)).expect("in range");
            entries(&scaled)
        };
        assert_eq!(both(compact), both(decoded), "{name}");
    }
}

#[test]
fn bad_entries_are_named_by_row_and_column() {
    for value in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        let columns = [1.0, 2.0, 3.0, value, f32::NAN, 6.0];
        let error = FeatureMatrix::from_columns_f32(2, 3, &columns[..]).expect_err("bad entry");
        assert!(matches!(error, Error::BadEntry { row: 1, column: 1, .. }), "{error}");
    }
    let error = FeatureMatrix::from_two_bit(2, 2, &[0, 0b0100][..], vec![[1.0, f64::NAN, 0.0, 0.0]; 2]);
    assert!(matches!(error, Err(Error::BadEntry { row: 1, column: 1, .. })));
    // Levels that no sample has do not matter.
    assert!(FeatureMatrix::from_two_bit(2, 2, &[0, 0b0100][..], vec![[1.0, 2.0, f64::NAN, 1e250]; 2]).is_ok());
}

#[test]
fn wrong_shapes_are_refused() {
    let levels = |count: usize| vec![[0.0, 1.0, 2.0, 3.0]; count];
    assert!(FeatureMatrix::from_columns_f32(0, 3, vec![]).is_err());
    assert!(FeatureMatrix::from_columns_i8(3, 0, vec![]).is_err());
    assert!(FeatureMatrix::from_columns_i8(2, 2, vec![1, 2, 3]).is_err());
    assert!(FeatureMatrix::from_columns_f32(usize::MAX, 2, vec![1.0]).is_err());
    assert!(FeatureMatrix::from_two_bit(5, 2, vec![0; 4], levels(2)).is_ok());
    assert!(FeatureMatrix::from_two_bit(5, 2, vec![0; 3], levels(2)).is_err());
    assert!(FeatureMatrix::from_two_bit(5, 2, vec![0; 4], levels(3)).is_err());
    assert!(FeatureMatrix::from_two_bit(usize::MAX, 2, vec![0; 4], levels(2)).is_err());
    assert!(Genotypes::of(0, &[]).is_err() && Genotypes::of(5, &[0; 3]).is_err());
    for (centres, factors) in
        [(vec![0.0], vec![1.0; 2]), (vec![f64::NAN; 2], vec![1.0; 2]), (vec![0.0; 2], vec![0.0; 2])]
    {
        let x = FeatureMatrix::from_columns_i8(1, 2, vec![1, 2]).expect("valid");
        assert!(x.rescaled(&centres, &factors).is_err());
    }
}

/// The rest of the last byte does not count.
#[test]
fn genotypes_are_counted() {
    for n in 1..14 {
        let bytes: Vec<u8> = jumble(3 * usize::div_ceil(n, 4)).map(|x| (256.0 * x) as u8).collect();
        let Genotypes { levels, missing } = Genotypes::of(n, &bytes).expect("whole columns");
        for (j, column) in bytes.chunks(n.div_ceil(4)).enumerate() {
            let codes: Vec<u8> = (0..n).map(|i| column[i / 4] >> (2 * (i % 4)) & 3).collect();
            let known: Vec<f64> =
                codes.iter().filter(|code| **code != 1).map(|code| [2.0, 0.0, 1.0, 0.0][usize::from(*code)]).collect();
            let mean = known.iter().sum::<f64>() / known.len().max(1) as f64;
            assert_eq!((levels[j], missing[j]), ([2.0, mean, 1.0, 0.0], n - known.len()), "{n}");
        }
    }
}
