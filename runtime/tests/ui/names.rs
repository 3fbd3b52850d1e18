//! Items that have no public name: reported before any type.
#![allow(unused)]
#![forbid(unsafe_code)]

mod function_of_a_call {
    //! The types that lead from a call to its code have no name outside.

    use alcedo_runtime::{Body, Class, Function, ParamBlock, Schema, View};
}

fn main() {}
