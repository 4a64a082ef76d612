//! The options that every command takes.

use banach::{Account, Memory};
use clap::Args;

use crate::print;

/// What every command takes.
#[derive(Debug, Clone, Args)]
pub struct Common {
    /// Print one JSON object, for machines (docs/command-line.md lists its keys).
    #[arg(long, global = true)]
    pub json: bool,
    /// Say how the result comes about: how long it will take, what every route would cost, what a prediction is made of, how a search went.
    #[arg(long, global = true)]
    pub explain: bool,
    /// No progress and no messages on standard error, but for errors.
    #[arg(long, short, global = true)]
    pub quiet: bool,
    /// Threads to use; all cores if not given. Results do not depend on it.
    #[arg(long, global = true, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    /// The memory to use, such as 2GB or 500MB; 80 % of what is available if not given.
    #[arg(long, global = true, value_name = "SIZE", value_parser = bytes)]
    pub memory_limit: Option<u64>,
}

/// What a command takes whatever it works on: stacks of threads, buffers, and its own code.
const PROGRAM: u64 = 3 << 20;

impl Common {
    /// The memory that may be used.
    pub fn memory(&self) -> Memory {
        self.memory_limit.map_or_else(Memory::available, Memory::limit).less(PROGRAM)
    }

    /// The account of all that the command keeps.
    pub fn account(&self) -> anyhow::Result<Account> {
        let memory = self.memory();
        if let Some(limit) = self.memory_limit {
            anyhow::ensure!(
                memory.bytes() > 0,
                "--memory-limit is {limit} bytes; allowed: more than {PROGRAM}, 3 MiB, which the program takes for itself"
            );
        }
        anyhow::ensure!(
            memory.bytes() > 0,
            "nearly no memory is left to this program: raise the limit (ulimit -v; that of the control group), \
             close other programs, or take fewer threads (--threads 1)"
        );
        Ok(Account::new(memory))
    }

    /// Says something on standard error, unless told not to.
    pub fn say(&self, what: impl std::fmt::Display) {
        if !self.quiet {
            print::message(what);
        }
    }
}

/// Bytes from `2GB`, `1.5 GiB`, `500MB` or `1000000`.
fn bytes(text: &str) -> Result<u64, String> {
    let text = text.trim();
    let digits = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    let unit = match text[digits..].trim().to_ascii_lowercase().as_str() {
        "" | "b" => Some(1.0),
        "kb" | "k" => Some(1e3),
        "mb" | "m" => Some(1e6),
        "gb" | "g" => Some(1e9),
        "tb" | "t" => Some(1e12),
        "kib" => Some(1024.0),
        "mib" => Some(1_048_576.0),
        "gib" => Some(1_073_741_824.0),
        _ => None,
    };
    match (text[..digits].parse::<f64>(), unit) {
        (Ok(number), Some(unit)) if number * unit >= 1.0 => Ok((number * unit) as u64),
        _ => Err("a size such as 2GB, 500MB or 1.5GiB".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        for (text, size) in [("2GB", 2_000_000_000), ("1.5 GiB", 1_610_612_736), ("500mb", 500_000_000), ("7", 7)] {
            assert_eq!(bytes(text), Ok(size), "{text}");
        }
        for text in ["", "GB", "2XB", "-1GB", "0", "1e9"] {
            assert!(bytes(text).is_err(), "{text}");
        }
    }
}
