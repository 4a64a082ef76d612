//! The numbers and texts of an array, by their types and bytes.

/// A number or a text.
pub(super) struct Item {
    /// In a record.
    pub name: Option<String>,
    kind: Kind,
    big_endian: bool,
}

#[derive(Clone, Copy)]
enum Kind {
    Bool,
    Int(usize),
    Uint(usize),
    Float(usize),
    /// So many characters of four bytes.
    Text(usize),
    Bytes(usize),
}

pub(super) enum Cell {
    Number(f64),
    Text(String),
}

impl Item {
    /// From `<f8` and the like.
    pub(super) fn parse(name: Option<String>, text: &str) -> Option<Self> {
        let big_endian = text.starts_with('>');
        let text = text.trim_start_matches(['<', '>', '|', '=']);
        let (kind, size) = text.split_at_checked(1)?;
        let size: usize = size.parse().ok()?;
        let kind = match (kind, size) {
            ("b", 1) => Kind::Bool,
            ("i", 1 | 2 | 4 | 8) => Kind::Int(size),
            ("u", 1 | 2 | 4 | 8) => Kind::Uint(size),
            ("f", 4 | 8) => Kind::Float(size),
            ("U", 1..=1_000_000) => Kind::Text(size),
            ("S", 1..=4_000_000) => Kind::Bytes(size),
            _ => return None,
        };
        Some(Self { name, kind, big_endian })
    }

    pub(super) fn is_text(&self) -> bool {
        matches!(self.kind, Kind::Text(_) | Kind::Bytes(_))
    }

    pub(super) fn size(&self) -> usize {
        match self.kind {
            Kind::Bool => 1,
            Kind::Int(size) | Kind::Uint(size) | Kind::Float(size) | Kind::Bytes(size) => size,
            Kind::Text(characters) => 4 * characters,
        }
    }

    /// The unsigned number of some bytes.
    fn bits(&self, bytes: &[u8]) -> u64 {
        let push = |bits: u64, byte: &u8| bits << 8 | u64::from(*byte);
        if self.big_endian { bytes.iter().fold(0, push) } else { bytes.iter().rev().fold(0, push) }
    }

    pub(super) fn decode(&self, bytes: &[u8]) -> Option<Cell> {
        Some(match self.kind {
            Kind::Bool => Cell::Text((bytes[0] != 0).to_string()),
            Kind::Uint(_) => Cell::Number(self.bits(bytes) as f64),
            Kind::Int(size) => {
                let unused = 64 - 8 * size;
                Cell::Number(((self.bits(bytes) << unused) as i64 >> unused) as f64)
            }
            Kind::Float(4) => Cell::Number(f64::from(f32::from_bits(self.bits(bytes) as u32))),
            Kind::Float(_) => Cell::Number(f64::from_bits(self.bits(bytes))),
            Kind::Text(_) => {
                let characters = bytes.chunks_exact(4).map(|bytes| char::from_u32(self.bits(bytes) as u32));
                Cell::Text(characters.collect::<Option<String>>()?.trim_end_matches('\0').to_owned())
            }
            Kind::Bytes(_) => Cell::Text(std::str::from_utf8(bytes).ok()?.trim_end_matches('\0').to_owned()),
        })
    }
}
