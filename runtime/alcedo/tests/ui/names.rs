//! Items without a public name: reported before any type error.
#![allow(unused)]
#![forbid(unsafe_code)]

mod function_of_a_call {
    //! The types between a call and its code have no public name.

    use alcedo_runtime::{Body, Class, Function, ParamBlock, Schema, View};
}

fn main() {}
