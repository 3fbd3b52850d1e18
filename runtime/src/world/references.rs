//! Resolves the references of saved values while a world is loaded.

use alcedo_abi::value::LazyRaw;

use crate::boundary::CallError;
use crate::escape::line;
use crate::handles::ObjectHandle;
use crate::object::World;
use crate::object::convert::Paths;
use crate::world::file_value::FileReference;

/// Resolves saved references.
pub(super) struct References<'a> {
    world: &'a World,
    /// Created object of each record.
    objects: &'a [ObjectHandle],
    /// Paths without an object.
    pub(super) lost: Vec<String>,
}

impl<'a> References<'a> {
    pub(super) fn new(world: &'a World, objects: &'a [ObjectHandle]) -> Self {
        Self { world, objects, lost: Vec::new() }
    }

    /// Returns the object of a saved reference. Returns `NONE` if the object does not exist.
    pub(super) fn object(&mut self, reference: &FileReference<'_>) -> ObjectHandle {
        match reference {
            FileReference::None => ObjectHandle::NONE,
            FileReference::In(index) => self.objects.get(*index as usize).copied().unwrap_or_default(),
            FileReference::Path(path) => {
                // Accepts only templates, because a file refers to an object by path only if code creates the object. The load destroys all
                // remaining objects of the old world. Older files contain paths of `object_at`.
                let named = || self.world.object_at(path).filter(|object| self.world.objects.is_template(*object));
                self.world.template_at(path).or_else(named).unwrap_or_else(|| {
                    self.lost.push(line(path));
                    ObjectHandle::NONE
                })
            }
        }
    }
}

/// Paths and ids of a world during a load, for the conversion of saved references. Hides the objects that the load destroys.
pub(super) struct Remaining<'a>(pub(super) &'a World);

impl Remaining<'_> {
    /// Checks if the object exists after the load.
    fn remains(&self, object: ObjectHandle) -> bool {
        !self.0.objects.predates_shadow(object) || self.0.objects.is_template(object)
    }
}

impl Paths for Remaining<'_> {
    fn path_of(&self, object: ObjectHandle) -> Option<String> {
        self.0.path_of(object)
    }

    fn object_at(&self, path: &str) -> Option<ObjectHandle> {
        self.0.object_at(path).filter(|object| self.remains(*object))
    }

    fn id_of(&self, object: ObjectHandle) -> Result<LazyRaw, CallError> {
        self.0.id_of(object)
    }

    fn object_with_id(&self, id: LazyRaw) -> Option<ObjectHandle> {
        self.0.object_with_id(id).filter(|object| self.remains(*object))
    }

    fn names_of_member(&self, owners: &mut dyn Iterator<Item = &str>, name: &str) -> Vec<String> {
        self.0.names_of_member(owners, name)
    }
}
