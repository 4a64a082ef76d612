//! Least squares with a penalty over all monomials, and what is proven of it.

use super::{
    Design, Dictionary, Evidence, Penalty, SparseCertificate, SparsePenalty, Support, WorkingColumns,
    assembly::FoundTerms,
    model::BestOfSize,
    path::{PathPoint, path, solved},
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
    /// In units in which the target and every column have length 1.
    pub weights: Vec<f64>,
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

/// Least squares with a penalty on the weights of all monomials, at the point of its path whose support has the smallest criterion.
///
/// - Solves: `|y - sum_k w_k a_k|^2/2 + sum_k penalty(w_k)` over the weights of all terms, for columns and a target of length 1.
/// - Given: the dictionary, of which only a working set of columns is ever written out.
/// - Returns: for the sum of moduli a minimiser with its duality gap, else a stationary point with its violation, both over all terms.
/// - Cost: a path on the columns at hand and a pass for each round, of which there are few.
pub(super) fn penalised(
    dictionary: &Dictionary<'_>,
    design: &Design,
    evidence: Evidence,
    penalty: Penalty,
    most_listed: u64,
) -> FoundPenalised {
    let mut search = PenalisedSearch {
        dictionary,
        target: design.target(),
        evidence,
        penalty,
        lists_all: dictionary.entries() <= most_listed,
        columns: first_columns(dictionary, design.target(), most_listed),
        passes: usize::from(dictionary.entries() > most_listed),
    };
    let points = search.followed();
    let (chosen, most) = search.solved(search.chosen(&points));
    search.found(&points, &chosen, most, design)
}

struct PenalisedSearch<'s, 'x> {
    dictionary: &'s Dictionary<'x>,
    target: &'s [f64],
    evidence: Evidence,
    penalty: Penalty,
    lists_all: bool,
    columns: WorkingColumns,
    passes: usize,
}

impl PenalisedSearch<'_, '_> {
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
        path(&self.columns, self.target, self.penalty, &factors, self.evidence.most_terms(), 0.0)
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

    /// The criterion of the support of a point, by least squares without a penalty.
    fn criterion(&self, point: &PathPoint) -> f64 {
        if point.places.len() > self.evidence.most_terms() {
            return f64::INFINITY;
        }
        let support = Support::of(&self.columns, point.places.iter().copied(), self.target);
        self.evidence.criterion(support.unexplained(), point.places.len())
    }

    /// The point with the smallest criterion, of equal ones that with the smallest penalty; without terms, the one at which the path begins.
    fn chosen(&self, points: &[PathPoint]) -> PathPoint {
        let products = self.columns.products(self.target);
        let largest = products.iter().fold(0.0, |largest: f64, product| largest.max(product.abs()));
        let nothing =
            PathPoint { lambda: largest, places: Vec::new(), weights: Vec::new(), residual: self.target.to_vec() };
        let (mut chosen, mut least) = (&nothing, 0.0);
        for point in points.iter().filter(|point| !point.places.is_empty()) {
            let criterion = self.criterion(point);
            // Criteria of one support differ by rounding.
            if criterion <= least + VIOLATION && criterion < 0.0 {
                (chosen, least) = (point, criterion.min(least));
            }
        }
        chosen.clone()
    }

    /// The chosen point solved over all terms, and the largest product of a term that is not at hand with its residual.
    fn solved(&mut self, mut point: PathPoint) -> (PathPoint, f64) {
        let mut most = 0.0;
        for _ in 0..ROUNDS {
            if !point.places.is_empty() {
                point = solved(&self.columns, self.target, self.penalty, &point);
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
    fn found(&self, points: &[PathPoint], chosen: &PathPoint, most: f64, design: &Design) -> FoundPenalised {
        let support = Support::of(&self.columns, chosen.places.iter().copied(), self.target);
        let k = chosen.places.len();
        let criterion = self.evidence.criterion(support.unexplained(), k);
        // A support with terms that depend on others has no prices of its own: without one of them nothing changes.
        let own = support.own_directions(self.target);
        let place_of = |place: &usize| support.places().iter().position(|other| other == place);
        let evidence = |place: &usize| {
            let explained = place_of(place).map_or(0.0, |at| own.explained[at]);
            self.evidence.criterion(support.unexplained() + explained * explained, k - 1) - criterion
        };
        let size = |point: &PathPoint| BestOfSize {
            terms: point.places.len(),
            unexplained: dot_in_lanes(&point.residual, &point.residual),
            criterion: self.criterion(point),
        };
        let mut sizes = vec![BestOfSize { terms: 0, unexplained: 1.0, criterion: 0.0 }];
        for size in points.iter().map(size).filter(|size| size.criterion.is_finite()) {
            match sizes.iter_mut().find(|other| other.terms == size.terms) {
                Some(other) if size.criterion < other.criterion => *other = size,
                Some(_) => {}
                None => sizes.push(size),
            }
        }
        sizes.sort_by_key(|size| size.terms);
        let terms = FoundTerms {
            numbers: chosen.places.iter().map(|&place| self.columns.number(place)).collect(),
            evidence: chosen.places.iter().map(evidence).collect(),
            alternatives: vec![Vec::new(); k],
            criterion,
            unexplained: dot_in_lanes(&chosen.residual, &chosen.residual),
            certificate: self.certificate(chosen, most, design),
            sizes,
            passes: self.passes,
        };
        FoundPenalised { terms, weights: chosen.weights.clone() }
    }

    /// What is proven of a point, given the largest product of a term that is not at hand with its residual.
    fn certificate(&self, point: &PathPoint, most: f64, design: &Design) -> SparseCertificate {
        let PathPoint { lambda, places, weights, residual } = point;
        let products = self.columns.products(residual);
        let roots: f64 = design.roots().iter().map(|root| root * root).sum();
        let in_units = lambda * design.length() / roots.sqrt();
        if self.penalty == Penalty::Lasso {
            let largest = products.iter().fold(most, |largest, product| largest.max(product.abs()));
            let primal = 0.5 * dot_in_lanes(residual, residual) + lambda * weights.iter().map(|w| w.abs()).sum::<f64>();
            // The residual, made so short that no term has a larger product than the penalty, is feasible for the dual over all terms.
            let scale = if largest > *lambda { lambda / largest } else { 1.0 };
            let apart: f64 =
                self.target.iter().zip(residual).map(|(target, r)| (target - scale * r).powi(2)).sum::<f64>();
            let dual = 0.5 * (dot_in_lanes(self.target, self.target) - apart);
            let relative_gap = if primal > 0.0 { ((primal - dual) / primal).max(0.0) } else { 0.0 };
            return SparseCertificate::Gap { lambda: in_units, relative_gap };
        }
        let mut violation = (most - lambda).max(0.0);
        let mut of_column: Vec<f64> = products.iter().map(|product| (product.abs() - lambda).max(0.0)).collect();
        for (&place, &weight) in places.iter().zip(weights) {
            of_column[place] = (products[place] - self.penalty.slope(weight, *lambda).copysign(weight)).abs();
        }
        violation = of_column.into_iter().fold(violation, f64::max);
        let violation = if *lambda > 0.0 { violation / lambda } else { 0.0 };
        SparseCertificate::Stationarity { lambda: in_units, violation }
    }
}
