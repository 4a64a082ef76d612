//! Writes the seeds of every target into a folder of its name: what libFuzzer starts from.

use std::{env, fs, io, path::PathBuf};

fn main() -> io::Result<()> {
    let folder = PathBuf::from(env::args().nth(1).unwrap_or_else(|| "fuzz/corpus".to_owned()));
    for target in banach_fuzz::TARGETS {
        let folder = folder.join(target.name);
        fs::create_dir_all(&folder)?;
        for (number, seed) in (target.seeds)().iter().enumerate() {
            fs::write(folder.join(format!("seed-{number}")), seed)?;
        }
    }
    Ok(())
}
