//! The types that lead from a call to its code have no name outside.

use alcedo_runtime::{Body, Class, Function, ParamBlock, Schema, View};

fn main() {}
