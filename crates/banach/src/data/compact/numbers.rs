//! Columns of numbers with fewer digits.

use std::{borrow::Cow, ops::Range, sync::Arc};

use crate::numeric::{scale_by_exp2, vectorised};

/// Columns of numbers that are f64 with fewer digits, one column after another.
#[derive(Clone)]
pub(in crate::data) struct Numbers<'a, T: Clone> {
    samples: usize,
    values: Cow<'a, [T]>,
    /// The units of every column; none if the entries are the numbers themselves.
    units: Option<Arc<[Unit]>>,
    /// Whether the entries are the moduli of these.
    moduli: bool,
}

/// An entry is `(number - centre) factor`.
#[derive(Clone, Copy)]
struct Unit {
    centre: f64,
    factor: f64,
}

impl<'a, T: Copy + Into<f64>> Numbers<'a, T> {
    pub(super) fn new(samples: usize, values: Cow<'a, [T]>) -> Self {
        Self { samples, values, units: None, moduli: false }
    }

    pub(super) fn decode(&self, column: usize, samples: Range<usize>, out: &mut [f64]) {
        let values = &self.values[column * self.samples..][samples];
        let (unit, moduli) = (self.units.as_ref().map(|units| units[column]), self.moduli);
        vectorised(
            #[inline(always)]
            move || {
                let each = out.iter_mut().zip(values);
                match unit {
                    None => each.for_each(|(out, value)| *out = (*value).into()),
                    Some(Unit { centre, factor }) => {
                        each.for_each(|(out, value)| *out = ((*value).into() - centre) * factor);
                    }
                }
                if moduli {
                    out.iter_mut().for_each(|out| *out = out.abs());
                }
            },
        );
    }

    pub(super) fn view(&self) -> Numbers<'_, T> {
        Numbers { values: Cow::Borrowed(&self.values), units: self.units.clone(), ..*self }
    }

    pub(super) fn into_owned(self) -> Numbers<'static, T> {
        let Self { samples, values, units, moduli } = self;
        Numbers { samples, values: Cow::Owned(values.into_owned()), units, moduli }
    }

    pub(super) fn into_moduli(self) -> Self {
        Self { moduli: true, ..self }
    }

    pub(super) fn into_scaled(self, exponents: &[f64]) -> Self {
        self.with_units(exponents.len(), |column, Unit { centre, factor }| Unit {
            centre,
            factor: scale_by_exp2(factor, -exponents[column]),
        })
    }

    pub(super) fn into_rescaled(self, centres: &[f64], factors: &[f64]) -> Self {
        self.with_units(centres.len(), |column, Unit { centre, factor }| Unit {
            centre: centre + centres[column] / factor,
            factor: factor * factors[column],
        })
    }

    fn with_units(self, columns: usize, change: impl Fn(usize, Unit) -> Unit) -> Self {
        let unit = |column: usize| self.units.as_ref().map_or(Unit { centre: 0.0, factor: 1.0 }, |units| units[column]);
        let units = (0..columns).map(|column| change(column, unit(column))).collect();
        Self { units: Some(units), ..self }
    }

    pub(super) fn select_samples(&self, samples: &[usize]) -> Numbers<'static, T> {
        let columns = self.values.chunks(self.samples);
        let values = columns.flat_map(|column| samples.iter().map(|&i| column[i])).collect();
        Numbers { samples: samples.len(), values: Cow::Owned(values), units: self.units.clone(), moduli: self.moduli }
    }

    pub(super) fn select_columns(&self, chosen: &[usize]) -> Numbers<'static, T> {
        let mut values = Vec::with_capacity(chosen.len() * self.samples);
        chosen.iter().for_each(|&j| values.extend_from_slice(&self.values[j * self.samples..][..self.samples]));
        let units = self.units.as_ref().map(|units| chosen.iter().map(|&j| units[j]).collect());
        Numbers { samples: self.samples, values: Cow::Owned(values), units, moduli: self.moduli }
    }
}
