//! How a plan explains itself.

use std::fmt;

use super::{Plan, Route, RoutePlan, Shape};
use crate::{error::bytes_in_words, kernel::MonomialScale};

impl Plan {
    /// A table of all routes with their predicted times and memory, or why not; `>` marks the chosen one. Below it, what (21) of the
    /// paper says of these sizes.
    pub fn explain(&self) -> String {
        self.paper_rule().map_or_else(|| self.to_string(), |rule| format!("{self}\n{rule}"))
    }

    fn heading(&self) -> String {
        let Shape { samples, inputs, stored, sparse } = self.shape;
        let stored = if sparse { format!(" ({stored} entries stored)") } else { String::new() };
        let problems = match self.planner.problems.max(1) {
            1 => "1 problem".to_owned(),
            problems => format!("{problems} problems together"),
        };
        let monomial_scale = match self.planner.monomial_scale {
            MonomialScale::Raw => String::new(),
            monomial_scale => format!(", {monomial_scale} monomials"),
        };
        format!(
            "n = {samples}, d = {inputs}{stored}, p = {}, q = {}, K = {}{monomial_scale}, {problems}, {} allowed",
            self.exponent,
            self.exponent.q(),
            self.kernel.name(),
            bytes_in_words(self.planner.memory.bytes()),
        )
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.heading())?;
        let all = format!("{} evaluations", self.planner.evaluations);
        write!(f, "  {:9}{:>10}{:>12}{all:>17}{:>12}", "route", "set-up", "evaluation", "memory")?;
        for RoutePlan { route, outcome } in &self.routes {
            let mark = if *route == self.chosen { '>' } else { ' ' };
            write!(f, "\n{mark} {route:9}")?;
            match outcome {
                Ok(cost) => {
                    let [setup, evaluation, total] = [cost.setup, cost.evaluation, cost.total].map(seconds);
                    let memory = bytes_in_words(cost.bytes);
                    write!(f, "{setup:>10}{evaluation:>12}{total:>17}{memory:>12}")?;
                    write!(f, "{}", self.remark(*route))?;
                }
                Err(reason) => write!(f, " no: {reason}")?,
            }
        }
        Ok(())
    }
}

impl Plan {
    /// Why a route that can be taken is or is not.
    fn remark(&self, route: Route) -> &'static str {
        match (route == self.chosen, self.planner.route.is_some()) {
            (true, true) => "  as asked",
            (true, false) => "  chosen",
            (false, true) => "  not asked for",
            (false, false) => "",
        }
    }
}

/// Seconds for people to read.
fn seconds(seconds: f64) -> String {
    match seconds {
        0.0 => "0 s".to_owned(),
        s if s < 1e-3 => format!("{:.3} us", 1e6 * s),
        s if s < 1.0 => format!("{:.3} ms", 1e3 * s),
        s if s < 1e5 => format!("{s:.3} s"),
        s => format!("{s:.2e} s"),
    }
}
