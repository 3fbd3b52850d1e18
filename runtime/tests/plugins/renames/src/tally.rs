//! Class whose kept fields have standard types. A later build changes these fields.

use alcedo_plugin_api::prelude::*;

/// Number of notes. A later build has a wider number type.
#[cfg(not(feature = "unlisted"))]
type Count = u32;
#[cfg(feature = "unlisted")]
type Count = u64;

/// A note. A later build has notes of another type, under another name.
#[cfg(not(all(feature = "renamed", feature = "unlisted")))]
type Note = String;
#[cfg(all(feature = "renamed", feature = "unlisted"))]
type Note = u32;

/// Number of marks, in the class or its base class. A later build has marks of another type.
#[cfg(not(all(feature = "renamed", feature = "unlisted")))]
type Marks = u32;
#[cfg(all(feature = "renamed", feature = "unlisted"))]
type Marks = String;

/// Notes and their number.
#[cfg(not(feature = "renamed"))]
#[uclass(package = "Game")]
pub struct Tally {
    /// Number of notes.
    #[keep]
    count: Count,
    /// Last answer. If the field is carried by name, `Some(None)` returns as `None`.
    #[keep]
    answer: Option<Option<u32>>,
    /// Notes.
    #[keep]
    notes: Vec<Note>,
}

/// Notes and their number, in a later build.
#[cfg(feature = "renamed")]
#[uclass(package = "Game")]
pub struct Tally {
    /// Number of notes.
    #[keep]
    count: Count,
    /// Last answer.
    #[keep]
    answer: Option<Option<u32>>,
    /// Notes.
    #[keep(was = "notes")]
    remarks: Vec<Note>,
}

#[uclass]
impl Tally {
    /// Adds a note.
    #[ufunction]
    fn note(&mut self, text: String) {
        self.count += 1;
        self.answer = Some(None);
        self.notes_mut().push(text.parse().unwrap_or_default());
    }

    /// Sets the number of notes.
    #[ufunction]
    fn fill(&mut self, count: u64) {
        self.count = count as Count;
    }

    /// Prints the kept fields.
    #[ufunction]
    fn all(&mut self) -> String {
        let notes: Vec<_> = self.notes_mut().iter().map(ToString::to_string).collect();
        format!("{} {:?} {}", self.count, self.answer, notes.join(" "))
    }
}

impl Tally {
    #[cfg(not(feature = "renamed"))]
    fn notes_mut(&mut self) -> &mut Vec<Note> {
        &mut self.notes
    }

    #[cfg(feature = "renamed")]
    fn notes_mut(&mut self) -> &mut Vec<Note> {
        &mut self.remarks
    }
}

/// Two kept fields. A later build merges these fields.
#[cfg(not(feature = "renamed"))]
#[uclass(package = "Game")]
pub struct Pair {
    /// First number.
    #[keep]
    left: u32,
    /// Second number.
    #[keep]
    right: u32,
}

#[cfg(not(feature = "renamed"))]
#[uclass]
impl Pair {
    /// Sets both numbers.
    #[ufunction]
    fn fill(&mut self, left: u32, right: u32) {
        (self.left, self.right) = (left, right);
    }

    /// Prints the numbers.
    #[ufunction]
    fn numbers(&self) -> String {
        format!("{} {}", self.left, self.right)
    }
}

/// The merged field, in a later build.
#[cfg(feature = "renamed")]
#[uclass(package = "Game")]
pub struct Pair {
    /// First number of the earlier build.
    #[keep(was = "left, right")]
    number: u32,
}

#[cfg(feature = "renamed")]
#[uclass]
impl Pair {
    /// Prints the number.
    #[ufunction]
    fn numbers(&self) -> String {
        self.number.to_string()
    }
}

/// Base class of a class with a kept field.
#[cfg(not(feature = "unlisted"))]
#[uclass(package = "Game")]
pub struct Slate {}

/// Class with a kept field. A later build declares the field in the base class.
#[cfg(not(feature = "unlisted"))]
#[uclass(package = "Game", base = Slate)]
pub struct Chalk {
    /// Number of marks.
    #[keep]
    marks: Marks,
}

#[cfg(not(feature = "unlisted"))]
#[uclass]
impl Chalk {
    /// Adds a mark, and returns the number of marks.
    #[ufunction]
    fn mark(&mut self) -> u32 {
        self.marks += 1;
        self.marks
    }
}

/// Base class of a later build, with the kept field.
#[cfg(feature = "unlisted")]
#[uclass(package = "Game")]
pub struct Slate {
    /// Number of marks.
    #[keep]
    marks: Marks,
}

#[cfg(all(feature = "unlisted", not(feature = "renamed")))]
#[uclass]
impl Slate {
    /// Adds a mark, and returns the number of marks.
    #[ufunction]
    fn mark(&mut self) -> u32 {
        self.marks += 1;
        self.marks
    }
}

/// Class of a later build, without a field.
#[cfg(feature = "unlisted")]
#[uclass(package = "Game", base = Slate)]
pub struct Chalk {}
