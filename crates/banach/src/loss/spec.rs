//! Losses as values: what users choose by name, and what a file can hold.

use std::sync::LazyLock;

use super::{LossSpec, Targets};
use crate::{Error, error::Parameter};

/// Makes [`LossSpec`] of the list of all losses.
macro_rules! losses {
    ($($loss:ident $({ $parameter:ident: $usual:literal })?, $name:literal, $targets:ident, $help:literal;)*) => {
        /// A loss as a value, checked when it is built.
        ///
        /// ```
        /// use banach::loss::{Loss, LossSpec};
        /// assert_eq!(LossSpec::Huber { rho: 1.35 }.build()?.name(), "huber");
        /// assert!(LossSpec::Huber { rho: -1.0 }.build().is_err());
        /// # Ok::<(), banach::Error>(())
        /// ```
        #[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(tag = "name", rename_all = "snake_case", deny_unknown_fields)]
        #[non_exhaustive]
        pub enum LossSpec {
            $(
                #[doc = concat!("[`", stringify!($loss), "`]: ", $help, ".")]
                $loss $({
                    #[doc = concat!("The parameter of [`", stringify!($loss), "`].")]
                    $parameter: f64,
                })?,
            )*
        }

        impl LossSpec {
            /// Every loss, with the parameters that it has unless told otherwise.
            pub const ALL: [Self; [$($name),*].len()] = [$(Self::$loss $({ $parameter: $usual })?),*];

            /// As it is written in parameters.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$loss { .. } => $name),*
                }
            }

            /// The targets that it is defined for.
            pub fn targets(self) -> Targets {
                match self {
                    $(Self::$loss { .. } => Targets::$targets),*
                }
            }

            /// One line of help.
            pub fn help(self) -> &'static str {
                match self {
                    $(Self::$loss { .. } => $help),*
                }
            }

            /// The loss with another value of its parameter; `None` if it has none of this name.
            #[must_use]
            pub fn with(self, parameter: &str, value: f64) -> Option<Self> {
                match self {
                    $($(Self::$loss { .. } if parameter == stringify!($parameter) => Some(Self::$loss { $parameter: value }),)?)*
                    _ => None,
                }
            }

            /// The loss.
            pub fn build(self) -> Result<std::sync::Arc<dyn Loss>, crate::Error> {
                Ok(match self {
                    $(Self::$loss $({ $parameter })? => std::sync::Arc::new(spec::losses!(@build $loss $($parameter)?))),*
                })
            }
        }
    };
    (@build $loss:ident) => { $loss };
    (@build $loss:ident $parameter:ident) => { $loss::new($parameter)? };
}
pub(super) use losses;

impl LossSpec {
    /// The losses for these targets. Counts are numbers.
    pub fn of(targets: Targets) -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(move |loss| loss.targets().are_classes() == targets.are_classes())
    }

    /// The loss of a name, as `epsilon_insensitive`; losses for other targets are not known by name.
    pub fn named(name: &str, targets: Targets) -> Result<Self, Error> {
        let refused = || Error::parameter(Parameter::Loss, format!("{name:?}"), names(targets));
        Self::of(targets).find(|loss| loss.name() == name).ok_or_else(refused)
    }
}

/// The names of the losses for these targets, as a sentence has them.
fn names(targets: Targets) -> &'static str {
    static REAL: LazyLock<String> = LazyLock::new(|| sentence(Targets::Real));
    static SIGNS: LazyLock<String> = LazyLock::new(|| sentence(Targets::Signs));
    if targets.are_classes() { &SIGNS } else { &REAL }
}

fn sentence(targets: Targets) -> String {
    let names: Vec<&str> = LossSpec::of(targets).map(LossSpec::name).collect();
    let (last, first) = names.split_last().expect("there are losses for all targets");
    format!("{} or {last}", first.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_loss_has_a_name_of_its_own() {
        for spec in LossSpec::ALL {
            assert_eq!(LossSpec::named(spec.name(), spec.targets()), Ok(spec));
            let built = spec.build().expect("valid");
            assert_eq!((built.name(), built.targets()), (spec.name(), spec.targets()));
            let other = if spec.targets().are_classes() { Targets::Real } else { Targets::Signs };
            assert!(matches!(
                LossSpec::named(spec.name(), other),
                Err(Error::Parameter { parameter: Parameter::Loss, .. })
            ));
        }
    }

    #[test]
    fn a_parameter_belongs_to_one_loss() {
        for (parameter, owner) in [("epsilon", "epsilon_insensitive"), ("rho", "huber"), ("tau", "quantile")] {
            let takers: Vec<&str> =
                LossSpec::ALL.into_iter().filter_map(|loss| loss.with(parameter, 0.25)).map(LossSpec::name).collect();
            assert_eq!(takers, [owner]);
        }
        assert_eq!(LossSpec::Huber { rho: 1.0 }.with("rho", 0.5), Some(LossSpec::Huber { rho: 0.5 }));
    }

    #[test]
    fn a_refusal_lists_the_losses_for_the_targets() {
        let refused = LossSpec::named("log", Targets::Signs).expect_err("no loss").to_string();
        let names: Vec<&str> = LossSpec::of(Targets::Signs).map(LossSpec::name).collect();
        assert!(names.iter().all(|name| refused.contains(name)) && refused.contains(" or "), "{refused}");
        assert!(!refused.contains("huber"), "{refused}");
    }
}
