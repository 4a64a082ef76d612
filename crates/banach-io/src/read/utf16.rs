//! UTF-16, as some spreadsheets write text, turned into UTF-8 while it is read.

use std::io::{self, Read};

use super::input::Input;

/// Bytes that are turned at a time.
const STEP: usize = 1 << 14;

/// The same text in UTF-8, if its first bytes say that it is UTF-16.
pub(super) fn decoded<'a>(input: Input<'a>, head: &[u8]) -> Input<'a> {
    let number: fn([u8; 2]) -> u16 = match head {
        [0xff, 0xfe, ..] => u16::from_le_bytes,
        [0xfe, 0xff, ..] => u16::from_be_bytes,
        _ => return input,
    };
    Input::Stream(Box::new(Utf16 { inner: input.stream(), number, left: Vec::new(), text: Vec::new(), at: 0 }))
}

struct Utf16<R> {
    inner: R,
    number: fn([u8; 2]) -> u16,
    /// Bytes of a character that is not complete.
    left: Vec<u8>,
    /// Text in UTF-8, of which the first bytes have been given out.
    text: Vec<u8>,
    at: usize,
}

impl<R: Read> Utf16<R> {
    /// Turns the next bytes; whether there were any.
    fn advance(&mut self) -> io::Result<bool> {
        let wrong = || io::Error::new(io::ErrorKind::InvalidData, "the text is not UTF-16, as its first bytes say");
        let mut bytes = std::mem::take(&mut self.left);
        let before = bytes.len();
        (&mut self.inner).take(STEP as u64).read_to_end(&mut bytes)?;
        let ended = bytes.len() == before;
        let pairs = bytes.chunks_exact(2);
        let odd = pairs.remainder().to_vec();
        let mut numbers: Vec<u16> = pairs.map(|pair| (self.number)([pair[0], pair[1]])).collect();
        // The first half of a character waits for its second.
        let waits = numbers.last().is_some_and(|last| (0xd800..0xdc00).contains(last));
        if waits {
            numbers.pop();
            self.left = bytes[bytes.len() - odd.len() - 2..].to_vec();
        } else {
            self.left = odd;
        }
        if ended && !self.left.is_empty() {
            return Err(wrong());
        }
        self.text = String::from_utf16(&numbers).map_err(|_| wrong())?.into_bytes();
        self.at = 0;
        Ok(!ended)
    }
}

impl<R: Read> Read for Utf16<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.at == self.text.len() {
            if !self.advance()? {
                return Ok(0);
            }
        }
        let count = buffer.len().min(self.text.len() - self.at);
        buffer[..count].copy_from_slice(&self.text[self.at..self.at + count]);
        self.at += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> io::Result<String> {
        let mut text = String::new();
        decoded(Input::Stream(Box::new(bytes)), bytes).stream().read_to_string(&mut text)?;
        Ok(text)
    }

    #[test]
    fn text_is_the_same_in_every_encoding() {
        let text = format!("\u{feff}Größe;😀\n{}", "1,5;x😀y\n".repeat(5000));
        let numbers = || text.encode_utf16();
        assert_eq!(read(&numbers().flat_map(u16::to_le_bytes).collect::<Vec<_>>()).expect("valid"), text);
        assert_eq!(read(&numbers().flat_map(u16::to_be_bytes).collect::<Vec<_>>()).expect("valid"), text);
        assert_eq!(read(b"plain").expect("valid"), "plain");
        for wrong in [&b"\xff\xfea"[..], b"\xff\xfe\x00\xd8", b"\xff\xfe\x00\xdca\x00"] {
            assert!(read(wrong).is_err(), "{wrong:?}");
        }
    }
}
