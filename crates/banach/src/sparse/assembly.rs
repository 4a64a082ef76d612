//! From the terms that a search has found to a function.

use super::{
    Alternative, BestOfSize, Design, Dictionary, LocalOptimality, SparseCertificate, SparseFunction, SparseTerm,
    StepScope, Support, WorkingColumns,
    logistic::Classes,
    penalised::FoundPenalised,
    quantile::confidence_quantile,
    range::out_of_range,
    search::FoundSupport,
    steps::{Standing, StepTo, Steps},
};
use crate::{Error, FeatureMatrix, model::monomial_matrix};

/// Alternatives of each term that are told.
pub(super) const ALTERNATIVES: usize = 5;
/// An alternative that raises the criterion by more is e^5 = 148 times less likely and not told, nor is one that is worse than no term.
const MOST_EVIDENCE: f64 = 10.0;

/// What a search has found, by the numbers of terms.
#[derive(Debug)]
pub(super) struct FoundTerms {
    pub numbers: Vec<u64>,
    /// How much the criterion rises without each of them.
    pub evidence: Vec<f64>,
    /// For each of them, how much the criterion rises with others in its place.
    pub alternatives: Vec<Vec<(f64, u64)>>,
    pub criterion: f64,
    pub unexplained: f64,
    pub certificate: SparseCertificate,
    pub sizes: Vec<BestOfSize>,
    pub passes: usize,
}

impl FoundTerms {
    /// The best support of a search by least squares.
    pub(super) fn of_support(found: &FoundSupport) -> Self {
        let FoundSupport { columns, subsets, offers, prices, passes } = found;
        let (support, own) = (subsets.best(), prices.own());
        let (k, criterion) = (support.len(), subsets.criterion(support));
        let rise = |gain: f64, terms: usize| subsets.criterion_of(support.unexplained() - gain, terms) - criterion;
        let exchanges = prices.best_exchanges(support, columns, ALTERNATIVES);
        let alternatives = |i: usize| {
            let at_hand = exchanges[i].iter().map(|&(place, gain)| (columns.number(place), gain));
            let others = offers.exchanges.get(i).into_iter().flatten();
            let others =
                others.filter(|term| columns.place(term.number).is_none()).map(|term| (term.number, term.gain));
            at_hand.chain(others).map(|(number, gain)| (rise(gain, k), number)).collect()
        };
        let evidence: Vec<f64> = own.explained.iter().map(|explained| rise(-explained.powi(2), k - 1)).collect();
        let best_addition = prices.best_additions(support, columns, 1).first().map_or(0.0, |(_, gain)| *gain);
        let best_exchange = exchanges.iter().filter_map(|exchanges| exchanges.first()).map(|(_, gain)| *gain);
        let offered = offers.best_criteria(subsets, support);
        let optimality = LocalOptimality {
            addition: rise(best_addition, k + 1).min(offered.0 - criterion),
            removal: evidence.iter().copied().fold(f64::INFINITY, f64::min),
            exchange: best_exchange.map(|gain| rise(gain, k)).fold(offered.1 - criterion, f64::min),
            scope: StepScope::Every,
        };
        let size = |support: &Support| BestOfSize {
            terms: support.len(),
            unexplained: support.unexplained(),
            criterion: subsets.criterion(support),
        };
        Self {
            numbers: support.places().iter().map(|&place| columns.number(place)).collect(),
            alternatives: (0..k).map(alternatives).collect(),
            evidence,
            criterion,
            unexplained: support.unexplained(),
            certificate: SparseCertificate::Steps(optimality),
            sizes: subsets.supports().iter().map(size).collect(),
            passes: *passes,
        }
    }

