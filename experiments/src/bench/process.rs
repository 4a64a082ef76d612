//! Another process that answers one line for each line it is sent: a library in another language, or our own program with
//! memory of its own.

use std::{
    io::{self, BufRead, BufReader, BufWriter, Read, Write},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    thread::{self, JoinHandle},
};

use serde::de::DeserializeOwned;

use crate::Error;

/// What the libraries read to learn how many threads to use.
const THREADS: [&str; 3] = ["OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"];

/// A program in Python, with as many threads as we have.
pub(super) fn python(interpreter: &Path, program: &str) -> Command {
    let mut command = Command::new(interpreter);
    command.args(["-c", program]);
    command.envs(THREADS.map(|name| (name, rayon::current_num_threads().to_string())));
    command
}

/// The process.
pub(super) struct Process {
    program: PathBuf,
    child: Child,
    questions: BufWriter<ChildStdin>,
    answers: BufReader<ChildStdout>,
    /// Reads what the process says besides, so that its pipe never fills, and has its last line in the end.
    complaints: Option<JoinHandle<Option<String>>>,
}

impl Process {
    /// Starts a program.
    pub(super) fn start(mut command: Command) -> Result<Self, Error> {
        let program = PathBuf::from(command.get_program());
        let refuse = |reason: String| Error::Peer { python: program.clone(), reason };
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|error| refuse(error.to_string()))?;
        let (Some(questions), Some(answers), Some(complaints)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(refuse("it has no standard input and output".to_owned()));
        };
        let (questions, answers) = (BufWriter::with_capacity(1 << 20, questions), BufReader::new(answers));
        let complaints = Some(thread::spawn(move || last_line(complaints)));
        Ok(Self { program, child, questions, answers, complaints })
    }

    /// Gives it data, features one after another, then targets, and waits for the line that says that it has them.
    pub(super) fn send_data<T: DeserializeOwned>(&mut self, columns: &[f64], targets: &[f64]) -> Result<T, Error> {
        self.ask(|to| {
            let samples = targets.len();
            writeln!(to, "data {samples} {}", columns.len() / samples.max(1))?;
            columns.iter().chain(targets).try_for_each(|number| to.write_all(&number.to_le_bytes()))
        })
    }

    /// Sends a question, and waits for the next line.
    pub(super) fn ask<T: DeserializeOwned>(
        &mut self,
        question: impl FnOnce(&mut BufWriter<ChildStdin>) -> io::Result<()>,
    ) -> Result<T, Error> {
        match question(&mut self.questions).and_then(|()| self.questions.flush()) {
            Ok(()) => self.listen(),
            Err(_) => Err(self.last_words()),
        }
    }

    /// Waits for one more line.
    pub(super) fn listen<T: DeserializeOwned>(&mut self) -> Result<T, Error> {
        let mut line = String::new();
        match self.answers.read_line(&mut line) {
            Ok(length) if length > 0 => {
                parse(&line).map_err(|reason| Error::Peer { python: self.program.clone(), reason })
            }
            _ => Err(self.last_words()),
        }
    }

    /// Why the process has ended.
    fn last_words(&mut self) -> Error {
        let _ = self.child.kill();
        let said = self.complaints.take().and_then(|complaints| complaints.join().ok()).flatten();
        let reason = said.unwrap_or_else(|| "it ended without a word".to_owned());
        Error::Peer { python: self.program.clone(), reason }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Reads to the end and returns the last line that is not blank.
fn last_line(from: impl Read) -> Option<String> {
    let mut last = None;
    for line in BufReader::new(from).split(b'\n') {
        let Ok(line) = line else { break };
        let line = String::from_utf8_lossy(&line);
        if !line.trim().is_empty() {
            last = Some(line.trim().to_owned());
        }
    }
    last
}

/// Reads one line of the process.
pub(super) fn parse<T: DeserializeOwned>(line: &str) -> Result<T, String> {
    serde_json::from_str(line).map_err(|error| format!("it answered {:?}: {error}", line.trim()))
}

/// The most memory that this process has taken, where the operating system tells. (Of `ru_maxrss` a new process inherits
/// that of the one that started it.)
pub(super) fn peak_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kilobytes| 1024 * kilobytes)
}
