//! Object with a property of every kind.

use std::collections::{BTreeMap, HashSet};

use alcedo_plugin_api::prelude::*;

use crate::ops::add_received;

/// Location that is passed by value.
#[ustruct(pod, package = "Game")]
#[derive(Debug, PartialEq)]
pub struct Spot {
    /// Horizontal coordinate.
    pub x: f64,
    /// Vertical coordinate.
    pub y: f64,
}

/// Struct that is used in place.
#[ustruct(package = "Game")]
pub struct Sheet {
    /// A number.
    strength: f64,
    /// String. Each access copies the whole value.
    motto: String,
    /// Strings, used in place.
    titles: UArray<String>,
    /// Optional location.
    spot: UOptional<Spot>,
    /// Strong reference to another thing.
    friend: Obj<Thing>,
}

/// Interface that things implement.
#[uinterface(package = "Game")]
pub trait Speaks {}

/// Object with properties of nearly all kinds. One type of each size represents the numbers.
#[uclass(package = "Game", implements(Speaks))]
pub struct Thing {
    /// UTF-16 string.
    #[uproperty]
    title: UString,
    /// UTF-8 string.
    #[uproperty]
    wide: UUtf8String,
    /// String with one byte per character.
    #[uproperty]
    narrow: UAnsiString,
    /// Localizable string.
    #[uproperty]
    label: UText,
    /// Existing class.
    #[uproperty]
    kind: SubclassOf<Thing>,
    /// Class that may be declared later.
    #[uproperty]
    later: SoftClass<Thing>,
    /// Reference by path.
    #[uproperty]
    neighbor: SoftObject<Thing>,
    /// Reference by id.
    #[uproperty]
    twin: LazyObject<Thing>,
    /// Weak reference.
    #[uproperty]
    guest: WeakObject<Thing>,
    /// Strong reference by interface.
    #[uproperty]
    voice: ScriptInterface<Speaks>,
    /// Numbers.
    #[uproperty]
    numbers: UArray<f64>,
    /// Nested arrays of strings.
    #[uproperty]
    rows: UArray<UArray<String>>,
    /// Structs.
    #[uproperty]
    sheets: UArray<Sheet>,
    /// Strong references.
    #[uproperty]
    friends: UArray<Obj<Thing>>,
    /// Set of names.
    #[uproperty]
    tags: USet<UName>,
    /// Set of strings.
    #[uproperty]
    marks: USet<String>,
    /// Numbers by string.
    #[uproperty]
    ages: UMap<String, i32>,
    /// Arrays of structs by name.
    #[uproperty]
    groups: UMap<UName, UArray<Sheet>>,
    /// Optional number.
    #[uproperty]
    best: UOptional<f64>,
    /// Optional array.
    #[uproperty]
    maybe: UOptional<UArray<u32>>,
    /// Delegate that judges a number.
    #[uproperty]
    decide: Delegate<fn(f64) -> bool>,
    /// Listeners for a number.
    #[uproperty]
    on_reported: MulticastDelegate<fn(u32)>,
    /// Sparse listeners for a number.
    #[uproperty]
    rarely: SparseDelegate<fn(u32)>,
    /// A property.
    #[uproperty]
    watched: FieldPath,
    /// A struct.
    #[uproperty]
    sheet: Sheet,

    /// Flag of one byte.
    #[uproperty]
    flag: bool,
    /// Number of one byte.
    #[uproperty]
    byte: u8,
    /// Number of two bytes.
    #[uproperty]
    short: i16,
    /// Number of four bytes.
    #[uproperty]
    single: f32,
    /// Number of eight bytes.
    #[uproperty]
    long: i64,
    /// Property of type string. Each access copies the whole value.
    #[uproperty]
    text: String,
    /// A name.
    #[uproperty]
    name_of_it: UName,
    /// Location.
    #[uproperty]
    spot: Spot,
    /// Strong reference.
    #[uproperty]
    next: Obj<Thing>,
    /// Property of type array. Each access copies the whole value.
    #[uproperty]
    copied: Vec<String>,
    /// Property of type map. Each access copies the whole value.
    #[uproperty]
    counts: BTreeMap<String, u32>,
    /// Property of type set. Each access copies the whole value.
    #[uproperty]
    unique: HashSet<u16>,
    /// Property of type optional byte. Each access copies the whole value.
    #[uproperty]
    perhaps: Option<u8>,
    /// Hash of all received numbers.
    #[uproperty]
    received: u64,

    kept: Vec<UString>,
}

#[uclass]
impl Thing {
    #[red_constructor]
    fn new(_this: This<Self>) -> Self {
        if fixture::on!("failing") {
            // Two class default objects and a few things are constructed before the failure, so that the rollback has objects to undo.
            static BUILT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
            let built = BUILT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            assert!(built < 4, "this build does not come up");
        }
        Self { kept: Vec::new() }
    }

    /// Records the call and judges the number. `decide` is bound to this function.
    #[ufunction]
    fn judge(&self, this: This<Self>, number: f64) -> bool {
        this.set_received(add_received(this.received(), 1));
        number > 3.0
    }

    /// Records the received number.
    #[ufunction]
    fn hear(&self, this: This<Self>, stamp: u32) {
        this.set_received(add_received(this.received(), stamp));
    }

    /// Records the received number twice.
    #[ufunction]
    fn hear_twice(&self, this: This<Self>, stamp: u32) {
        this.set_received(add_received(add_received(this.received(), stamp), stamp));
    }

    /// Stores an owned value that is dropped with this thing. If three values are stored, drops them first. Returns the number of values.
    #[ufunction]
    fn keep(&mut self, word: String) -> u32 {
        if self.kept.len() == 3 {
            self.kept.clear();
        }
        self.kept.push(UString::from(word));
        self.kept.len() as u32
    }

    /// Returns the rows in reverse order, followed by the title.
    #[ufunction]
    fn turned(&self, rows: Borrowed<UArray<UArray<String>>>, title: Borrowed<UString>) -> UArray<UArray<String>> {
        let mut turned: Vec<Vec<String>> = rows.iter().map(|row| row.to_vec()).collect();
        turned.reverse();
        turned.push(vec![title.text()]);
        turned.into()
    }
}

/// Subclass with one more property.
#[uclass(package = "Game", base = Thing)]
pub struct Offshoot {
    /// Additional property.
    #[uproperty]
    more: UArray<String>,
}

#[uclass]
impl Offshoot {
    #[red_constructor]
    fn new(this: This<Self>) -> Self {
        // Constructions allow writes in a red constructor; a reload refuses this write. The test does not compare the property.
        let _in_a_reload = this.more().try_push("more");
        Self {}
    }
}
