//! What is churned: an object with a property of every kind.

use std::collections::{BTreeMap, HashSet};

use alcedo_plugin_api::prelude::*;

use crate::ops::hears;

/// A place, which travels by value.
#[ustruct(pod, package = "Game")]
#[derive(Debug, PartialEq)]
pub struct Spot {
    /// To the right.
    pub x: f64,
    /// Upwards.
    pub y: f64,
}

/// A struct that is used where it lies.
#[ustruct(package = "Game")]
pub struct Sheet {
    /// A number.
    strength: f64,
    /// A text, copied.
    motto: String,
    /// Texts, where they lie.
    titles: UArray<String>,
    /// A place, if any.
    spot: UOptional<Spot>,
    /// Somebody else, who is kept.
    friend: Obj<Thing>,
}

/// What things do.
#[uinterface(package = "Game")]
pub trait Speaks {}

/// One property of each kind.
#[uclass(package = "Game", implements(Speaks))]
pub struct Thing {
    /// A text.
    #[uproperty]
    title: UString,
    /// The same, told apart by others.
    #[uproperty]
    wide: UUtf8String,
    /// One byte a letter.
    #[uproperty]
    narrow: UAnsiString,
    /// For people.
    #[uproperty]
    label: UText,
    /// A class there is.
    #[uproperty]
    kind: SubclassOf<Thing>,
    /// A class that may come later.
    #[uproperty]
    later: SoftClass<Thing>,
    /// Another one by path.
    #[uproperty]
    neighbor: SoftObject<Thing>,
    /// Another one by id.
    #[uproperty]
    twin: LazyObject<Thing>,
    /// Another one, as long as it is there.
    #[uproperty]
    guest: WeakObject<Thing>,
    /// Another one, who is kept because it speaks.
    #[uproperty]
    voice: ScriptInterface<Speaks>,
    /// Numbers.
    #[uproperty]
    numbers: UArray<f64>,
    /// Rows of texts.
    #[uproperty]
    rows: UArray<UArray<String>>,
    /// Structs.
    #[uproperty]
    sheets: UArray<Sheet>,
    /// Others, who are kept.
    #[uproperty]
    friends: UArray<Obj<Thing>>,
    /// Names, each once.
    #[uproperty]
    tags: USet<UName>,
    /// Texts, each once.
    #[uproperty]
    marks: USet<String>,
    /// Numbers by text.
    #[uproperty]
    ages: UMap<String, i32>,
    /// Rows of structs by name.
    #[uproperty]
    groups: UMap<UName, UArray<Sheet>>,
    /// A number or none.
    #[uproperty]
    best: UOptional<f64>,
    /// A row or none.
    #[uproperty]
    maybe: UOptional<UArray<u32>>,
    /// Judges a number.
    #[uproperty]
    decide: Delegate<fn(f64) -> bool>,
    /// Are told a number.
    #[uproperty]
    on_told: MulticastDelegate<fn(u32)>,
    /// Are told one now and then.
    #[uproperty]
    rarely: SparseDelegate<fn(u32)>,
    /// A property.
    #[uproperty]
    watched: FieldPath,
    /// A struct.
    #[uproperty]
    sheet: Sheet,

    /// Of one byte, yes or no.
    #[uproperty]
    flag: bool,
    /// Of one byte.
    #[uproperty]
    byte: u8,
    /// Of two.
    #[uproperty]
    short: i16,
    /// Of four.
    #[uproperty]
    single: f32,
    /// Of eight.
    #[uproperty]
    long: i64,
    /// A text, copied.
    #[uproperty]
    text: String,
    /// A name.
    #[uproperty]
    name_of_it: UName,
    /// A place.
    #[uproperty]
    spot: Spot,
    /// Another one, who is kept.
    #[uproperty]
    next: Obj<Thing>,
    /// Copied in and out.
    #[uproperty]
    copied: Vec<String>,
    /// The same by text.
    #[uproperty]
    counts: BTreeMap<String, u32>,
    /// And each once.
    #[uproperty]
    unique: HashSet<u16>,
    /// And one or none.
    #[uproperty]
    perhaps: Option<u8>,
    /// What it was told.
    #[uproperty]
    heard: u64,

    kept: Vec<UString>,
}

#[uclass]
impl Thing {
    #[red_constructor]
    fn new(_this: This<Self>) -> Self {
        if fixture::on!("failing") {
            // Two class defaults and a few things come up, so that there is something to undo.
            static BUILT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
            let built = BUILT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            assert!(built < 4, "this build does not come up");
        }
        Self { kept: Vec::new() }
    }

    /// Is asked by delegates.
    #[ufunction]
    fn judge(&self, this: This<Self>, number: f64) -> bool {
        this.set_heard(hears(this.heard(), 1));
        number > 3.0
    }

    /// Is told by delegates.
    #[ufunction]
    fn hear(&self, this: This<Self>, stamp: u32) {
        this.set_heard(hears(this.heard(), stamp));
    }

    /// Is told by delegates, and remembers it twice.
    #[ufunction]
    fn hear_twice(&self, this: This<Self>, stamp: u32) {
        this.set_heard(hears(hears(this.heard(), stamp), stamp));
    }

    /// Keeps a black that ends with this thing, or lets all of them go when there are many. How many there are now.
    #[ufunction]
    fn keep(&mut self, word: String) -> u32 {
        if self.kept.len() == 3 {
            self.kept.clear();
        }
        self.kept.push(UString::from(word));
        self.kept.len() as u32
    }

    /// The rows, last first, and the title as one more.
    #[ufunction]
    fn turned(&self, rows: Lent<UArray<UArray<String>>>, title: Lent<UString>) -> UArray<UArray<String>> {
        let mut turned: Vec<Vec<String>> = rows.iter().map(|row| row.to_vec()).collect();
        turned.reverse();
        turned.push(vec![title.text()]);
        turned.into()
    }
}

/// A thing with more to it.
#[uclass(package = "Game", base = Thing)]
pub struct Offshoot {
    /// More.
    #[uproperty]
    more: UArray<String>,
}

#[uclass]
impl Offshoot {
    #[red_constructor]
    fn new(this: This<Self>) -> Self {
        // A write in a red constructor is for constructions alone; a reload refuses it, and it changes nothing that is compared.
        let _in_a_reload = this.more().try_push("more");
        Self {}
    }
}
