//! The compact protocol of Thrift, in which Parquet writes its table of contents and the headers of its pages: only as far as to know
//! that what is claimed is there.

/// The most structures within each other.
const DEPTH: usize = 32;

/// Goes over one structure and passes on every whole number in it, with the numbers of the fields that lead to it. Says how
/// many bytes it takes; `None` if it does not end, or if a length goes beyond the bytes.
pub(super) fn walk(bytes: &[u8], note: &mut dyn FnMut(&[i16], i64)) -> Option<usize> {
    let mut walk = Walk { bytes, at: 0, path: Vec::new(), note };
    walk.structure(DEPTH)?;
    Some(walk.at)
}

struct Walk<'a> {
    bytes: &'a [u8],
    at: usize,
    path: Vec<i16>,
    note: &'a mut dyn FnMut(&[i16], i64),
}

impl Walk<'_> {
    fn byte(&mut self) -> Option<u8> {
        let byte = *self.bytes.get(self.at)?;
        self.at += 1;
        Some(byte)
    }

    fn skip(&mut self, count: u64) -> Option<()> {
        let end = self.at.checked_add(usize::try_from(count).ok()?)?;
        (end <= self.bytes.len()).then(|| self.at = end)
    }

    fn varint(&mut self) -> Option<u64> {
        let (number, size) = varint(&self.bytes[self.at..])?;
        self.at += size;
        Some(number)
    }

    /// The number of elements, each of which takes a byte at least.
    fn size(&mut self, size: u64) -> Option<u64> {
        (size <= (self.bytes.len() - self.at) as u64).then_some(size)
    }

    fn structure(&mut self, depth: usize) -> Option<()> {
        let depth = depth.checked_sub(1)?;
        let mut field = 0_i16;
        loop {
            let head = self.byte()?;
            if head == 0 {
                return Some(());
            }
            field = match i16::from(head >> 4) {
                0 => zigzag(self.varint()?) as i16,
                step => field.checked_add(step)?,
            };
            self.path.push(field);
            self.value(head & 15, depth)?;
            self.path.pop();
        }
    }

    fn value(&mut self, kind: u8, depth: usize) -> Option<()> {
        match kind {
            // Truth is in the head of a field.
            1 | 2 => Some(()),
            3 => self.skip(1),
            4..=6 => {
                let number = zigzag(self.varint()?);
                (self.note)(&self.path, number);
                Some(())
            }
            7 => self.skip(8),
            8 => {
                let length = self.varint()?;
                self.skip(length)
            }
            9 | 10 => {
                let head = self.byte()?;
                let size = if head >> 4 == 15 { self.varint()? } else { u64::from(head >> 4) };
                for _ in 0..self.size(size)? {
                    self.element(head & 15, depth)?;
                }
                Some(())
            }
            11 => {
                let size = self.varint()?;
                let kinds = if size > 0 { self.byte()? } else { 0 };
                for _ in 0..self.size(size)? {
                    self.element(kinds >> 4, depth)?;
                    self.element(kinds & 15, depth)?;
                }
                Some(())
            }
            12 => self.structure(depth),
            _ => None,
        }
    }

    /// In a list truth takes a byte.
    fn element(&mut self, kind: u8, depth: usize) -> Option<()> {
        let depth = depth.checked_sub(1)?;
        if kind == 1 || kind == 2 { self.skip(1) } else { self.value(kind, depth) }
    }
}

/// A number of seven bits in every byte, and how many bytes it takes.
pub(super) fn varint(bytes: &[u8]) -> Option<(u64, usize)> {
    let mut number = 0_u64;
    for (at, byte) in bytes.iter().take(10).enumerate() {
        number |= u64::from(byte & 0x7f) << (7 * at);
        if byte & 0x80 == 0 {
            return Some((number, at + 1));
        }
    }
    None
}

fn zigzag(number: u64) -> i64 {
    (number >> 1).cast_signed() ^ -(number & 1).cast_signed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_passed_on_and_claims_are_checked() {
        // {1: 3, 2: [{1: -1}, {}], 3: "ab", 5: true}
        let bytes = [0x15, 6, 0x19, 0x2c, 0x15, 1, 0, 0, 0x18, 2, b'a', b'b', 0x21, 0, 99];
        let mut noted = Vec::new();
        assert_eq!(walk(&bytes, &mut |path, number| noted.push((path.to_vec(), number))), Some(14));
        assert_eq!(noted, [(vec![1], 3), (vec![2, 1], -1)]);
        for cut in 0..14 {
            assert_eq!(walk(&bytes[..cut], &mut |_, _| ()), None, "{cut}");
        }
        // Very many elements, a very long text, structures without an end.
        let many = [0x19, 0xfc, 0xff, 0xff, 0xff, 0xff, 0x07, 0, 0];
        assert_eq!(walk(&many, &mut |_, _| ()), None);
        assert_eq!(walk(&[0x18, 0xff, 0xff, 0xff, 0x07, 0], &mut |_, _| ()), None);
        assert_eq!(walk(&[0x1c; 100], &mut |_, _| ()), None);
    }
}
