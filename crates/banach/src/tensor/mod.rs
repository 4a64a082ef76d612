//! The Gram tensor of a kernel over given samples: what its entries are, how they are packed, filled and read.
//!
//! `multisets` holds the algebra of symmetric tensors, `layout` the packed storage, `products` how it is filled, `pass`, `contract` and
//! `pairs` how it is read, `accumulators` what a pass adds up, `diagonal` what bounds it, `copy` the tensor of some of the samples.

mod accumulators;
mod contract;
mod copy;
mod diagonal;
mod layout;
mod multisets;
mod pairs;
mod pass;
mod products;
mod symmetric;

use std::sync::Arc;

use rayon::prelude::*;

pub(crate) use self::{
    accumulators::{PassSums, pass_length},
    copy::copy,
    diagonal::Diagonal,
    layout::{MAX_COLUMNS, MAX_ROWS, MAX_STRIPES, Staircase, Stripe, TensorTile, most_tiles},
    multisets::{Multisets, count},
    pass::{Batch, Cross, pass},
    products::{FillBuffers, TileFiller, additions, thread_bytes, ways},
};
use crate::{Error, FeatureMatrix, kernel::TensorKernel, workers::checkpoint};

/// The Gram tensor `K(x_(i_1), ..., x_(i_q))` of order q = 2, 4, 6 or 8, all symmetries used; its entries are computed when they
/// are asked for.
#[derive(Clone)]
pub(crate) struct Tensor<'a> {
    pub matrix: FeatureMatrix<'a>,
    pub kernel: Arc<dyn TensorKernel>,
    pub layout: Staircase,
    pub diagonal: Diagonal,
}

impl<'a> Tensor<'a> {
    /// The tensor of a kernel on the samples of a matrix, which are checked to keep it in range.
    pub(crate) fn new(matrix: FeatureMatrix<'a>, kernel: Arc<dyn TensorKernel>, order: usize) -> Result<Self, Error> {
        let diagonal = Diagonal::of_samples(&*kernel, &matrix, order)?;
        let layout = Staircase::gram(matrix.samples(), order);
        Ok(Self { matrix, kernel, layout, diagonal })
    }

    /// The same of the moduli of the data; its diagonal is the same.
    pub(crate) fn moduli(&self) -> Result<Tensor<'_>, Error> {
        let Self { matrix, kernel, layout, diagonal } = self;
        let (kernel, layout, diagonal) = (kernel.clone(), layout.clone(), diagonal.clone());
        Ok(Tensor { matrix: matrix.view().into_moduli()?, kernel, layout, diagonal })
    }

    /// The order q.
    pub(crate) fn order(&self) -> usize {
        2 * self.layout.heads.size()
    }

    /// What fills its tiles.
    pub(crate) fn products(&self) -> TileFiller<'_> {
        let Self { layout, kernel, matrix, diagonal } = self;
        TileFiller { layout, kernel: &**kernel, x: matrix, shifts: &diagonal.shifts, points: None }
    }

    /// Computes all entries.
    pub(crate) fn fill(&self, entries: &mut [f64]) {
        let products = self.products();
        let tiles = self.layout.split(entries);
        tiles.into_par_iter().for_each_init(FillBuffers::default, |work, (tile, out)| {
            checkpoint();
            products.fill(tile, out, work);
        });
    }
}
