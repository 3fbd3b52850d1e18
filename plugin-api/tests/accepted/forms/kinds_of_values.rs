//! Every kind is accepted as the type of a property, parameter, result, field and element, under each name of the kind.
#![forbid(unsafe_code)]

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use alcedo_plugin_api::prelude::*;

type Row = UArray<UOptional<UMap<UName, Vec<Option<f64>>>>>;

/// A struct in a struct.
#[ustruct(package = "Game")]
pub struct Inner {
    /// A field with a raw identifier as its name.
    r#type: UText,
    rows: Row,
}

/// A struct that contains the previous struct.
#[ustruct(package = "Game")]
pub struct Outer {
    inner: Inner,
    all: UMap<String, Inner>,
    by: HashMap<u8, BTreeMap<bool, Obj<Object>>>,
    each: UOptional<Inner>,
    seen: BTreeSet<String>,
}

/// Struct of plain fields, which can be borrowed as a slice.
#[ustruct(pod, package = "Game")]
pub struct Mark {
    at: f64,
    owner: Obj<Object>,
    name: UName,
}

/// A struct that contains the previous struct.
#[ustruct(pod, package = "Game")]
pub struct Marks {
    first: Mark,
    count: u8,
}

/// Counts the marks without copying them.
pub fn count(marks: &Borrowed<'_, UArray<Marks>>, whose: &Borrowed<'_, UArray<Obj<Object>>>) -> u32 {
    marks.with_slice(|marks| marks.iter().map(|marks| u32::from(marks.count)).sum::<u32>())
        + whose.with_slice_mut(|whose| whose.len() as u32)
}

/// An interface of this module.
#[uinterface(package = "Game")]
pub trait Faces {}

mod foreign {
    use alcedo_plugin_api::prelude::*;

    #[uinterface(imported, package = "Engine")]
    pub trait Sings {}
}

#[uclass(package = "Game", implements(Faces, foreign::Sings))]
pub struct Holder {
    #[uproperty]
    outer: Outer,
    #[uproperty]
    row: Row,
    #[uproperty(default = "text")]
    ansi: UAnsiString,
    #[uproperty]
    decide: Delegate<fn(UArray<Outer>, HashSet<u16>) -> Option<Inner>>,
    #[uproperty]
    reported: UArray<MulticastDelegate<fn()>>,
    #[uproperty]
    view: ScriptInterface<Faces>,
    #[uproperty]
    views: UMap<UName, ScriptInterface<foreign::Sings>>,
    #[uproperty]
    next: Obj<Self>,

    friends: Vec<Obj<Self>>,
    own: Vec<Outer>,
    spare: std::sync::Arc<std::sync::Mutex<Option<UString>>>,
}

#[uclass]
impl Holder {
    #[ufunction]
    fn all(
        &mut self,
        this: This<Self>,
        outer: Borrowed<'_, Outer>,
        row: Row,
        none: Borrowed<Delegate<fn()>>,
    ) -> UArray<Outer> {
        outer.inner().r#type().set("text");
        outer.set_inner(outer.inner().to_owned());
        this.outer().assign(&outer);
        this.set_row(row);
        this.reported().get(0).expect("one").broadcast(());
        let _unbound: Result<(), CallError> = none.call(());
        self.own.push(outer.to_owned());
        let _made: UArray<Outer> = self.own.iter().collect();
        this.all(this.outer(), Row::default(), none)
    }

    #[ufunction]
    fn befriend(&mut self, this: This<Self>, other: Obj<Self>) -> Obj<Self> {
        this.set_next(other);
        self.friends.push(other);
        this.next()
    }
}

fn main() {}
