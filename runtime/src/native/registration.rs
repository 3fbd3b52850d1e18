//! Registration of native types: the set of types, tickers and hooks of a crate, which a host passes to its builder.

use std::cell::Cell;
use std::rc::Rc;

use super::net::NetStructs;
use super::{NativeClass, NativeDelegate, NativeEnum, NativeInterface, NativeStruct};
use crate::callback::{Registered, Site};
use crate::handles::ObjectHandle;
use crate::object::decl::Batch;
use crate::runtime::Runtime;

/// Callback that runs in each tick, with the seconds since the previous tick. The cell is empty while the callback runs.
pub(crate) type Ticker = Rc<Cell<Option<Box<dyn FnMut(&Runtime, f32)>>>>;

/// Hook that runs before the host destroys an object.
pub(crate) type DestroyHook = Rc<dyn Fn(&Runtime, ObjectHandle)>;

/// Native types of a crate, with their tickers and hooks.
///
/// # Examples
/// ```rust
/// use alcedo_runtime::native::{NativeClass, Natives};
/// use alcedo_runtime::{Budget, Runtime};
///
/// let physics = Natives::in_package("Physics")
///     .class(NativeClass::new("Physics", "Body", "/Script/Core.Object"))
///     .ticker(|runtime, seconds| println!("{seconds} s for {} bodies", runtime.counters().objects))
///     .named("physics");
/// let runtime = Runtime::builder().natives(physics).build()?;
/// runtime.tick(Budget::frame());
/// # Ok::<(), alcedo_runtime::Error>(())
/// ```
#[derive(Default)]
pub struct Natives {
    pub(crate) packages: Vec<String>,
    pub(crate) batch: Batch,
    pub(crate) tickers: Vec<Registered<Ticker>>,
    pub(crate) before_destroy: Vec<Registered<DestroyHook>>,
    pub(crate) net_structs: NetStructs,
    /// Paths of the structs whose `f64` fields are `float` in C.
    pub(crate) c_floats: Vec<String>,
    /// Functions that are bound to C libraries.
    #[cfg(feature = "dll-bind")]
    pub(crate) c_bodies: Vec<crate::emit::c_bodies::CBody>,
}

impl Natives {
    /// Returns a `Natives` value that declares the package `name`, and contains no native types yet.
    pub fn in_package(name: &str) -> Self {
        Self { packages: vec![name.to_owned()], ..Self::default() }
    }

    pub(crate) fn append(&mut self, other: Self) {
        self.packages.extend(other.packages);
        self.batch.append(other.batch);
        self.tickers.extend(other.tickers);
        self.before_destroy.extend(other.before_destroy);
        self.net_structs.extend(other.net_structs);
        self.c_floats.extend(other.c_floats);
        #[cfg(feature = "dll-bind")]
        self.c_bodies.extend(other.c_bodies);
    }

    /// Adds a class.
    #[must_use]
    pub fn class(mut self, class: NativeClass) -> Self {
        self.batch.classes.push(class.0);
        self
    }

    /// Declares that the `f64` fields of the struct with this path are `float` in C. Calls of C libraries convert these fields in both
    /// directions. Without this declaration, scripts can pass a native struct with `f64` fields to C only if the folder of C libraries
    /// states the C layout of the struct.
    #[must_use]
    pub fn c_floats(mut self, path: &str) -> Self {
        self.c_floats.push(path.to_owned());
        self
    }

    /// Adds an enum.
    #[must_use]
    pub fn enumeration(mut self, enumeration: NativeEnum) -> Self {
        self.batch.enums.push(enumeration.0);
        self
    }

    /// Adds a named delegate. A delegate that belongs to a class is added with the class.
    #[must_use]
    pub fn delegate(mut self, delegate: NativeDelegate) -> Self {
        self.batch.delegates.push(delegate.0);
        self
    }

    /// Adds a struct.
    #[must_use]
    pub fn structure(mut self, structure: NativeStruct) -> Self {
        self.batch.structs.push(structure.0);
        self
    }

    /// Adds an interface of `package` without functions. Required only if no native class implements the interface. Interfaces that a
    /// native class implements are declared automatically.
    #[must_use]
    pub fn interface(self, package: &str, name: &str, doc: &str) -> Self {
        self.interface_with_functions(NativeInterface::new(package, name).doc(doc))
    }

    /// Adds an interface with functions. A class that implements the interface must have a function with the name of each interface
    /// function.
    #[must_use]
    pub fn interface_with_functions(mut self, interface: NativeInterface) -> Self {
        self.batch.interfaces.push(interface.0);
        self
    }

    /// Adds a callback that runs once per tick and receives the seconds since the previous tick.
    #[must_use]
    #[track_caller]
    pub fn ticker(mut self, ticker: impl FnMut(&Runtime, f32) + 'static) -> Self {
        let site = Site::new("ticker", &ticker);
        self.tickers.push(Registered { site, code: Rc::new(Cell::new(Some(Box::new(ticker)))) });
        self
    }

    /// Adds a hook that runs once before the host destroys an object. The object is intact while the hook runs, even if the hook requests the
    /// destruction of this object again. Logs a panic of the hook, and destroys the object anyway.
    ///
    /// The hook runs first for the object, then for its subobjects in order of creation. Then the object and its subobjects are destroyed.
    /// If a hook destroys an owner of its object, the owner is destroyed after all hooks of the object. If a hook unloads or reloads the
    /// Master, later hooks do not run for an object that the unload or the reload has destroyed.
    ///
    /// An unload runs the hook for all objects before it destroys the first object. A reload runs the hook for a removed subobject after
    /// the commit, when a replaced plugin already refuses calls. The hook does not run for objects that a rollback or a failed load
    /// destroys.
    ///
    /// # Examples
    /// ```rust
    /// use std::cell::Cell;
    /// use std::rc::Rc;
    ///
    /// use alcedo_runtime::Runtime;
    /// use alcedo_runtime::native::Natives;
    ///
    /// let destroyed = Rc::new(Cell::new(0));
    /// let counter = Rc::clone(&destroyed);
    /// let natives = Natives::default().before_destroy(move |runtime, object| {
    ///     assert!(runtime.objects().is_alive(object));
    ///     counter.set(counter.get() + 1);
    /// });
    /// let runtime = Runtime::builder().natives(natives).build()?;
    /// let enemy = runtime.objects().spawn("/Script/Core.Object")?;
    /// runtime.objects().destroy(enemy);
    /// assert_eq!(destroyed.get(), 1);
    /// # Ok::<(), alcedo_runtime::Error>(())
    /// ```
    #[must_use]
    #[track_caller]
    pub fn before_destroy(mut self, hook: impl Fn(&Runtime, ObjectHandle) + 'static) -> Self {
        self.before_destroy.push(Registered { site: Site::new("hook before a destroy", &hook), code: Rc::new(hook) });
        self
    }

    /// Names the last callback that was added, like [`Builder::named`](crate::Builder::named).
    #[must_use]
    pub fn named(mut self, name: &'static str) -> Self {
        let tickers = self.tickers.iter_mut().map(|ticker| &mut ticker.site);
        Site::name_newest(tickers.chain(self.before_destroy.iter_mut().map(|hook| &mut hook.site)), name);
        self
    }
}
