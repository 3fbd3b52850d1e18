//! The class after the change.

use alcedo_plugin_api::prelude::*;
use engine_glue::{Actor, SceneComponent, Vector};

/// A width, a height and a depth.
#[ustruct(pod, package = "Game")]
#[derive(Debug, Default, PartialEq)]
pub struct Form {
    /// From front to back.
    pub depth: f64,
    /// From side to side.
    pub width: f64,
    /// From bottom to top.
    pub height: f64,
}

/// Type of a kept field, which reloads keep as a whole.
#[derive(Default, serde::Serialize, serde::Deserialize)]
pub struct Record {
    /// Number of shifts.
    pub shifts: u32,
    /// Distance of the shifts.
    pub far: u32,
}

/// An actor of many shapes.
#[uclass(package = "Game", base = Actor, blueprintable)]
pub struct Shapeshifter {
    /// Added.
    #[uproperty(default = "new here")]
    added: String,
    /// Stays as it is.
    #[uproperty(default = 1.5)]
    same: f64,
    /// Was an `i32`.
    #[uproperty(default = 5)]
    widened: i64,
    /// Was an `f64`.
    #[uproperty(default = 9)]
    narrowed: i32,
    /// Was a name.
    #[uproperty]
    named: String,
    /// Has another default.
    #[uproperty(default = 240.0)]
    speed: f64,
    /// Has another default.
    #[uproperty(default = "golden")]
    color: String,
    /// A struct whose declaration does not change. The default changes.
    #[uproperty(default = (x = 2.0))]
    home: Vector,
    /// A struct whose fields changed.
    #[uproperty]
    form: Form,
    /// A friend of this shapeshifter.
    #[uproperty]
    friend: Obj<Shapeshifter>,
    /// A subobject that remains.
    #[uproperty(default_subobject)]
    torso: Obj<SceneComponent>,
    /// A subobject that was added, and is the root.
    #[uproperty(default_subobject, root_component)]
    wings: Obj<SceneComponent>,

    /// A kept field.
    #[keep]
    shifts: u32,
    /// A kept field that had another type before.
    #[keep]
    mood: u32,
    /// A kept struct that had one field less before.
    #[keep]
    record: Record,
    /// A field that is not kept, so each reload resets it.
    breath: u32,
}

#[uclass]
impl Shapeshifter {
    #[red_constructor]
    fn new(_this: This<Self>) -> Self {
        Self { shifts: 0, mood: 1, record: Record::default(), breath: 0 }
    }

    /// Changes the kept field that had another type before, and returns the fields of the plugin part.
    #[ufunction(blueprint_callable)]
    fn brood(&mut self) -> String {
        self.mood += 6;
        self.own()
    }

    /// Formats the fields of the plugin part.
    #[ufunction(blueprint_pure)]
    fn own(&self) -> String {
        format!("v2 shifts={} mood={} breath={}", self.shifts, self.mood, self.breath)
    }
}
