//! The variants of a model in another file, found by name and counted allele.

use std::collections::HashMap;

use super::{
    cohort::Allele,
    variants::{UNKNOWN, Variants},
};
use crate::{At, Error, FileRemedy};

/// A variant of the file, and which of its alleles is counted.
pub(super) type Counted = (usize, Allele);

/// The variants that a model is made of.
pub(super) struct Known {
    /// In the order of the file, each with the place of its name in the model.
    pub(super) found: Vec<(Counted, usize)>,
    /// The names of the model that no variant has.
    pub(super) others: Vec<usize>,
}

/// Where a name of the model is: as the first allele, else as the second, else where the first allele is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Nowhere,
    /// The variant is there, and neither of its alleles is that of the model.
    OtherAlleles(usize),
    At(Counted),
}

impl Known {
    /// Every name of a model is looked for by the variant before its last underscore and the allele behind it. A variant whose
    /// alleles are the other way round than in the file that the model was fitted to is counted by its second one.
    pub(super) fn new(names: &[String], variants: &Variants) -> Result<Self, Error> {
        let mut by_id: HashMap<&str, Vec<(usize, &str)>> = HashMap::new();
        for (at, name) in names.iter().enumerate() {
            if let Some((id, allele)) = name.rsplit_once('_') {
                by_id.entry(id).or_default().push((at, allele));
            }
        }
        let mut places = vec![Place::Nowhere; names.len()];
        for variant in 0..variants.len() {
            let id = variants.id(variant);
            for &(at, allele) in by_id.get(&id[..]).into_iter().flatten() {
                let [first, second] = [Allele::A1, Allele::A2].map(|which| variants.allele(variant, which));
                let here = if first == allele {
                    Some((variant, Allele::A1))
                } else if second == allele {
                    Some((variant, Allele::A2))
                } else {
                    // No sample of the file has a copy of the other allele.
                    (first == UNKNOWN).then_some((variant, Allele::A1))
                };
                places[at] = match (places[at], here) {
                    (Place::At(before), Some(here)) if before.1 == here.1 => {
                        return Err(twice(variants, &names[at], before.0, variant));
                    }
                    (Place::At((_, Allele::A1)), _) | (Place::At(_), None) => places[at],
                    (_, Some(here)) => Place::At(here),
                    (_, None) => Place::OtherAlleles(variant),
                };
            }
        }
        let (mut found, mut others) = (Vec::new(), Vec::new());
        for (at, place) in places.into_iter().enumerate() {
            match place {
                Place::At(counted) => found.push((counted, at)),
                Place::Nowhere => others.push(at),
                Place::OtherAlleles(variant) => {
                    let [first, second] = [Allele::A1, Allele::A2].map(|which| variants.allele(variant, which));
                    let problem =
                        format!("its alleles are {first} and {second}, and the model is made of {:?}", names[at]);
                    let instead = FileRemedy::Do(
                        "the strand or the variant is another one: write the file for the same strand and reference as that of the fit",
                    );
                    return Err(Error::unsupported(variants.file(), At::Line(variant as u64 + 1), problem, instead));
                }
            }
        }
        found.sort_unstable_by_key(|((variant, _), _)| *variant);
        if let Some(pair) = found.windows(2).find(|pair| pair[0].0.0 == pair[1].0.0) {
            let (first, second) = (&names[pair[0].1], &names[pair[1].1]);
            let problem = format!("the model counts both of its alleles, {first:?} and {second:?}");
            let instead =
                FileRemedy::Do("it was fitted to two variants of one name; give each its own name, and fit again");
            return Err(Error::unsupported(variants.file(), At::Line(pair[0].0.0 as u64 + 1), problem, instead));
        }
        Ok(Self { found, others })
    }
}

/// Two variants of one name, of which nobody knows which is meant.
pub(super) fn twice(variants: &Variants, name: &str, first: usize, second: usize) -> Error {
    let problem = format!("line {} is {name:?} as well", first + 1);
    let instead = FileRemedy::Do(
        "variants are known by name and allele; give each its own name (set-all-var-ids of PLINK 2), or leave one out",
    );
    Error::unsupported(variants.file(), At::Line(second as u64 + 1), problem, instead)
}
