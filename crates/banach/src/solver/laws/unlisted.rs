//! Features that are not shown: the solver goes the way that it goes with very many of them.

use super::*;
use crate::{
    data::Scratch,
    form::{Expansion, Hessian, Lines, Predict},
};

#[derive(Debug)]
pub(super) struct Unlisted<'a>(pub Features<'a>);

impl crate::form::sealed::Sealed for Unlisted<'_> {}

impl QForm for Unlisted<'_> {
    fn exponent(&self) -> Exponent {
        self.0.exponent()
    }

    fn samples(&self) -> usize {
        self.0.samples()
    }

    fn evaluate(&self, alphas: &[f64], out: &mut Evaluation, scratch: &mut Scratch) {
        self.0.evaluate(alphas, out, scratch);
    }

    fn expand(&self, alphas: &[f64], out: &mut [&mut Expansion], scratch: &mut Scratch) {
        self.0.expand(alphas, out, scratch);
    }

    fn sharpen(&self, alpha: &[f64], at: &mut Evaluation, scratch: &mut Scratch) -> usize {
        self.0.sharpen(alpha, at, scratch)
    }

    fn cardinality(&self) -> Option<u64> {
        self.0.cardinality()
    }

    fn expansion_length(&self) -> usize {
        self.0.expansion_length()
    }

    fn hessian(&self, at: &Expansion, keep: usize, scratch: &mut Scratch) -> Hessian {
        self.0.hessian(at, keep, scratch)
    }

    fn preview<'b>(
        &'b self,
        at: &Expansion,
        hessian: &Hessian,
        d: &[f64],
        scratch: &'b mut Scratch,
    ) -> Option<Box<dyn Lines + 'b>> {
        self.0.preview(at, hessian, d, scratch)
    }

    fn segment<'b>(
        &'b self,
        from: (&[f64], &Expansion),
        to: (&[f64], &Expansion),
        scratch: &'b mut Scratch,
    ) -> Box<dyn Lines + 'b> {
        self.0.segment(from, to, scratch)
    }

    fn lines<'b>(&'b self, alpha: &[f64], directions: &[f64], scratch: &'b mut Scratch) -> Box<dyn Lines + 'b> {
        self.0.lines(alpha, directions, scratch)
    }

    fn predictor(&self, alphas: &[f64]) -> Box<dyn Predict> {
        self.0.predictor(alphas)
    }
}
