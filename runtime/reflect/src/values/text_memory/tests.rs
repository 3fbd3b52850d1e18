//! Tests of string memory.
#![expect(unsafe_code, reason = "assigns a part of a string to itself")]

use super::super::text::Text;
use super::{text_assign_raw, text_read};
use crate::owned::OwnedValue;
use crate::property::PropertyType;
use crate::value::Value;

#[test]
fn strings_grow_shrink_and_may_be_assigned_from_themselves() {
    let mut own = OwnedValue::zero(PropertyType::Text);
    for string in ["", "short", "a good deal longer than that", "x", "", "hello world"] {
        own.write(&Value::Text(string.to_owned())).unwrap();
        assert_eq!(text_read(own.as_ptr().to::<Text>().unwrap()), string);
    }
    let text = own.as_mut().to::<Text>().unwrap();
    let data = text.raw().data.cast_const();
    // SAFETY: the string belongs to this test; the five bytes at offset 6 are part of it, and no reference to them exists.
    unsafe { text_assign_raw(text.at().cast(), data.wrapping_add(6), 5) };
    assert_eq!(own.read(), Value::Text("world".to_owned()));
}

#[test]
fn ansi_strings_have_one_byte_per_character() {
    let string = "grüße ÿ";
    let (mut one, mut two) = (OwnedValue::zero(PropertyType::AnsiText), OwnedValue::zero(PropertyType::Text));
    one.write(&Value::Ansi(string.to_owned())).unwrap();
    two.write(&Value::Text(string.to_owned())).unwrap();
    let lens = [one.as_ptr().to::<super::super::ansi_text::AnsiText>().unwrap().raw().len, {
        two.as_ptr().to::<Text>().unwrap().raw().len
    }];
    assert_eq!((one.read(), lens), (Value::Ansi(string.to_owned()), [7, 10]));
}
