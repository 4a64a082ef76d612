//! Line charts and clouds of dots as SVG. Colours are the page's, so that they follow its light and dark.

use minijinja::HtmlEscape;

// On a phone a chart is three quarters as wide as this, and its text still large enough.
pub(super) const WIDTH: f64 = 480.0;
pub(super) const HEIGHT: f64 = 300.0;
pub(super) const LEFT: f64 = 74.0;
pub(super) const RIGHT: f64 = 22.0;
pub(super) const TOP: f64 = 14.0;
pub(super) const BOTTOM: f64 = 48.0;
/// Ticks on an axis, about.
const TICKS: f64 = 5.0;
/// Characters of the name of an axis: below a picture, and beside it.
const BELOW: usize = 46;
const BESIDE: usize = 28;
/// Lines of different colours.
pub(crate) const COLOURS: usize = 6;

/// One axis: what it shows, from where to where.
#[derive(Debug, Clone)]
pub(crate) struct Axis {
    pub(super) label: String,
    pub(super) low: f64,
    pub(super) high: f64,
    logarithmic: bool,
}

impl Axis {
    /// An axis with room for these values.
    pub(crate) fn linear(label: &str, values: impl Iterator<Item = f64>) -> Self {
        let (low, high) = ends(values.filter(|value| value.is_finite()));
        let margin = if high > low { 0.04 * (high - low) } else { 0.5 * low.abs().max(1.0) };
        Self { label: label.to_owned(), low: low - margin, high: high + margin, logarithmic: false }
    }

    /// From 0 to 1.
    pub(crate) fn unit(label: &str) -> Self {
        Self { label: label.to_owned(), low: 0.0, high: 1.0, logarithmic: false }
    }

    /// A logarithmic axis with room for these values, of which only positive ones have a place.
    pub(crate) fn logarithmic(label: &str, values: impl Iterator<Item = f64>) -> Self {
        let (low, high) = ends(values.filter(|value| value.is_finite() && *value > 0.0).map(f64::log10));
        Self { label: label.to_owned(), low: low - 0.15, high: high + 0.15, logarithmic: true }
    }

    /// From the first value to the last, without a margin.
    pub(crate) fn exact(label: &str, values: impl Iterator<Item = f64>) -> Self {
        let (low, high) = ends(values.filter(|value| value.is_finite()));
        let high = if high > low { high } else { low + 1.0 };
        Self { label: label.to_owned(), low, high, logarithmic: false }
    }

    /// Where a value is, from 0 to 1.
    pub(super) fn place(&self, value: f64) -> f64 {
        let value = if self.logarithmic { value.max(f64::MIN_POSITIVE).log10() } else { value };
        let place = (value - self.low) / (self.high - self.low);
        if place.is_nan() { 0.0 } else { place.clamp(0.0, 1.0) }
    }

    /// Places and texts of its ticks.
    pub(super) fn ticks(&self) -> Vec<(f64, String)> {
        let span = self.high - self.low;
        let step = if self.logarithmic { (span / TICKS).ceil().max(1.0) } else { round_step(span / TICKS) };
        let first = (self.low / step).ceil();
        let count = ((self.high / step).floor() - first).clamp(-1.0, 50.0) + 1.0;
        let value = |at: usize| (first + at as f64) * step;
        let text = |value: f64| if self.logarithmic { format!("1e{value:.0}") } else { number(value, step) };
        (0..count as usize).map(|at| ((value(at) - self.low) / span, text(value(at)))).collect()
    }
}

/// A name that has room at an axis.
fn shortened(label: &str, room: usize) -> String {
    match label.char_indices().nth(room) {
        Some(_) => label.chars().take(room - 1).chain(['\u{2026}']).collect(),
        None => label.to_owned(),
    }
}

/// The least and the largest, or 0 and 1 of nothing.
fn ends(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)));
    if low <= high { (low, high) } else { (0.0, 1.0) }
}

/// The next of 1, 2, 5, 10, ...
fn round_step(step: f64) -> f64 {
    let power = 10_f64.powf(step.log10().floor());
    let factor = [1.0, 2.0, 5.0, 10.0].into_iter().find(|factor| factor * power >= step * (1.0 - 1e-9)).unwrap_or(10.0);
    factor * power
}

