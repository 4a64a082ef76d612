//! Interactions among very many variables: how fast, and in how much memory?
//!
//! Every measurement is a [`Task`] in a process of its own. One file for each question: `routes` against our own features route,
//! `large` for the sizes that nothing else here can hold. Other libraries are opponents in `experiments/users`.

mod large;
mod routes;
mod task;

use std::path::PathBuf;

use serde::Serialize;

pub use large::{Large, LargeRequest};
pub use routes::{Routes, RoutesRequest};
pub use task::{Done, Representation, Task, child};

use super::{
    Figure,
    tiles::{self, TilesRequest},
};
use crate::{Error, Watch};

/// What to measure.
#[derive(Debug, Clone, Serialize)]
pub struct InteractionsRequest {
    /// Against the features route.
    pub routes: RoutesRequest,
    /// Fits with very many monomials.
    pub large: Vec<LargeRequest>,
    /// One evaluation against a matrix product.
    pub evaluation: TilesRequest,
    /// The program whose arguments `bench task` lead to [`child`]; without one, everything shares this process, and the peak of
    /// its memory.
    #[serde(skip)]
    pub program: Option<PathBuf>,
}

impl InteractionsRequest {
    /// Up to 1.25 billion monomials; minutes.
    pub fn full() -> Self {
        Self {
            routes: RoutesRequest::full(),
            large: LargeRequest::full(),
            evaluation: TilesRequest { exponents: vec!["4/3"], ..TilesRequest::full(5) },
            program: None,
        }
    }

    /// Small sizes that take seconds; what they say of speed and memory is little.
    pub fn quick() -> Self {
        Self {
            routes: RoutesRequest::quick(),
            large: LargeRequest::quick(),
            evaluation: TilesRequest { exponents: vec!["4/3"], ..TilesRequest::quick(1) },
            ..Self::full()
        }
    }
}

/// All measurements.
#[derive(Debug, Clone, Serialize)]
pub struct Interactions {
    /// What was measured.
    pub request: InteractionsRequest,
    /// Threads at work on each side.
    pub threads: usize,
    /// Against the features route.
    pub routes: Routes,
    /// Fits with very many monomials.
    pub large: Vec<Large>,
    /// One evaluation against a matrix product.
    pub evaluation: Vec<Figure>,
}

impl Interactions {
    /// Measures everything.
    pub fn run(request: InteractionsRequest, watch: &mut dyn Watch) -> Result<Self, Error> {
        let program = request.program.as_deref();
        let routes = Routes::run(&request.routes, program, watch)?;
        let large = request.large.iter().map(|one| Large::run(one, program, watch));
        let large = large.collect::<Result<_, _>>()?;
        let evaluation = tiles::evaluations(&request.evaluation, watch)?;
        Ok(Self { threads: rayon::current_num_threads(), request, routes, large, evaluation })
    }
}

#[cfg(test)]
mod tests {
    use banach::synthetic::SparseQuadratic;

    use super::*;
    use crate::watch::Count;

    fn small() -> InteractionsRequest {
        let quick = InteractionsRequest::quick();
        let data = SparseQuadratic { samples: 40, inputs: 12, relevant: 2, noise: 0.05 };
        InteractionsRequest {
            routes: RoutesRequest { data, seeds: 2, rounds: 1, ..quick.routes },
            large: vec![LargeRequest { data, ..quick.large[0].clone() }],
            evaluation: TilesRequest { data, product: 16, ..quick.evaluation },
            ..quick
        }
    }

    #[test]
    fn everything_is_measured() {
        let bench = Interactions::run(small(), &mut Count::default()).expect("it runs");
        assert_eq!((bench.routes.draws.len(), bench.routes.found()), (2, 2));
        assert!(bench.routes.tiles.converged && bench.routes.features.converged);
        assert_eq!(bench.routes.tiles.found, bench.routes.features.found);
        assert!(bench.large[0].done.converged && bench.large[0].done.gap <= 1e-8);
        assert!(!bench.evaluation.is_empty());
    }

    #[test]
    fn a_watcher_can_stop_it() {
        for stop_in in [1, 2, 3] {
            let mut watch = Count { begun: 0, stop_in: Some(stop_in) };
            assert!(matches!(Interactions::run(small(), &mut watch), Err(Error::Stopped)), "{stop_in}");
        }
    }

    #[test]
    fn a_task_travels_as_a_line() {
        let task = large::LargeRequest::quick()[0].task();
        let task = Task { data: SparseQuadratic { samples: 12, inputs: 5, relevant: 1, noise: 0.05 }, ..task };
        let question = serde_json::to_string(&task).expect("a line");
        let mut said = Vec::new();
        child(format!("{question}\n").as_bytes(), &mut said).expect("it runs");
        let said = String::from_utf8(said).expect("text");
        assert!(said.lines().next_back().is_some_and(|line| line.starts_with("{\"done\":")), "{said}");
        let mut said = Vec::new();
        let wrong = Task { p: "3".to_owned(), ..task };
        let question = serde_json::to_string(&wrong).expect("a line");
        child(format!("{question}\n").as_bytes(), &mut said).expect("it runs");
        assert!(String::from_utf8_lossy(&said).starts_with("{\"failed\":"));
    }
}
