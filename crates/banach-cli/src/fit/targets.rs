//! `--target a,b`: a model for every target, none of which is a variable of another.

use std::path::{Path, PathBuf};

use anyhow::ensure;

use super::{
    args::{Columns, FitArgs, Tables},
    read,
};
use crate::options::Common;

/// What is printed of a fit, and the exit code.
pub(super) type Printed = (String, u8);

/// One fit for every target, each with files of its own: `-o trial.banach` becomes `trial-a.banach` and `trial-b.banach`.
pub(super) fn each(fit: &FitArgs, common: &Common) -> anyhow::Result<Vec<FitArgs>> {
    let named = fit.columns.target.as_deref().unwrap_or_default();
    let targets: Vec<&str> = named.split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
    // The name of one column may hold a comma.
    if targets.len() < 2
        || fit.data.as_os_str() == "-"
        || read::read(&fit.data, &fit.columns, common.account()?.left()).is_ok()
    {
        return Ok(vec![fit.clone()]);
    }
    let of = |target: &&str| {
        let others = targets.iter().filter(|other| *other != target).map(|other| (*other).to_owned());
        let drop = fit.columns.drop.iter().cloned().chain(others).collect();
        let own = |path: &PathBuf| beside(path, target);
        FitArgs {
            columns: Columns { target: Some((*target).to_owned()), drop, ..fit.columns.clone() },
            output: fit.output.as_ref().map(own),
            tables: Tables {
                report: fit.tables.report.as_ref().map(own),
                save_equation: fit.tables.save_equation.as_ref().map(own),
                ..fit.tables.clone()
            },
            ..fit.clone()
        }
    };
    let fits: Vec<FitArgs> = targets.iter().map(of).collect();
    for (at, one) in fits.iter().enumerate() {
        one.check_outputs()?;
        let same = |other: &FitArgs| one.output.is_some() && other.output == one.output;
        ensure!(
            !fits[..at].iter().any(same) && !targets[..at].contains(&targets[at]),
            "--target {named}: two of the targets would be written to one file; fit {:?} by itself",
            targets[at]
        );
    }
    Ok(fits)
}

/// The objects of so many targets: one, or a list.
pub(super) fn together(objects: &[String], targets: usize) -> String {
    match objects {
        [one] if targets == 1 => one.clone(),
        several => format!("[\n{}]\n", several.join(",\n")),
    }
}

/// A file name with the name of a target before its ending.
fn beside(path: &Path, target: &str) -> PathBuf {
    let safe: String = target.chars().map(|c| if c.is_alphanumeric() || "._-".contains(c) { c } else { '_' }).collect();
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let ending = path.extension().map_or_else(String::new, |ending| format!(".{}", ending.to_string_lossy()));
    path.with_file_name(format!("{stem}-{safe}{ending}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_have_the_names_of_targets() {
        assert_eq!(beside(Path::new("out/trial.banach"), "a/b c"), Path::new("out/trial-a_b_c.banach"));
        assert_eq!(beside(Path::new("model"), "y"), Path::new("model-y"));
    }

    #[test]
    fn several_objects_are_a_list() {
        let both = together(&["{}\n".to_owned(), "{}\n".to_owned()], 2);
        assert_eq!(serde_json::from_str::<Vec<serde_json::Value>>(&both).expect("JSON").len(), 2);
        assert_eq!(together(&["{}\n".to_owned()], 1), "{}\n");
    }
}
