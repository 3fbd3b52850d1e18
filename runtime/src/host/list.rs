//! Object lists for repeated iteration. The list of a class is updated only if objects or classes have changed.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::bridge::batches::ListChange;
use crate::handles::ObjectHandle;
use crate::load::context::handle::WeakContexts;
use crate::object::objects::ListEdit;
use crate::runtime::Runtime;

/// Counter for the versions of lists. All threads share this counter, because one thread may fill a list that a different thread uses.
static VERSIONS: AtomicU64 = AtomicU64::new(0);

fn next_version() -> u64 {
    VERSIONS.fetch_add(1, Ordering::Relaxed) + 1
}

/// An ordered list of objects. Does not keep the objects alive. Any thread may fill a list.
///
/// # Examples
/// ```rust
/// use alcedo_runtime::Runtime;
/// use alcedo_runtime::host::ObjectList;
///
/// let runtime = Runtime::builder().build()?;
/// let mut selection = ObjectList::default();
/// selection.push(runtime.objects().spawn("/Script/Core.Object")?);
/// assert_eq!(selection.objects().len(), 1);
/// # Ok::<(), alcedo_runtime::Error>(())
/// ```
#[derive(Debug)]
pub struct ObjectList {
    objects: Vec<ObjectHandle>,
    /// Version of the contents; unique among all lists.
    version: u64,
    /// Difference from an earlier version of the list. `None` if the difference is unknown.
    pub(super) edits: Option<Edits>,
    /// Load contexts of the runtime that filled the list. `None` if no runtime has filled the list, but code has appended handles.
    host: Option<WeakContexts>,
}

/// Objects that were added to and removed from a list since an earlier version.
#[derive(Debug)]
pub(super) struct Edits {
    /// Version of the list before the edits.
    pub(super) from: u64,
    pub(super) change: ListChange,
}

impl Default for ObjectList {
    fn default() -> Self {
        Vec::new().into()
    }
}

impl From<Vec<ObjectHandle>> for ObjectList {
    fn from(objects: Vec<ObjectHandle>) -> Self {
        Self { objects, version: next_version(), edits: None, host: None }
    }
}

impl ObjectList {
    /// Returns the objects.
    #[must_use]
    pub fn objects(&self) -> &[ObjectHandle] {
        &self.objects
    }

    /// Appends an object.
    pub fn push(&mut self, object: ObjectHandle) {
        self.objects.push(object);
        (self.version, self.edits) = (next_version(), None);
    }

    /// Returns `true` if another runtime has filled the list. Returns `false` if code has appended handles to the list, because such a list
    /// has no known runtime.
    pub(super) fn is_of_another(&self, runtime: &Runtime) -> bool {
        self.host.as_ref().is_some_and(|host| !runtime.owns(host))
    }

    pub(super) fn version(&self) -> u64 {
        self.version
    }
}

/// All objects of a class and its derived classes, except templates and dormant objects; see [`Runtime::list`]. Game thread only.
///
/// # Examples
/// ```rust
/// use alcedo_runtime::Runtime;
///
/// let runtime = Runtime::builder().build()?;
/// let mut all = runtime.list("/Script/Core.Object");
/// let player = runtime.objects().spawn("/Script/Core.Object")?;
/// assert!(all.refresh(&runtime));
/// assert_eq!(all.list().objects(), [player]);
/// // Since then, no object was created or destroyed.
/// assert!(!all.refresh(&runtime));
/// # Ok::<(), alcedo_runtime::Error>(())
/// ```
#[derive(Debug)]
pub struct ClassList {
    class: String,
    list: ObjectList,
    /// Value of `FastPaths::population` and class epoch at the last refresh. Different hosts have different class epochs.
    seen: Option<(u64, u64)>,
    /// Set if the last refresh has updated the list.
    was_updated: bool,
}

impl Runtime {
    /// Returns an empty list for the class with this path. The class may be declared later. [`ClassList::refresh`] fills the list.
    #[must_use]
    pub fn list(&self, class: &str) -> ClassList {
        ClassList { class: class.to_owned(), list: ObjectList::default(), seen: None, was_updated: false }
    }
}

impl ClassList {
    /// Updates the list if the list may be outdated. Returns `true` if the list was updated. An update is necessary after an object was
    /// created or destroyed, or after an object's body or a class was replaced. An update is also necessary if `runtime` differs from the
    /// runtime of the last refresh. If only a few objects have changed, the update checks only these objects.
    pub fn refresh(&mut self, runtime: &Runtime) -> bool {
        let core = runtime.core();
        let now = (core.fast_paths.population(), core.world.types.epoch());
        self.was_updated = self.seen != Some(now);
        if !self.was_updated {
            return false;
        }
        let class = core.world.types.class_by_path(&self.class);
        let before = self.seen.replace(now).filter(|(_, classes)| *classes == now.1).map(|(population, _)| population);
        if let (Some(class), Some(before)) = (&class, before)
            && let Some(edits) = core.world.objects.follow(class, &mut self.list.objects, before)
        {
            let (after, classes) = now;
            let from = std::mem::replace(&mut self.list.version, next_version());
            self.list.edits = Some(Edits { from, change: ListChange { before, after, classes, edits } });
            return true;
        }
        self.list = class.map(|class| core.world.objects.of_class(&class)).unwrap_or_default().into();
        self.list.host = Some(runtime.contexts().downgrade());
        true
    }

    /// Returns the objects that the last refresh has added to the list. Returns all objects if the refresh has rebuilt the whole list. An
    /// object whose body or plugin part was replaced counts as added.
    #[must_use]
    pub fn added(&self) -> Vec<ObjectHandle> {
        if !self.was_updated {
            return Vec::new();
        }
        let Some(edits) = &self.list.edits else { return self.list.objects.clone() };
        let added = |edit: &ListEdit| match edit {
            ListEdit::Added(_, object) => Some(*object),
            ListEdit::Removed(_) => None,
        };
        edits.change.edits.iter().filter_map(added).collect()
    }

    /// Returns the objects in order of creation.
    #[must_use]
    pub fn list(&self) -> &ObjectList {
        &self.list
    }
}
