//! Lists of objects that a host goes through again and again: all of a class, looked for anew only when some object has begun or ended.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::handles::ObjectHandle;
use crate::runtime::Runtime;

/// How many versions lists have had, on all threads: a list may be filled on one and called on another.
static VERSIONS: AtomicU64 = AtomicU64::new(0);

fn next_version() -> u64 {
    VERSIONS.fetch_add(1, Ordering::Relaxed) + 1
}

/// Objects in an order. It keeps none of them alive. Any thread may fill it.
#[derive(Debug)]
pub struct ObjectList {
    objects: Vec<ObjectHandle>,
    /// Another number for each content of each list.
    version: u64,
}

impl Default for ObjectList {
    fn default() -> Self {
        Vec::new().into()
    }
}

impl From<Vec<ObjectHandle>> for ObjectList {
    fn from(objects: Vec<ObjectHandle>) -> Self {
        Self { objects, version: next_version() }
    }
}

impl ObjectList {
    /// The objects.
    #[must_use]
    pub fn objects(&self) -> &[ObjectHandle] {
        &self.objects
    }

    /// Adds one at the end.
    pub fn push(&mut self, object: ObjectHandle) {
        self.objects.push(object);
        self.version = next_version();
    }

    /// Another number for each content of each list.
    pub(super) fn version(&self) -> u64 {
        self.version
    }
}

/// All objects of a class and of those that extend it, but templates and those that sleep: [`Runtime::list`]. Game thread only.
#[derive(Debug)]
pub struct ClassList {
    class: String,
    list: ObjectList,
    /// The population when they were looked for, and the stamp of the classes, which is another one in each host.
    seen: Option<(u64, u64)>,
}

impl Runtime {
    /// A list of all objects of a class, by the path of the class, which need not be there yet. It is empty until
    /// [`ClassList::refresh`].
    #[must_use]
    pub fn list(&self, class: &str) -> ClassList {
        ClassList { class: class.to_owned(), list: ObjectList::default(), seen: None }
    }
}

impl ClassList {
    /// Looks for them anew where an object has begun, ended or got another body since the last time, or a class has changed, or it is
    /// another host. Whether it has looked.
    pub fn refresh(&mut self, runtime: &Runtime) -> bool {
        let core = runtime.core();
        let now = (core.ways.population(), core.world.types.stamp());
        if self.seen == Some(now) {
            return false;
        }
        let found = core.world.types.class_by_path(&self.class).map(|wanted| core.world.objects.of_class(&wanted));
        self.list = found.unwrap_or_default().into();
        self.seen = Some(now);
        true
    }

    /// The objects, in order of creation.
    #[must_use]
    pub fn list(&self) -> &ObjectList {
        &self.list
    }
}