/// A tick with as many digits as its step needs.
pub(super) fn number(value: f64, step: f64) -> String {
    let value = if value.abs() < 1e-9 * step { 0.0 } else { value };
    if value.abs() >= 1e5 || (step < 1e-4 && value != 0.0) {
        return format!("{value:.1e}");
    }
    let digits = (-step.log10().floor()).clamp(0.0, 6.0) as usize;
    format!("{value:.digits$}")
}

/// Points that belong together.
#[derive(Debug, Clone)]
pub(crate) struct Line {
    /// In the legend, if there is more than one.
    pub label: String,
    pub points: Vec<(f64, f64)>,
    /// How far each may be off, drawn as a band.
    pub errors: Vec<f64>,
}

/// A chart.
#[derive(Debug, Clone)]
pub(crate) struct Chart {
    /// Read to those who do not see it.
    pub title: String,
    pub x: Axis,
    pub y: Axis,
    pub lines: Vec<Line>,
    /// Dots, with what each stands for.
    pub dots: Vec<(f64, f64, String)>,
    /// Whether the line from corner to corner is drawn.
    pub diagonal: bool,
    /// A value of x to be marked, and what it is.
    pub mark: Option<(f64, String)>,
    /// Values of x that samples have, as marks on the axis.
    pub rug: Vec<f64>,
}

impl Chart {
    /// A chart without anything on it.
    pub(crate) fn new(title: impl Into<String>, x: Axis, y: Axis) -> Self {
        let (lines, dots, rug) = (Vec::new(), Vec::new(), Vec::new());
        Self { title: title.into(), x, y, lines, dots, diagonal: false, mark: None, rug }
    }

    fn at(&self, (x, y): (f64, f64)) -> (f64, f64) {
        let (width, height) = (WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM);
        (LEFT + width * self.x.place(x), TOP + height * (1.0 - self.y.place(y)))
    }

    /// The chart as an element of a page, and what its lines are where there are several.
    pub(crate) fn svg(&self) -> String {
        let mut svg = vec![opening(&self.title)];
        axes(&mut svg, &self.x, &self.y);
        svg.extend(self.rug.iter().map(|value| {
            let (x, bottom) = (self.at((*value, 0.0)).0, HEIGHT - BOTTOM);
            line("rug", (x, bottom - 7.0), (x, bottom))
        }));
        if self.diagonal {
            let (low, high) = (self.x.low.max(self.y.low), self.x.high.min(self.y.high));
            svg.push(line("guide", self.at((low, low)), self.at((high, high))));
        }
        for (at, line) in self.lines.iter().enumerate() {
            self.line(&mut svg, line, at % COLOURS);
        }
        for (x, y, what) in &self.dots {
            svg.push(circle("dot", self.at((*x, *y)), 2.8, what));
        }
        if let Some((value, what)) = &self.mark {
            let (x, _) = self.at((*value, 0.0));
            let (side, anchor) = if x > 0.6 * WIDTH { (-6.0, "end") } else { (6.0, "start") };
            svg.push(line("guide", (x, TOP), (x, HEIGHT - BOTTOM)));
            svg.push(text((x + side, TOP + 12.0), anchor, what));
        }
        svg.push("</svg>".to_owned());
        if self.lines.len() > 1 {
            let labels = self.lines.iter().enumerate().map(|(at, of)| (format!("c{}", at % COLOURS), of.label.clone()));
            svg.push(legend(labels));
        }
        svg.concat()
    }

    fn line(&self, svg: &mut Vec<String>, line: &Line, colour: usize) {
        let place = |point: (f64, f64)| {
            let (x, y) = self.at(point);
            format!("{x:.1},{y:.1}")
        };
        if !line.errors.is_empty() {
            let with_errors = || line.points.iter().zip(&line.errors);
            let upper = with_errors().map(|((x, y), error)| place((*x, y + error)));
            let lower = with_errors().rev().map(|((x, y), error)| place((*x, y - error)));
            let band: Vec<String> = upper.chain(lower).collect();
            svg.push(format!("<polygon class=\"band c{colour}\" points=\"{}\"/>", band.join(" ")));
        }
        let points: Vec<String> = line.points.iter().map(|point| place(*point)).collect();
        svg.push(format!("<polyline class=\"line c{colour}\" points=\"{}\"/>", points.join(" ")));
        // More dots than these would be a band.
        if points.len() <= 60 {
            let dot = |&(x, y): &(f64, f64)| {
                circle(&format!("point c{colour}"), self.at((x, y)), 2.6, &format!("{x:.4e}, {y:.4e}"))
            };
            svg.extend(line.points.iter().map(dot));
        }
    }
}

