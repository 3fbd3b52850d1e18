//! Resolves the references of saved values while a world is loaded.

use crate::escape::line;
use crate::handles::ObjectHandle;
use crate::object::World;
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
