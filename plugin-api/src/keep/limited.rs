//! A buffer for CBOR that refuses deep nesting, so that serializing a long linked list fails before the stack overflows.

use std::io::{Error, Result, Write};

use super::short::Cbor;

/// Maximum nesting depth of containers. Equals the depth limit of `ciborium` for reading.
pub(super) const MAX_DEPTH: usize = 256;

const BYTES: u8 = 2;
const TEXT: u8 = 3;
const ARRAY: u8 = 4;
const MAP: u8 = 5;
const TAG: u8 = 6;
const OTHER: u8 = 7;

/// Length code of an item of indefinite length, whose end is marked by a break.
const OPEN_END: u8 = 31;

/// Receives CBOR up to the header of the first container beyond [`MAX_DEPTH`]. When this data is read, the reader reports its own depth
/// limit at this header.
#[derive(Default)]
pub(super) struct Limited {
    pub(super) data: Cbor,
    /// Number of missing items of each open container. For a container that a break ends, this number is too large to reach zero.
    open: Vec<u64>,
    /// First byte of the current header.
    head: u8,
    /// Number of missing bytes of the current header.
    rest: u32,
    /// Length in the current header.
    len: u64,
    /// Number of missing bytes of the current string.
    content: u64,
}

impl Write for Limited {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        // The first byte of a header states how many bytes follow.
        let missing = if self.content == 0 { u64::from(self.rest.max(1)) } else { self.content };
        let taken = usize::try_from(missing).unwrap_or(usize::MAX).min(bytes.len());
        self.data.push(&bytes[..taken]);
        match self.content {
            0 => self.header_bytes(&bytes[..taken])?,
            _ => self.content -= taken as u64,
        }
        Ok(taken)
    }

    fn flush(&mut self) -> Result<()> {
        Ok(())
    }
}

impl Limited {
    /// Adds the first byte of a header, or some of the bytes that follow.
    fn header_bytes(&mut self, bytes: &[u8]) -> Result<()> {
        match (self.rest, bytes) {
            (_, []) => return Ok(()),
            (0, [first, ..]) => {
                self.head = *first;
                (self.rest, self.len) = match first & OPEN_END {
                    exponent @ 24..=27 => (1 << (exponent - 24), 0),
                    OPEN_END => (0, u64::MAX),
                    len => (0, len.into()),
                };
            }
            _ => {
                self.rest -= bytes.len() as u32;
                self.len = bytes.iter().fold(self.len, |len, byte| (len << 8) | u64::from(*byte));
            }
        }
        if self.rest == 0 { self.header() } else { Ok(()) }
    }

    /// Counts the item whose header is now complete.
    fn header(&mut self) -> Result<()> {
        match self.head >> 5 {
            // A tag is part of the item that follows.
            TAG => return Ok(()),
            OTHER if self.head & OPEN_END == OPEN_END => _ = self.open.pop(),
            kind => {
                if let Some(missing) = self.open.last_mut() {
                    *missing -= 1;
                }
                match kind {
                    BYTES | TEXT => self.content = self.len,
                    ARRAY => self.open.push(self.len),
                    MAP => self.open.push(self.len.saturating_mul(2)),
                    _ => {}
                }
            }
        }
        if self.open.len() > MAX_DEPTH {
            return Err(Error::other("too deep"));
        }
        while self.open.last() == Some(&0) {
            self.open.pop();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use ciborium::Value;

    use super::super::tests::on_a_large_stack;
    use super::{Limited, MAX_DEPTH};

    fn write(value: &Value) -> (bool, Limited) {
        let mut limited = Limited::default();
        (ciborium::into_writer(value, &mut limited).is_ok(), limited)
    }

    /// Nests a value in `depth` containers, alternately arrays and maps.
    fn nested(depth: usize, innermost: Value) -> Value {
        (0..depth).fold(innermost, |value, level| match level % 2 {
            0 => Value::Array(vec![value]),
            _ => Value::Map(vec![(value, 1.into())]),
        })
    }

    #[test]
    fn only_open_containers_count_as_depth() {
        on_a_large_stack(|| {
            let text = |len| Value::Text("\u{9f}".repeat(len));
            let numbers = [0, 23, 24, 255, 256, 1 << 16, 1 << 32, i64::MAX, -1, -300].map(Value::from);
            let items = [Value::Null, true.into(), 1.5.into(), Value::Bytes(vec![0x9f; 70_000]), text(0), text(300)];
            let tagged = Value::Tag(300, Box::new(nested(2, Value::Array(vec![]))));
            let long = Value::Array(vec![Value::Null; 300]);
            let item = Value::Array(numbers.into_iter().chain(items).chain([tagged, long]).collect());
            let wide = Value::Array(vec![item; 30]);
            let (is_whole, limited) = write(&nested(MAX_DEPTH - 5, wide.clone()));
            assert!(is_whole && limited.open.is_empty() && limited.content == 0 && limited.rest == 0);
            assert_eq!(ciborium::from_reader::<Value, _>(&*write(&wide).1.data).expect("it is whole"), wide);
            assert!(!write(&nested(MAX_DEPTH - 4, wide)).0);
        });
    }

    #[test]
    fn containers_that_end_with_a_break_are_closed() {
        #[derive(serde::Serialize)]
        struct Flat {
            first: u8,
            #[serde(flatten)]
            rest: BTreeMap<String, Vec<u8>>,
        }
        let flat = || Flat { first: 1, rest: [("a".to_owned(), vec![]), ("b".to_owned(), vec![1])].into() };
        let mut limited = Limited::default();
        ciborium::into_writer(&[flat(), flat()], &mut limited).expect("it is flat");
        assert!(limited.open.is_empty());
    }

    #[test]
    fn refused_data_exceeds_the_limit_of_the_reader() {
        on_a_large_stack(|| {
            let (is_whole, limited) = write(&nested(MAX_DEPTH, Value::Null));
            assert!(is_whole && ciborium::from_reader::<Value, _>(&*limited.data).is_ok());
            let (is_whole, limited) = write(&nested(MAX_DEPTH, Value::Array(vec![Value::Null; 300])));
            let error = ciborium::from_reader::<Value, _>(&*limited.data).expect_err("it is too deep");
            assert!(!is_whole && matches!(error, ciborium::de::Error::RecursionLimitExceeded), "{error}");
        });
    }
}
