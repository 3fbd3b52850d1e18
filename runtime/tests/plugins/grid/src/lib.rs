//! Passes every kind of value through every kind of call by name, from the host and to the host. One test covers all combinations.

#![forbid(unsafe_code)]

use std::cell::RefCell;

use alcedo_plugin_api::ZFunction;
use alcedo_plugin_api::prelude::*;

#[allow(dead_code, missing_docs, reason = "the glue declares unused items")]
mod desk;
mod probe;

pub use crate::desk::{Desk, Point, Rack, Suit};
pub use crate::probe::{LoudProbe, Probe};

module! { name: "grid" }

/// Function bodies that the functions of all protocols share.
mod does {
    use super::{Point, Suit};

    pub(crate) fn numbers(a: u8, b: i16, c: u32, d: f32, e: f64, f: bool) -> f64 {
        f64::from(a) + f64::from(b) + f64::from(c) + f64::from(d) + e + f64::from(u8::from(f))
    }

    pub(crate) fn other(suit: Suit) -> Suit {
        match suit {
            Suit::Hearts => Suit::Spades,
            Suit::Spades => Suit::Hearts,
        }
    }

    pub(crate) fn turn(point: Point) -> Point {
        Point { x: point.y, y: -point.x }
    }

    pub(crate) fn backwards(list: Vec<i64>) -> Vec<i64> {
        list.into_iter().rev().collect()
    }

    pub(crate) fn fail(number: i32) -> Result<i32, String> {
        if number < 0 { Err(format!("{number} is negative")) } else { Ok(number) }
    }

    pub(crate) fn crash(number: i32) -> i32 {
        assert!(number >= 0, "{number} is negative");
        number
    }
}

#[zcall(ex = "grid.numbers")]
fn numbers(a: u8, b: i16, c: u32, d: f32, e: f64, f: bool) -> f64 {
    does::numbers(a, b, c, d, e, f)
}

#[zcall(ex = "grid.same")]
fn same(object: Obj<Object>) -> Obj<Object> {
    object
}

#[zcall(ex = "grid.other")]
fn other(suit: Suit) -> Suit {
    does::other(suit)
}

#[zcall(ex = "grid.turn")]
fn turn(point: Point) -> Point {
    does::turn(point)
}

#[zcall(ex = "grid.greet")]
fn greet(text: String) -> String {
    format!("{text}, says ex")
}

#[zcall(ex = "grid.backwards")]
fn backwards(list: Vec<i64>) -> Vec<i64> {
    does::backwards(list)
}

#[zcall(ex = "grid.fail")]
fn fail(number: i32) -> Result<i32, String> {
    does::fail(number)
}

#[zcall(ex = "grid.crash")]
fn crash(number: i32) -> i32 {
    does::crash(number)
}

/// Functions without an object.
pub struct Sorts;

#[zmethods]
impl Sorts {
    /// Adds numbers of several types.
    #[zmethod]
    fn numbers(a: u8, b: i16, c: u32, d: f32, e: f64, f: bool) -> f64 {
        does::numbers(a, b, c, d, e, f)
    }

    /// Returns the same object.
    #[zmethod]
    fn same(object: Obj<Object>) -> Obj<Object> {
        object
    }

    /// Returns the other suit.
    #[zmethod]
    fn other(suit: Suit) -> Suit {
        does::other(suit)
    }

    /// Rotates a point.
    #[zmethod]
    fn turn(point: Point) -> Point {
        does::turn(point)
    }

    /// Appends a suffix to a string.
    #[zmethod]
    fn greet(text: String) -> String {
        format!("{text}, says nm")
    }

    /// Reverses a list.
    #[zmethod]
    fn backwards(list: Vec<i64>) -> Vec<i64> {
        does::backwards(list)
    }

    /// Returns an error for negative numbers.
    #[zmethod]
    fn fail(number: i32) -> Result<i32, String> {
        does::fail(number)
    }

    /// Panics for negative numbers.
    #[zmethod]
    fn crash(number: i32) -> i32 {
        does::crash(number)
    }
}

/// Functions and properties of every kind, implemented by this module.
#[uclass(package = "Game", base = Object, blueprintable)]
#[derive(Default)]
pub struct Cell {
    /// A number to read and write.
    #[uproperty(default = 5)]
    number: i64,
    /// An object to read and write.
    #[uproperty]
    object: Obj<Object>,
    /// An enum to read and write.
    #[uproperty]
    suit: Suit,
    /// A struct to read and write.
    #[uproperty]
    point: Point,
    /// A string to read and write.
    #[uproperty(default = "cell")]
    text: String,
    /// A container to read and write.
    #[uproperty]
    list: UArray<i64>,
}

#[uclass]
impl Cell {
    /// Adds numbers of several types.
    #[ufunction]
    fn numbers(&self, a: u8, b: i16, c: u32, d: f32, e: f64, f: bool) -> f64 {
        does::numbers(a, b, c, d, e, f)
    }

    /// Returns the same object.
    #[ufunction]
    fn same(&self, object: Obj<Object>) -> Obj<Object> {
        object
    }

    /// Returns the other suit.
    #[ufunction]
    fn other(&self, suit: Suit) -> Suit {
        does::other(suit)
    }

    /// Rotates a point.
    #[ufunction]
    fn turn(&self, point: Point) -> Point {
        does::turn(point)
    }

    /// Appends a suffix to a string.
    #[ufunction(blueprint_native_event)]
    fn greet(&self, text: String) -> String;
    fn greet_implementation(&mut self, text: String) -> String {
        format!("{text}, says the cell")
    }

    /// Reverses a list.
    #[ufunction]
    fn backwards(&self, list: Vec<i64>) -> Vec<i64> {
        does::backwards(list)
    }

    /// Returns a quotient. The remainder is an out parameter.
    #[ufunction]
    fn split(&self, number: u32, rest: &mut u32) -> u32 {
        let among = std::mem::replace(rest, number % (*rest).max(1));
        number / among.max(1)
    }

    /// Returns an error for negative numbers.
    #[ufunction]
    fn fail(&self, number: i32) -> Result<i32, String> {
        does::fail(number)
    }

    /// Panics for negative numbers.
    #[ufunction]
    fn crash(&self, number: i32) -> i32 {
        does::crash(number)
    }

    /// Static function.
    #[ufunction]
    fn double(number: i32) -> i32 {
        number.wrapping_mul(2)
    }
}

/// Subclass with an override.
#[uclass(package = "Game", base = Cell, blueprintable)]
#[derive(Default)]
pub struct LoudCell {}

#[uclass]
impl LoudCell {
    #[overrides(Cell)]
    fn greet(&mut self, text: String) -> String {
        format!("{text}, SAYS THE CELL")
    }
}

thread_local! {
    /// Functions that `keep` has found.
    static KEPT: RefCell<Vec<ZFunction<(i32, i32), i32>>> = const { RefCell::new(Vec::new()) };
}

fn format_result<T: std::fmt::Debug>(done: Result<T, CallError>) -> String {
    match done {
        Ok(value) => format!("{value:?}"),
        Err(error) => {
            let place = error.place().map(|place| format!(" at {}", place.file)).unwrap_or_default();
            format!("{:?}: {error}{place}", error.kind())
        }
    }
}
