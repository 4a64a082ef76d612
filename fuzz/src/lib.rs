//! What is done to bytes that may be a file, and what must hold whatever they are (docs/adr/0016-fuzzing.md).
//!
//! There is one function for every reader. Each ends without a panic, takes no more memory than [`CEILING`], and what it reads
//! is as the library promises. It says whether anything was read. libFuzzer calls them by the targets in `fuzz_targets`; `tests/smoke.rs` calls them with
//! damaged [seeds].

#![expect(clippy::missing_panics_doc, reason = "a panic is what the targets report")]

mod checks;
pub mod damage;
pub mod seeds;
mod workbook;

use banach::{FeatureMatrix, Memory};
use banach_io::{Allele, Cohort, Format, Impute, ModelColumns, Request, Saved, SavedAuto, SavedModel, SavedSparse};

/// What the readers are told to take at most for a table, in bytes.
pub const LIMIT: u64 = 8 << 20;

/// What they may take in all, in bytes: the file, the table, and what is in the making.
pub const CEILING: u64 = 8 * LIMIT;

/// A reader.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    /// Its name.
    pub name: &'static str,
    /// What is done to bytes.
    pub run: fn(&[u8]) -> bool,
    /// Files that it can read.
    pub seeds: fn() -> Vec<Vec<u8>>,
}

/// All of them.
pub const TARGETS: [Target; 9] = [
    Target { name: "csv", run: csv, seeds: seeds::csv },
    Target { name: "svmlight", run: svmlight, seeds: seeds::svmlight },
    Target { name: "npy", run: npy, seeds: seeds::npy },
    Target { name: "npz", run: npz, seeds: seeds::npz },
    Target { name: "parquet", run: parquet, seeds: seeds::parquet },
    Target { name: "arrow", run: arrow, seeds: seeds::arrow },
    Target { name: "xlsx", run: xlsx, seeds: workbook::seeds },
    Target { name: "plink", run: plink, seeds: seeds::plink },
    Target { name: "model", run: model, seeds: seeds::model },
];

/// Comma- and tab-separated text, plain or packed by gzip.
pub fn csv(data: &[u8]) -> bool {
    let headless = Request { header: false, ..fit(Format::Csv) };
    let labels = Request { categorical: vec!["*".to_owned()], impute: Some(Impute::Drop), ..headless.clone() };
    any(&[requests(Format::Csv), requests(Format::Tsv), [headless, labels]].concat(), data)
}

/// svmlight and LIBSVM.
pub fn svmlight(data: &[u8]) -> bool {
    let names = ["x1", "x2", "x5"].map(str::to_owned).to_vec();
    let samples = |zero_based| {
        of_model(Format::Svmlight, ModelColumns { names: names.clone(), zero_based, ..ModelColumns::default() })
    };
    any(&[Request { target: None, ..fit(Format::Svmlight) }, samples(false), samples(true)], data)
}

/// An array of NumPy.
pub fn npy(data: &[u8]) -> bool {
    any(&requests(Format::Npy), data)
}

/// An archive of arrays.
pub fn npz(data: &[u8]) -> bool {
    any(&requests(Format::Npz), data)
}

/// Parquet.
pub fn parquet(data: &[u8]) -> bool {
    any(&requests(Format::Parquet), data)
}

/// Arrow IPC and Feather.
pub fn arrow(data: &[u8]) -> bool {
    any(&requests(Format::Arrow), data)
}

/// Workbooks of Excel.
pub fn xlsx(data: &[u8]) -> bool {
    let headless = Request { header: false, ..fit(Format::Xlsx) };
    // Dates are read where they are called labels.
    let labels = Request { categorical: vec!["2".to_owned()], ..headless.clone() };
    any(&[requests(Format::Xlsx), [headless, labels]].concat(), data)
}

/// Genotypes of PLINK: four bytes say where the `.bed` and the `.bim` end that are in one, and the rest is the `.fam`.
pub fn plink(data: &[u8]) -> bool {
    let Some((ends, rest)) = data.split_at_checked(4) else { return false };
    let size = |at: usize| usize::from(u16::from_le_bytes([ends[at], ends[at + 1]]));
    let (bed, rest) = rest.split_at(size(0).min(rest.len()));
    let (bim, fam) = rest.split_at(size(2).min(rest.len()));
    let cohort = |cohort| Request { target: None, cohort, ..fit(Format::Plink) };
    let second = Cohort { counted: Allele::A2, keep_constant: true, ..Cohort::default() };
    let filtered = Cohort {
        covariates: vec!["sex".to_owned()],
        chromosomes: vec!["1-22".to_owned()],
        min_frequency: Some(0.1),
        max_missing: Some(0.5),
        ..Cohort::default()
    };
    let names = ["rs1_A", "rs2_G", "sex"].map(str::to_owned).to_vec();
    let of_names = ModelColumns { names, fills: Some(vec![1.0, 0.5, 1.5]), ..ModelColumns::default() };
    let impute = Some(Impute::Mean);
    let requests = [
        cohort(Cohort::default()),
        cohort(second),
        cohort(filtered),
        Request { impute, ..of_model(Format::Plink, of_names) },
        of_model(Format::Plink, ModelColumns::default()),
    ];
    let read = |request: &&Request| checks::read_by(request, || request.read_genotypes([bed, bim, fam], "data"));
    requests.iter().filter(read).count() > 0
}

