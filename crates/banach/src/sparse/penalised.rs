//! A loss with a penalty over all monomials, and what is proven of it.

use rayon::prelude::*;

use super::{
    Dictionary, Penalty, SparseCertificate, SparsePenalty, Support, WorkingColumns,
    assembly::FoundTerms,
    model::BestOfSize,
    objective::LeastSquares,
    path::{PathLoss, PathPoint, path, solved},
    search::{MOST_COLUMNS, first_columns},
};
use crate::numeric::dot_in_lanes;

/// Terms that join for each point of a path.
const JOIN: usize = 30;
/// Rounds of a path and a pass, and then of a solution and a pass, at most. A handful is usual.
const ROUNDS: usize = 20;
/// A product beyond the size of the penalty by this share breaks the optimality; certified solutions come to 1e-6.
const VIOLATION: f64 = 1e-9;
/// The concavity of MCP: with columns of mean square 1, weights beyond three times the penalty are not shrunk (Zhang's choice lies between 2
/// and 3 for columns that are hardly correlated).
const MCP: f64 = 3.0;
/// The concavity of SCAD that Fan and Li advise.
const SCAD: f64 = 3.7;

/// The solution that was chosen, with the weights of its terms.
#[derive(Debug)]
pub(super) struct FoundPenalised {
    pub terms: FoundTerms,
    /// In the units of the [`PathLoss`].
    pub weights: Vec<f64>,
    pub constant: f64,
}

/// A loss that can be minimised with a penalty over all monomials, whose supports have a criterion.
pub(super) trait PenalisedLoss: PathLoss {
    /// The most terms.
    fn most_terms(&self) -> usize;

    /// The criterion of a support, by a fit without a penalty.
    fn criterion(&self, columns: &WorkingColumns, places: &[usize]) -> f64;

    /// How much the criterion rises without each term of a support.
    fn evidence(&self, columns: &WorkingColumns, places: &[usize]) -> Vec<f64>;

    /// The objective of the Lasso at a point, and a lower bound on its minimum over all terms, of which none has a product with the residual
    /// beyond `largest`.
    fn bounds(&self, columns: &WorkingColumns, point: &PathPoint, largest: f64) -> (f64, f64);

    /// A size of the penalty in units in which the loss is a mean and columns have the mean square 1, as a share of the size.
    fn unit(&self) -> f64;
}

impl PenalisedLoss for LeastSquares<'_> {
    fn most_terms(&self) -> usize {
        self.evidence.most_terms()
    }

    fn criterion(&self, columns: &WorkingColumns, places: &[usize]) -> f64 {
        let support = Support::of(columns, places.iter().copied(), self.design.target());
        self.evidence.criterion(support.unexplained(), places.len())
    }

    /// A support with terms that depend on others has no prices of its own: without one of them nothing changes.
    fn evidence(&self, columns: &WorkingColumns, places: &[usize]) -> Vec<f64> {
        let target = self.design.target();
        let support = Support::of(columns, places.iter().copied(), target);
        let (own, unexplained) = (support.own_directions(target), support.unexplained());
        let criterion = self.evidence.criterion(unexplained, places.len());
        let rise = |place: &usize| {
            let at = support.places().iter().position(|other| other == place);
            let explained = at.map_or(0.0, |at| own.explained[at]);
            self.evidence.criterion(unexplained + explained * explained, places.len() - 1) - criterion
        };
        places.iter().map(rise).collect()
    }

    /// The residual, made so short that no term has a larger product than the penalty, is feasible for the dual over all terms.
    fn bounds(&self, _: &WorkingColumns, point: &PathPoint, largest: f64) -> (f64, f64) {
        let PathPoint { lambda, weights, residual, .. } = point;
        let target = self.design.target();
        let primal = 0.5 * dot_in_lanes(residual, residual) + lambda * weights.iter().map(|w| w.abs()).sum::<f64>();
        let scale = if largest > *lambda { lambda / largest } else { 1.0 };
        let apart: f64 = target.iter().zip(residual).map(|(target, r)| (target - scale * r).powi(2)).sum::<f64>();
        (primal, 0.5 * (dot_in_lanes(target, target) - apart))
    }

    fn unit(&self) -> f64 {
        let roots: f64 = self.design.roots().iter().map(|root| root * root).sum();
        self.design.length() / roots.sqrt()
    }
}

