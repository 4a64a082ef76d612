//! Best-first search for the largest `|u_k|`.

use std::{
    cmp::Ordering,
    collections::BinaryHeap,
    ops::Range,
    time::{Duration, Instant},
};

use rayon::prelude::*;

use super::{
    Budget, SearchEnd,
    bounds::{Bound, Bounds},
    candidates::Candidates,
    tree::{LANES, Tree, norm},
};
use crate::{Memory, numeric::vectorised, workers::checkpoint};

/// Most nodes that are expanded in one round, by all threads together: enough work for the cores of a large machine, and few enough
/// that the threshold of a round is not out of date.
const NODES_PER_ROUND: usize = 256;
/// Children that one task looks at: enough to hide its start.
const CHILDREN_PER_TASK: usize = 512;

/// What a search has used of its budget.
#[derive(Debug)]
pub(super) struct Meter {
    budget: Budget,
    started: Instant,
    /// Monomials looked at.
    pub nodes: u64,
    /// Monomials whose subtrees may wait.
    most_waiting: usize,
}

/// Bytes of a monomial whose subtree waits: 24 in the order of bounds and 8 in the list. Both grow by doubling, and are in
/// memory twice while they do.
const WAITING: u64 = 3 * (24 + 8);

impl Meter {
    pub(super) fn new(budget: Budget) -> Self {
        Self { budget, started: Instant::now(), nodes: 0, most_waiting: usize::MAX }
    }

    /// Lets no more monomials wait than memory has room for.
    pub(super) fn set_memory(&mut self, memory: Memory) {
        self.most_waiting = usize::try_from(memory.bytes() / WAITING).unwrap_or(usize::MAX);
    }

    /// Counts this many nodes more, if they are within the budget.
    fn take(&mut self, nodes: usize) -> Result<(), SearchEnd> {
        let nodes = self.nodes.saturating_add(nodes as u64);
        if nodes > self.budget.nodes {
            return Err(SearchEnd::NodeLimit);
        }
        self.nodes = nodes;
        Ok(())
    }

    pub(super) fn check_time(&self) -> Result<(), SearchEnd> {
        let limit = Duration::try_from_secs_f64(self.budget.seconds).unwrap_or(Duration::MAX);
        if self.started.elapsed() >= limit { Err(SearchEnd::TimeLimit) } else { Ok(()) }
    }
}

/// What a search has found.
#[derive(Debug)]
pub(super) struct Found {
    pub candidates: Candidates,
    pub end: SearchEnd,
    /// The most that `|u_k|` of a monomial that was not looked at can be, with its width.
    pub skipped: Bound,
}

impl Found {
    /// The result of a search that ended before it had looked at anything.
    pub(super) fn nothing(count: usize, end: SearchEnd) -> Self {
        let skipped = Bound { value: f64::INFINITY, upper: f64::INFINITY };
        Self { candidates: Candidates::new(count), end, skipped }
    }
}

/// A node whose descendants have not been looked at.
#[derive(Debug, Clone, Copy)]
struct Open {
    bound: Bound,
    /// Where it is in the list of nodes.
    node: u32,
}

impl Ord for Open {
    /// The largest bound first; of equals, the one that was found first.
    fn cmp(&self, other: &Self) -> Ordering {
        self.bound.upper.total_cmp(&other.bound.upper).then(other.node.cmp(&self.node))
    }
}

impl PartialOrd for Open {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Open {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Open {}

/// What the bound of a subtree must reach for it to be searched. The same for all tasks of a round.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// Whether all places are taken.
    full: bool,
    /// The smallest `|u_k|` that is kept.
    threshold: f64,
    /// The least that any `|u_k|` that is kept can be at the optimum.
    lower: f64,
    /// Whether it is known already that those kept cannot be proven to be the largest at the optimum.
    refuted: bool,
}

impl Limits {
    pub(super) fn new(candidates: &Candidates) -> Self {
        let (full, threshold, lower) = (candidates.is_full(), candidates.threshold(), candidates.lower());
        Self { full, threshold, lower, refuted: candidates.rejected() >= lower }
    }