    /// The support at which exact steps have ended.
    pub(super) fn of_steps(standing: &Standing, steps: &Steps, unexplained: f64, sizes: Vec<BestOfSize>) -> Self {
        let rise = |criterion: f64| criterion - standing.criterion;
        let least = |steps: &[StepTo]| steps.first().map_or(f64::INFINITY, |step| rise(step.criterion));
        let removals = steps.removals.iter().filter(|removal| removal.allowed);
        let optimality = LocalOptimality {
            addition: least(&steps.additions),
            removal: removals.map(|removal| rise(removal.criterion)).fold(f64::INFINITY, f64::min),
            exchange: steps.exchanges.iter().map(|steps| least(steps)).fold(f64::INFINITY, f64::min),
            scope: steps.scope,
        };
        let alternatives =
            |steps: &Vec<StepTo>| steps.iter().map(|step| (rise(step.criterion), step.number)).collect::<Vec<_>>();
        Self {
            numbers: standing.numbers.clone(),
            evidence: steps.removals.iter().map(|removal| rise(removal.criterion)).collect(),
            alternatives: steps.exchanges.iter().map(alternatives).collect(),
            criterion: standing.criterion,
            unexplained,
            certificate: SparseCertificate::Steps(optimality),
            sizes,
            passes: 0,
        }
    }

    /// The function of the terms, with their coefficients.
    pub(super) fn function(
        self,
        estimates: Estimates,
        dictionary: &Dictionary<'_>,
        centres: Vec<f64>,
    ) -> SparseFunction {
        let quantile = confidence_quantile(estimates.freedom);
        let mut terms: Vec<SparseTerm> = Vec::with_capacity(self.numbers.len());
        let found = self.numbers.iter().zip(self.evidence).zip(self.alternatives).zip(estimates.coefficients);
        for (((&number, evidence), mut alternatives), Coefficient { value: coefficient, refit, std_error }) in found {
            alternatives.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            terms.push(SparseTerm {
                monomial: dictionary.monomial(number),
                coefficient,
                refit,
                std_error,
                lower: refit - quantile * std_error,
                upper: refit + quantile * std_error,
                evidence,
                alternatives: alternatives
                    .into_iter()
                    .take(ALTERNATIVES)
                    .filter(|(rise, _)| *rise <= MOST_EVIDENCE.min(evidence))
                    .map(|(evidence, number)| Alternative { monomial: dictionary.monomial(number), evidence })
                    .collect(),
            });
        }
        terms.sort_by(|a, b| b.evidence.total_cmp(&a.evidence));
        SparseFunction {
            terms,
            intercept: estimates.intercept,
            centres,
            extent: None,
            criterion: self.criterion,
            unexplained: self.unexplained,
            certificate: self.certificate,
            separated: estimates.separated,
            sizes: self.sizes,
            dictionary: dictionary.count(),
            passes: self.passes,
        }
    }
}

/// The coefficient of a term.
#[derive(Debug, Clone, Copy)]
pub(super) struct Coefficient {
    pub value: f64,
    /// The same without a penalty.
    pub refit: f64,
    pub std_error: f64,
}

/// The coefficients of terms, in their order.
#[derive(Debug)]
pub(super) struct Estimates {
    pub intercept: f64,
    pub coefficients: Vec<Coefficient>,
    /// The degrees of freedom of standard errors.
    pub freedom: f64,
    pub separated: bool,
}

impl Estimates {
    /// Least squares on terms of a dictionary that was made of `x`, or, where weights are given, in units in which the target and every column
    /// have length 1, the function with these weights.
    pub(super) fn least_squares(
        numbers: &[u64],
        weights: Option<&[f64]>,
        dictionary: &Dictionary<'_>,
        design: &Design,
        x: &FeatureMatrix<'_>,
        y: &[f64],
    ) -> Result<Self, Error> {
        let mut columns = WorkingColumns::new(y.len());
        dictionary.list(numbers.iter().copied(), &mut columns);
        let places = numbers.iter().filter_map(|&number| columns.place(number));
        let support = Support::of(&columns, places, design.target());
        let own = support.own_directions(design.target());
        let freedom = (design.samples() - numbers.len() as f64 - design.constant().map_or(0.0, |_| 1.0)).max(1.0);
        let deviation = design.length() * (support.unexplained() / freedom).sqrt();
        let mut rest = y.to_vec();
        let mut coefficients = Vec::with_capacity(numbers.len());
        for (i, (number, column)) in numbers.iter().zip(raw_columns(numbers, dictionary, x)?).enumerate() {
            let size = design.size_of(&column);
            // A term that depends on others has no direction of its own: its refit is 0.
            let at = columns.place(*number).and_then(|place| support.places().iter().position(|own| *own == place));
            let (refit, std_error) = at.map_or((0.0, f64::INFINITY), |at| {
                (design.length() * own.explained[at] * own.lengths[at] / size, deviation * own.lengths[at] / size)
            });
            let coefficient = weights.map_or(refit, |weights| design.length() * weights[i] / size);
            rest.iter_mut().zip(&column).for_each(|(rest, x)| *rest -= coefficient * x);
            coefficients.push(Coefficient { value: coefficient, refit, std_error });
        }
        Ok(Self { intercept: design.mean_of(&rest), coefficients, freedom, separated: false })
    }

