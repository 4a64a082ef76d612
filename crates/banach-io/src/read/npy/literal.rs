//! The one line of Python in the header of an array.

/// What the header is made of. Tuples and lists are the same here.
#[derive(Debug, PartialEq)]
pub(super) enum Literal {
    Text(String),
    Number(i64),
    Bool(bool),
    List(Vec<Literal>),
    Dict(Vec<(String, Literal)>),
}

impl Literal {
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut rest = text;
        let literal = Self::next(&mut rest, 8)?;
        rest.trim_matches(['\0', ' ', '\n']).is_empty().then_some(literal)
    }

    pub(super) fn get(&self, key: &str) -> Option<&Self> {
        let Self::Dict(entries) = self else { return None };
        entries.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    pub(super) fn text(&self) -> String {
        match self {
            Self::Text(text) => crate::field::shown(text.as_bytes()),
            _ => "a list of fields".to_owned(),
        }
    }

    fn next(rest: &mut &str, depth: usize) -> Option<Self> {
        *rest = rest.trim_start();
        let depth = depth.checked_sub(1)?;
        let start = rest.chars().next()?;
        match start {
            '\'' | '"' => {
                let (text, others) = rest[1..].split_once(start)?;
                *rest = others;
                Some(Self::Text(text.to_owned()))
            }
            '(' | '[' => {
                *rest = &rest[1..];
                let mut list = Vec::new();
                while !close(rest, if start == '(' { ')' } else { ']' }) {
                    list.push(Self::next(rest, depth)?);
                    comma(rest, &[')', ']'])?;
                }
                Some(Self::List(list))
            }
            '{' => {
                *rest = &rest[1..];
                let mut entries = Vec::new();
                while !close(rest, '}') {
                    let Self::Text(key) = Self::next(rest, depth)? else { return None };
                    *rest = rest.trim_start().strip_prefix(':')?;
                    entries.push((key, Self::next(rest, depth)?));
                    comma(rest, &['}'])?;
                }
                Some(Self::Dict(entries))
            }
            _ => {
                let end = rest.find(|c: char| !c.is_alphanumeric() && c != '-').unwrap_or(rest.len());
                let (word, others) = rest.split_at(end);
                *rest = others;
                match word {
                    "True" => Some(Self::Bool(true)),
                    "False" => Some(Self::Bool(false)),
                    // Old versions write 3L.
                    _ => word.trim_end_matches('L').parse().ok().map(Self::Number),
                }
            }
        }
    }
}

/// Passes over a closing bracket if it comes next.
fn close(rest: &mut &str, bracket: char) -> bool {
    *rest = rest.trim_start();
    match rest.strip_prefix(bracket) {
        Some(others) => {
            *rest = others;
            true
        }
        None => false,
    }
}

/// Passes over a comma, which may be left out before a closing bracket.
fn comma(rest: &mut &str, brackets: &[char]) -> Option<()> {
    *rest = rest.trim_start();
    match rest.strip_prefix(',') {
        Some(others) => *rest = others,
        None if rest.starts_with(brackets) => {}
        None => return None,
    }
    Some(())
}
