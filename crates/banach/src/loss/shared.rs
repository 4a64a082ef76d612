//! References, boxes and shared pointers to losses are losses.

use std::sync::Arc;

use super::{Loss, Split, Targets};

/// Every method, left to what is pointed to.
macro_rules! forward {
    () => {
        forward! {
            name() -> &'static str;
            targets() -> Targets;
            split() -> Split;
            value(y: f64, t: f64) -> f64;
            slope(y: f64, t: f64) -> Option<f64>;
            slopes(y: f64, t: f64) -> (f64, f64);
            curvature() -> Option<f64>;
            smoothness() -> Option<f64>;
            domain(y: f64) -> (f64, f64);
            conjugate(y: f64, s: f64) -> f64;
            conjugate_slope(y: f64, s: f64) -> Option<f64>;
            conjugate_curvature(y: f64, s: f64) -> Option<f64>;
            strong_convexity() -> f64;
            kink() -> f64;
            probability(y: f64, t: f64) -> Option<f64>;
            prox(y: f64, lambda: f64, v: f64) -> f64;
            gap(y: f64, t: f64, s: f64) -> f64;
            conjugate_bregman(y: f64, from: f64, to: f64) -> f64;
        }
    };
    ($($method:ident($($argument:ident: $kind:ty),*) -> $answer:ty;)*) => {
        $(fn $method(&self, $($argument: $kind),*) -> $answer {
            (**self).$method($($argument),*)
        })*
    };
}

impl<L: Loss + ?Sized> Loss for &L {
    forward!();
}

impl<L: Loss + ?Sized> Loss for Box<L> {
    forward!();
}

impl<L: Loss + ?Sized> Loss for Arc<L> {
    forward!();
}
