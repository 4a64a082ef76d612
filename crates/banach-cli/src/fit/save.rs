//! `banach fit -o MODEL`.

use banach::{Model, Spec};
use banach_io::{Provenance, SavedModel};

use super::Run;

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
