//! `banach fit -o MODEL --save-equation MODEL`.

use anyhow::ensure;
use banach::{Model, Spec, fit::SelectedEquation};
use banach_io::{Provenance, SavedModel};

use super::{Run, args::FitArgs, input::Input, sparse};
use crate::files;

impl FitArgs {
    /// Refuses files that cannot be written, and one for an equation that there is not, before they cost the work.
    pub(super) fn check_outputs(&self) -> anyhow::Result<()> {
        let page = self.tables.report.as_deref();
        let equation = self.tables.save_equation.as_deref();
        files::check_outputs(
            &[("-o", self.output.as_deref()), ("--save-equation", equation), ("--report", page)],
            &self.data,
        )?;
        ensure!(
            equation.is_none() || self.tables.select.is_some() || self.is_auto()?,
            "--save-equation: there is no equation; add --select K, or take a chosen model (--model auto)"
        );
        Ok(())
    }

    /// Writes the equation beside a model, if that was asked for and a term can be named.
    pub(super) fn save_equation(
        &self,
        input: &Input,
        equation: Option<&SelectedEquation>,
        notes: &mut Vec<String>,
    ) -> anyhow::Result<Option<String>> {
        let Some(path) = &self.tables.save_equation else { return Ok(None) };
        let named =
            |found: &&SelectedEquation| found.model.functions().iter().any(|function| !function.terms().is_empty());
        let Some(equation) = equation.filter(named) else {
            let path = path.display();
            notes.push(match equation {
                Some(_) => format!("{path} was not written: no term can be named at this number of rows"),
                None => format!(
                    "{path} was not written: few terms were not tried; `banach fit --sparse -o {path}` looks for them"
                ),
            });
            return Ok(None);
        };
        sparse::saved(input, &equation.spec, &equation.model).write(path)?;
        Ok(Some(path.display().to_string()))
    }
}

impl Run<'_> {
    /// The model as its file has it.
    pub(super) fn saved(&self, spec: &Spec, model: &Model) -> anyhow::Result<SavedModel<'_>> {
        let input = self.input;
        let observed = input.observed()?;
        let saved = SavedModel {
            names: Some(input.data.table.names().to_vec()),
            encodings: input.data.encodings.clone(),
            zero_based: input.data.zero_based,
            preparation: input.preparation.clone(),
            target: Some(input.data.target.name().to_owned()),
            weights: input.weights.clone(),
            exposure: input.exposure.clone(),
            standardization: input.standardization.clone(),
            provenance: Provenance { source: Some(input.data.file.clone()), ..Provenance::default() },
            ..SavedModel::new(spec.clone(), self.x.view(), observed)
        };
        Ok(saved.with_model(model))
    }
}
