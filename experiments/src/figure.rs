//! Drawing: a picture as SVG and PNG.

use kuva::{
    backend::{png::PngBackend, svg::SvgBackend},
    render::{layout::Layout, plots::Plot, render::render_multiple},
};

use crate::Error;

/// A drawn picture.
#[derive(Debug, Clone)]
pub struct Picture {
    /// Its file name without extension.
    pub name: &'static str,
    /// As SVG.
    pub svg: String,
    /// As PNG, at twice the size.
    pub png: Vec<u8>,
}

impl Picture {
    pub(crate) fn draw(name: &'static str, plots: Vec<Plot>, layout: Layout) -> Result<Self, Error> {
        let scene = render_multiple(plots, layout);
        // With a view box the picture can be scaled to the width of a page.
        let view_box = format!("<svg viewBox=\"0 0 {} {}\" ", scene.width, scene.height);
        let svg = SvgBackend::default().render_scene(&scene).replacen("<svg ", &view_box, 1);
        let png = PngBackend::new().with_scale(2.0).render_scene(&scene).map_err(Error::Drawing)?;
        Ok(Self { name, svg, png })
    }
}
