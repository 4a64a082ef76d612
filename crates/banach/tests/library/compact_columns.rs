//! Models of compact columns are those of the same numbers in f64, to the last bit: every route and loss, the search, the choice, few terms,
//! the largest monomials, relevance and predictions.

use banach::{
    Account, Error, FeatureMatrix, Fit, Memory, Route, Search, Spec, Target, Unobserved,
    data::Genotypes,
    fit::{Auto, Effort, KernelSpace},
    kernel::{KernelSpec, MonomialScale},
    loss::{LossSpec, Targets},
    model::Budget,
    sparse::SparseSpec,
};

const SAMPLES: usize = 30;
const COLUMNS: usize = 7;

/// Numbers in [0, 1) without a pattern.
fn jumble(count: usize, from: usize) -> impl Iterator<Item = f64> {
    (from + 1..=from + count).map(|k| ((k * k) as f64 * 0.618_033_988_749_895).fract())
}

/// Compact columns and the same in f64, for every kind.
fn pairs(samples: usize, from: usize) -> Vec<[FeatureMatrix<'static>; 2]> {
    let numbers = || jumble(samples * COLUMNS, from).map(|x| 2.0 * x - 1.0);
    let bytes: Vec<u8> = jumble(samples.div_ceil(4) * COLUMNS, from).map(|x| (256.0 * x) as u8).collect();
    let levels = Genotypes::of(samples, &bytes).expect("whole columns").levels;
    let (centres, factors) = (vec![0.9; COLUMNS], vec![1.25; COLUMNS]);
    let two_bit = FeatureMatrix::from_two_bit(samples, COLUMNS, bytes, levels).expect("valid");
    [
        FeatureMatrix::from_columns_f32(samples, COLUMNS, numbers().map(|x| x as f32).collect::<Vec<_>>()),
        FeatureMatrix::from_columns_i8(samples, COLUMNS, numbers().map(|x| (3.0 * x) as i8).collect::<Vec<_>>()),
        two_bit.clone().rescaled(&centres, &factors),
        Ok(two_bit),
    ]
    .map(|compact| {
        let compact = compact.expect("valid");
        let mut values = vec![0.0; samples * COLUMNS];
        values.chunks_mut(samples).enumerate().for_each(|(j, column)| compact.column_into(j, column));
        let decoded = FeatureMatrix::from_columns(samples, COLUMNS, values).expect("valid");
        [compact, decoded]
    })
    .into()
}

fn bits(numbers: &[f64]) -> Vec<u64> {
    numbers.iter().map(|x| x.to_bits()).collect()
}

fn targets(x: &FeatureMatrix<'_>) -> Vec<f64> {
    (0..x.samples()).map(|i| x.row(i)).map(|row| row[0] - 0.7 * row[2] * row[3] + 0.2 * row[5]).collect()
}

/// All that a model says, of the samples and of new points.
fn said(spec: &Spec, x: &FeatureMatrix<'_>, y: &[f64], new: &FeatureMatrix<'_>) -> Result<Vec<u64>, Error> {
    let model = match spec.loss.targets() {
        Targets::Signs => spec.fit(x, &y.iter().map(|y| i64::from(*y > 0.0)).collect::<Vec<_>>()),
        _ => spec.fit(x, y),
    }?;
    let solution = &model.solutions()[0];
    let mut found = bits(&[&solution.alpha[..], &solution.omega, &[solution.intercept]].concat());
    found.extend(bits(&model.decisions(new)?));
    found.push(solution.passes as u64);
    let function = model.function(0, x)?;
    let top = function.top_monomials(5, Budget::default())?;
    found.extend(top.entries.iter().flat_map(|entry| [entry.weight.to_bits(), entry.coefficient.to_bits()]));
    let relevance = function.relevance(Memory::limit(1 << 30))?;
    found.extend(bits(relevance.variables()));
    Ok(found)
}

#[test]
fn every_route_and_every_loss() {
    let pairs = pairs(SAMPLES, 0);
    let points = self::pairs(11, 5000);
    let kernel = KernelSpec::poly(2);
    let scales = [MonomialScale::Raw, MonomialScale::Standardized];
    let routes = Route::ALL.into_iter().map(|route| Spec { route: Some(route), ..Spec::default() });
    let scaled = scales.into_iter().map(|monomials| Spec { monomials, p: 1.2, ..Spec::default() });
    let losses = LossSpec::ALL.into_iter().map(|loss| Spec { loss, p: 1.3, ..Spec::default() });
    let endpoint = [Spec { p: 1.0, ..Spec::default() }];
    for spec in routes.chain(scaled).chain(losses).chain(endpoint) {
        let spec = Spec { kernel: kernel.clone(), gamma: 2.0, tolerance: 1e-6, ..spec };
        for ([compact, decoded], [new, new_decoded]) in pairs.iter().zip(&points) {
            let y: Vec<f64> = match spec.loss.targets() {
                Targets::Counts => targets(decoded).iter().map(|y| y.abs().round()).collect(),
                _ => targets(decoded),
            };
            let found = said(&spec, compact, &y, new);
            assert_eq!(found, said(&spec, decoded, &y, new_decoded), "{spec:?}");
            assert!(found.is_ok(), "{spec:?}: {found:?}");
        }
    }
}

#[test]
fn searches_choices_and_few_terms() {
    for [compact, decoded] in pairs(40, 100) {
        let y = targets(&decoded);
        let target = Target::from(&y);
        let folds = target.folds(y.len(), 3, 0).expect("enough samples");
        let searched = |x: &FeatureMatrix<'_>| {
            let search = Search { exponents: vec![1.2, 2.0], ..Search::new(KernelSpace::Fixed(KernelSpec::poly(2))) };
            let fit = Fit::new(&Spec::default()).expect("valid");
            let found = search.run(&fit, x, &target, None, &folds, &mut Unobserved).expect("it runs");
            let scores = found.tried.iter().flat_map(|tried| tried.candidates.iter().map(|one| one.loss.value));
            bits(&scores.collect::<Vec<_>>())
        };
        assert_eq!(searched(&compact), searched(&decoded));
        let terms = |x: &FeatureMatrix<'_>| {
            let spec = SparseSpec { kernel: KernelSpec::Anova { degrees: (1, 2) }, ..SparseSpec::default() };
            bits(&spec.fit(x, &y).expect("it fits").predict(x).expect("the samples"))
        };
        assert_eq!(terms(&compact), terms(&decoded));
        let chosen = |x: &FeatureMatrix<'_>| {
            let account = Account::new(Memory::available());
            let model =
                Auto { effort: Effort::Quick, ..Auto::default() }.fit(x, &target, None, &account).expect("it fits");
            bits(&model.predictions(x).expect("the samples"))
        };
        assert_eq!(chosen(&compact), chosen(&decoded));
    }
}

#[test]
fn every_p() {
    for [compact, decoded] in pairs(SAMPLES, 300) {
        for p in [2.0, 1.05, 1.001] {
            let spec = Spec { p, gamma: 3.0, ..Spec::default() };
            let y = targets(&decoded);
            assert_eq!(said(&spec, &compact, &y, &compact), said(&spec, &decoded, &y, &decoded), "{p}");
        }
    }
}
