//! Which monomials lead at other gammas: the same samples can give other leaders.

use serde::Serialize;

use super::{Described, Report};
use crate::{Error, Observer, Prepared, model::Budget, solver::Start};

/// Gammas beside that of the model, as multiples of it.
const FACTORS: [f64; 2] = [0.1, 10.0];
/// How many monomials lead.
const LEADING: usize = 5;

/// The leading monomials at one gamma.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Leaders {
    /// The gamma.
    pub gamma: f64,
    /// The monomials with the largest weights, at most five.
    pub monomials: Vec<String>,
    /// How many of them lead at the gamma of the model too.
    pub common: usize,
}

impl Described<'_> {
    /// Fits at a tenth and at ten times the gamma of a model, and adds to a report which monomials lead there. What cannot be fitted or is
    /// ended is left out.
    pub fn add_leaders(
        &self,
        report: &mut Report,
        prepared: &Prepared<'_>,
        observer: &mut dyn Observer,
    ) -> Result<(), Error> {
        for (place, problem) in self.problems.iter().enumerate() {
            let own = self.leading(place, self.model)?;
            for factor in FACTORS {
                let Ok(moved) = problem.with_gamma(factor * problem.gamma()) else { continue };
                let gamma = moved.gamma();
                let solutions =
                    prepared.solver().solve_all(std::slice::from_ref(&moved), &[Start::Auto], &mut *observer)?;
                if solutions.iter().any(|solution| solution.status == crate::Status::Interrupted) {
                    return Ok(());
                }
                let mut all = self.model.solutions().to_vec();
                all[place] = solutions.into_iter().next().unwrap_or_else(|| all[place].clone());
                let mut problems = self.problems.to_vec();
                problems[place] = moved;
                let model = prepared.model(self.x, self.model.task().clone(), &problems, all);
                let monomials = self.leading(place, &model)?;
                let common = monomials.iter().filter(|monomial| own.contains(monomial)).count();
                report.functions[place].leaders.push(Leaders { gamma, monomials, common });
            }
        }
        Ok(())
    }

    fn leading(&self, place: usize, model: &crate::Model) -> Result<Vec<String>, Error> {
        let function = model.function(place, self.x)?.with_memory(self.fit.account().left());
        let found = function.top_monomials(LEADING, Budget::default())?;
        Ok(found.entries.iter().map(|entry| entry.monomial.with_names(self.columns.names)).collect())
    }
}
