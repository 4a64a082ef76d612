//! Every target with its seeds, with what fuzzing has found, and with seeds that have mistakes. `make fuzz` goes further.

use std::{fs, path::Path};

use banach_fuzz::{CEILING, TARGETS, Target, damage::Damage};

/// Files with mistakes for every target, of which some take longer than others.
const CASES: [(&str, u64); 9] = [
    ("csv", 2000),
    ("svmlight", 10_000),
    ("npy", 10_000),
    ("npz", 2000),
    ("parquet", 20_000),
    ("arrow", 10_000),
    ("xlsx", 2000),
    ("plink", 5000),
    ("model", 3000),
];

fn target(name: &str) -> Target {
    *TARGETS.iter().find(|target| target.name == name).expect("there")
}

/// Runs a target; says which case it was if it fails.
fn run(target: Target, bytes: &[u8], case: &str) -> bool {
    struct Case<'a>(&'a str, &'a [u8]);
    impl Drop for Case<'_> {
        fn drop(&mut self) {
            if std::thread::panicking() {
                eprintln!("{}: {}", self.0, self.1.escape_ascii());
            }
        }
    }
    let _case = Case(case, bytes);
    (target.run)(bytes)
}

fn smoke(name: &str) {
    let target = target(name);
    let seeds = (target.seeds)();
    for (number, seed) in seeds.iter().enumerate() {
        assert!(run(target, seed, &format!("{name}, seed {number}")), "seed {number} can be read");
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("found").join(name);
    for file in fs::read_dir(folder).into_iter().flatten() {
        let path = file.expect("readable").path();
        run(target, &fs::read(&path).expect("readable"), &path.display().to_string());
    }
    let cases = CASES.iter().find(|(target, _)| *target == name).map_or(0, |(_, cases)| *cases);
    let read = |case: &u64| run(target, &Damage::new(*case).of(&seeds), &format!("{name}, case {case}"));
    let read = (0..cases).filter(read).count() as u64;
    assert!(read > cases / 100 && read < cases, "{read} of {cases} can be read: most mistakes matter, and not all");
}

macro_rules! smoke {
    ($($name:ident)*) => {
        $(
            #[test]
            fn $name() {
                smoke(stringify!($name));
            }
        )*

        #[test]
        fn every_target_is_here() {
            assert_eq!(TARGETS.map(|target| target.name), [$(stringify!($name)),*]);
        }
    };
}

smoke!(csv svmlight npy npz parquet arrow xlsx plink model);

#[test]
fn seeds_are_small_and_many() {
    for target in TARGETS {
        let seeds = (target.seeds)();
        assert!(seeds.len() > 3, "{}: {}", target.name, seeds.len());
        assert!(seeds.iter().all(|seed| (seed.len() as u64) < CEILING / 1000), "{}", target.name);
    }
}
