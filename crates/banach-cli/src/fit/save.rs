//! `banach fit -o MODEL`.

use std::path::Path;

use banach::{Model, Spec};
use banach_io::{Provenance, SavedModel};

use super::Run;

impl Run<'_> {
    pub(super) fn save(&self, path: &Path, spec: &Spec, model: &Model) -> anyhow::Result<()> {
        let input = self.input;
        let observed = input.observed()?;
        let saved = SavedModel {
            names: Some(input.data.table.names().to_vec()),
            encodings: input.data.encodings.clone(),
            zero_based: input.data.zero_based,
            target: Some(input.data.target.name().to_owned()),
            standardization: input.standardization.clone(),
            provenance: Provenance { source: Some(input.data.file.clone()), ..Provenance::default() },
            ..SavedModel::new(spec.clone(), self.x.view(), observed)
        };
        Ok(saved.with_model(model).write(path)?)
    }
}
