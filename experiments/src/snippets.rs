//! The Rust of the documentation, executed as documentation tests. The pages are outside of every crate that is published.

/// The snippets of the README.
#[doc = include_str!("../../README.md")]
pub struct ReadmeSnippets;

/// The snippets of the guide to kernels.
#[doc = include_str!("../../docs/kernels.md")]
pub struct KernelSnippets;

/// The snippets of the guide to selection.
#[doc = include_str!("../../docs/selection.md")]
pub struct SelectionSnippets;

/// The snippets of the guide to interactions.
#[doc = include_str!("../../docs/interactions.md")]
pub struct InteractionSnippets;

/// The snippets of the guide to solvers.
#[doc = include_str!("../../docs/solvers.md")]
pub struct SolverSnippets;

/// The snippets of the guide to Rust.
#[doc = include_str!("../../docs/rust.md")]
pub struct RustSnippets;

/// The snippets of the guide to extending the library.
#[doc = include_str!("../../docs/extending.md")]
pub struct ExtendingSnippets;
