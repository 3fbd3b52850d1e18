//! Memory layout of a call: the arguments as bytes, with red zones around each buffer and a record of each pointer. After the call, the red
//! zones and pointers in memory are compared with their values before the call. This module never dereferences an address.

use std::ops::Range;
use std::sync::Arc;

use alcedo_reflect::value::Value;

use crate::breach::Breach;
use crate::number::Number;
use crate::shape::Shape;
use crate::utf16;
use crate::zones::{self, RED_ZONE, ZONE};

pub(crate) const ALIGN: usize = 16;

#[derive(Debug, Default)]
pub(crate) struct Plan {
    /// All red zones and buffers. Each call copies these bytes to memory that is aligned to [`ALIGN`].
    bytes: Vec<u8>,
    blocks: Vec<Block>,
    /// Headers of strings and arrays. [`Plan::finish`] sorts the headers by offset.
    headers: Vec<Header>,
    steps: Vec<Step>,
}

#[derive(Debug)]
struct Block {
    start: usize,
    size: usize,
    step: usize,
    /// Address that the C function receives. [`Plan::set_base`] or [`Plan::set_address`] sets this address.
    address: usize,
}

/// Header of a string or array in a struct: `{ data, num, max }`.
#[derive(Debug)]
struct Header {
    at: usize,
    /// Index of the buffer with the data. `None` for an empty string or array.
    block: Option<usize>,
    max: i32,
    step: usize,
}

/// Step of the path to a value: a parameter, or a field or element of the value that the previous step names.
#[derive(Debug)]
struct Step {
    of: Option<usize>,
    name: Name,
}

#[derive(Debug)]
enum Name {
    Param(usize),
    Field(Arc<str>),
    Element(usize),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Slot {
    Number(u64),
    /// Index of a buffer whose address is passed.
    Block(usize),
}

/// Violation of a C function's declaration in a call, with its location: the parameter, and the path inside the parameter.
#[derive(Debug)]
pub(crate) struct Violation {
    pub(crate) param: usize,
    pub(crate) path: String,
    pub(crate) breach: Breach,
}

impl Plan {
    /// Removes all buffers, but keeps their memory allocated for the next call.
    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        self.blocks.clear();
        self.headers.clear();
        self.steps.clear();
    }

    pub(crate) fn argument(
        &mut self,
        param: usize,
        shape: &Shape,
        is_out: bool,
        value: &Value,
    ) -> Result<Slot, Violation> {
        if let (Shape::Number(number), false) = (shape, is_out) {
            let breach = |breach| Violation { param, path: String::new(), breach };
            return widened(*number, value).map(Slot::Number).map_err(breach);
        }
        let step = self.step(None, Name::Param(param));
        let block = match shape {
            Shape::Text => self.text(step, value, true),
            _ => {
                let block = self.block(step, shape.size());
                self.write(step, block.1, shape, value).map(|()| block.0)
            }
        };
        block.map(Slot::Block).map_err(|(step, breach)| self.violation(step, breach))
    }

