//! Choices that people make by name.

/// Gives an enum without fields the list of its values, their names, and the way back from a name.
///
/// After the enum stand the parameter that has such a value, and what an error says is allowed.
macro_rules! names {
    ($choice:ident, $parameter:expr, $allowed:literal; $($value:ident $name:literal),+) => {
        impl $choice {
            /// Every value.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$value),+];

            /// Its name in parameters, messages and results.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$value => $name),+
                }
            }
        }

        impl std::fmt::Display for $choice {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.name())
            }
        }

        impl std::str::FromStr for $choice {
            type Err = $crate::Error;

            fn from_str(name: &str) -> Result<Self, $crate::Error> {
                let known = Self::ALL.into_iter().find(|value| value.name() == name);
                known.ok_or_else(|| $crate::Error::parameter($parameter, format!("{name:?}"), $allowed))
            }
        }
    };
}
pub(crate) use names;