/// What a picture is, for those who do not see it too.
pub(super) fn opening(title: &str) -> String {
    let title = HtmlEscape(title);
    format!(
        "<svg class=\"chart\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{title}\"><title>{title}</title>"
    )
}

pub(super) fn axes(svg: &mut Vec<String>, x: &Axis, y: &Axis) {
    let (right, bottom) = (WIDTH - RIGHT, HEIGHT - BOTTOM);
    for (place, label) in x.ticks() {
        let x = LEFT + place * (right - LEFT);
        svg.push(line("grid", (x, TOP), (x, bottom)));
        svg.push(text((x, bottom + 18.0), "middle", &label));
    }
    for (place, label) in y.ticks() {
        let y = bottom - place * (bottom - TOP);
        svg.push(line("grid", (LEFT, y), (right, y)));
        svg.push(text((LEFT - 6.0, y + 4.0), "end", &label));
    }
    let (middle, centre) = (LEFT + 0.5 * (right - LEFT), TOP + 0.5 * (bottom - TOP));
    svg.push(text((middle, HEIGHT - 10.0), "middle", &shortened(&x.label, BELOW)));
    let label = shortened(&y.label, BESIDE);
    let label = HtmlEscape(&label);
    svg.push(format!(
        "<text transform=\"translate(16 {centre:.1}) rotate(-90)\" text-anchor=\"middle\">{label}</text>"
    ));
}

/// What colours stand for, each by its class.
pub(super) fn legend(entries: impl Iterator<Item = (String, String)>) -> String {
    let entry = |(colour, label): (String, String)| {
        format!("<li><span class=\"swatch {colour}\"></span>{}</li>", HtmlEscape(&label))
    };
    format!("<ul class=\"legend\">{}</ul>", entries.map(entry).collect::<String>())
}

pub(super) fn line(class: &str, (x1, y1): (f64, f64), (x2, y2): (f64, f64)) -> String {
    format!("<line class=\"{class}\" x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\"/>")
}

pub(super) fn circle(class: &str, (x, y): (f64, f64), radius: f64, what: &str) -> String {
    let what = HtmlEscape(what);
    format!("<circle class=\"{class}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius}\"><title>{what}</title></circle>")
}

pub(super) fn text((x, y): (f64, f64), anchor: &str, content: &str) -> String {
    format!("<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{}</text>", HtmlEscape(content))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_inside() {
        for (low, high) in [(0.0, 1.0), (-3.2, 17.0), (1e-7, 3e-7), (4.0, 4.0), (-1e9, 1e9)] {
            let axis = Axis::linear("x", [low, high].into_iter());
            let ticks = axis.ticks();
            assert!((2..=12).contains(&ticks.len()), "{low} {high}: {ticks:?}");
            assert!(ticks.iter().all(|(place, _)| (0.0..=1.0).contains(place)));
        }
        let axis = Axis::logarithmic("gap", [1.0, 0.0, 1e-9].into_iter());
        assert!(axis.ticks().iter().any(|(_, text)| text == "1e-8"), "{:?}", axis.ticks());
    }

    #[test]
    fn nothing_leaves_the_chart_and_names_are_escaped() {
        let mut chart = Chart::new("a <b>", Axis::unit("x"), Axis::linear("y", [].into_iter()));
        chart.dots.push((f64::NAN, 1e300, "<script>".to_owned()));
        chart.lines.push(Line { label: "l".to_owned(), points: vec![(0.0, -1e9), (2.0, 1.0)], errors: vec![1.0, 0.1] });
        let svg = chart.svg();
        assert!(svg.contains("a &lt;b&gt;") && svg.contains("&lt;script&gt;") && !svg.contains("<script>"), "{svg}");
        assert!(!svg.contains("inf"), "{svg}");
    }
}