    /// The logistic fit on terms of a dictionary that was made of `x` in the geometry of a design.
    pub(super) fn logistic(
        numbers: &[u64],
        dictionary: &Dictionary<'_>,
        design: &Design,
        classes: &Classes,
        x: &FeatureMatrix<'_>,
    ) -> Result<Self, Error> {
        let plain = |column: Vec<f64>| column.iter().zip(design.roots()).map(|(x, root)| x / root).collect();
        let columns: Vec<Vec<f64>> =
            numbers.iter().filter_map(|&number| dictionary.column(number)).map(plain).collect();
        let columns: Vec<&[f64]> = columns.iter().map(|column| &column[..]).collect();
        let mut fit = classes.fitted(&columns, false);
        let separated = !numbers.is_empty() && classes.separated(&columns, &fit);
        if separated {
            fit = classes.fitted(&columns, true);
        }
        let first = usize::from(classes.intercept);
        let mut intercept = if classes.intercept { fit.coefficients[0] } else { 0.0 };
        let mut coefficients = Vec::with_capacity(numbers.len());
        for (i, column) in raw_columns(numbers, dictionary, x)?.into_iter().enumerate() {
            let size = design.size_of(&column);
            let coefficient = fit.coefficients[first + i] / size;
            intercept -= coefficient * design.mean_of(&column);
            let std_error = if separated { f64::INFINITY } else { fit.variance(first + i).sqrt() / size };
            coefficients.push(Coefficient { value: coefficient, refit: coefficient, std_error });
        }
        Ok(Self { intercept, coefficients, freedom: f64::INFINITY, separated })
    }

    /// The function of a penalised fit of classes, beside its refit.
    pub(super) fn shrink(
        &mut self,
        found: &FoundPenalised,
        dictionary: &Dictionary<'_>,
        design: &Design,
        x: &FeatureMatrix<'_>,
    ) -> Result<(), Error> {
        self.intercept = found.constant;
        let columns = raw_columns(&found.terms.numbers, dictionary, x)?;
        for ((coefficient, weight), column) in self.coefficients.iter_mut().zip(&found.weights).zip(columns) {
            coefficient.value = weight / design.size_of(&column);
            self.intercept -= coefficient.value * design.mean_of(&column);
        }
        Ok(())
    }
}

/// The values of terms at samples.
fn raw_columns(numbers: &[u64], dictionary: &Dictionary<'_>, x: &FeatureMatrix<'_>) -> Result<Vec<Vec<f64>>, Error> {
    let monomials: Vec<_> = numbers.iter().map(|&number| dictionary.monomial(number)).collect();
    if monomials.is_empty() {
        return Ok(Vec::new());
    }
    let values = monomial_matrix(&monomials, x).map_err(|error| match error {
        Error::BadEntry { column, .. } => out_of_range(&monomials[column], x),
        error => error,
    })?;
    let column = |i: usize| {
        let mut column = vec![0.0; x.samples()];
        values.column_into(i, &mut column);
        column
    };
    Ok((0..monomials.len()).map(column).collect())
}
