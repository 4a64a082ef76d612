//! Rows in, columns out, in little more memory than the columns.

use rayon::prelude::*;

use crate::{
    At, Error,
    room::{Held, reserve},
};

/// Columns that one core fills at a time.
const COLUMNS: usize = 256;

/// Rows that are turned at a time, so that what is read and what is written stay in cache.
const BLOCK: usize = 64;

/// While the matrix has fewer bytes its room doubles, so that a few rows at a time do not move it often; above, a quarter more is
/// little beside what is there.
const DOUBLED: u64 = 1 << 23;

/// A matrix that grows by rows and is stored by columns.
///
/// Every column has room for more rows than there are. Where the number of rows is known before, the room is just that.
/// Otherwise there is none before the first rows come, and then it grows in place, by a quarter at a time: the columns move
/// apart, the last one first.
///
/// Nothing large is given back on the way. An allocator may keep what it is given back, and the C library's then also takes the next
/// blocks of that size from memory that it keeps: a matrix that had begun with a block of 25 MB and was moved out of it left
/// these 25 MB behind, beside a matrix of 80.
#[derive(Debug)]
pub(crate) struct Growing {
    columns: usize,
    rows: usize,
    room: usize,
    values: Vec<f64>,
}

impl Growing {
    /// Columns with room for so many rows, if that is known. Memory that is not written to is not taken.
    pub(crate) fn new(columns: usize, room: Option<usize>) -> Self {
        let room = room.unwrap_or(0);
        // A limit of the operating system is found out when rows come.
        let values = banach::memory::zeros(columns * room);
        Self { columns, rows: 0, room: if values.is_some() { room } else { 0 }, values: values.unwrap_or_default() }
    }

    /// The bytes of so many rows.
    fn bytes(&self, rows: usize) -> u64 {
        (rows as u64).saturating_mul(self.columns as u64).saturating_mul(8)
    }

    /// Makes room for so many rows more: for a quarter of those that are there, or as many, if there is memory for it, else for
    /// just these.
    pub(crate) fn make_room(&mut self, more: usize, held: &mut Held<'_>, (file, at): (&str, At)) -> Result<(), Error> {
        let rows = self.rows + more;
        if rows <= self.room {
            return held.set(self.bytes(self.room), at);
        }
        let further = if self.bytes(self.room) < DOUBLED { self.room } else { self.room / 4 };
        let ample = rows.max(self.room + further);
        let room = if held.set(self.bytes(ample), at).is_ok() { ample } else { rows };
        held.set(self.bytes(room), at)?;
        let more = (self.columns * room).saturating_sub(self.values.len());
        reserve(&mut self.values, more, file, at)?;
        self.move_columns(self.rows, room);
        Ok(())
    }

    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// Takes in rows, one after another.
    pub(crate) fn push(&mut self, rows: &[f64]) {
        let (columns, first) = (self.columns, self.rows);
        debug_assert_eq!(rows.len() % columns, 0);
        let count = rows.len() / columns;
        if count == 0 {
            return;
        }
        self.rows += count;
        debug_assert!(self.rows <= self.room, "there is room for what comes");
        let room = self.room;
        self.values.par_chunks_mut(COLUMNS * room).enumerate().for_each(|(at, places)| {
            for from in (0..count).step_by(BLOCK) {
                let to = count.min(from + BLOCK);
                for (column, place) in places.chunks_exact_mut(room).enumerate() {
                    let column = at * COLUMNS + column;
                    for row in from..to {
                        place[first + row] = rows[row * columns + column];
                    }
                }
            }
        });
    }

    /// Gives every column another room, where so many rows are in it.
    fn move_columns(&mut self, rows: usize, room: usize) {
        let old = std::mem::replace(&mut self.room, room);
        if room > old {
            self.values.reserve_exact(self.columns * room - self.values.len());
            self.values.resize(self.columns * room, 0.0);
            for column in (1..self.columns).rev() {
                self.values.copy_within(column * old..column * old + rows, column * room);
            }
        } else if room < old {
            for column in 1..self.columns {
                self.values.copy_within(column * old..column * old + rows, column * room);
            }
            self.values.truncate(self.columns * room);
            self.values.shrink_to_fit();
        }
    }

    /// All values, one column after another.
    pub(crate) fn into_columns(mut self) -> Vec<f64> {
        self.move_columns(self.rows, self.rows);
        self.values
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_those_of_the_rows() {
        for (rows, columns) in [(0, 3), (1, 1), (3, 2), (65, 31), (130, 100), (7, 1000), (200, 33), (1001, 2)] {
            for (room, step) in [(None, 1), (None, 70), (Some(rows), 3), (Some(rows + 5), 100), (Some(0), 1)] {
                let all: Vec<f64> = (0..rows * columns).map(|value| value as f64).collect();
                let mut growing = Growing::new(columns, room);
                let mut held = crate::room::Room::new("data", u64::MAX).whole_part();
                for rows in all.chunks(step * columns) {
                    growing.make_room(rows.len() / columns, &mut held, ("data", At::Row(1))).expect("no limit");
                    growing.push(rows);
                }
                assert_eq!(growing.rows(), rows);
                let values = growing.into_columns();
                assert_eq!(values.len(), rows * columns);
                for row in 0..rows {
                    for column in 0..columns {
                        assert_eq!(values[column * rows + row], (row * columns + column) as f64);
                    }
                }
            }
        }
    }
}
