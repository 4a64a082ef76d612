//! Products of pairs of columns, each computed once.

use std::collections::HashMap;

use super::WorkingColumns;
use crate::numeric::dot_in_lanes;

/// The products of the columns that have been asked for.
#[derive(Debug, Default)]
pub(super) struct PairProducts {
    slots: HashMap<usize, usize>,
    /// The products of the column of every slot with those of the slots before it, and with itself.
    rows: Vec<Vec<f64>>,
    /// The place of the column of every slot.
    places: Vec<usize>,
}

impl PairProducts {
    /// The products of all pairs among some columns, a row for each.
    pub(super) fn among(&mut self, columns: &WorkingColumns, places: &[usize]) -> Vec<f64> {
        let slots: Vec<usize> = places.iter().map(|&place| self.slot(columns, place)).collect();
        let product = |a: usize, b: usize| self.rows[a.max(b)][a.min(b)];
        slots.iter().flat_map(|&a| slots.iter().map(move |&b| product(a, b))).collect()
    }

    fn slot(&mut self, columns: &WorkingColumns, place: usize) -> usize {
        if let Some(&slot) = self.slots.get(&place) {
            return slot;
        }
        let slot = self.places.len();
        self.places.push(place);
        self.slots.insert(place, slot);
        let column = columns.column(place);
        self.rows.push(self.places.iter().map(|&other| dot_in_lanes(column, columns.column(other))).collect());
        slot
    }
}
