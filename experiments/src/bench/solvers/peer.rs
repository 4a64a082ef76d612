//! SciPy in a process of its own, which holds the data and answers one line for each line it is sent.

use std::{
    io::{self, BufRead, BufReader, BufWriter, Read as _, Write},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::Error;

/// The program. It travels inside the binary, so that an installed one has it too.
const PROGRAM: &str = include_str!("../../../peers/lbfgsb.py");

/// What the libraries read to learn how many threads to use.
const THREADS: [&str; 3] = ["OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"];

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
pub(super) struct Peer {
    python: PathBuf,
    child: Child,
    questions: BufWriter<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl Peer {
    /// Starts the process with as many threads as we have, and gives it the data: features one after another, targets.
    pub(super) fn start(python: &Path, columns: &[f64], targets: &[f64]) -> Result<(Self, Hello), Error> {
        let mut command = Command::new(python);
        command.args(["-c", PROGRAM]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.envs(THREADS.map(|name| (name, rayon::current_num_threads().to_string())));
        let refuse = |reason: String| Error::Peer { python: python.to_owned(), reason };
        let mut child = command.spawn().map_err(|error| refuse(error.to_string()))?;
        let (Some(questions), Some(answers)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(refuse("it has no standard input and output".to_owned()));
        };
        let (questions, answers) = (BufWriter::with_capacity(1 << 20, questions), BufReader::new(answers));
        let mut peer = Self { python: python.to_owned(), child, questions, answers };
        let hello = peer.ask(|to| {
            let samples = targets.len();
            writeln!(to, "data {samples} {}", columns.len() / samples.max(1))?;
            columns.iter().chain(targets).try_for_each(|number| to.write_all(&number.to_le_bytes()))
        })?;
        Ok((peer, hello))
    }

    /// Minimises the dual.
    pub(super) fn solve(&mut self, p: f64, gamma: f64, tolerance: f64) -> Result<Answer, Error> {
        self.ask(|to| writeln!(to, "solve {p} {gamma} {tolerance}"))
    }

    /// Sends a question, and waits for the one line that answers it.
    fn ask<T: DeserializeOwned>(
        &mut self,
        question: impl FnOnce(&mut BufWriter<ChildStdin>) -> io::Result<()>,
    ) -> Result<T, Error> {
        let mut line = String::new();
        let sent = question(&mut self.questions).and_then(|()| self.questions.flush());
        let received = sent.and_then(|()| self.answers.read_line(&mut line));
        match received {
            Ok(length) if length > 0 => {
                parse(&line).map_err(|reason| Error::Peer { python: self.python.clone(), reason })
            }
            _ => Err(self.last_words()),
        }
    }

    /// Why the process has ended.
    fn last_words(&mut self) -> Error {
        let _ = self.child.kill();
        let mut said = String::new();
        if let Some(mut stderr) = self.child.stderr.take() {
            let _ = stderr.read_to_string(&mut said);
        }
        let last = said.trim().lines().last().unwrap_or("it ended without a word");
        Error::Peer { python: self.python.clone(), reason: last.to_owned() }
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Reads one line of the peer.
fn parse<T: DeserializeOwned>(line: &str) -> Result<T, String> {
    serde_json::from_str(line).map_err(|error| format!("it answered {:?}: {error}", line.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn a_missing_interpreter_says_what_to_do() {
        let Err(error) = Peer::start(Path::new("/nowhere/python"), &[1.0], &[1.0]) else { panic!("it started") };
        let message = error.to_string();
        assert!(message.contains("/nowhere/python") && message.contains("make bench-solvers"), "{message}");
    }
}
