//! The class before the change.

use alcedo_plugin_api::prelude::*;
use engine_glue::{Actor, SceneComponent, Vector};

/// A width and a height.
#[ustruct(pod, package = "Game")]
#[derive(Debug, Default, PartialEq)]
pub struct Form {
    /// From side to side.
    pub width: f32,
    /// From bottom to top.
    pub height: f32,
}

/// Type of a kept field, which reloads keep as a whole.
#[derive(Default, serde::Serialize, serde::Deserialize)]
pub struct Record {
    /// Number of shifts.
    pub shifts: u32,
}

/// An actor of many shapes.
#[uclass(package = "Game", base = Actor, blueprintable)]
pub struct Shapeshifter {
    /// Stays as it is.
    #[uproperty(default = 1.5)]
    same: f64,
    /// Removed later.
    #[uproperty(default = 7)]
    removed: i32,
    /// Becomes an `i64`.
    #[uproperty(default = 5)]
    widened: i32,
    /// Becomes an `i32`.
    #[uproperty(default = 0.5)]
    narrowed: f64,
    /// Becomes a string.
    #[uproperty]
    named: UName,
    /// Gets another default.
    #[uproperty(default = 180.0)]
    speed: f64,
    /// Gets another default.
    #[uproperty(default = "gray")]
    color: String,
    /// A struct whose declaration does not change. The default changes.
    #[uproperty(default = (x = 1.0))]
    home: Vector,
    /// A struct whose fields change.
    #[uproperty]
    form: Form,
    /// A friend of this shapeshifter.
    #[uproperty]
    friend: Obj<Shapeshifter>,
    /// A subobject that remains.
    #[uproperty(default_subobject)]
    torso: Obj<SceneComponent>,
    /// A subobject that is removed later, and until then the root.
    #[uproperty(default_subobject, root_component)]
    tail: Obj<SceneComponent>,

    /// A kept field.
    #[keep]
    shifts: u32,
    /// A kept field whose type changes later.
    #[keep]
    mood: String,
    /// A kept field that is removed later.
    #[keep]
    regrets: u32,
    /// A kept struct that later has one more field.
    #[keep]
    record: Record,
    /// A field that is not kept, so each reload resets it.
    breath: u32,
}

#[uclass]
impl Shapeshifter {
    #[red_constructor]
    fn new(_this: This<Self>) -> Self {
        Self { shifts: 0, mood: "calm".to_owned(), regrets: 0, record: Record::default(), breath: 0 }
    }

    /// Changes all fields of the plugin part, and returns them.
    #[ufunction(blueprint_callable)]
    fn shift(&mut self) -> String {
        self.shifts += 1;
        self.record.shifts += 1;
        self.regrets += 1;
        self.breath += 1;
        self.mood = "wild".to_owned();
        self.own()
    }

    /// Formats the fields of the plugin part.
    #[ufunction(blueprint_pure)]
    fn own(&self) -> String {
        format!("v1 shifts={} mood={} regrets={} breath={}", self.shifts, self.mood, self.regrets, self.breath)
    }
}
