//! Predictions over two variables as bands of one colour each, with samples on them.

use super::chart::{Axis, BOTTOM, HEIGHT, LEFT, RIGHT, TOP, WIDTH, axes, circle, legend, number, opening};

/// Colours of bands; the style has as many.
pub(crate) const LEVELS: usize = 9;
/// Cells of a picture in each direction.
const CELLS: usize = 96;

/// A picture of a function of two variables.
#[derive(Debug)]
pub(crate) struct Surface<'a> {
    /// Read to those who do not see it.
    pub title: String,
    pub x: &'a [f64],
    pub y: &'a [f64],
    pub x_label: &'a str,
    pub y_label: &'a str,
    /// Row after row from the least value of y.
    pub values: &'a [f64],
    /// Samples: where they are, their target if it is of the same kind as the values, and what each is.
    pub samples: Vec<(f64, f64, Option<f64>, String)>,
}

/// Where bands begin.
struct Bands {
    first: f64,
    step: f64,
    count: usize,
}

impl Bands {
    /// Up to nine with round ends.
    fn new(values: &[f64]) -> Self {
        let known = || values.iter().copied().filter(|value| value.is_finite());
        let (low, high) = known().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)));
        let span = if high > low { high - low } else { 1.0 };
        let low = if low.is_finite() { low } else { 0.0 };
        let begun = |step: f64| (low / step).floor() * step;
        let count = |step: f64| ((low + span - begun(step)) / step).ceil().max(1.0) as usize;
        // The finest of round steps that needs no more bands than there are colours.
        let power = 10_f64.powf((span / LEVELS as f64).log10().floor());
        let steps = [1.0, 2.0, 2.5, 5.0, 10.0, 20.0].map(|factor| factor * power);
        let step = steps.into_iter().find(|step| count(*step) <= LEVELS).unwrap_or(steps[steps.len() - 1]);
        let (first, count) = (begun(step), if high > low { count(step).min(LEVELS) } else { 1 });
        Self { first, step, count }
    }

    fn of(&self, value: f64) -> usize {
        let band = ((value - self.first) / self.step).floor();
        if band.is_nan() { 0 } else { band.clamp(0.0, (self.count - 1) as f64) as usize }
    }

    /// Its colour among all.
    fn level(&self, band: usize) -> usize {
        if self.count > 1 { band * (LEVELS - 1) / (self.count - 1) } else { LEVELS / 2 }
    }

    fn label(&self, band: usize) -> String {
        let end = |at: usize| number(self.first + at as f64 * self.step, self.step);
        format!("{} to {}", end(band), end(band + 1))
    }
}

impl Surface<'_> {
    /// The picture as an element of a page, and what its colours are.
    pub(crate) fn svg(&self) -> String {
        let x = Axis::exact(self.x_label, self.x.iter().copied());
        let y = Axis::exact(self.y_label, self.y.iter().copied());
        let (right, bottom) = (WIDTH - RIGHT, HEIGHT - BOTTOM);
        let (width, height) = ((right - LEFT) / CELLS as f64, (bottom - TOP) / CELLS as f64);
        let bands = Bands::new(self.values);
        let mut svg = vec![opening(&self.title)];
        for row in 0..CELLS {
            let top = bottom - (row + 1) as f64 * height;
            // Without a seam to the row below.
            let tall = height + if row > 0 { 0.4 } else { 0.0 };
            let at = |column: usize| bands.of(self.value(share(column), share(row)));
            let cells: Vec<usize> = (0..CELLS).map(at).collect();
            let mut begin = 0;
            // Neighbours of one colour are one rectangle.
            for run in cells.chunk_by(|a, b| a == b) {
                let (left, wide) = (LEFT + begin as f64 * width, run.len() as f64 * width);
                let level = bands.level(run[0]);
                svg.push(format!(
                    "<rect class=\"band l{level}\" x=\"{left:.2}\" y=\"{top:.2}\" width=\"{wide:.2}\" height=\"{tall:.2}\"/>"
                ));
                begin += run.len();
            }
        }
        axes(&mut svg, &x, &y);
        for (a, b, target, what) in &self.samples {
            let place = (LEFT + (right - LEFT) * x.place(*a), bottom - (bottom - TOP) * y.place(*b));
            let class = target.map_or("sample".to_owned(), |target| {
                let level = bands.level(bands.of(target));
                format!("sample l{level}")
            });
            svg.push(circle(&class, place, 3.4, what));
        }
        svg.push("</svg>".to_owned());
        svg.push(legend((0..bands.count).map(|band| (format!("l{}", bands.level(band)), bands.label(band)))));
        svg.concat()
    }

    /// Between the values that are known, from 0 to 1 in each direction.
    fn value(&self, across: f64, up: f64) -> f64 {
        let (columns, rows) = (self.x.len(), self.y.len());
        let place = |share: f64, count: usize| {
            let at = share * count.saturating_sub(1) as f64;
            let before = (at as usize).min(count.saturating_sub(2));
            (before, at - before as f64)
        };
        let ((column, a), (row, b)) = (place(across, columns), place(up, rows));
        let known = |row: usize, column: usize| {
            let at = row.min(rows.saturating_sub(1)) * columns + column.min(columns.saturating_sub(1));
            self.values.get(at).copied().unwrap_or(f64::NAN)
        };
        let along = |row: usize| (1.0 - a) * known(row, column) + a * known(row, column + 1);
        (1.0 - b) * along(row) + b * along(row + 1)
    }
}

/// The middle of a cell, from 0 to 1.
fn share(cell: usize) -> f64 {
    (cell as f64 + 0.5) / CELLS as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bands_cover_all_values_and_say_where_they_end() {
        for (low, high) in [(0.0, 1.0), (-3.2, 17.0), (1e-7, 3e-7), (4.0, 4.0), (-1e9, 1e9)] {
            let bands = Bands::new(&[high, low, f64::NAN]);
            assert!((1..=LEVELS).contains(&bands.count), "{low} {high}: {}", bands.count);
            let end = bands.first + bands.count as f64 * bands.step;
            assert!(bands.first <= low && high <= end * (1.0 + 1e-12) + 1e-12, "{low} {high} {end}");
            assert!(bands.of(low) == 0 && bands.of(high) == bands.count - 1 && bands.level(bands.count - 1) < LEVELS);
        }
    }

    #[test]
    fn values_between_corners_are_those_of_a_plane() {
        let surface = Surface {
            title: "a <b>".to_owned(),
            x: &[0.0, 2.0],
            y: &[0.0, 1.0],
            x_label: "x",
            y_label: "y",
            values: &[0.0, 2.0, 10.0, 12.0],
            samples: vec![(1.0, 0.5, Some(6.0), "<row>".to_owned()), (f64::NAN, 0.0, None, String::new())],
        };
        assert!((surface.value(0.25, 0.5) - 5.5).abs() < 1e-12);
        let svg = surface.svg();
        assert!(svg.contains("a &lt;b&gt;") && svg.contains("&lt;row&gt;") && !svg.contains("NaN"), "{svg}");
    }
}
