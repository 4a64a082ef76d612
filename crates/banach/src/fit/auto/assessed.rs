//! What held-out samples say of what was chosen, among all that was tried.

use super::{
    choice::{Choosing, Ruling, Verdict},
    contender::Contender,
};
use crate::fit::{Assessment, Task, Unseen};

impl Choosing<'_, '_> {
    /// What was chosen against the constant, by what it predicts of held-out samples, among all that was tried. Where the constant was chosen
    /// there is nothing to say of it: that nothing is better is said of the best of the others. `None` where nothing was held out.
    pub(super) fn assessed(&self, ruling: &Ruling, predictions: Option<&[f64]>) -> Option<Assessment> {
        let (set, scoring) = (self.set, &self.set.scoring);
        let constant = self.contenders[0].predictions.as_deref()?;
        let known: Vec<(&Contender, Vec<f64>)> = self.contenders[1..]
            .iter()
            .filter_map(|contender| Some((contender, scoring.losses(contender.predictions.as_deref()?))))
            .collect();
        let value = |losses: &[f64]| scoring.mean(losses).value;
        let (predictions, name) = if ruling.verdict == Verdict::Constant {
            let best = known.iter().reduce(|a, b| if value(&b.1) < value(&a.1) { b } else { a })?;
            (best.0.predictions.as_deref()?, best.0.recipe.to_string())
        } else {
            let mut members = self.contenders.iter().zip(&ruling.weights).filter(|(_, weight)| **weight > 0.0);
            let mixed = ruling.verdict == Verdict::Mixture;
            let name = if mixed { "a mixture".to_owned() } else { members.next()?.0.recipe.to_string() };
            (predictions?, name)
        };
        let counted: Vec<usize> = (0..set.x.samples()).filter(|&i| scoring.weights()[i] > 0.0).collect();
        let among = |values: &[f64]| counted.iter().map(|&i| values[i]).collect::<Vec<f64>>();
        let own = scoring.losses(predictions);
        // The chosen one is one of those that were tried, unless other folds would have chosen otherwise.
        let place = known.iter().position(|(_, losses)| *losses == own);
        let mut candidates: Vec<Vec<f64>> = known.iter().map(|(_, losses)| among(losses)).collect();
        let chosen = place.unwrap_or(candidates.len());
        if place.is_none() {
            candidates.push(among(&own));
        }
        let labels = if let Task::Classes(classes) = &set.task { &classes[..] } else { &[] };
        let labels: Vec<String> = labels.iter().map(ToString::to_string).collect();
        let unseen = Unseen {
            how: set.folds.to_string(),
            witnesses: counted.iter().map(|&i| set.folds.witness(i)).collect(),
            weights: among(scoring.weights()),
            predicted: scoring.predicted(predictions, constant, &counted, labels),
            loss_name: if scoring.numbers().is_some() { "squared" } else { "logarithmic" },
            constant: among(&scoring.losses(constant)),
            chosen,
            candidates,
            looked_at: self.contenders.iter().flat_map(|one| &one.looked_at).map(|losses| among(losses)).collect(),
            candidate: Some(name),
        };
        let evidence = self.claims().1 < value(&scoring.losses(constant));
        Some(unseen.assessment().with_evidence(evidence).with_copies(set.copies()))
    }
}
