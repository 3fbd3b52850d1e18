//! Worlds on disk, and what two worlds are compared by.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::Path;

use super::Runtime;
use crate::error::Error;
use crate::reload::digest::{self, WorldDigest};
use crate::world::{self, WorldLoad};

/// The world of a host as a whole: [`Runtime::worlds`]. Game thread only.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let runtime = alcedo_runtime::Runtime::builder().build()?;
/// let file = std::env::temp_dir().join(format!("alcedo-{}.world", std::process::id()));
/// let before = runtime.worlds().hash();
/// assert_eq!(runtime.worlds().save(&file)?, 0);
/// runtime.worlds().load(&file)?;
/// assert_eq!(runtime.worlds().hash(), before);
/// # std::fs::remove_file(&file)?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy)]
pub struct Worlds<'a>(pub(super) &'a Runtime);

impl Worlds<'_> {
    /// Writes all living objects to a file: their classes and names, where they lie, the values in which they differ from
    /// their defaults, and what their plugin parts keep. Transient properties are left out. The file is described in
    /// `docs/world-format.md`. Returns how many objects it were.
    ///
    /// # Errors
    /// When plugin code is on the stack, a kept field does not serialize, or the file cannot be written. What was there
    /// under that name is still there then.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<u64, Error> {
        let _busy = self.0.at_safe_point("saving the world")?;
        Ok(world::save(&self.0.inner.core, path.as_ref())?)
    }

    /// Puts the world of a file in place of the living objects, which end. The objects that were saved go on with their
    /// lives: their plugin parts are built by red constructors, as after a reload, and no class constructor runs again.
    /// Values that were the default follow the default of now; types that have changed are converted where nothing is
    /// lost; objects whose class is not there are dormant.
    ///
    /// # Errors
    /// When plugin code is on the stack, the file is damaged, cut off or newer than this host, or an object cannot be
    /// made. The world is as it was then.
    pub fn load(&self, path: impl AsRef<Path>) -> Result<WorldLoad, Error> {
        let _busy = self.0.at_safe_point("loading a world")?;
        let report = world::load(&self.0.inner.core, path.as_ref())?;
        self.0.inner.core.finalizer.release();
        self.0.inner.core.world.objects.free_graveyard();
        Ok(report)
    }

    /// A number that two equal worlds share: living objects with their class, name, outer and all property values. What
    /// plugins keep on their own side is not in it.
    pub fn hash(&self) -> u64 {
        let world = &self.0.inner.core.world;
        let mut hasher = DefaultHasher::new();
        for object in self.0.objects().all() {
            (object, world.objects.name(object), world.objects.outer(object)).hash(&mut hasher);
            // A living object has a body.
            let _body = world.objects.with_body(object, |body| {
                body.class().path.hash(&mut hasher);
                body.view().hash_into(&mut hasher);
            });
        }
        hasher.finish()
    }

    /// The world as text, part by part: objects, values, plugin parts, types, calls, modules, and what modules and the host
    /// hold of each other. Equal before and after a reload that was rolled back, but for what its report names
    /// (`Reload::remainder`); [`WorldDigest::differences`] says what is not. What plugins keep on their own side is
    /// in it as far as its place goes, not its content.
    pub fn digest(&self) -> WorldDigest {
        digest::digest(&self.0.inner.core, &self.0.inner.loads)
    }
}
