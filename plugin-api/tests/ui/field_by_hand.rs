//! Fields by hand: of another struct, and of a type that the struct does not have.
#![forbid(unsafe_code)]

use alcedo_plugin_api::plumbing::{Field, FieldPlace, Stored, Value, blank};
use alcedo_plugin_api::prelude::*;

#[ustruct(package = "Game")]
pub struct Crate {
    title: UString,
    count: u64,
}

const ONE: &<Crate as Value>::Raw = &blank::<Crate>();
const OTHER: &(<Crate as Value>::Raw, <Crate as Value>::Raw) = &(blank::<Crate>(), blank::<Crate>());

struct OfAnother;

impl FieldPlace for OfAnother {
    type Struct = Crate;
    type Type = u64;
    const AT: (&'static <Crate as Value>::Raw, &'static Stored<u64>) = (ONE, &OTHER.0.0.count);
}

struct OfTheNext;

impl FieldPlace for OfTheNext {
    type Struct = Crate;
    type Type = u64;
    const AT: (&'static <Crate as Value>::Raw, &'static Stored<u64>) = (&OTHER.0, &OTHER.1.0.count);
}

struct OfAnotherType;

impl FieldPlace for OfAnotherType {
    type Struct = Crate;
    type Type = u64;
    const AT: (&'static <Crate as Value>::Raw, &'static Stored<u64>) = (ONE, &ONE.0.title);
}

const OF_ANOTHER: Field<Crate, u64> = Field::of::<OfAnother>();
const OF_THE_NEXT: Field<Crate, u64> = Field::of::<OfTheNext>();

fn main() {}
