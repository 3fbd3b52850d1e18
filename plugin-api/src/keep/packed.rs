//! Writes kept fields of standard types as bytes without names. A later build whose kept fields have the same names and types reads the
//! bytes in one call. The bytes contain no address, so they remain valid after the module that wrote them is unloaded. If any kept field of
//! a class is not of a standard type, all kept fields of the class are saved by name.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::hash::Hash;
use std::marker::PhantomData;

use alcedo_abi::fingerprint::Fingerprint;

/// Version of the encoding. Because the fingerprint contains the version, fields are saved by name between builds with different encodings.
const ENCODING: &str = "packed 1";

/// Number of bytes that a [`Packer`] collects before it calls the host.
const PENDING: usize = 64;

/// Writer for kept fields as bytes.
pub struct Packer<'a> {
    /// Copies the next bytes.
    sink: &'a dyn Fn(&[u8]),
    pending: [u8; PENDING],
    len: usize,
}

impl<'a> Packer<'a> {
    pub(crate) fn new(sink: &'a dyn Fn(&[u8])) -> Self {
        Self { sink, pending: [0; PENDING], len: 0 }
    }

    #[inline]
    fn put(&mut self, data: &[u8]) {
        if data.len() > PENDING - self.len {
            self.flush();
        }
        match self.pending.get_mut(self.len..self.len + data.len()) {
            Some(free) => {
                free.copy_from_slice(data);
                self.len += data.len();
            }
            None => (self.sink)(data),
        }
    }

    /// Passes the pending bytes to the sink.
    pub(crate) fn flush(&mut self) {
        if self.len > 0 {
            (self.sink)(&self.pending[..self.len]);
            self.len = 0;
        }
    }
}

/// Reader that returns kept fields from bytes, in the order in which they were written.
pub struct Unpacker<'a> {
    rest: &'a [u8],
}

impl<'a> Unpacker<'a> {
    pub(crate) fn new(data: &'a [u8]) -> Self {
        Self { rest: data }
    }

    /// Returns true if all bytes were read.
    pub(crate) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    #[inline]
    fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        self.rest.split_off(..len)
    }

    #[inline]
    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (taken, rest) = self.rest.split_first_chunk::<N>()?;
        self.rest = rest;
        Some(*taken)
    }
}

/// Standard type, whose values can be written as bytes.
pub trait Packed: Sized {
    /// Fingerprint of the type; never zero.
    const PRINT: u64;

