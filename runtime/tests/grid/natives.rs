//! Contains the host declarations of the grid: shared types, and a class whose functions are called by name.

use alcedo_runtime::kinds::{PropertyKind, class_flags};
use alcedo_runtime::native::{Delegate, NativeClass, Natives, Obj, Object, uclass, uenum, ustruct};
use alcedo_runtime::{CallError, Value, natives};

/// A suit of cards.
#[uenum(package = "Test")]
#[derive(Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Suit {
    /// Red.
    Hearts,
    /// Black.
    Spades = 7,
}

/// Point, passed by value.
#[ustruct(package = "Test", pod)]
#[derive(Debug, PartialEq, Default)]
pub(crate) struct Point {
    /// To the right.
    pub(crate) x: f64,
    /// Down.
    pub(crate) y: f64,
}

/// Functions of every kind, implemented by the host.
#[uclass(package = "Test", blueprintable)]
#[derive(Default)]
pub(crate) struct Desk {
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
    #[uproperty(default = "desk")]
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

#[uclass]
impl Desk {
    #[ufunction]
    fn numbers(&self, a: u8, b: i16, c: u32, d: f32, e: f64, f: bool) -> f64 {
        f64::from(a) + f64::from(b) + f64::from(c) + f64::from(d) + e + f64::from(u8::from(f))
    }

    #[ufunction]
    fn same(&self, object: Obj<Object>) -> Obj<Object> {
        object
    }

    #[ufunction]
    fn other(&self, suit: Suit) -> Suit {
        match suit {
            Suit::Hearts => Suit::Spades,
            Suit::Spades => Suit::Hearts,
        }
    }

    #[ufunction]
    fn turn(&self, point: Point) -> Point {
        Point { x: point.y, y: -point.x }
    }

    #[ufunction(blueprint_native_event)]
    fn greet(&self, text: String) -> String;
    fn greet_implementation(&mut self, text: String) -> String {
        format!("{text}, from the host")
    }

    #[ufunction]
    fn split(&self, number: u32, rest: &mut u32) -> u32 {
        let among = std::mem::replace(rest, number % (*rest).max(1));
        number / among.max(1)
    }

    #[ufunction]
    fn fail(&self, number: i32) -> Result<i32, String> {
        if number < 0 { Err(format!("{number} is negative")) } else { Ok(number) }
    }

    #[ufunction]
    fn crash(&self, number: i32) -> i32 {
        assert!(number >= 0, "{number} is negative");
        number
    }
}

/// Declares a class with a container by hand, because a host class in Rust cannot have containers.
fn rack() -> NativeClass {
    let list = (PropertyKind::ARRAY, "i64");
    NativeClass::new("Test", "Rack", "/Script/Test.Desk")
        .doc("Has a container as well.")
        .flags(class_flags::BLUEPRINTABLE)
        .property("list", list, 0, "")
        .property("on_list", (PropertyKind::DELEGATE, "Array(i64) -> Array(i64)"), 0, "")
        .function("backwards", &[("list", list)], Some(list), 0, |_world, frame| {
            let Value::Array(mut list) = frame.take_value()? else { return Err(CallError::other("a list")) };
            frame.finish()?;
            list.reverse();
            frame.set_result_value(&Value::Array(list))
        })
}

pub(crate) fn declared() -> Natives {
    natives![Suit, Point, Desk].class(rack())
}