impl SparsePenalty {
    /// The penalty of weights; none by evidence alone.
    pub(super) fn of_weights(self) -> Option<Penalty> {
        match self {
            Self::Evidence => None,
            Self::L1 => Some(Penalty::Lasso),
            Self::Mcp => Some(Penalty::Mcp(MCP)),
            Self::Scad => Some(Penalty::Scad(SCAD)),
        }
    }
}

/// A loss with a penalty on the weights of all monomials, at the point of its path whose support has the smallest criterion.
///
/// - Solves: `loss(sum_k w_k a_k) + sum_k penalty(w_k)` over the weights of all terms, for columns of length 1 and a loss in the units of
///   [`PathLoss`]: by least squares, `|y - sum_k w_k a_k|^2/2` for a target of length 1.
/// - Given: the dictionary, of which only a working set of columns is ever written out.
/// - Returns: for the sum of moduli a minimiser with its duality gap, else a stationary point with its violation, both over all terms.
/// - Cost: a path on the columns at hand and a pass for each round, of which there are few.
pub(super) fn penalised<L: PenalisedLoss>(
    dictionary: &Dictionary<'_>,
    loss: &L,
    penalty: Penalty,
    most_listed: u64,
) -> FoundPenalised {
    let (constant, residual) = loss.start();
    let mut search = PenalisedSearch {
        dictionary,
        loss,
        penalty,
        lists_all: dictionary.entries() <= most_listed,
        columns: first_columns(dictionary, &residual, most_listed),
        passes: usize::from(dictionary.entries() > most_listed),
    };
    let points = search.followed();
    let products = search.columns.products(&residual);
    let lambda = products.iter().fold(0.0, |largest: f64, product| largest.max(product.abs()));
    let nothing = PathPoint { lambda, places: Vec::new(), weights: Vec::new(), constant, residual };
    let criteria: Vec<f64> = points.par_iter().map(|point| search.criterion(point)).collect();
    let (chosen, most) = search.solved(chosen(&nothing, &points, &criteria));
    search.found(&points, &criteria, &chosen, most)
}

/// The point with the smallest criterion, of equal ones that with the smallest penalty; where none is better than nothing, that.
fn chosen(nothing: &PathPoint, points: &[PathPoint], criteria: &[f64]) -> PathPoint {
    let (mut chosen, mut least) = (nothing, 0.0);
    for (point, &criterion) in points.iter().zip(criteria).filter(|(point, _)| !point.places.is_empty()) {
        // Criteria of one support differ by rounding.
        if criterion <= least + VIOLATION && criterion < 0.0 {
            (chosen, least) = (point, criterion.min(least));
        }
    }
    chosen.clone()
}

struct PenalisedSearch<'s, 'x, L> {
    dictionary: &'s Dictionary<'x>,
    loss: &'s L,
    penalty: Penalty,
    lists_all: bool,
    columns: WorkingColumns,
    passes: usize,
}

impl<L: PenalisedLoss> PenalisedSearch<'_, '_, L> {
    /// The path, on columns among which are all that count: after every round those of the dictionary join that break its optimality.
    fn followed(&mut self) -> Vec<PathPoint> {
        let mut points = self.path();
        for _ in 0..ROUNDS {
            if self.lists_all || self.columns.len() >= MOST_COLUMNS {
                break;
            }
            let residuals: Vec<f64> = points.iter().flat_map(|point| point.residual.iter().copied()).collect();
            let lambdas: Vec<f64> = points.iter().map(|point| point.lambda).collect();
            if residuals.is_empty() || self.join(&residuals, &lambdas).0 == 0 {
                break;
            }
            points = self.path();
        }
        points
    }

    fn path(&self) -> Vec<PathPoint> {
        let factors = vec![1.0; self.columns.len()];
        path(self.loss, &self.columns, self.penalty, &factors, self.loss.most_terms(), 0.0)
    }