    /// Whether a subtree can change the answer, or stands in the way of its proof.
    pub(super) fn wants(self, bound: Bound) -> bool {
        let changes = bound.value > 0.0 && bound.value >= self.threshold;
        changes || self.full && !self.refuted && bound.upper >= self.lower
    }
}

/// Solves: the `count` largest `|u_k|` over the monomials of a tree.
/// Given: bounds over its subtrees, none for those of unit size, which no bound tells apart.
/// Returns: the candidates, and a bound on all that was skipped.
/// Cost: n operations and n for the bound, for every monomial looked at; 32 bytes for every one whose subtree waits.
/// See: docs/interactions.md.
///
/// Nodes are expanded in rounds whose size depends on the number of waiting nodes alone, so that nothing depends on the
/// number of threads.
///
/// The clock is looked at before every task, so that a search ends soon after its time is over.
pub(super) fn search(tree: &Tree, bounds: Option<&Bounds>, count: usize, meter: &mut Meter) -> Found {
    let mut nodes: Vec<(u32, u32)> = Vec::new();
    let mut open = BinaryHeap::new();
    let mut skipped = Bound::NONE;
    let mut candidates = Candidates::new(count);

    let mut z = vec![0.0; tree.stride];
    tree.product(&[], &mut z);
    let everything = root_bound(tree, bounds, &z);
    let constant = tree.value(&z, 0);
    if let Err(end) = meter.take(1) {
        let constant = Bound { value: constant.u.abs(), upper: constant.u.abs() + constant.width };
        return Found { candidates, end, skipped: everything.max(constant) };
    }
    if tree.coefficients.by_degree[0] > 0.0 {
        candidates.offer(constant.u, constant.width, || tree.monomial(&[]));
    }
    if tree.highest() > 0 {
        open.push(Open { bound: everything, node: ROOT });
    }

    let mut end = SearchEnd::Complete;
    while !open.is_empty() && end == SearchEnd::Complete {
        checkpoint();
        let limits = Limits::new(&candidates);
        let mut tasks = Vec::new();
        for _ in 0..(open.len() / 4 + 1).min(NODES_PER_ROUND) {
            let Some(next) = open.pop() else { break };
            if !limits.wants(next.bound) {
                skipped = skipped.max(next.bound);
                continue;
            }
            let places = path(&nodes, next.node);
            let children = tree.next_place(&places)..tree.inputs;
            let allowed = meter.check_time().and_then(|()| meter.take(children.len()));
            if let Err(why) = allowed {
                open.push(next);
                end = why;
                break;
            }
            let parts = children
                .clone()
                .step_by(CHILDREN_PER_TASK)
                .map(|first| first..(first + CHILDREN_PER_TASK).min(children.end));
            tasks.extend(parts.map(|part| (next, places.clone(), part)));
        }
        let clock = &*meter;
        let looked: Vec<Result<Looked, SearchEnd>> = tasks
            .par_iter()
            .map(|(_, places, part)| {
                checkpoint();
                clock.check_time()?;
                Ok(vectorised(
                    #[inline(always)]
                    || look(tree, bounds, limits, places, part.clone()),
                ))
            })
            .collect();
        for ((parent, places, _), looked) in tasks.iter().zip(looked) {
            let looked = match looked {
                Ok(looked) => looked,
                Err(why) => {
                    // The bound of a node is one on its descendants.
                    (end, skipped) = (why, skipped.max(parent.bound));
                    continue;
                }
            };
            candidates.reject(looked.rejected);
            skipped = skipped.max(looked.skipped);
            for (place, u, width) in looked.offered {
                candidates.offer(u, width, || tree.monomial(&[&places[..], &[place]].concat()));
            }
            for (place, bound) in looked.open {
                if nodes.len() >= meter.most_waiting {
                    skipped = skipped.max(bound);
                    end = SearchEnd::NodeLimit;
                    continue;
                }
                open.push(Open { bound, node: nodes.len() as u32 });
                nodes.push((parent.node, place as u32));
            }
        }
    }
    let skipped = open.iter().fold(skipped, |skipped, open| skipped.max(open.bound));
    Found { candidates, end, skipped }
}

const ROOT: u32 = u32::MAX;

/// The places on the way from the root to a node.
fn path(nodes: &[(u32, u32)], mut node: u32) -> Vec<usize> {
    let mut places = Vec::new();
    while node != ROOT {
        let (parent, place) = nodes[node as usize];
        places.push(place as usize);
        node = parent;
    }
    places.reverse();
    places
}

/// A bound over the whole tree but its root.
fn root_bound(tree: &Tree, bounds: Option<&Bounds>, z: &[f64]) -> Bound {
    match bounds {
        Some(bounds) if tree.highest() > 0 => bounds.by_degree(z, &tree.alpha, 0, 0),
        Some(_) => Bound::NONE,
        None => unit_bound(tree),
    }
}

/// Features of unit or standard size have the norm `sqrt(n)`, so `|u_k| <= sqrt(n) ||alpha||_2` and no better.
fn unit_bound(tree: &Tree) -> Bound {
    let (n, squares) = (tree.samples as f64, tree.alpha.iter().map(|a| a * a).sum::<f64>());
    let value = (n * squares).sqrt() * (1.0 + 4.0 * tree.rounding(tree.highest()));
    // Rounding can be as large as the sum of the moduli of alpha.
    let upper = value + (tree.radius * n.sqrt()) * (1.0 + 1e-14);
    Bound { value, upper }
}

/// What a task has seen.
#[derive(Default)]
struct Looked {
    /// Places of children that may be kept, with `u_k` and its width.
    offered: Vec<(usize, f64, f64)>,
    /// Places of children whose descendants may be kept.
    open: Vec<(usize, Bound)>,
    /// The most that the other children can be, and the other descendants.
    rejected: f64,
    skipped: Bound,
}

/// Looks at some children of a node.
#[inline(always)]
fn look(tree: &Tree, bounds: Option<&Bounds>, limits: Limits, places: &[usize], part: Range<usize>) -> Looked {
    let mut parent = vec![0.0; tree.stride];
    tree.product(places, &mut parent);
    let repeats = places.iter().rev().take_while(|place| places.last() == Some(place)).count();
    let degree = places.len() + 1;
    let coefficient = tree.coefficients.by_degree[degree];
    let leaf = degree == tree.highest();
    let mut z = vec![0.0; tree.stride];
    let mut looked = Looked::default();
    for place in part {
        // Whatever it is multiplied with, such a product is none.
        if tree.excludes(places, place) {
            continue;
        }
        let factor = tree.coefficients.by_exponent[if places.last() == Some(&place) { repeats + 1 } else { 1 }];
        let next = place + usize::from(tree.coefficients.distinct);
        let ends = leaf || next >= tree.inputs;
        let column = tree.column(place);
        let multiply = |z: &mut [f64]| {
            z.iter_mut().zip(&parent).zip(column).for_each(|((z, parent), y)| *z = parent * (factor * y));
        };
        let (u, width, mut bound) = if let Some(bounds) = bounds {
            let reach = bounds.reach(if ends { place } else { next }, degree);
            let sums = ChildSums::of(&parent, column, factor, &tree.alpha, reach);
            let moduli = |reach: &dyn Fn(usize) -> f64| {
                let terms = parent.iter().zip(column).enumerate();
                terms.map(|(i, (parent, y))| (parent * (factor * y) * reach(i)).abs()).sum::<f64>()
            };
            let own = norm(sums.squares, || moduli(&|_| 1.0));
            let width = tree.radius * own + tree.rounding(degree) * sums.moduli;
            let bound = if ends {
                Bound::NONE
            } else {
                bounds.of_sums(sums.bound, norm(sums.bound_squares, || moduli(&|i| reach[i])))
            };
            (coefficient * sums.u, coefficient * width, bound)
        } else {
            multiply(&mut z);
            let value = tree.value(&z, degree);
            // The descendants of a monomial that vanishes vanish.
            let ended = ends || z.iter().all(|z| *z == 0.0);
            (value.u, value.width, if ended { Bound::NONE } else { unit_bound(tree) })
        };
        if coefficient > 0.0 {
            if u != 0.0 && u.abs() >= limits.threshold {
                looked.offered.push((place, u, width));
            } else {
                looked.rejected = looked.rejected.max(u.abs() + width);
            }
        }
        if ends {
            continue;
        }
        if let Some(bounds) = bounds.filter(|_| limits.wants(bound)) {
            multiply(&mut z);
            bound = bounds.by_degree(&z, &tree.alpha, next, degree);
        }
        if limits.wants(bound) {
            looked.open.push((place, bound));
        } else {
            looked.skipped = looked.skipped.max(bound);
        }
    }
    looked
}

/// Sums over the samples for one child.
struct ChildSums {
    /// Of `alpha_i z_i`, of their moduli and of `z_i^2`.
    u: f64,
    moduli: f64,
    squares: f64,
    /// Of `|alpha_i z_i| reach_i` and of `(z_i reach_i)^2`.
    bound: f64,
    bound_squares: f64,
}

impl ChildSums {
    #[inline(always)]
    fn of(parent: &[f64], column: &[f64], factor: f64, alpha: &[f64], reach: &[f64]) -> Self {
        let mut sums = [[0.0; LANES]; 5];
        let (parent, column) = (parent.as_chunks::<LANES>().0, column.as_chunks::<LANES>().0);
        let (alpha, reach) = (alpha.as_chunks::<LANES>().0, reach.as_chunks::<LANES>().0);
        for (((parent, y), alpha), reach) in parent.iter().zip(column).zip(alpha).zip(reach) {
            for lane in 0..LANES {
                let z = parent[lane] * (factor * y[lane]);
                let term = z * alpha[lane];
                let far = z * reach[lane];
                sums[0][lane] += term;
                sums[1][lane] += term.abs();
                sums[2][lane] += z * z;
                sums[3][lane] += (far * alpha[lane]).abs();
                sums[4][lane] += far * far;
            }
        }
        let [u, moduli, squares, bound, bound_squares] = sums.map(|sum| sum.iter().sum());
        Self { u, moduli, squares, bound, bound_squares }
    }
}
