//! Figure 1 of the paper: convergence of the dual algorithm against FISTA, and a recovered sparse vector.

use banach::synthetic::SparseLinear;
use kuva::{
    plot::{LegendPosition, LinePlot, ScatterPlot, lollipop::LollipopPlot, scatter::MarkerShape},
    render::{layout::Layout, plots::Plot},
};
use serde::Serialize;

use crate::{
    Error, Picture, Watch,
    data::{count_found, features},
    runs::{Algorithm, Settings, dual, primal},
};

/// What to draw.
#[derive(Debug, Clone, Serialize)]
pub struct Figure1Request {
    /// The data of the left panel.
    pub left: SparseLinear,
    /// The data of the right panel.
    pub right: SparseLinear,
    /// The algorithms' settings.
    pub settings: Settings,
    /// The first seed; the pictures show it.
    pub seed: u64,
    /// The number of seeds on which the right panel's recovery is checked.
    pub repeats: usize,
}

impl Figure1Request {
    /// The paper's setting.
    pub fn full(seed: u64, repeats: usize) -> Self {
        let left = SparseLinear { samples: 200, features: 100_000, relevant: 10, noise: 0.05 };
        let right = SparseLinear { samples: 85, features: 1500, relevant: 6, noise: 0.05 };
        Self { left, right, settings: Settings::default(), seed, repeats }
    }

    /// The left panel at a size that takes seconds.
    pub fn quick(seed: u64, repeats: usize) -> Self {
        let full = Self::full(seed, repeats);
        Self { left: SparseLinear { samples: 60, features: 3000, relevant: 4, ..full.left }, ..full }
    }
}

/// The non-zeros of a true vector, and an estimated vector.
type Recovery = (Vec<(usize, f64)>, Vec<f64>);

impl Figure1Request {
    /// The right panel for one seed.
    fn recover(&self, seed: u64, watch: &mut dyn Watch) -> Result<Recovery, Error> {
        watch.begin(&format!("right panel, seed {seed}"), 0);
        let sample = self.right.sample(seed);
        let form = features(&sample, RIGHT)?;
        let reference = dual(&self.settings, &form, &sample.targets, seed, watch)?;
        let estimate = form.weights(&reference.solution.alpha);
        Ok((sample.truth, estimate))
    }
}

/// The relative precision of one algorithm after each iteration.
#[derive(Debug, Clone, Serialize)]
pub struct Curve {
    /// The algorithm.
    pub algorithm: Algorithm,
    /// The exponent, as the paper writes it.
    pub p: String,
    /// `(F - min F)/|min F|`, or the same of Lambda, from the start.
    pub precision: Vec<f64>,
}

impl Curve {
    /// The first iteration at which the precision is reached.
    pub fn iterations_to(&self, precision: f64) -> Option<usize> {
        self.precision.iter().position(|&reached| reached <= precision)
    }
}

/// The figure as numbers.
#[derive(Debug, Clone, Serialize)]
pub struct Figure1 {
    /// What was run.
    pub request: Figure1Request,
    /// The left panel.
    pub curves: Vec<Curve>,
    /// The right panel: features and values of the true vector.
    pub truth: Vec<(usize, f64)>,
    /// The right panel: the estimated vector.
    pub estimate: Vec<f64>,
    /// For each seed, how many relevant features are among as many largest estimated weights.
    pub found: Vec<usize>,
}

/// The exponents whose proximity operator the paper calls explicit.
const LEFT: [(&str, &str, &str); 2] = [("4/3", "#0072B2", "#56B4E9"), ("5/4", "#D55E00", "#E69F00")];
const RIGHT: &str = "4/3";

