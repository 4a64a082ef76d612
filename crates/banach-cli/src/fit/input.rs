//! What models are fitted to: the table as it was read, and what is to be predicted.

use std::path::Path;

use anyhow::Context as _;
use banach::{Account, FeatureMatrix, Fit, Spec, Target, error::Remedy, fit::Assessment, memory::Taken, report};
use banach_io::{Dataset, ExposureColumn, Label, Observed, Preparation, Standardization};

use super::{
    args::{Columns, ModelArgs},
    read, resolve,
    resolve::Goal,
    result::{Class, Data, Variable},
};

/// What is said where no column can be used.
pub(super) const CONSTANT: &str = "every column beside the target is constant; name others";

/// What the result says of a variable, and how columns were scaled.
const VARIABLE: u64 = 160;

/// What a page takes whatever is on it, and for every variable.
const PAGE: u64 = 5 << 20;
const PAGE_VARIABLE: u64 = 600;

pub(crate) struct Input {
    pub data: Dataset,
    pub goal: Goal,
    pub standardization: Option<Standardization>,
    /// What a model does to new samples first.
    pub preparation: Preparation,
    /// The column of exposures.
    pub exposure: Option<ExposureColumn>,
    /// How much rows count; all the same if not given.
    pub weights: Option<Vec<f64>>,
    /// The group and the time of every row, where rows are held out by these.
    pub groups: Option<Vec<usize>>,
    pub times: Option<Vec<f64>>,
    /// What the reader should know.
    pub notes: Vec<String>,
    /// What the command may keep, and the table takes of it.
    pub account: Account,
    _table: Taken,
}

impl Input {
    /// Reads the table and standardises it. A wrong parameter of the kernel does not cost the reading.
    pub(crate) fn read(path: &Path, columns: &Columns, model: &ModelArgs, account: Account) -> anyhow::Result<Self> {
        for kernel in resolve::kernels(model) {
            kernel.spec()?.build()?;
        }
        let mut data = read::read(path, columns, account.left())?;
        // The table stays; constant columns keep their place in memory. Every variable is described once more in the result.
        let bytes = data.bytes().saturating_add(VARIABLE * data.table.names().len() as u64);
        let table = account
            .take(bytes)
            .map_err(|short| short.error("the table", &[Remedy::Do("name the columns that matter with --features")]))?;
        let mut notes = read::notes(&data, &columns.file);
        if columns.drop_rare_classes {
            notes.extend(resolve::drop_rare_classes(&mut data, model)?);
        }
        let mut goal = Goal::new(&data, model)?;
        notes.extend(resolve::few_numbers(&data, &goal, model));
        let exposure = columns.exposure();
        let weights = match &exposure {
            Some(column) => Some(expose(&mut goal, &mut data, column).map_err(|error| located(&data, error))?),
            None => None,
        };
        let standardization = (!columns.no_standardize).then(|| data.table.standardize());
        let impute = columns.impute.or(data.impute);
        let preparation = Preparation::learned(&data.table, standardization.as_ref(), impute, columns.unknown);
        notes.extend(standardization.iter().flat_map(read::standardized));
        anyhow::ensure!(!data.table.names().is_empty(), CONSTANT);
        Ok(Self {
            data,
            goal,
            standardization,
            preparation,
            exposure,
            weights,
            groups: None,
            times: None,
            notes,
            account,
            _table: table,
        })
    }

