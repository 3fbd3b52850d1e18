//! Saves, loads and compares worlds.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::Path;

use super::Runtime;
use crate::error::Error;
use crate::reload::digest::{self, WorldDigest};
use crate::world::{self, Snapshot, WorldLoadReport};

/// Operations on the whole world of a host; see [`Runtime::worlds`]. Game thread only.
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
    /// Saves all live objects to a file, and returns their number. For each object, the file contains the class, the name, the outer, the
    /// property values that differ from the defaults, and the kept fields of the plugin part. Transient properties are not saved.
    /// `runtime/docs/world-format.md` describes the format.
    ///
    /// # Errors
    /// Fails if plugin code is on the stack, a kept field cannot be serialized, or the file cannot be written. After an error, an existing
    /// file is unchanged.
    ///
    /// # Examples
    /// ```rust
    /// use alcedo_runtime::Runtime;
    ///
    /// let runtime = Runtime::builder().build()?;
    /// runtime.objects().spawn("/Script/Core.Object")?;
    /// let folder = tempfile::tempdir()?;
    /// assert_eq!(runtime.worlds().save(folder.path().join("harbor.world"))?, 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn save(&self, path: impl AsRef<Path>) -> Result<u64, Error> {
        let _busy = self.0.at_safe_point("saving the world")?;
        Ok(world::save(&self.0.inner.core, path.as_ref())?)
    }

    /// Copies the state of all live objects. Another thread can write the copy to the file `path`.
    pub(crate) fn snapshot(&self, path: &Path) -> Result<Snapshot, Error> {
        let _busy = self.0.at_safe_point("saving the world")?;
        Ok(world::snapshot(&self.0.inner.core, path)?)
    }

    /// Destroys all live objects, and creates the objects in a file. Red constructors build the plugin parts of the loaded objects, as in a
    /// reload. Class constructors do not run again. A property that had its default value when the world was saved receives the current
    /// default value. Values whose type has changed are converted if no information is lost. Objects of unknown classes become dormant
    /// until a reload adds their class. Create the Master before the world is loaded, because [`Runtime::create_master`] wakes no objects.
    ///
    /// # Errors
    /// Fails if plugin code is on the stack, the file is damaged, truncated or newer than this host, or an object cannot be created. After
    /// an error, the world is unchanged.
    ///
    /// # Examples
    /// ```rust
    /// use alcedo_runtime::{Error, Runtime};
    ///
    /// let runtime = Runtime::builder().build()?;
    /// let player = runtime.objects().spawn("/Script/Core.Object")?;
    /// let folder = tempfile::tempdir()?;
    /// let file = folder.path().join("harbor.world");
    /// runtime.worlds().save(&file)?;
    /// let report = runtime.worlds().load(&file)?;
    /// assert_eq!((report.objects, report.replaced), (1, 1));
    /// // Handles of the replaced objects are stale.
    /// assert!(!runtime.objects().is_alive(player));
    /// std::fs::write(&file, "no world")?;
    /// assert!(matches!(runtime.worlds().load(&file), Err(Error::World(_))));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn load(&self, path: impl AsRef<Path>) -> Result<WorldLoadReport, Error> {
        let _busy = self.0.at_safe_point("loading a world")?;
        let _held = self.0.inner.core.hold_posted();
        let report = world::load(&self.0.inner.core, path.as_ref())?;
        self.0.inner.core.finalizer.release();
        self.0.inner.core.world.objects.free_graveyard();
        Ok(report)
    }

    /// Returns a hash of all live objects: handle, class, name, outer and property values. Equal worlds have equal hashes. The hash does
    /// not include fields of plugin parts.
    ///
    /// # Examples
    /// ```rust
    /// use alcedo_runtime::Runtime;
    ///
    /// let runtime = Runtime::builder().build()?;
    /// let before = runtime.worlds().hash();
    /// let player = runtime.objects().spawn("/Script/Core.Object")?;
    /// assert_ne!(runtime.worlds().hash(), before);
    /// runtime.objects().destroy(player);
    /// assert_eq!(runtime.worlds().hash(), before);
    /// # Ok::<(), alcedo_runtime::Error>(())
    /// ```
    pub fn hash(&self) -> u64 {
        let world = &self.0.inner.core.world;
        let mut hasher = DefaultHasher::new();
        for object in self.0.objects().iter() {
            (object, world.objects.name(object), world.objects.outer(object)).hash(&mut hasher);
            // The closure always runs, because each live object has a body.
            let _body = world.objects.with_body(object, |body| {
                body.class().path.hash(&mut hasher);
                body.view().hash_into(&mut hasher);
            });
        }
        hasher.finish()
    }

    /// Returns a digest of the world as text. The digest covers objects, values, plugin parts, types, calls, modules, and references
    /// between modules and host. After a rolled-back reload, only the lines that `ReloadReport::remainder` lists have changed.
    /// [`WorldDigest::differences`] compares two digests. The digest contains the addresses of plugin parts, but no fields of plugin parts.
    ///
    /// # Examples
    /// ```rust
    /// use alcedo_runtime::Runtime;
    ///
    /// let runtime = Runtime::builder().build()?;
    /// let before = runtime.worlds().digest();
    /// assert!(before.differences(&runtime.worlds().digest()).is_empty());
    /// runtime.objects().spawn("/Script/Core.Object")?;
    /// for line in before.differences(&runtime.worlds().digest()) {
    ///     println!("{line}");
    /// }
    /// # Ok::<(), alcedo_runtime::Error>(())
    /// ```
    pub fn digest(&self) -> WorldDigest {
        digest::digest(&self.0.inner.core, &self.0.inner.loads)
    }
}
