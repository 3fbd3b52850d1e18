//! The types of a host: classes, structs, enums, delegates and interfaces, native ones and those of modules.

use std::rc::{Rc, Weak};

use super::Runtime;
use crate::border::CallError;
use crate::cells::RefCell;
use crate::error::Error;
use crate::load::declared::{Declared, DeclaredDelegate, of_delegate, of_loaded, of_natives};
use crate::object::class::Class;
use crate::object::meta::Meta;
use crate::object::origin::Origin;

/// A class that a host makes many objects of, held instead of its path. It stands for what the path leads to when it is
/// used: after a reload that is the new class, and none while there is none. It keeps nothing alive, and another runtime
/// takes it for its own class of that path. Game thread only.
#[derive(Clone, Debug)]
pub struct ClassRef {
    path: Rc<str>,
    found: RefCell<Found>,
}

/// What the path led to, and when.
#[derive(Clone, Debug)]
struct Found {
    stamp: u64,
    class: Weak<Class>,
}

impl ClassRef {
    /// The path it was requested by.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }
}

/// The types of a host: [`Runtime::types`]. Game thread only.
///
/// ```
/// # fn main() -> Result<(), alcedo_runtime::Error> {
/// let runtime = alcedo_runtime::Runtime::builder().build()?;
/// assert!(!runtime.types().has("/Script/Game.Cube"));
/// assert!(runtime.types().class("/Script/Game.Cube").is_err());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy)]
pub struct Types<'a>(pub(super) &'a Runtime);

impl Types<'_> {
    /// The class of this path, for [`Objects::spawn_of`](crate::Objects::spawn_of): the path is looked up only when types have changed.
    ///
    /// # Errors
    /// When there is no such class.
    pub fn class(&self, path: &str) -> Result<ClassRef, Error> {
        let stamp = self.0.inner.core.world.types.stamp();
        let class = Rc::downgrade(&self.class_by_path(path)?);
        Ok(ClassRef { path: path.into(), found: RefCell::new(Found { stamp, class }) })
    }

    /// Whether the first path names a class that is, or extends, the class of the second.
    pub fn is_subclass(&self, class: &str, base: &str) -> bool {
        let types = &self.0.inner.core.world.types;
        match (types.class_by_path(class), types.class_by_path(base)) {
            (Some(class), Some(base)) => class.is_a(&base),
            _ => false,
        }
    }

    /// From now on `old`, the path of a type, a member or an entry of an enum that has another name now, leads to where `new` leads, unless
    /// something has that very path. Where `new` is not declared and `old` is, as after the undo of a rename, `new` leads to `old`.
    ///
    /// # Errors
    /// When `new` leads back to `old`.
    pub fn redirect(&self, old: &str, new: &str) -> Result<(), Error> {
        // What is under way may be undone, and the redirect with it.
        let _busy = self.0.at_safe_point("redirecting a name")?;
        let types = &self.0.inner.core.world.types;
        if old == new || types.leads_to(new, old) {
            let message =
                format!("{old} cannot lead to {new}, which leads back to it: redirect each name to the latest");
            return Err(CallError::other(message).into());
        }
        types.redirect(old, new);
        Ok(())
    }

    /// Whether a type of that path is declared: a class, a struct, an enum, an interface, or a delegate that has a name.
    pub fn has(&self, path: &str) -> bool {
        let types = &self.0.inner.core.world.types;
        types.class_by_path(path).is_some()
            || types.struct_by_path(path).is_some()
            || types.enum_by_path(path).is_some()
            || types.delegate_by_path(path).is_some()
            || types.interface_by_path(path).is_some()
    }

    /// The delegate that has this path now, native or of a module: how many functions it calls, what it takes and what it gives.
    /// None where nothing has that path, or something else has.
    pub fn delegate(&self, path: &str) -> Option<DeclaredDelegate> {
        let world = &self.0.inner.core.world;
        Some(of_delegate(&*world.types.delegate_by_path(path)?, &world.names))
    }

    /// Whether a struct is another or extends it, be it by way of others; both by path.
    pub fn struct_extends(&self, path: &str, base: &str) -> bool {
        let types = &self.0.inner.core.world.types;
        types.struct_by_path(path).zip(types.struct_by_path(base)).is_some_and(|(of, base)| of.is_a(&base))
    }

    /// Whether the class of that path, or one that it extends, says that it implements an interface.
    pub fn implements(&self, class: &str, interface: &str) -> bool {
        self.0.inner.core.world.types.class_by_path(class).is_some_and(|class| class.implements(interface))
    }

    /// The flags of a property or a function, by its path: bits of `property_flags` or of `function_flags`.
    pub fn member_flags(&self, path: &str) -> Option<u64> {
        let types = &self.0.inner.core.world.types;
        let property = types.property_by_path(path).map(|property| property.flags);
        property.or_else(|| types.function_by_path(path).map(|function| function.flags))
    }

    /// What is said of a property or a function under a key of its metadata.
    pub fn member_meta(&self, path: &str, key: &str) -> Option<String> {
        let types = &self.0.inner.core.world.types;
        let of = |meta: &Meta| meta.iter().find(|(known, _)| known == key).map(|(_, value)| value.clone());
        match types.property_by_path(path) {
            Some(property) => of(&property.meta),
            None => of(&types.function_by_path(path)?.meta),
        }
    }

    /// Paths of the classes that the modules of the Master declare, plugins and packages of scripts.
    pub fn dynamic_classes(&self) -> Vec<String> {
        let classes = self.0.inner.core.world.types.classes();
        classes.iter().filter(|class| class.origin != Origin::Native).map(|class| class.path.to_string()).collect()
    }

    /// What a module of the Master declares: its types, the functions that it offers, and what it uses. None where no module
    /// has that name. [`ManifestInfo::peek_declared`](crate::ManifestInfo::peek_declared) reads the same from a file.
    pub fn declared_by(&self, module: &str) -> Option<Declared> {
        let modules = self.0.inner.loads.master()?.modules;
        let found = modules.iter().find(|found| found.name() == module)?;
        #[cfg(feature = "script")]
        if let Some(package) = found.code().scripts() {
            return Some(crate::load::declared::of_package(&self.0.inner.core.world, &package.name));
        }
        Some(of_loaded(module, found.described()))
    }

    /// The native types of the host, as [`Builder::declared`](crate::Builder::declared) gives them before it is built.
    pub fn declared_natives(&self) -> Declared {
        of_natives(&self.0.inner.core.world)
    }

    #[inline]
    pub(super) fn class_now(&self, class: &ClassRef) -> Result<Rc<Class>, Error> {
        let stamp = self.0.inner.core.world.types.stamp();
        let known = class.found.borrow();
        if known.stamp == stamp
            && let Some(known) = known.class.upgrade()
        {
            return Ok(known);
        }
        drop(known);
        let now = self.class_by_path(&class.path)?;
        *class.found.borrow_mut() = Found { stamp, class: Rc::downgrade(&now) };
        Ok(now)
    }

    pub(super) fn class_by_path(&self, path: &str) -> Result<Rc<Class>, Error> {
        let found = self.0.inner.core.world.types.class_by_path(path);
        found.ok_or_else(|| {
            let waiting = self.0.inner.core.world.objects.waiting_for(path);
            Error::UnknownClass { path: path.to_owned(), waiting }
        })
    }
}