    /// Lets the terms join whose products with a residual are beyond its penalty; returns how many, and the largest product of all terms that
    /// were not at hand before.
    fn join(&mut self, residuals: &[f64], lambdas: &[f64]) -> (usize, f64) {
        let offered = self.dictionary.correlated(residuals, JOIN, &self.columns);
        self.passes += 1;
        let largest = offered.iter().flatten().map(|term| term.gain.sqrt()).fold(0.0, f64::max);
        let breaks = |(terms, lambda): (&Vec<_>, &f64)| -> Vec<u64> {
            let beyond = |term: &&crate::monomials::PricedTerm| term.gain.sqrt() > lambda * (1.0 + VIOLATION);
            terms.iter().filter(beyond).map(|term| term.number).collect()
        };
        let numbers: Vec<u64> = offered.iter().zip(lambdas).flat_map(breaks).collect();
        let before = self.columns.len();
        let room = MOST_COLUMNS.saturating_sub(before);
        self.dictionary.list(numbers.into_iter().take(room), &mut self.columns);
        (self.columns.len() - before, largest)
    }

    /// The criterion of the support of a point, without a penalty.
    fn criterion(&self, point: &PathPoint) -> f64 {
        if point.places.len() > self.loss.most_terms() {
            return f64::INFINITY;
        }
        self.loss.criterion(&self.columns, &point.places)
    }

    /// The chosen point solved over all terms, and the largest product of a term that is not at hand with its residual.
    fn solved(&mut self, mut point: PathPoint) -> (PathPoint, f64) {
        let mut most = 0.0;
        for _ in 0..ROUNDS {
            if !point.places.is_empty() {
                point = solved(self.loss, &self.columns, self.penalty, &point);
            }
            if self.lists_all {
                break;
            }
            let (joined, largest) = self.join(&point.residual, &[point.lambda]);
            if joined == 0 {
                most = largest;
                break;
            }
        }
        (point, most)
    }

    /// The chosen point with what is known of it.
    fn found(&self, points: &[PathPoint], criteria: &[f64], chosen: &PathPoint, most: f64) -> FoundPenalised {
        let k = chosen.places.len();
        let size = |(point, criterion): (&PathPoint, &f64)| BestOfSize {
            terms: point.places.len(),
            unexplained: self.loss.left(&self.columns, point),
            criterion: *criterion,
        };
        let mut sizes = vec![BestOfSize { terms: 0, unexplained: 1.0, criterion: 0.0 }];
        for size in points.iter().zip(criteria).map(size).filter(|size| size.criterion.is_finite()) {
            match sizes.iter_mut().find(|other| other.terms == size.terms) {
                Some(other) if size.criterion < other.criterion => *other = size,
                Some(_) => {}
                None => sizes.push(size),
            }
        }
        sizes.sort_by_key(|size| size.terms);
        let terms = FoundTerms {
            numbers: chosen.places.iter().map(|&place| self.columns.number(place)).collect(),
            evidence: self.loss.evidence(&self.columns, &chosen.places),
            alternatives: vec![Vec::new(); k],
            criterion: self.loss.criterion(&self.columns, &chosen.places),
            unexplained: self.loss.left(&self.columns, chosen),
            certificate: self.certificate(chosen, most),
            sizes,
            passes: self.passes,
        };
        FoundPenalised { terms, weights: chosen.weights.clone(), constant: chosen.constant }
    }

    /// What is proven of a point, given the largest product of a term that is not at hand with its residual.
    fn certificate(&self, point: &PathPoint, most: f64) -> SparseCertificate {
        let products = self.columns.products(&point.residual);
        let (lambda, in_units) = (point.lambda, point.lambda * self.loss.unit());
        if self.penalty == Penalty::Lasso {
            let largest = products.iter().fold(most, |largest, product| largest.max(product.abs()));
            let (primal, dual) = self.loss.bounds(&self.columns, point, largest);
            let relative_gap = if primal > 0.0 { ((primal - dual) / primal).max(0.0) } else { 0.0 };
            return SparseCertificate::Gap { lambda: in_units, relative_gap };
        }
        let mut weights = vec![0.0; products.len()];
        point.places.iter().zip(&point.weights).for_each(|(&place, weight)| weights[place] = *weight);
        let of_column = |(product, weight): (&f64, &f64)| self.penalty.violation(*product, *weight, lambda);
        let violation = products.iter().zip(&weights).map(of_column).fold((most - lambda).max(0.0), f64::max);
        let violation = if lambda > 0.0 { violation / lambda } else { 0.0 };
        SparseCertificate::Stationarity { lambda: in_units, violation }
    }
}
