//! Files with mistakes: what libFuzzer does, in small and always the same.

/// Numbers at which arithmetic ends.
const EXTREMES: [u64; 12] = [
    0,
    1,
    0x7f,
    0xff,
    0x7fff,
    0xffff,
    0x7fff_ffff,
    0xffff_ffff,
    0x1_0000_0000,
    0x7fff_ffff_ffff_ffff,
    0x8000_0000_0000_0000,
    u64::MAX,
];

/// Large numbers of seven bits in every byte, as Thrift and Parquet write them.
const VARINTS: [&[u8]; 3] =
    [&[0xff, 0xff, 0x03], &[0xfe, 0xff, 0xff, 0xff, 0x0f], &[0xff, 0xff, 0xff, 0xff, 0xff, 0x1f]];

/// Numbers as they are written.
const WRITTEN: [&str; 10] =
    ["0", "-1", "1e308", "-1e-320", "nan", "inf", "4294967295", "9223372036854775807", "18446744073709551616", "1e999"];

/// Makes mistakes, the same from the same start (splitmix64).
#[derive(Debug)]
pub struct Damage {
    state: u64,
}

impl Damage {
    /// From a start.
    pub fn new(start: u64) -> Self {
        Self { state: start }
    }

    fn number(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.state ^ (self.state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.number() % end.max(1) as u64) as usize
    }

    /// A place in so many bytes; every second time near their end, where many formats have their table of contents.
    fn place(&mut self, length: usize) -> usize {
        if self.number().is_multiple_of(2) { self.below(length) } else { length - 1 - self.below(length.min(64)) }
    }

    /// One of the files with one to four mistakes.
    pub fn of(&mut self, files: &[Vec<u8>]) -> Vec<u8> {
        let mut bytes = files[self.below(files.len())].clone();
        for _ in 0..=self.below(4) {
            if bytes.is_empty() {
                break;
            }
            self.once(&mut bytes, files);
        }
        bytes
    }

    fn once(&mut self, bytes: &mut Vec<u8>, files: &[Vec<u8>]) {
        let at = self.place(bytes.len());
        match self.below(10) {
            0 => bytes[at] ^= 1 << self.below(8),
            1 => bytes[at] = self.number() as u8,
            2 => bytes.truncate(at),
            // An extreme number of one, two, four or eight bytes.
            3 | 4 => {
                let size = (1 << self.below(4)).min(bytes.len() - at);
                let extreme = EXTREMES[self.below(EXTREMES.len())].wrapping_sub(self.number() % 2);
                bytes[at..at + size].copy_from_slice(&extreme.to_le_bytes()[..size]);
            }
            // A large number in the place of a small one.
            5 => {
                bytes.splice(at..=at, VARINTS[self.below(VARINTS.len())].iter().copied());
            }
            // Another number where one is written.
            6 => {
                let Some(start) = bytes[at..].iter().position(u8::is_ascii_digit).map(|digit| at + digit) else {
                    return;
                };
                let end = bytes[start..].iter().position(|byte| !byte.is_ascii_digit());
                let end = end.map_or(bytes.len(), |size| start + size);
                bytes.splice(start..end, WRITTEN[self.below(WRITTEN.len())].bytes());
            }
            // A part of another file, in its place or in between.
            7 => {
                let other = &files[self.below(files.len())];
                let start = self.below(other.len());
                let end = start + self.below((other.len() - start).min(256));
                let gone = if self.number().is_multiple_of(2) { (at + end - start).min(bytes.len()) } else { at };
                bytes.splice(at..gone, other[start..end].iter().copied());
            }
            8 => {
                let end = at + self.below((bytes.len() - at).min(64));
                bytes.drain(at..end);
            }
            _ => {
                let end = at + self.below((bytes.len() - at).min(64));
                let part = bytes[at..end].repeat(1 + self.below(4));
                bytes.splice(at..at, part);
            }
        }
    }
}
