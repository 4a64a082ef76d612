//! Columns that are no variables: groups, times and weights of rows, and the target of a test.

use std::{collections::BTreeMap, path::Path};

use anyhow::{Context, bail, ensure};
use banach::Memory;
use banach_io::{At, Dataset, Impute};

use super::{
    args::{Columns, GenotypeArgs},
    read,
};

/// One column of a file by itself. `other` is any other column, which has to be there and does not matter.
pub(super) fn column(
    path: &Path,
    columns: &Columns,
    flag: &str,
    (name, other): (&str, &str),
    memory: Memory,
) -> anyhow::Result<Dataset> {
    ensure!(path.as_os_str() != "-", "{flag} reads the file once more, which standard input cannot do; name a file");
    let alone = Columns {
        target: Some(name.to_owned()),
        features: vec![other.to_owned()],
        drop: Vec::new(),
        apart: None,
        impute: Some(Impute::Mean),
        // Which variants are variables has been decided.
        genotypes: GenotypeArgs { all: true, covariates: Vec::new(), ..columns.genotypes.clone() },
        ..columns.clone()
    };
    read::read(path, &alone, memory).with_context(|| format!("{flag} {name}"))
}

/// The values of a column at the rows of another reading of the same file, in which rows may have been left out.
pub(super) fn aligned<T: Copy>(rows: &Dataset, column: &Dataset, values: &[T], flag: &str) -> anyhow::Result<Vec<T>> {
    let places: BTreeMap<At, T> = values.iter().enumerate().map(|(row, value)| (column.at(row), *value)).collect();
    let at = |row: usize| {
        let at = rows.at(row);
        let value = places.get(&at).copied();
        value
            .with_context(|| format!("{flag}: {}, {at}: the value of {:?} is missing", rows.file, column.target.name()))
    };
    (0..rows.table.rows()).map(at).collect()
}

/// What every row has in the column that tells rows apart, none of which may be missing.
fn texts<'d>(data: &'d Dataset, flag: &str, name: &str) -> anyhow::Result<&'d [String]> {
    let texts = data.ids.as_deref().unwrap_or_default();
    if let Some(row) = texts.iter().position(String::is_empty) {
        bail!("{flag}: {}, {}: the value of {name:?} is missing", data.file, data.at(row));
    }
    Ok(texts)
}

/// The numbers of texts, if all of them are numbers.
fn numbers(texts: &[String]) -> Option<Vec<f64>> {
    texts.iter().map(|text| text.parse().ok().filter(|number: &f64| number.is_finite())).collect()
}

/// A number for every group of rows, by value or by text.
pub(super) fn groups(data: &Dataset, name: &str) -> anyhow::Result<Vec<usize>> {
    let texts = texts(data, "--groups", name)?;
    Ok(numbers(texts).map_or_else(|| places(texts, String::cmp), |numbers| places(&numbers, f64::total_cmp)))
}

/// The times of rows: numbers, or dates that begin with the year and so are in the order of the alphabet.
pub(super) fn times(data: &Dataset, name: &str) -> anyhow::Result<Vec<f64>> {
    let texts = texts(data, "--time", name)?;
    if let Some(numbers) = numbers(texts) {
        return Ok(numbers);
    }
    if let Some(row) = texts.iter().position(|text| !begins_with_year(text)) {
        bail!(
            "--time: {}, {}: {:?} of {name:?}; times are numbers, or dates that begin with the year, such as 2024-05-31 or 2024-05-31 09:05",
            data.file,
            data.at(row),
            texts[row]
        );
    }
    Ok(places(texts, String::cmp).into_iter().map(|place| place as f64).collect())
}

/// Whether a text begins as 2024-05-31 does.
fn begins_with_year(text: &str) -> bool {
    let figure = |&(at, byte): &(usize, u8)| if at == 4 || at == 7 { byte == b'-' } else { byte.is_ascii_digit() };
    text.len() >= 10 && text.bytes().take(10).enumerate().all(|one| figure(&one))
}

/// For every value its place among all different ones.
fn places<T: Clone>(values: &[T], order: impl Fn(&T, &T) -> std::cmp::Ordering + Copy) -> Vec<usize> {
    let mut known = values.to_vec();
    known.sort_by(order);
    known.dedup_by(|a, b| order(a, b).is_eq());
    values.iter().map(|value| known.partition_point(|other| order(other, value).is_lt())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_that_begin_with_the_year_can_be_put_in_order() {
        for (text, expected) in [
            ("2024-05-31", true),
            ("2024-05-31T09:05", true),
            ("31.05.2024", false),
            ("12/31/2023", false),
            ("9:05", false),
        ] {
            assert_eq!(begins_with_year(text), expected, "{text}");
        }
        assert_eq!(places(&[3.0, 1.0, 3.0, -0.5], f64::total_cmp), [2, 1, 2, 0]);
    }
}
