//! The library as its callers see it, one file for what is asked of it: against oracles, at the edges, on hard problems. One program,
//! because every program of tests is linked with all of the library, and programs run one after another.

mod allocation;
mod clarabel;
mod compact_columns;
mod direct_solve;
mod edge_cases;
mod every_loss;
mod excluded_products;
mod gram_edge_cases;
mod hard_problems;
mod held_out;
mod honest_certificates;
mod kernel_ridge;
mod reproducing_property;