    pub(crate) fn matrix(&self) -> Result<FeatureMatrix<'_>, banach::Error> {
        read::matrix(&self.data.table)
    }

    /// What was observed at the rows, as a model file has it.
    pub(crate) fn observed(&self) -> anyhow::Result<Observed> {
        Ok(match (&self.goal.classes, &self.goal.target) {
            (Some(classes), _) => {
                Observed::Classes { labels: Label::from_texts(&classes.labels), rows: classes.rows.clone() }
            }
            (None, Target::Numbers(outputs)) => Observed::Numbers(outputs.iter().map(|y| y.to_vec()).collect()),
            (None, Target::Labels(_)) => anyhow::bail!("classes without their labels"),
        })
    }

    /// The name of a column of the file that is a variable, or makes several.
    pub(crate) fn any_column(&self) -> String {
        if self.data.genotypes.is_some() {
            // The first variant, which another file may count by the other allele.
            return "1".to_owned();
        }
        let first = &self.data.table.names()[0];
        let made_of = self.data.encodings.iter().find(|encoding| encoding.variables().any(|name| name == *first));
        made_of.map_or(first, |encoding| &encoding.column).clone()
    }

    /// An assessment by the names of the classes.
    pub(crate) fn named(&self, assessment: Assessment) -> Assessment {
        match &self.goal.classes {
            Some(classes) => assessment.with_labels(&classes.labels),
            None => assessment,
        }
    }

    pub(crate) fn rows(&self) -> usize {
        self.data.table.rows()
    }

    /// A fit with these parameters, within what the table leaves of memory.
    pub(crate) fn fit(&self, spec: &Spec) -> Result<Fit, banach::Error> {
        Fit::within(spec, self.account.clone())
    }

    /// An error with the place in the file that it means, instead of the numbers of a sample and a variable.
    pub(crate) fn located(&self, error: anyhow::Error) -> anyhow::Error {
        located(&self.data, error)
    }

    /// What a page will take, which is held from the beginning, so that a long fit does not end without one.
    pub(crate) fn page(&self, wanted: bool) -> Result<Taken, banach::Error> {
        let bytes = if wanted { PAGE + PAGE_VARIABLE * self.data.table.names().len() as u64 } else { 0 };
        self.account
            .take(bytes)
            .map_err(|short| short.error("the page, with the table,", &[Remedy::Do("leave --report out")]))
    }

    /// What is to be said of columns that are taken as they are and have very different scales.
    pub(crate) fn unequal_scales(&self, spec: &Spec, x: &FeatureMatrix<'_>) -> Option<String> {
        let found = spec.unequal_scales(x).filter(|_| self.standardization.is_none())?;
        Some(format!("{}; leave --no-standardize out", found.with_names(self.data.table.names())))
    }

    /// What was read.
    pub(crate) fn data(&self) -> Data {
        let Self { data, standardization, .. } = self;
        let standardization = standardization.as_ref();
        let classes = self.goal.classes.as_ref().map(|classes| {
            let labels = classes.labels.iter().cloned().zip(classes.counts());
            labels.map(|(label, rows)| Class { label, rows }).collect()
        });
        Data {
            file: data.file.clone(),
            rows: data.table.rows(),
            columns: data.columns,
            target: data.target.name().to_owned(),
            task: if classes.is_some() { "classification" } else { "regression" },
            classes,
            variables: Variable::all(data.table.names(), standardization),
            standardized: standardization.is_some(),
            centred: standardization.is_some_and(|done| done.centred),
            sparse: data.table.is_sparse(),
            imputed: data.fills.clone(),
            dropped: data.dropped,
            genotypes: data.genotypes.clone(),
            categorical: data.encodings.clone(),
            constant: standardization.map_or_else(Vec::new, |done| done.constant.clone()),
        }
    }

    /// What is known of the columns.
    pub(crate) fn columns(&self) -> report::ColumnNames<'_> {
        let done = self.standardization.as_ref();
        report::ColumnNames {
            names: self.data.table.names(),
            units: done.map(Standardization::units),
            target: self.data.target.name(),
            classes: self.goal.classes.as_ref().map(|classes| &classes.labels[..]),
        }
    }
}

/// Makes rates of the counts that are to be predicted, and takes the column of exposures out of the variables. Returns the weights of the samples.
fn expose(goal: &mut Goal, data: &mut Dataset, exposure: &ExposureColumn) -> anyhow::Result<Vec<f64>> {
    let name = &exposure.column;
    let flag = if exposure.is_offset { "--offset" } else { "--exposure" };
    let values = data.table.take(name).with_context(|| {
        format!("{flag} {name:?}: there is no such column of numbers beside the target and those that were left out")
    })?;
    let Target::Numbers(outputs) = &goal.target else {
        anyhow::bail!("{flag} is for counts, with --loss poisson; the target is a class");
    };
    let rates = exposure.of(&values).rates(goal.loss, &outputs[0], None).map_err(|error| match error {
        banach::Error::BadValue { what: "exposure" | "offset", row, value, allowed } => {
            anyhow::anyhow!("{}, {}, column {name:?}: {value:e}; allowed: {allowed}", data.file, data.at(row))
        }
        banach::Error::Parameter { got, allowed, .. } => {
            anyhow::anyhow!("{flag} with the {got} loss; allowed: --loss {allowed}")
        }
        other => other.into(),
    })?;
    goal.target = Target::Numbers(vec![rates.rates.into()]);
    Ok(rates.weights)
}

/// An error with the place in the file that it means.
fn located(data: &Dataset, error: anyhow::Error) -> anyhow::Error {
    let place = |row: usize, column: &str| format!("{}, {}, column {column:?}", data.file, data.at(row));
    match error.downcast_ref::<banach::Error>() {
        Some(banach::Error::BadEntry { what: "X", row, column, value, limit }) => anyhow::anyhow!(
            "{}: {value:e}; entries must be at most {limit:e} in magnitude: correct it, leave the row out, or leave \
             --no-standardize out",
            place(*row, &data.table.names()[*column])
        ),
        Some(banach::Error::CoefficientRange { column, size }) => anyhow::anyhow!(
            "{}: the column {:?} has values up to {size:.1e} in magnitude, so that the coefficient of a term with it is \
             outside the range of numbers: measure it in a unit in which they are about 1",
            data.file,
            data.table.names()[*column]
        ),
        Some(banach::Error::BadValue { what: "y", row, value, allowed }) => {
            anyhow::anyhow!("{}: {value:e}; allowed: {allowed}", place(*row, data.target.name()))
        }
        _ => error,
    }
}
