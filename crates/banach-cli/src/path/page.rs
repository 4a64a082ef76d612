//! A page on a path: a picture of the coefficients, one of the held-out loss, and the numbers. It needs no other file.

use std::path::Path;

use minijinja::{Value, context, value::Serde};

use super::{Followed, FollowedFunction};
use crate::{
    files::write_file,
    fit::page::{
        chart::{Axis, Chart, Line},
        gammas, rendered, safe,
    },
    options::Common,
};

pub(super) fn write(path: &Path, followed: &Followed, common: &Common) -> anyhow::Result<()> {
    let charts: Vec<Value> =
        followed.functions.iter().map(|function| safe(&coefficients(function, &followed.gammas))).collect();
    let loss = followed.validation.as_ref().map(|validation| safe(&gammas(validation)));
    let own = context! { fitted => Serde(followed), charts, loss };
    write_file(path, rendered(include_str!("page.html"), own)?, common)
}

fn coefficients(function: &FollowedFunction, gammas: &[f64]) -> Chart {
    let x = Axis::logarithmic("gamma", gammas.iter().copied());
    let all = function.monomials.iter().flat_map(|growth| &growth.coefficients);
    let y = Axis::linear("coefficient", all.copied().chain([0.0]));
    let mut chart = Chart::new("Coefficients of the largest monomials along gamma", x, y);
    let line = |growth: &super::Growth| Line {
        label: growth.monomial.clone(),
        points: gammas.iter().copied().zip(growth.coefficients.iter().copied()).collect(),
        errors: Vec::new(),
    };
    chart.lines = function.monomials.iter().map(line).collect();
    chart
}
