//! What the planner predicts from the rates of this machine, beside what the routes take.

use banach::{
    Exponent, FeatureMatrix, Memory, Planner, Route,
    data::Scratch,
    form::{Evaluation, Rates, Shape},
    kernel::{Linear, Polynomial, TensorKernel},
};

use crate::bench::{
    Figure, Side, Target,
    gram::jumble,
    timing::{Best, ColdCache, rounds},
};
use crate::{Error, Watch};

/// A set-up takes as long as this many evaluations, and has as many times fewer rounds.
const SLOW: usize = 8;
/// How far a prediction may be off: by less than it takes to prefer the wrong route for long.
const TARGET: Target = Target::Within(2.0);

/// The data of one route, `(samples, inputs)` each.
pub(in crate::bench) struct Shapes {
    pub features: (usize, usize),
    pub tiles: (usize, usize),
    pub gram: (usize, usize),
    pub streamed: (usize, usize),
}

pub(in crate::bench) fn figures(shapes: &Shapes, count: usize, watch: &mut dyn Watch) -> Result<Vec<Figure>, Error> {
    let rates = Rates::measure()?;
    let squares = Polynomial::new(2, 1.0, 0.0)?;
    let mut figures = route(Route::Features, shapes.features, Linear, rates, count, watch)?;
    figures.extend(route(Route::Tiles, shapes.tiles, squares, rates, count, watch)?);
    figures.extend(route(Route::Gram, shapes.gram, squares, rates, count, watch)?);
    figures.extend(route(Route::Streamed, shapes.streamed, squares, rates, count, watch)?);
    Ok(figures)
}

fn route(
    route: Route,
    (samples, inputs): (usize, usize),
    kernel: impl TensorKernel + 'static,
    rates: Rates,
    count: usize,
    watch: &mut dyn Watch,
) -> Result<Vec<Figure>, Error> {
    let columns = jumble(samples * inputs, 1.0);
    let x = FeatureMatrix::from_columns(samples, inputs, columns)?;
    let planner = Planner { rates, memory: Memory::available(), route: Some(route), ..Planner::default() };
    let plan = planner.plan(Shape::from(&x), kernel, Exponent::from_fraction(4, 3)?)?;
    let predicted = plan.cost();
    let what = format!("the planner's prediction, {route}, n = {samples}, d = {inputs}");
    let mut figures = Vec::new();
    let form = plan.build(&x)?;
    let (alpha, mut evaluation, mut scratch) = (jumble(samples, 1.0), Evaluation::default(), Scratch::new());
    let (cache, mut one) = (ColdCache::new(), Best::new());
    rounds(&what, count, watch, || {
        cache.evict();
        one.time(|| form.evaluate(&alpha, &mut evaluation, &mut scratch));
    })?;
    figures.push(Figure::new(
        format!("{what}: an evaluation"),
        Side::new("measured", &one),
        Side { name: "predicted", seconds: predicted.evaluation, work: 1.0 },
        TARGET,
    ));
    if predicted.setup > 0.0 {
        let mut setup = Best::new();
        rounds(&what, count.div_ceil(SLOW), watch, || setup.time(|| plan.build(&x).map(|form| form.samples())))?;
        figures.push(Figure::new(
            format!("{what}: setting up"),
            Side::new("measured", &setup),
            Side { name: "predicted", seconds: predicted.setup, work: 1.0 },
            TARGET,
        ));
    }
    Ok(figures)
}