/// Whether a request could be met; all are tried.
fn any(requests: &[Request], data: &[u8]) -> bool {
    requests.iter().filter(|request| checks::read(request, data)).count() > 0
}

/// The model file: what loads can be written again, and predicts.
pub fn model(data: &[u8]) -> bool {
    let mut loaded = None;
    checks::within(CEILING, || loaded = Saved::from_bytes_ignoring_checksum(data).ok());
    let verified = Saved::from_bytes(data);
    let Some(model) = loaded else {
        assert!(verified.is_err(), "the checksum decides alone");
        return false;
    };
    let written = model.to_bytes().expect("what was read can be written");
    let again = Saved::from_bytes(&written).expect("what was written can be read");
    assert_eq!(again.to_bytes().as_ref(), Ok(&written), "it is the same");
    checks::within(CEILING, || match &model {
        Saved::Lp(model) => predict(model),
        Saved::Sparse(model) => predict_sparse(model),
        Saved::Auto(model) => predict_auto(model),
    });
    true
}

/// Predicts at a point; a refusal is an answer.
fn predict_auto(model: &SavedAuto) {
    let variables = model.model.record().variables;
    // A document of a few bytes may claim any number of variables.
    if variables > 10_000 {
        return;
    }
    let Ok(point) = FeatureMatrix::from_columns(1, variables, vec![0.5; variables]) else { return };
    if let Ok(values) = model.model.predictions(&point) {
        assert!(!values.iter().any(|value| value.is_nan()), "an answer that is no number: {values:?}");
    }
}

/// Predicts at a point; a refusal is an answer.
fn predict_sparse(model: &SavedSparse) {
    assert!(model.used().iter().all(|variable| *variable < model.variables));
    assert!(model.columns().names.len() <= model.variables);
    // A document of a few bytes may claim any number of variables.
    if model.variables > 10_000 {
        return;
    }
    let Ok(point) = FeatureMatrix::from_columns(1, model.variables, vec![0.5; model.variables]) else { return };
    if let Ok(values) = model.model.decisions(&point) {
        assert_eq!(values.len(), model.model.functions().len());
        assert!(!values.iter().any(|value| value.is_nan()), "an answer that is no number: {values:?}");
    }
}

/// Predicts at the samples and at a point beside them, and explains; a refusal is an answer.
fn predict(model: &SavedModel<'_>) {
    let memory = Memory::limit(LIMIT);
    let d = model.x.features();
    let point = FeatureMatrix::from_columns(1, d, vec![0.5; d]);
    if let Ok(fitted) = model.restore(memory) {
        for x in [Some(&model.x), point.as_ref().ok()].into_iter().flatten() {
            if let Ok(values) = fitted.decisions(x) {
                assert_eq!(values.len(), x.samples() * model.solutions.len());
                assert!(!values.iter().any(|value| value.is_nan()), "an answer that is no number: {values:?}");
            }
        }
    }
    for function in 0..model.solutions.len().min(2) {
        let Ok(function) = model.function(function) else { continue };
        if let Ok(relevance) = function.relevance(memory) {
            let degrees = relevance.degrees().iter().map(|(_, share)| share);
            let nan = relevance.variables().iter().chain(degrees).any(|share| share.is_nan());
            assert!(!nan, "a share that is no number");
        }
    }
}

/// To fit from whatever is there, and to predict from it.
fn requests(format: Format) -> [Request; 2] {
    [fit(format), of_model(format, ModelColumns::default())]
}

fn fit(format: Format) -> Request {
    Request { format: Some(format), impute: Some(Impute::Mean), memory: LIMIT, ..Request::new("1") }
}

fn of_model(format: Format, columns: ModelColumns) -> Request {
    Request { format: Some(format), memory: LIMIT, ..Request::of_model(columns) }
}

/// Lets the readers work on the thread that calls them, whose memory is counted; before anything else is run.
pub fn on_one_thread() {
    let threads = rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread();
    threads.build_global().expect("nothing has run yet");
}
