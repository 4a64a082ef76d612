//! What held-out samples say of one contender, or of a mixture, among all that were tried.

use super::choice::Choosing;
use crate::fit::{Assessment, Task, Unseen};

impl Choosing<'_, '_> {
    /// The held-out predictions of a contender, or of a mixture of several, against the constant, with whether
    /// evidence names terms. `None` where nothing was held out of it.
    pub(super) fn assessed(
        &self,
        losses: &[Option<Vec<f64>>],
        contender: usize,
        mixture: Option<&[f64]>,
        evidence: bool,
    ) -> Option<Assessment> {
        let (set, scoring) = (self.set, &self.set.scoring);
        let chosen = self.contenders.get(contender)?;
        let predictions = mixture.or(chosen.predictions.as_deref())?;
        let constant = self.contenders[0].predictions.as_deref()?;
        let counted: Vec<usize> = (0..set.x.samples()).filter(|&i| scoring.weights()[i] > 0.0).collect();
        let among = |values: &[f64]| counted.iter().map(|&i| values[i]).collect::<Vec<f64>>();
        let known = (1..self.contenders.len()).filter_map(|at| losses[at].as_ref().map(|found| (at, found)));
        let (mut places, mut candidates): (Vec<usize>, Vec<Vec<f64>>) =
            known.map(|(at, found)| (at, among(found))).unzip();
        if mixture.is_some() {
            places.push(usize::MAX);
            candidates.push(among(&scoring.losses(predictions)));
        }
        let chosen_place = if mixture.is_some() { usize::MAX } else { contender };
        let labels = if let Task::Classes(classes) = &set.task { &classes[..] } else { &[] };
        let labels: Vec<String> = labels.iter().map(ToString::to_string).collect();
        let unseen = Unseen {
            how: set.folds.to_string(),
            witnesses: counted.iter().map(|&i| set.folds.witness(i)).collect(),
            weights: among(scoring.weights()),
            predicted: scoring.predicted(predictions, constant, &counted, labels),
            loss_name: if scoring.numbers().is_some() { "squared" } else { "logarithmic" },
            constant: among(losses[0].as_ref()?),
            chosen: places.iter().position(|&place| place == chosen_place)?,
            candidates,
            candidate: Some(if mixture.is_some() { "a mixture".to_owned() } else { chosen.recipe.to_string() }),
        };
        Some(unseen.assessment().with_evidence(evidence))
    }
}