impl Figure1 {
    /// Runs everything.
    pub fn run(request: Figure1Request, watch: &mut dyn Watch) -> Result<Self, Error> {
        let mut curves = Vec::new();
        watch.begin("data, left panel", 0);
        let sample = request.left.sample(request.seed);
        for (p, ..) in LEFT {
            let form = features(&sample, p)?;
            watch.begin(&format!("{}, p = {p}", Algorithm::DualGradient.title()), 0);
            let reference = dual(&request.settings, &form, &sample.targets, request.seed, watch)?;
            watch.begin(&format!("{}, p = {p}", Algorithm::Fista.title()), request.settings.limit);
            let fista = primal(Algorithm::Fista, &request.settings, &form, &sample.targets, &reference, watch)?;
            let runs = [(Algorithm::DualGradient, reference.outcome.history), (Algorithm::Fista, fista.history)];
            curves.extend(runs.map(|(algorithm, precision)| Curve { algorithm, p: p.to_owned(), precision }));
        }
        let (truth, estimate) = request.recover(request.seed, watch)?;
        let mut found = vec![count_found(&truth, &estimate)];
        for repeat in 1..request.repeats {
            let (truth, estimate) = request.recover(request.seed.wrapping_add(repeat as u64), watch)?;
            found.push(count_found(&truth, &estimate));
        }
        Ok(Self { request, curves, truth, estimate, found })
    }

    /// Both panels.
    pub fn draw(&self) -> Result<[Picture; 2], Error> {
        Ok([self.draw_left()?, self.draw_right()?])
    }

    fn draw_left(&self) -> Result<Picture, Error> {
        let mut plots: Vec<Plot> = Vec::new();
        for curve in &self.curves {
            let colors = LEFT.iter().find(|(p, ..)| *p == curve.p);
            let &(p, dual, fista) = colors.expect("curves are drawn for the exponents of the left panel");
            let points = curve.precision.iter().enumerate().skip(1).filter(|(_, precision)| **precision > 0.0);
            let line = LinePlot::new()
                .with_data(points.map(|(m, precision)| (m as f64, precision.log10())))
                .with_stroke_width(2.5)
                .with_legend(match curve.algorithm {
                    Algorithm::DualGradient => format!("dual, p = {p}"),
                    _ => format!("FISTA, p = {p}"),
                });
            plots.push(match curve.algorithm {
                Algorithm::DualGradient => line.with_color(dual).into(),
                _ => line.with_color(fista).into(),
            });
        }
        let SparseLinear { samples, features, .. } = self.request.left;
        let layout = Layout::auto_from_plots(&plots)
            .with_title("Dual algorithm against FISTA on the primal")
            .with_subtitle(format!("n = {samples}, d = {features}"))
            .with_x_label("iteration")
            .with_y_label("log10 of the relative precision")
            .with_log_x()
            // Room for the last label, which sits on the end of the axis.
            .with_force_margins(70.0, 30.0)
            .with_width(640.0)
            .with_height(420.0)
            .with_legend_position(LegendPosition::InsideBottomLeft);
        Picture::draw("figure1-left", plots, layout)
    }

    fn draw_right(&self) -> Result<Picture, Error> {
        let estimate = LollipopPlot::new()
            .with_points(self.estimate.iter().enumerate().map(|(feature, weight)| (feature as f64, *weight)))
            .with_color("#0072B2")
            .with_stem_width(1.2)
            .with_dot_radius(1.5)
            .with_legend("estimated");
        let truth = ScatterPlot::new()
            .with_data(self.truth.iter().map(|&(feature, weight)| (feature as f64, weight)))
            .with_color("#D55E00")
            .with_marker(MarkerShape::Circle)
            .with_size(6.0)
            .with_legend("true");
        let plots: Vec<Plot> = vec![estimate.into(), truth.into()];
        let SparseLinear { samples, features, relevant, .. } = self.request.right;
        let layout = Layout::auto_from_plots(&plots)
            .with_title(format!("True and estimated weights, p = {RIGHT}"))
            .with_subtitle(format!("n = {samples}, d = {features}, {relevant} relevant features"))
            .with_x_label("feature")
            .with_y_label("weight")
            .with_x_axis_min(0.0)
            .with_x_axis_max(features as f64)
            .with_width(640.0)
            .with_height(420.0)
            .with_legend_position(LegendPosition::InsideTopRight);
        Picture::draw("figure1-right", plots, layout)
    }
}