    /// Writes the value.
    fn pack(&self, out: &mut Packer<'_>);

    /// Reads a value. Returns `None` if the bytes do not encode a value of this type.
    fn unpack(input: &mut Unpacker<'_>) -> Option<Self>;

    /// Writes several values.
    fn pack_all(values: &[Self], out: &mut Packer<'_>) {
        values.iter().for_each(|value| value.pack(out));
    }

    /// Reads `len` values.
    fn unpack_all(len: usize, input: &mut Unpacker<'_>) -> Option<Vec<Self>> {
        let mut values = Vec::with_capacity(len.min(input.rest.len()));
        for _ in 0..len {
            values.push(Self::unpack(input)?);
        }
        Some(values)
    }
}

/// Computes the fingerprint of a type from its name and the fingerprints of its type parameters.
const fn print(name: &str, parameters: &[u64]) -> u64 {
    let (mut print, mut at) = (Fingerprint::START.text(name), 0);
    while at < parameters.len() {
        print = print.number(parameters[at]);
        at += 1;
    }
    print.finish()
}

/// Returns the fingerprint of a class's kept fields, computed from the name and the type of each field. Returns zero if the class keeps no
/// field, or if the type of a field is not [`Packed`]. In the latter case, the host saves the fields by name.
#[must_use]
pub(crate) const fn kept_print(fields: &[(&str, u64)]) -> u64 {
    let (mut print, mut at) = (Fingerprint::START.text(ENCODING), 0);
    while at < fields.len() {
        let (name, ty) = fields[at];
        if ty == 0 {
            return 0;
        }
        print = print.text(name).number(ty);
        at += 1;
    }
    if fields.is_empty() { 0 } else { print.finish() }
}

/// Selects the form in which a kept field of type `T` is saved. If the type is [`Packed`], this struct has inherent items, which take
/// precedence over the equally named items of the trait [`SavedByName`].
pub struct Packing<T>(PhantomData<T>);

impl<T: Packed> Packing<T> {
    /// Fingerprint of the type.
    pub const PRINT: u64 = T::PRINT;

    /// Writes the value.
    #[inline]
    pub fn pack(value: &T, out: &mut Packer<'_>) {
        value.pack(out);
    }

    /// Reads a value.
    #[inline]
    #[must_use]
    pub fn unpack(input: &mut Unpacker<'_>) -> Option<T> {
        T::unpack(input)
    }
}

/// Kept field whose type is not [`Packed`]. The functions exist only because the macro expansion calls them for every type. They never run,
/// because the fingerprint of the class is zero.
pub trait SavedByName {
    /// Type of the field.
    type Value;
    /// Fingerprint of a type that is not packed.
    const PRINT: u64 = 0;

    /// Writes nothing.
    fn pack(_value: &Self::Value, _out: &mut Packer<'_>) {}

    /// Returns `None`.
    fn unpack(_input: &mut Unpacker<'_>) -> Option<Self::Value> {
        None
    }
}

impl<T> SavedByName for Packing<T> {
    type Value = T;
}

macro_rules! numbers {
    ($($number:ident $({ $($functions:tt)* })?)*) => {$(
        impl Packed for $number {
            const PRINT: u64 = print(stringify!($number), &[]);

            #[inline]
            fn pack(&self, out: &mut Packer<'_>) {
                out.put(&self.to_le_bytes());
            }

            #[inline]
            fn unpack(input: &mut Unpacker<'_>) -> Option<Self> {
                input.array().map(Self::from_le_bytes)
            }

            $($($functions)*)?
        }
    )*};
}
numbers!(u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize f32 f64);
numbers! {
    u8 {
        fn pack_all(values: &[Self], out: &mut Packer<'_>) {
            out.put(values);
        }

        fn unpack_all(len: usize, input: &mut Unpacker<'_>) -> Option<Vec<Self>> {
            input.take(len).map(<[u8]>::to_vec)
        }
    }
}

/// Implements [`Packed`] for types whose values are packed as numbers.
macro_rules! as_numbers {
    ($($ty:ident: $number:ident, |$read:ident| $value:expr;)*) => {$(
        impl Packed for $ty {
            const PRINT: u64 = print(stringify!($ty), &[]);

            #[inline]
            fn pack(&self, out: &mut Packer<'_>) {
                $number::from(*self).pack(out);
            }

            #[inline]
            fn unpack(input: &mut Unpacker<'_>) -> Option<Self> {
                let $read = $number::unpack(input)?;
                $value
            }
        }
    )*};
}
as_numbers! {
    bool: u8, |number| (number < 2).then_some(number == 1);
    char: u32, |number| char::from_u32(number);
}

impl Packed for String {
    const PRINT: u64 = print("String", &[]);

    fn pack(&self, out: &mut Packer<'_>) {
        self.len().pack(out);
        out.put(self.as_bytes());
    }

    fn unpack(input: &mut Unpacker<'_>) -> Option<Self> {
        let len = usize::unpack(input)?;
        std::str::from_utf8(input.take(len)?).ok().map(str::to_owned)
    }
}

impl<T: Packed> Packed for Option<T> {
    const PRINT: u64 = print("Option", &[T::PRINT]);

    fn pack(&self, out: &mut Packer<'_>) {
        self.is_some().pack(out);
        if let Some(value) = self {
            value.pack(out);
        }
    }

    fn unpack(input: &mut Unpacker<'_>) -> Option<Self> {
        Some(if bool::unpack(input)? { Some(T::unpack(input)?) } else { None })
    }
}

impl<T: Packed> Packed for Vec<T> {
    const PRINT: u64 = print("Vec", &[T::PRINT]);

    fn pack(&self, out: &mut Packer<'_>) {
        self.len().pack(out);
        T::pack_all(self, out);
    }

    fn unpack(input: &mut Unpacker<'_>) -> Option<Self> {
        let len = usize::unpack(input)?;
        T::unpack_all(len, input)
    }
}

impl<T: Packed, const N: usize> Packed for [T; N] {
    const PRINT: u64 = print("array", &[N as u64, T::PRINT]);

    fn pack(&self, out: &mut Packer<'_>) {
        T::pack_all(self, out);
    }

    fn unpack(input: &mut Unpacker<'_>) -> Option<Self> {
        T::unpack_all(N, input)?.try_into().ok()
    }
}

macro_rules! tuples {
    ($(($($name:ident)+))*) => {$(
        impl<$($name: Packed),+> Packed for ($($name,)+) {
            const PRINT: u64 = print("tuple", &[$($name::PRINT),+]);

            #[expect(non_snake_case, reason = "a value has the name of its type")]
            fn pack(&self, out: &mut Packer<'_>) {
                let ($($name,)+) = self;
                $($name.pack(out);)+
            }

            fn unpack(input: &mut Unpacker<'_>) -> Option<Self> {
                Some(($($name::unpack(input)?,)+))
            }
        }
    )*};
}
tuples!((A) (A B) (A B C) (A B C D));

macro_rules! maps {
    ($($map:ident: $($bound:ident)+;)*) => {$(
        impl<K: Packed $(+ $bound)+, V: Packed> Packed for $map<K, V> {
            const PRINT: u64 = print(stringify!($map), &[K::PRINT, V::PRINT]);

            fn pack(&self, out: &mut Packer<'_>) {
                self.len().pack(out);
                for (key, value) in self {
                    key.pack(out);
                    value.pack(out);
                }
            }

            fn unpack(input: &mut Unpacker<'_>) -> Option<Self> {
                let len = usize::unpack(input)?;
                (0..len).map(|_| Some((K::unpack(input)?, V::unpack(input)?))).collect()
            }
        }
    )*};
}
maps!(BTreeMap: Ord; HashMap: Eq Hash;);

macro_rules! sets {
    ($($set:ident: $($bound:ident)+;)*) => {$(
        impl<T: Packed $(+ $bound)+> Packed for $set<T> {
            const PRINT: u64 = print(stringify!($set), &[T::PRINT]);

            fn pack(&self, out: &mut Packer<'_>) {
                self.len().pack(out);
                self.iter().for_each(|value| value.pack(out));
            }

            fn unpack(input: &mut Unpacker<'_>) -> Option<Self> {
                let len = usize::unpack(input)?;
                (0..len).map(|_| T::unpack(input)).collect()
            }
        }
    )*};
}
sets!(BTreeSet: Ord; HashSet: Eq Hash;);

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
    use std::fmt::Debug;
    use std::time::Duration;

    use super::{Packed, Packer, Packing, SavedByName as _, Unpacker, kept_print};

    fn packed<T: Packed>(value: &T) -> Vec<u8> {
        let bytes = RefCell::new(Vec::new());
        let sink = |data: &[u8]| bytes.borrow_mut().extend_from_slice(data);
        let mut packer = Packer::new(&sink);
        value.pack(&mut packer);
        packer.flush();
        bytes.into_inner()
    }

    fn check<T: Packed + PartialEq + Debug>(value: T) {
        let bytes = packed(&value);
        let mut input = Unpacker::new(&bytes);
        assert_eq!(T::unpack(&mut input).as_ref(), Some(&value));
        assert!(input.is_empty(), "{value:?}");
        if let Some((_, cut)) = bytes.split_last() {
            assert_eq!(T::unpack(&mut Unpacker::new(cut)), None, "{value:?} without its last byte");
        }
    }

    #[test]
    fn values_of_standard_types_return_from_their_bytes() {
        check(7_u8);
        check(-7_i64);
        check(u128::MAX);
        check(usize::MAX);
        check(0.1_f32);
        check((true, 'ß', "text".to_owned(), f64::INFINITY));
        check(vec![1_u8; 1000]);
        check(vec![1_u32; 1000]);
        check([[1_i16, -2], [3, -4]]);
        check([0_u64; 0]);
        check("x".repeat(1000));
        check(vec![String::new(), "a".to_owned(), "b".repeat(64)]);
        check(BTreeMap::from([(1_u32, "one".to_owned()), (2, String::new())]));
        check(HashMap::from([("one".to_owned(), vec![1_u32]), ("none".to_owned(), vec![])]));
        check(BTreeSet::from([-1_i32, 5]));
        check(HashSet::from(['a', 'b']));
    }

    #[test]
    fn nested_options_remain_nested() {
        for value in [None, Some(None), Some(Some(3_u32))] {
            check(value);
        }
    }

    #[test]
    fn numbers_keep_every_bit() {
        let value = f64::from_bits(0x7ff8_0000_0000_1234);
        let read = f64::unpack(&mut Unpacker::new(&packed(&value))).expect("eight bytes");
        assert_eq!(read.to_bits(), value.to_bits());
    }

    #[test]
    fn bytes_that_are_no_value_are_refused() {
        assert_eq!(bool::unpack(&mut Unpacker::new(&[2])), None);
        assert_eq!(char::unpack(&mut Unpacker::new(&[0, 0xd8, 0, 0])), None);
        assert_eq!(String::unpack(&mut Unpacker::new(&packed(&vec![0xff_u8]))), None);
        assert_eq!(Vec::<u64>::unpack(&mut Unpacker::new(&packed(&u64::MAX))), None);
    }

    #[test]
    fn a_fingerprint_depends_on_names_types_and_order() {
        let (number, text) = (Packing::<u32>::PRINT, Packing::<String>::PRINT);
        let print = kept_print(&[("a", number), ("b", text)]);
        assert_eq!(print, kept_print(&[("a", u32::PRINT), ("b", String::PRINT)]));
        for other in [
            &[("a", number)][..],
            &[("a", number), ("c", text)],
            &[("b", text), ("a", number)],
            &[("a", Packing::<u64>::PRINT), ("b", text)],
            &[("a", number), ("b", Packing::<Vec<u8>>::PRINT)],
        ] {
            assert_ne!(print, kept_print(other), "{other:?}");
        }
    }

    #[test]
    fn one_field_of_another_type_saves_the_class_by_name() {
        let unknown = [Packing::<Duration>::PRINT, Packing::<Vec<Duration>>::PRINT, Packing::<Box<u8>>::PRINT];
        assert_eq!(unknown, [0; 3]);
        assert_eq!(kept_print(&[("a", u32::PRINT), ("b", Packing::<Duration>::PRINT)]), 0);
        assert_eq!(kept_print(&[]), 0);
    }
}
