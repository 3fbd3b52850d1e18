//! When objects are collected: at once, or in slices that each take no more of a frame than it gives them.

use std::time::{Duration, Instant};

use super::Runtime;
use crate::bridge::collection::Wanted;
use crate::error::Error;

/// A collection that was done at a safe point.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Collected {
    /// Objects that were destroyed.
    pub objects: usize,
    /// Ticks that the mark was spread over; one for a collection that was done at once.
    pub slices: u32,
}

/// The collection of objects that nothing keeps: [`Runtime::collection`]. Game thread only.
///
/// ```
/// # fn main() -> Result<(), alcedo_runtime::Error> {
/// let runtime = alcedo_runtime::Runtime::builder().build()?;
/// assert_eq!(runtime.collection().collect()?, 0);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy)]
pub struct Collection<'a>(pub(super) &'a Runtime);

impl Collection<'_> {
    /// Destroys every object that nothing keeps: no root, no reference in a property of a kept object, no value that plugin
    /// code owns. Returns how many. A mark in slices that is under way is given up.
    ///
    /// # Errors
    /// When plugin code is on the stack; the collection is done at the next safe point then. When an `add_references` of a
    /// native class panics; nothing is destroyed then.
    pub fn collect(&self) -> Result<usize, Error> {
        let core = &self.0.inner.core;
        let _busy = self.0.at_safe_point("a collection").inspect_err(|_| core.collection.ask(Wanted::Whole))?;
        Ok(core.collect()?)
    }

    /// Asks for a collection whose mark is done in slices: from the next safe point on, each tick gives it as much time as
    /// its [`Budget`](crate::Budget) says, and the world goes on in between. A reload gives the mark up, and it begins
    /// again. What it destroyed comes out of [`Collection::take_done`].
    pub fn begin_in_slices(&self) {
        self.0.inner.core.collection.ask(Wanted::InSlices);
    }

    /// Whether a mark in slices is under way.
    pub fn is_under_way(&self) -> bool {
        self.0.inner.core.world.objects.is_marking()
    }

    /// The collections done at safe points since the last time, oldest first; of more than 256 the last.
    pub fn take_done(&self) -> Vec<Collected> {
        self.0.inner.collected.take()
    }
}

impl Runtime {
    /// What a safe point does for collections, in about so much time, not counting what it destroys.
    pub(super) fn tend_collections(&self, time: Duration) {
        let core = &self.inner.core;
        if self.inner.slicing.get() && !core.world.objects.is_marking() {
            core.begin_collecting();
        }
        match core.collection.take() {
            Some(Wanted::Whole) => match self.collection().collect() {
                Ok(objects) => self.note_collected(Collected { objects, slices: 1 }),
                Err(error @ Error::NotASafePoint { .. }) => {
                    tracing::debug!(%error, "a collection waits for the next safe point");
                }
                Err(error) => tracing::error!(%error, "a collection is given up"),
            },
            Some(Wanted::InSlices) => {
                self.inner.slicing.set(true);
                core.begin_collecting();
            }
            None => {}
        }
        if !core.world.objects.is_marking() {
            return;
        }
        let Ok(_busy) = self.at_safe_point("a collection") else { return };
        let begun = Instant::now();
        match core.go_on_collecting(&mut || begun.elapsed() < time) {
            Ok(Some((objects, slices))) => self.note_collected(Collected { objects, slices }),
            Ok(None) => {}
            Err(error) => {
                self.inner.slicing.set(false);
                tracing::error!(%error, "a collection in slices is given up");
            }
        }
    }

    fn note_collected(&self, collected: Collected) {
        self.inner.slicing.set(false);
        self.inner.collected.push(collected);
    }
}
