//! Another process of our own program, with memory of its own, that is sent one line and answers by lines.

use std::{
    io::{BufRead, BufReader, Read, Write},
    path::PathBuf,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    thread::{self, JoinHandle},
};

use serde::de::DeserializeOwned;

use crate::Error;

/// The process.
pub(super) struct Process {
    program: PathBuf,
    child: Child,
    questions: ChildStdin,
    answers: BufReader<ChildStdout>,
    /// Reads what the process says besides, so that its pipe never fills, and has its last line in the end.
    complaints: Option<JoinHandle<Option<String>>>,
}

impl Process {
    /// Starts a program.
    pub(super) fn start(mut command: Command) -> Result<Self, Error> {
        let program = PathBuf::from(command.get_program());
        let refuse = |reason: String| Error::Child { program: program.clone(), reason };
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|error| refuse(error.to_string()))?;
        let (Some(questions), Some(answers), Some(complaints)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(refuse("it has no standard input and output".to_owned()));
        };
        let answers = BufReader::new(answers);
        let complaints = Some(thread::spawn(move || last_line(complaints)));
        Ok(Self { program, child, questions, answers, complaints })
    }

    /// Sends a question, and waits for the next line.
    pub(super) fn ask<T: DeserializeOwned>(&mut self, question: &str) -> Result<T, Error> {
        match writeln!(self.questions, "{question}") {
            Ok(()) => self.listen(),
            Err(_) => Err(self.last_words()),
        }
    }

    /// Waits for one more line.
    pub(super) fn listen<T: DeserializeOwned>(&mut self) -> Result<T, Error> {
        let mut line = String::new();
        match self.answers.read_line(&mut line) {
            Ok(length) if length > 0 => {
                parse(&line).map_err(|reason| Error::Child { program: self.program.clone(), reason })
            }
            _ => Err(self.last_words()),
        }
    }

    /// Why the process has ended.
    fn last_words(&mut self) -> Error {
        let _ = self.child.kill();
        let said = self.complaints.take().and_then(|complaints| complaints.join().ok()).flatten();
        let reason = said.unwrap_or_else(|| "it ended without a word".to_owned());
        Error::Child { program: self.program.clone(), reason }
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
fn parse<T: DeserializeOwned>(line: &str) -> Result<T, String> {
    serde_json::from_str(line).map_err(|error| format!("it answered {:?}: {error}", line.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_answer_is_refused_and_repeated() {
        for line in ["", "Traceback", "{\"passes\": Infinity}"] {
            let reason = parse::<usize>(line).expect_err("not an answer");
            assert!(reason.contains(&format!("{line:?}")), "{reason}");
        }
    }

    /// A pipe holds 64 kB on most systems; a process that says more, and is not read, waits for ever.
    #[cfg(unix)]
    #[test]
    fn a_talkative_process_does_not_hang() {
        let start = |end: &str| {
            let mut command = Command::new("sh");
            command.args(["-c", &format!("yes warning | head -n 100000 >&2; echo 7; {end}")]);
            Process::start(command).expect("there is a shell")
        };
        assert_eq!(start("cat > /dev/null").listen::<usize>().expect("it answers"), 7);
        let mut process = start("echo 'out of luck' >&2; echo >&2");
        assert_eq!(process.listen::<usize>().expect("it answers"), 7);
        let error = process.listen::<usize>().expect_err("it has ended");
        assert!(error.to_string().contains("out of luck"), "{error}");
    }
}
