//! How a plan explains itself.

use std::fmt;

use super::{Plan, Route, RoutePlan, Shape};
use crate::{
    error::{Plain, Words, bytes_in_words},
    kernel::MonomialScale,
};

impl Plan {
    /// A table of all routes with their predicted times and memory, or why not, in the words of a door; `>` marks the chosen one. Below
    /// it, what (21) of the paper says of these sizes.
    pub fn render(&self, words: &dyn Words) -> String {
        let table = self.table(words);
        self.paper_rule().map_or_else(|| table.clone(), |rule| format!("{table}\n{rule}"))
    }

    fn table(&self, words: &dyn Words) -> String {
        let all = format!("{} evaluations", self.planner.evaluations);
        let mut lines = vec![
            self.heading(),
            format!("  {:9}{:>10}{:>12}{all:>17}{:>12}", "route", "set-up", "evaluation", "memory"),
        ];
        for RoutePlan { route, outcome } in &self.routes {
            let mark = if *route == self.chosen { '>' } else { ' ' };
            let told = match outcome {
                Ok(cost) => {
                    let [setup, evaluation, total] = [cost.setup, cost.evaluation, cost.total].map(seconds);
                    let memory = bytes_in_words(cost.bytes);
                    format!("{setup:>10}{evaluation:>12}{total:>17}{memory:>12}{}", self.remark(*route))
                }
                Err(reason) => format!(" no: {}", reason.render(words)),
            };
            lines.push(format!("{mark} {route:9}{told}"));
        }
        lines.join("\n")
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
        f.write_str(&self.render(&Plain))
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
