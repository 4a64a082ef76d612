//! The search for the terms that tell two classes apart, or that stand in a hierarchy: supports by least squares, then exact steps.

use super::{
    BestOfSize, Design, Dictionary, Evidence, Hierarchy,
    assembly::{ALTERNATIVES, FoundTerms},
    logistic::Classes,
    objective::{LeastSquares, Objective},
    search::{LEAST_IMPROVEMENT, search},
    steps::{Neighbourhood, Standing},
};

/// Approximations of the logistic loss around the best support so far whose supports are tried, at most.
const ROUNDS: usize = 3;

/// The terms that tell two classes apart.
///
/// - Solves: which support has the smallest criterion by the logistic loss.
/// - Given: a dictionary without weights, and the criterion by which least squares is searched.
/// - Returns: a support that no allowed addition, removal or exchange of a single term improves, as far as its certificate says.
/// - Cost: a search by least squares for every approximation of the loss, then exact steps.
pub(super) fn search_classes(
    dictionary: &Dictionary<'_>,
    classes: &Classes,
    guide: Evidence,
    hierarchy: Hierarchy,
    most_listed: u64,
) -> FoundTerms {
    let neighbourhood = Neighbourhood { dictionary, objective: classes, hierarchy };
    let mut sizes = BestSizes::new(classes.evidence.empty());
    let mut best = Standing { numbers: Vec::new(), criterion: 0.0 };
    let mut passes = 0;
    for _ in 0..ROUNDS {
        let Some(fit) = neighbourhood.fit(&best.numbers).filter(|_| classes.most_terms() > 0) else { break };
        let design = classes.working(&fit);
        let (supports, taken) = supports(&dictionary.reweighted(&design), &design, guide, most_listed);
        passes += taken;
        let next = best_of(&neighbourhood, supports, &mut sizes);
        if next.criterion >= best.criterion - LEAST_IMPROVEMENT {
            break;
        }
        best = next;
    }
    finished(&neighbourhood, best, sizes, passes)
}

/// The terms of a hierarchy that explain numbers, by the squared loss.
pub(super) fn search_hierarchy(
    dictionary: &Dictionary<'_>,
    design: &Design,
    evidence: Evidence,
    hierarchy: Hierarchy,
    most_listed: u64,
) -> FoundTerms {
    let objective = LeastSquares { design, evidence };
    let neighbourhood = Neighbourhood { dictionary, objective: &objective, hierarchy };
    let mut sizes = BestSizes::new(1.0);
    let (supports, passes) = supports(dictionary, design, evidence, most_listed);
    let best = best_of(&neighbourhood, supports, &mut sizes);
    finished(&neighbourhood, best, sizes, passes)
}

/// The best supports of every size by least squares, and the passes that they took.
fn supports(
    dictionary: &Dictionary<'_>,
    design: &Design,
    evidence: Evidence,
    most_listed: u64,
) -> (Vec<Vec<u64>>, usize) {
    let found = search(dictionary, design, evidence, most_listed);
    let numbers = |places: &[usize]| places.iter().map(|&place| found.columns.number(place)).collect();
    (found.subsets.supports().iter().map(|support| numbers(support.places())).collect(), found.passes)
}

/// The best of supports, each with the parents that it needs; none if no support is better.
fn best_of<O: Objective>(
    neighbourhood: &Neighbourhood<'_, '_, O>,
    supports: Vec<Vec<u64>>,
    sizes: &mut BestSizes,
) -> Standing {
    let mut best = Standing { numbers: Vec::new(), criterion: 0.0 };
    for support in supports.into_iter().filter(|support| !support.is_empty()) {
        let (hierarchy, dictionary) = (neighbourhood.hierarchy, neighbourhood.dictionary);
        let with = |below: Vec<u64>, number: &u64| hierarchy.closures(dictionary, &below, *number).swap_remove(0);
        let standing = neighbourhood.standing(support.iter().fold(Vec::new(), with));
        sizes.take(neighbourhood, &standing);
        if standing.criterion < best.criterion {
            best = standing;
        }
    }
    best
}

/// The end of steps from a support, with what holds there.
fn finished<O: Objective>(
    neighbourhood: &Neighbourhood<'_, '_, O>,
    best: Standing,
    mut sizes: BestSizes,
    passes: usize,
) -> FoundTerms {
    let (standing, steps) = neighbourhood.descend(best, ALTERNATIVES);
    let left = sizes.take(neighbourhood, &standing);
    FoundTerms { passes, ..FoundTerms::of_steps(&standing, &steps, left, sizes.best) }
}

/// The best support of every size that was looked at.
struct BestSizes {
    /// What a constant leaves.
    empty: f64,
    best: Vec<BestOfSize>,
}

impl BestSizes {
    fn new(empty: f64) -> Self {
        Self { empty, best: vec![BestOfSize { terms: 0, unexplained: 1.0, criterion: 0.0 }] }
    }

    /// Takes a support where it is the best of its size so far; returns the share that it leaves of what a constant leaves.
    fn take<O: Objective>(&mut self, neighbourhood: &Neighbourhood<'_, '_, O>, standing: &Standing) -> f64 {
        let terms = standing.numbers.len();
        let fit = neighbourhood.fit(&standing.numbers).filter(|_| terms > 0 && standing.criterion.is_finite());
        let Some(fit) = fit else { return 1.0 };
        let unexplained = if self.empty > 0.0 { neighbourhood.objective.left(&fit) / self.empty } else { 1.0 };
        let size = BestOfSize { terms, unexplained, criterion: standing.criterion };
        match self.best.iter_mut().find(|best| best.terms == terms) {
            Some(best) if size.criterion < best.criterion => *best = size,
            Some(_) => {}
            None => self.best.push(size),
        }
        self.best.sort_by_key(|size| size.terms);
        unexplained
    }
}
