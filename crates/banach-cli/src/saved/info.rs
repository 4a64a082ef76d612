//! `banach info`: what a model file says of itself.

use banach::{Exponent, Memory, Planner, Route, Spec, error::counted, form::Shape, report::CertificateValues};
use banach_io::{Encoding, FORMAT, Label, Provenance, Saved, SavedModel};
use serde::Serialize;

use super::{args::Info, info_auto, info_sparse, open};
use crate::{
    fit::{
        result::Variable,
        text::{scaled, significant, size},
    },
    options::Common,
    print,
    visible::visible_name,
    words,
};

/// The JSON object, key by key (docs/command-line.md explains them).
#[derive(Debug, Serialize)]
struct Told {
    version: &'static str,
    model: String,
    bytes: u64,
    format: &'static str,
    format_version: u64,
    provenance: Provenance,
    spec: Spec,
    route: &'static str,
    data: SavedData,
    functions: Vec<SavedFunction>,
}

#[derive(Debug, Serialize)]
#[expect(clippy::struct_excessive_bools, reason = "each is a key of its own")]
struct SavedData {
    samples: usize,
    /// Numbers of the samples that are stored; all of them unless the samples are sparse.
    stored: usize,
    sparse: bool,
    weighted: bool,
    target: Option<String>,
    classes: Option<Vec<Label>>,
    variables: Vec<Variable>,
    standardized: bool,
    /// Whether means were taken off.
    centred: bool,
    categorical: Vec<Encoding>,
    constant: Vec<String>,
}

#[derive(Debug, Serialize)]
struct SavedFunction {
    class: Option<Label>,
    status: &'static str,
    iterations: usize,
    passes: usize,
    intercept: f64,
    certificate: CertificateValues,
    /// A bound on the distance of the dual vector to the optimal one.
    radius: Option<f64>,
}

pub(crate) fn info(what: &Info, common: &Common) -> anyhow::Result<()> {
    let (saved, _taken) = open(&what.model, &common.account()?)?;
    let bytes = std::fs::metadata(&what.model)?.len();
    let model = match &saved {
        Saved::Lp(model) => model,
        Saved::Sparse(model) => return info_sparse::info(what, &saved, model, bytes, common),
        Saved::Auto(model) => return info_auto::info(what, &saved, model, bytes, common),
    };
    let told = Told {
        version: env!("CARGO_PKG_VERSION"),
        model: what.model.display().to_string(),
        bytes,
        format: FORMAT,
        format_version: saved.version(),
        provenance: model.provenance.clone(),
        spec: model.spec.clone(),
        route: Route::name(model.route),
        data: data(model),
        functions: functions(model),
    };
    let text = told.text()?;
    print::result(common, &told, || text.clone(), || how(model, common.memory()))
}

/// What a new fit of the same would cost, by every route.
fn how(model: &SavedModel<'_>, memory: Memory) -> anyhow::Result<String> {
    let spec = &model.spec;
    let problems = model.solutions.len();
    let planner = Planner { memory, monomial_scale: spec.monomials, problems, route: spec.route, ..Planner::default() };
    let plan = planner.plan(Shape::from(&model.x), spec.kernel.build()?, Exponent::of_penalty(spec.p)?);
    Ok(match plan {
        Ok(plan) => format!("To fit it again:\n{}", words::explain(&plan).trim_end()),
        Err(error) => format!("It cannot be fitted again here: {}", words::message(&error)),
    })
}

fn data(model: &SavedModel<'_>) -> SavedData {
    let done = model.standardization.as_ref();
    SavedData {
        samples: model.x.samples(),
        stored: model.x.stored(),
        sparse: model.x.is_sparse(),
        weighted: model.weights.is_some(),
        target: model.target.clone(),
        classes: model.observed.labels().map(<[Label]>::to_vec),
        variables: Variable::all(&model.variable_names(), done),
        standardized: done.is_some(),
        centred: done.is_some_and(|done| done.centred),
        categorical: model.encodings.clone(),
        constant: done.map_or_else(Vec::new, |done| done.constant.clone()),
    }
}

fn functions(model: &SavedModel<'_>) -> Vec<SavedFunction> {
    let found = model.solutions.iter().zip(&model.radii).enumerate();
    let function = |(at, (solution, radius)): (usize, (&banach::Solution, &Option<f64>))| SavedFunction {
        class: model.class(at).cloned(),
        status: solution.status.name(),
        iterations: solution.iterations,
        passes: solution.passes,
        intercept: solution.intercept,
        certificate: solution.certificate.into(),
        radius: *radius,
    };
    found.map(function).collect()
}

/// What is predicted.
pub(super) fn goal(classes: Option<&[Label]>, functions: usize) -> String {
    match (classes, functions) {
        (Some(classes), _) => {
            let labels: Vec<String> =
                classes.iter().map(|label| visible_name(&label.to_string()).into_owned()).collect();
            format!("{} classes: {}", classes.len(), labels.join(", "))
        }
        (None, 1) => "a number".to_owned(),
        (None, outputs) => format!("{outputs} numbers"),
    }
}

/// The file, its format and its writer.
pub(super) fn file(model: &str, bytes: u64, version: u64, program: &str) -> String {
    let (model, program) = (visible_name(model), visible_name(program));
    format!("file:   {model}, {}, {FORMAT} version {version}, written by {program}", size(bytes))
}

impl Told {
    fn text(&self) -> anyhow::Result<String> {
        let Self { model, bytes, provenance, spec, data, .. } = self;
        let Provenance { program, source, data: hash } = provenance;
        let target = data.target.as_ref().map_or_else(String::new, |name| format!(" {name:?}"));
        let goal = goal(data.classes.as_deref(), self.functions.len());
        let stored = if data.sparse {
            format!(", {} not 0", counted(data.stored, "number that is", "numbers that are"))
        } else {
            String::new()
        };
        let scaled = scaled(data.standardized, data.centred);
        let asked = if spec.monomials == banach::kernel::MonomialScale::Raw { "" } else { spec.monomials.name() };
        let mut lines = vec![
            file(model, *bytes, self.format_version, program),
            format!(
                "data:   {}, {}; target{target}, {goal}; {}{scaled}{stored}{}",
                visible_name(source.as_deref().unwrap_or("not from a file")),
                counted(data.samples, "sample", "samples"),
                counted(data.variables.len(), "variable", "variables"),
                if data.weighted { "; samples have weights" } else { "" },
            ),
            format!("hash:   {} of the data", visible_name(hash)),
            format!(
                "model:  {} loss, p = {}, gamma = {}; K = {}{}{asked}{}",
                spec.loss.name(),
                Exponent::of_penalty(spec.p)?,
                significant(spec.gamma),
                spec.kernel,
                if asked.is_empty() { "" } else { ", monomials " },
                if spec.fit_intercept { "; and a constant" } else { "" },
            ),
            format!("route:  {}; solver {}, tolerance {:e}", self.route, spec.solver, spec.tolerance),
        ];
        for function in &self.functions {
            let class = function.class.as_ref();
            let class = class.map_or_else(String::new, |class| format!("{}: ", visible_name(&class.to_string())));
            let end = if function.status == "converged" { "converged" } else { "NOT CONVERGED" };
            lines.push(format!(
                "fit:    {class}{end}, relative duality gap {:.1e}, {}, {}; constant {}",
                function.certificate.relative_gap,
                counted(function.iterations, "iteration", "iterations"),
                counted(function.passes, "pass over the data", "passes over the data"),
                significant(function.intercept),
            ));
        }
        Ok(lines.join("\n") + "\n")
    }
}
