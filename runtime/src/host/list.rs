//! Lists of objects that a host goes through again and again: all of a class, looked for anew only when some object has begun or ended.

use std::cell::Cell;

use crate::handles::ObjectHandle;
use crate::runtime::Runtime;

thread_local! {
    /// The last version that a list of this thread has had.
    static VERSIONS: Cell<u64> = const { Cell::new(0) };
}

fn next_version() -> u64 {
    let version = VERSIONS.get() + 1;
    VERSIONS.set(version);
    version
}

/// Objects in an order. It keeps none of them alive. Game thread only.
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

    /// Another number for each content of each list of this thread.
    pub(super) fn version(&self) -> u64 {
        self.version
    }
}

/// All objects of a class and of those that extend it, but templates and those that sleep: [`Runtime::list`]. Game thread only.
#[derive(Debug)]
pub struct ClassList {
    class: String,
    list: ObjectList,
    /// The population when they were looked for.
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
    /// Looks for them anew where an object has begun, ended or got another body since the last time, or a class has changed. Whether it
    /// has looked.
    pub fn refresh(&mut self, runtime: &Runtime) -> bool {
        let core = runtime.core();
        let now = (core.ways.population(), core.world.types.stamp());
        if self.seen == Some(now) {
            return false;
        }
        let objects = &core.world.objects;
        let found = core.world.types.class_by_path(&self.class).map(|wanted| {
            let is_one = |object: &ObjectHandle| {
                objects.class(*object).is_some_and(|class| class.is_a(&wanted)) && objects.waits_for(*object).is_none()
            };
            objects.living().into_iter().filter(is_one).collect::<Vec<_>>()
        });
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