    /// Completes the plan after the last argument was added.
    pub(crate) fn finish(&mut self) {
        self.headers.sort_unstable_by_key(|header| header.at);
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the byte range of each buffer.
    pub(crate) fn ranges(&self) -> impl Iterator<Item = Range<usize>> {
        self.blocks.iter().map(|block| block.start..block.start + block.size)
    }

    /// Returns the parameter of a buffer, and the path inside the parameter.
    pub(crate) fn location_of(&self, block: usize) -> (usize, String) {
        self.path(self.blocks[block].step)
    }

    /// Sets the addresses of all buffers. `base` is the address of the memory with the bytes of the plan.
    pub(crate) fn set_base(&mut self, base: usize) {
        self.blocks.iter_mut().for_each(|block| block.address = base + block.start);
    }

    /// Sets the address of a buffer outside the bytes of the plan.
    pub(crate) fn set_address(&mut self, block: usize, address: usize) {
        self.blocks[block].address = address;
    }

    pub(crate) fn address_of(&self, block: usize) -> usize {
        self.blocks[block].address
    }

    /// For each header of a string or array with data, returns its offset and the bytes of its data pointer. The addresses of all buffers
    /// must already be set.
    pub(crate) fn pointers(&self) -> impl Iterator<Item = (usize, [u8; 8])> {
        let with_data = self.headers.iter().filter_map(|header| Some((header.at, header.block?)));
        with_data.map(move |(at, block)| (at, self.blocks[block].address.to_ne_bytes()))
    }

    /// Checks that the call has not changed red zones or pointers. `memory` is the memory after the call.
    pub(crate) fn check(&self, memory: &[u8]) -> Result<(), Violation> {
        for block in &self.blocks {
            zones::check(memory, block.start, block.size).map_err(|breach| self.violation(block.step, breach))?;
        }
        for header in &self.headers {
            check_header(self, header, memory).map_err(|breach| self.violation(header.step, breach))?;
        }
        Ok(())
    }

    pub(crate) fn value(&self, memory: &[u8], param: usize, block: usize, shape: &Shape) -> Result<Value, Violation> {
        let Block { start, size, step, .. } = self.blocks[block];
        let found = match shape {
            Shape::Text => utf16::up_to_zero(&memory[start..start + size])
                .and_then(utf16::decode)
                .map(Value::Text)
                .map_err(|breach| (step, breach)),
            _ => self.get(memory, start, shape).map_err(|(at, breach)| (at.unwrap_or(step), breach)),
        };
        found.map_err(|(step, breach)| Violation { param, ..self.violation(step, breach) })
    }

    fn get(&self, memory: &[u8], at: usize, shape: &Shape) -> Result<Value, (Option<usize>, Breach)> {
        Ok(match shape {
            Shape::Number(number) => read(*number, &memory[at..]),
            Shape::Single => match read(Number::F32, &memory[at..]) {
                Value::F32(single) => Value::F64(single.into()),
                other => other,
            },
            Shape::Struct(of) => {
                let mut fields = Vec::with_capacity(of.fields.len());
                for field in &of.fields {
                    fields.push((Arc::clone(&field.name), self.get(memory, at + field.offset, &field.shape)?));
                }
                Value::Struct(fields)
            }
            Shape::Fixed(of, len) => Value::Array(self.elements(memory, at, of, *len)?),
            Shape::Text => match self.content(memory, at) {
                None => Value::Text(String::new()),
                Some((start, num, step)) => {
                    let wrong = |breach| (Some(step), breach);
                    match utf16::units_of(&memory[start..start + num * 2]).split_last() {
                        Some(([0, 0], text)) => Value::Text(utf16::decode(text).map_err(wrong)?),
                        _ => return Err(wrong(Breach::Unterminated { units: num })),
                    }
                }
            },
            Shape::List(of) => match self.content(memory, at) {
                None => Value::Array(Vec::new()),
                Some((start, num, _)) => Value::Array(self.elements(memory, start, of, num)?),
            },
        })
    }

    fn elements(
        &self,
        memory: &[u8],
        at: usize,
        of: &Shape,
        len: usize,
    ) -> Result<Vec<Value>, (Option<usize>, Breach)> {
        (0..len).map(|index| self.get(memory, at + index * of.size(), of)).collect()
    }

    /// Returns the start and the length of the data that belongs to the header at `at`, and the index of the header's step. Returns `None`
    /// if the data is empty. The caller must have checked the header.
    fn content(&self, memory: &[u8], at: usize) -> Option<(usize, usize, usize)> {
        let header = &self.headers[self.headers.binary_search_by_key(&at, |header| header.at).ok()?];
        let num = usize::try_from(int(memory, at + 8)).ok().filter(|num| *num != 0)?;
        Some((self.blocks[header.block?].start, num, header.step))
    }

    fn step(&mut self, of: Option<usize>, name: Name) -> usize {
        self.steps.push(Step { of, name });
        self.steps.len() - 1
    }

    fn violation(&self, step: usize, breach: Breach) -> Violation {
        let (param, path) = self.path(step);
        Violation { param, path, breach }
    }

    fn path(&self, step: usize) -> (usize, String) {
        let (mut at, mut path) = (step, Vec::new());
        let param = loop {
            match &self.steps[at].name {
                Name::Param(param) => break *param,
                Name::Field(name) => path.push(format!(".{name}")),
                Name::Element(index) => path.push(format!("[{index}]")),
            }
            match self.steps[at].of {
                Some(of) => at = of,
                None => break 0,
            }
        };
        path.reverse();
        (param, path.concat())
    }

    /// Adds a zeroed buffer between two red zones. Returns the index and the start of the buffer.
    fn block(&mut self, step: usize, size: usize) -> (usize, usize) {
        let start = self.bytes.len().next_multiple_of(ALIGN) + RED_ZONE;
        self.bytes.resize(start - RED_ZONE, 0);
        self.bytes.extend_from_slice(&ZONE);
        self.bytes.resize(start + size, 0);
        self.bytes.extend_from_slice(&ZONE);
        self.blocks.push(Block { start, size, step, address: 0 });
        (self.blocks.len() - 1, start)
    }

    fn text(&mut self, step: usize, value: &Value, is_whole: bool) -> Result<usize, (usize, Breach)> {
        let Value::Text(text) = value else { return Err((step, wrong_type(value, "String"))) };
        if is_whole && text.contains('\0') {
            return Err((step, Breach::ZeroInside));
        }
        let (block, start) = self.block(step, 0);
        self.bytes.truncate(start);
        utf16::append(&mut self.bytes, text);
        self.bytes.extend([0; 2]);
        self.blocks[block].size = self.bytes.len() - start;
        self.bytes.extend_from_slice(&ZONE);
        Ok(block)
    }

    fn write(&mut self, step: usize, at: usize, shape: &Shape, value: &Value) -> Result<(), (usize, Breach)> {
        match (shape, value) {
            (Shape::Single, Value::F64(double)) => {
                let single = *double as f32;
                if single.is_infinite() && double.is_finite() {
                    return Err((step, Breach::NotAFloat { value: double.to_string() }));
                }
                self.write(step, at, &Shape::Number(Number::F32), &Value::F32(single))?;
            }
            (Shape::Single, _) => return Err((step, wrong_type(value, "f64"))),
            (Shape::Number(number), _) => {
                let bytes = widened(*number, value).map_err(|breach| (step, breach))?.to_le_bytes();
                let bytes = &bytes[..number.size()];
                let target = &mut self.bytes[at..at + bytes.len()];
                target.copy_from_slice(bytes);
                if cfg!(target_endian = "big") {
                    target.reverse();
                }
            }
            (Shape::Struct(of), Value::Struct(values)) => {
                if values.len() != of.fields.len() {
                    return Err((step, Breach::Len { found: values.len(), expected: of.fields.len() }));
                }
                for (index, field) in of.fields.iter().enumerate() {
                    let is_meant = |(name, _): &&(Arc<str>, Value)| *name == field.name;
                    let found = values.get(index).filter(is_meant).or_else(|| values.iter().find(is_meant));
                    let Some((_, found)) = found else {
                        return Err((step, wrong_type(value, &format!("a struct with a field `{}`", field.name))));
                    };
                    let step = self.step(Some(step), Name::Field(Arc::clone(&field.name)));
                    self.write(step, at + field.offset, &field.shape, found)?;
                }
            }
            (Shape::Fixed(of, len), Value::Array(values)) => {
                if values.len() != *len {
                    return Err((step, Breach::Len { found: values.len(), expected: *len }));
                }
                self.write_elements(step, at, of, values)?;
            }
            (Shape::Text, _) => {
                let is_empty = matches!(value, Value::Text(text) if text.is_empty());
                let block = if is_empty { None } else { Some(self.text(step, value, false)?) };
                let len = block.map_or(0, |block| self.blocks[block].size / 2);
                self.header(step, at, block, len)?;
            }
            (Shape::List(of), Value::Array(values)) => {
                let mut found = None;
                if !values.is_empty() {
                    let bytes =
                        of.size().checked_mul(values.len()).ok_or((step, Breach::TooLong { len: values.len() }))?;
                    let (block, start) = self.block(step, bytes);
                    self.write_elements(step, start, of, values)?;
                    found = Some(block);
                }
                self.header(step, at, found, values.len())?;
            }
            (Shape::Struct(_), _) => return Err((step, wrong_type(value, "a struct"))),
            (Shape::Fixed(..) | Shape::List(_), _) => return Err((step, wrong_type(value, "an array"))),
        }
        Ok(())
    }

    fn write_elements(&mut self, step: usize, at: usize, of: &Shape, values: &[Value]) -> Result<(), (usize, Breach)> {
        for (index, value) in values.iter().enumerate() {
            let has_parts = !matches!(of, Shape::Number(_));
            let step = if has_parts { self.step(Some(step), Name::Element(index)) } else { step };
            self.write(step, at + index * of.size(), of, value)?;
        }
        Ok(())
    }

    fn header(&mut self, step: usize, at: usize, block: Option<usize>, len: usize) -> Result<(), (usize, Breach)> {
        let max = i32::try_from(len).map_err(|_| (step, Breach::TooLong { len }))?;
        self.bytes[at + 8..at + 12].copy_from_slice(&max.to_ne_bytes());
        self.bytes[at + 12..at + 16].copy_from_slice(&max.to_ne_bytes());
        self.headers.push(Header { at, block, max, step });
        Ok(())
    }
}

fn check_header(plan: &Plan, header: &Header, memory: &[u8]) -> Result<(), Breach> {
    let (at, max) = (header.at, header.max);
    let data = header.block.map_or(0, |block| plan.address_of(block));
    let (found_num, found_max) = (int(memory, at + 8), int(memory, at + 12));
    if memory[at..at + 8] != data.to_ne_bytes() {
        return Err(Breach::MovedData);
    }
    if found_max != max {
        return Err(Breach::ChangedMax { max, found: found_max });
    }
    if (0..=max).contains(&found_num) { Ok(()) } else { Err(Breach::Num { num: found_num, max }) }
}

fn int(memory: &[u8], at: usize) -> i32 {
    let mut bytes = [0; 4];
    bytes.copy_from_slice(&memory[at..at + 4]);
    i32::from_ne_bytes(bytes)
}

/// Reads a value that contains no strings or dynamic arrays. `bytes` is the memory that the library returned.
pub(crate) fn plain_value(bytes: &[u8], shape: &Shape) -> Result<Value, Breach> {
    Plan::default().get(bytes, 0, shape).map_err(|(_, breach)| breach)
}

fn wrong_type(value: &Value, expected: &str) -> Breach {
    Breach::Type { found: value.kind_name(), expected: expected.to_owned() }
}

fn widened(number: Number, value: &Value) -> Result<u64, Breach> {
    number.widened(value).ok_or_else(|| wrong_type(value, &format!("{number:?}").to_lowercase()))
}

fn read(number: Number, bytes: &[u8]) -> Value {
    let mut wide = [0; 8];
    let bytes = &bytes[..number.size()];
    wide[..bytes.len()].copy_from_slice(bytes);
    if cfg!(target_endian = "big") {
        wide[..bytes.len()].reverse();
    }
    number.narrowed(u64::from_le_bytes(wide))
}
