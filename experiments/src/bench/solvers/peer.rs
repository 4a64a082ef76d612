//! SciPy in a process of its own, which holds the data and answers one line for each line it is sent.

use std::{io::Write, path::Path, process::Command};

use serde::{Deserialize, Serialize};

use super::super::process::{Process, python};
use crate::Error;

/// The program. It travels inside the binary, so that an installed one has it too.
const PROGRAM: &str = include_str!("../../../peers/lbfgsb.py");

/// What the peer says when it has the data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Hello {
    /// The version of numpy.
    pub numpy: String,
    /// The version of SciPy.
    pub scipy: String,
    /// The layout of the matrix that was fastest.
    pub layout: String,
    /// The best time of one evaluation in it.
    pub evaluation_seconds: f64,
}

/// What the peer says of one minimisation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// Seconds from the start to the tolerance, by the peer's clock.
    pub seconds: f64,
    /// Evaluations of the dual and its gradient.
    pub evaluations: usize,
    /// The relative duality gap.
    pub relative_gap: f64,
    /// The value of the dual.
    pub dual: f64,
    /// The start that it took: `zero` or `ray`.
    pub start: String,
    /// The corrections that the method kept.
    pub corrections: usize,
}

/// The process.
pub(super) struct Peer(Process);

impl Peer {
    /// Starts the process with as many threads as we have, and gives it the data: features one after another, targets.
    pub(super) fn start(interpreter: &Path, columns: &[f64], targets: &[f64]) -> Result<(Self, Hello), Error> {
        Self::run(python(interpreter, PROGRAM), columns, targets)
    }

    /// As [`start`](Self::start), for any program.
    fn run(command: Command, columns: &[f64], targets: &[f64]) -> Result<(Self, Hello), Error> {
        let mut process = Process::start(command)?;
        let hello = process.send_data(columns, targets)?;
        Ok((Self(process), hello))
    }

    /// Minimises the dual.
    pub(super) fn solve(&mut self, p: f64, gamma: f64, tolerance: f64) -> Result<Answer, Error> {
        self.0.ask(|to| writeln!(to, "solve {p} {gamma} {tolerance}"))
    }
}

#[cfg(test)]
mod tests {
    use super::{super::super::process::parse, *};

    #[test]
    fn answers_are_read() {
        let line = concat!(
            r#"{"seconds": 0.25, "evaluations": 9, "relative_gap": 4.2e-11, "#,
            r#""dual": -1.97, "start": "ray", "corrections": 10}"#
        );
        let answer: Answer = parse(&format!("{line}\n")).expect("an answer");
        assert_eq!((answer.seconds, answer.evaluations, answer.relative_gap), (0.25, 9, 4.2e-11));
        assert_eq!((answer.dual, &answer.start[..], answer.corrections), (-1.97, "ray", 10));
        let line = r#"{"numpy": "2.4.6", "scipy": "1.17.1", "layout": "sample-major", "evaluation_seconds": 0.01}"#;
        let hello: Hello = parse(line).expect("a greeting");
        assert_eq!((&hello.layout[..], hello.evaluation_seconds), ("sample-major", 0.01));
    }

    #[test]
    fn anything_else_is_refused_and_repeated() {
        for line in ["", "Traceback", r#"{"seconds": 1.0}"#, r#"{"seconds": Infinity}"#] {
            let reason = parse::<Answer>(line).expect_err("not an answer");
            assert!(reason.contains(&format!("{line:?}")), "{reason}");
        }
    }

    #[test]
    fn the_program_answers_with_the_fields_that_are_read() {
        let fields = ["numpy", "scipy", "layout", "evaluation_seconds"].into_iter().chain([
            "seconds",
            "evaluations",
            "relative_gap",
            "dual",
            "start",
            "corrections",
        ]);
        for field in fields {
            assert!(PROGRAM.contains(&format!("\"{field}\": ")), "{field}");
        }
    }

    /// A pipe holds 64 kB on most systems; a process that says more, and is not read, waits for ever.
    #[cfg(unix)]
    #[test]
    fn a_talkative_process_does_not_hang() {
        let hello = r#"{"numpy": "2", "scipy": "1", "layout": "blocks", "evaluation_seconds": 0.5}"#;
        let program = |end: &str| {
            let script = format!("yes warning | head -n 100000 >&2; echo '{hello}'; {end}");
            let mut command = Command::new("sh");
            command.args(["-c", &script]);
            command
        };
        let (mut peer, hello) = Peer::run(program("cat > /dev/null"), &[1.0], &[1.0]).expect("it answers");
        assert_eq!(hello.layout, "blocks");
        drop(peer);
        (peer, _) = Peer::run(program("echo 'out of luck' >&2; echo >&2"), &[1.0], &[1.0]).expect("it answers");
        let error = peer.solve(1.5, 1.0, 1e-8).expect_err("it has ended");
        assert!(error.to_string().contains("out of luck"), "{error}");
    }

    #[test]
    fn a_missing_interpreter_says_what_to_do() {
        let Err(error) = Peer::start(Path::new("/nowhere/python"), &[1.0], &[1.0]) else { panic!("it started") };
        let message = error.to_string();
        assert!(message.contains("/nowhere/python") && message.contains("make bench-solvers"), "{message}");
    }
}
