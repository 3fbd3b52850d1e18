// Declarations of the host `a test` in package `Test` for plugins, written by `alcedo glue`.
// Run it again after a change of the host. Each load of a plugin compares every type, member and signature here with the host.

use alcedo_plugin_api::prelude::*;

/// A suit of cards.
#[uenum(imported, package = "Test")]
#[derive(Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Suit {
    /// Red.
    #[default]
    Hearts = 0,
    /// Black.
    Spades = 7,
}

/// Point, passed by value.
#[ustruct(pod, imported, package = "Test")]
#[derive(Debug, Default, PartialEq)]
pub struct Point {
    /// To the right.
    pub x: f64,
    /// Down.
    pub y: f64,
}

/// Functions of every kind, implemented by the host.
#[uclass(imported, package = "Test", base = Object)]
pub struct Desk {
    /// A number to read and write.
    #[uproperty]
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
    #[uproperty]
    text: String,
    /// Delegate with numbers.
    #[uproperty]
    on_numbers: Delegate<fn(u8, i16, u32, f32, f64, bool) -> f64>,
    /// Delegate with an object.
    #[uproperty]
    on_object: Delegate<fn(Obj<Object>) -> Obj<Object>>,
    /// Delegate with an enum.
    #[uproperty]
    on_suit: Delegate<fn(Suit) -> Suit>,
    /// Delegate with a struct.
    #[uproperty]
    on_point: Delegate<fn(Point) -> Point>,
    /// Delegate with a string.
    #[uproperty]
    on_text: Delegate<fn(String) -> String>,
    /// Delegate whose function may fail.
    #[uproperty]
    on_number: Delegate<fn(i32) -> i32>,
}

#[uclass(imported)]
impl Desk {
    #[ufunction]
    fn numbers(&self, a: u8, b: i16, c: u32, d: f32, e: f64, f: bool) -> f64;
    #[ufunction]
    fn same(&self, object: Obj<Object>) -> Obj<Object>;
    #[ufunction]
    fn other(&self, suit: Suit) -> Suit;
    #[ufunction]
    fn turn(&self, point: Point) -> Point;
    #[ufunction]
    fn split(&self, number: u32, rest: &mut u32) -> u32;
    #[ufunction]
    fn fail(&self, number: i32) -> Result<i32, CallError>;
    #[ufunction]
    fn crash(&self, number: i32) -> i32;
    #[ufunction(blueprint_native_event)]
    fn greet(&self, text: String) -> String;
}

/// Has a container as well.
#[uclass(imported, package = "Test", base = Desk)]
pub struct Rack {
    #[uproperty]
    list: UArray<i64>,
    #[uproperty]
    on_list: Delegate<fn(UArray<i64>) -> UArray<i64>>,
}

#[uclass(imported)]
impl Rack {
    #[ufunction]
    fn backwards(&self, list: Borrowed<UArray<i64>>) -> UArray<i64>;
}
