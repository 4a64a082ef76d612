//! Features that are not shown: the solver goes the way that it goes with very many of them.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use crate::{
    data::Scratch,
    form::{Expansion, Hessian, Lines, LocalModel, Predict},
};

#[derive(Debug)]
pub(super) struct Unlisted<'a> {
    form: Features<'a>,
    expansions: AtomicUsize,
}

impl<'a> Unlisted<'a> {
    pub(super) fn new(form: Features<'a>) -> Self {
        Self { form, expansions: AtomicUsize::new(0) }
    }

    /// How often points were expanded, many at a time or one.
    pub(super) fn expansions(&self) -> usize {
        self.expansions.load(Ordering::Relaxed)
    }
}

impl crate::form::sealed::Sealed for Unlisted<'_> {}

impl QForm for Unlisted<'_> {
    fn exponent(&self) -> Exponent {
        self.form.exponent()
    }

    fn samples(&self) -> usize {
        self.form.samples()
    }

    fn evaluate(&self, alphas: &[f64], out: &mut Evaluation, scratch: &mut Scratch) {
        self.form.evaluate(alphas, out, scratch);
    }

    fn expand(&self, alphas: &[f64], out: &mut [&mut Expansion], scratch: &mut Scratch) {
        self.expansions.fetch_add(1, Ordering::Relaxed);
        self.form.expand(alphas, out, scratch);
    }

    fn sharpen(&self, alpha: &[f64], at: &mut Evaluation, scratch: &mut Scratch) -> usize {
        self.form.sharpen(alpha, at, scratch)
    }

    fn cardinality(&self) -> Option<u64> {
        self.form.cardinality()
    }

    fn expansion_length(&self) -> usize {
        self.form.expansion_length()
    }

    fn hessian(&self, at: &Expansion, keep: usize, scratch: &mut Scratch) -> Hessian {
        self.form.hessian(at, keep, scratch)
    }

    fn preview<'b>(
        &'b self,
        at: &Expansion,
        hessian: &Hessian,
        d: &[f64],
        scratch: &'b mut Scratch,
    ) -> Option<Box<dyn Lines + 'b>> {
        self.form.preview(at, hessian, d, scratch)
    }

    fn local(
        &self,
        at: (&[f64], &Expansion),
        keep: usize,
        most_left_out: f64,
        scratch: &mut Scratch,
    ) -> Option<LocalModel> {
        self.form.local(at, keep, most_left_out, scratch)
    }

    fn segment<'b>(
        &'b self,
        from: (&[f64], &Expansion),
        to: (&[f64], &Expansion),
        scratch: &'b mut Scratch,
    ) -> Box<dyn Lines + 'b> {
        self.form.segment(from, to, scratch)
    }

    fn lines<'b>(&'b self, alpha: &[f64], directions: &[f64], scratch: &'b mut Scratch) -> Box<dyn Lines + 'b> {
        self.form.lines(alpha, directions, scratch)
    }

    fn predictor(&self, alphas: &[f64]) -> Box<dyn Predict> {
        self.form.predictor(alphas)
    }
}
