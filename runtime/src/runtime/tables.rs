//! Function tables that the host and its modules exchange at load time. Each entry is a function with a ZCall name: `ex:/` for an entry
//! that the host implements, `nm:/` for an entry that a module implements. A table declares its entries with Rust types. One fingerprint
//! covers all entries of a table.

use std::fmt;
use std::marker::PhantomData;
use std::panic::Location;

use super::Runtime;
use super::typed_functions::EntryBody;
use crate::boundary::{CallError, not_found};
use crate::bridge::call_cache::is_plain;
use crate::bridge::dynamic_call::Effect;
use crate::callback::Site;
use crate::error::Error;
use crate::handles::ModuleId;
use crate::host::function::{HotFunction, TypedFunction, call_hot};
use crate::load::context::function::{TableEntry, TableModule};
use crate::load::context::handle::LoadContext;
use crate::load::error::LoadError;
use crate::load::error::context::ContextError;
use crate::load::tables::{Table, implements};
use crate::object::native_value::{NativeResult, ValueParams, signature_of};
use crate::signature::Signature;
use crate::zcall::call::Implementer;

/// Function tables; see [`Runtime::tables`]. Game thread only.
///
/// ```
/// use alcedo_runtime as alcedo;
/// use alcedo_runtime::Runtime;
///
/// alcedo::entry_table! {
///     /// Offered by the host.
///     pub host struct Engine {
///         /// Returns the sum.
///         add: fn(i32, i32) -> i32,
///     }
/// }
/// alcedo::entry_table! {
///     /// Offered by the module.
///     pub module struct Scores {
///         /// Returns the score after a hit.
///         hit: fn(i32) -> i32,
///     }
/// }
///
/// # fn main() -> Result<(), alcedo_runtime::Error> {
/// let runtime = Runtime::builder().build()?;
/// runtime.tables().offer(Engine { add: |left, right| left + right })?;
/// runtime.tables().expect::<Scores>()?;
/// // No module is loaded.
/// assert!(runtime.tables().of_module::<Scores>("scores").is_err());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy)]
pub struct Tables<'a>(pub(super) &'a Runtime);

impl Tables<'_> {
    /// Offers a table of the host to the modules that are loaded after this call. Modules of the Master call the entries on the game
    /// thread. Modules of Slims, pinned contexts and the Default call the entries on any thread. Each entry is also registered as the
    /// function `ex:/table/entry`. After [`Runtime::shutdown`], calls of entries return an error.
    ///
    /// An entry without captures is as fast as a function of [`Calls::register_leaf`](crate::Calls::register_leaf). For modules of the
    /// Master, an entry with captures is as fast as a function of [`Calls::register_typed`](crate::Calls::register_typed). Modules of
    /// Slims, pinned contexts and the Default hold a guard during each call of an entry with captures. During a reload, new code cannot
    /// call entries before the commit.
    ///
    /// # Errors
    /// Fails if a table with this name is already offered, the name of an entry is used, or a type of an entry has no path. If a name is
    /// used, registers no entry.
    ///
    /// # Examples
    /// ```rust
    /// use alcedo_runtime::{Runtime, entry_table};
    ///
    /// entry_table! {
    ///     /// Offered by the host.
    ///     pub host struct Dice {
    ///         /// Returns the sum of two dice.
    ///         roll: fn(u32, u32) -> u32,
    ///     }
    /// }
    ///
    /// # fn main() -> Result<(), alcedo_runtime::Error> {
    /// let runtime = Runtime::builder().build()?;
    /// runtime.tables().offer(Dice { roll: |left, right| left + right })?;
    /// let roll = runtime.function::<(u32, u32), u32>("ex:/Dice/roll")?;
    /// assert_eq!(roll.call((2, 5))?, 7);
    /// // A table can be offered only once.
    /// assert!(runtime.tables().offer(Dice { roll: |_, _| 0 }).is_err());
    /// # Ok(())
    /// # }
    /// ```
    #[track_caller]
    pub fn offer<T: HostEntries>(&self, table: T) -> Result<(), Error> {
        self.offer_as(table, Effect::Any)
    }

    /// Offers a table whose entries have no side effects. During a reload, the entry method and the main of a new module can call these
    /// entries before the commit. See [`Calls::register_pure`](crate::Calls::register_pure).
    ///
    /// # Errors
    /// Returns the errors of [`Tables::offer`].
    #[track_caller]
    pub fn offer_pure<T: HostEntries>(&self, table: T) -> Result<(), Error> {
        self.offer_as(table, Effect::Pure)
    }

    #[track_caller]
    fn offer_as<T: HostEntries>(&self, table: T, effect: Effect) -> Result<(), Error> {
        let tables = &self.0.inner.loads.registry.tables;
        if !tables.is_free(T::NAME) {
            let message =
                format!("the table {} is offered already: a table is offered once, with all of its entries", T::NAME);
            return Err(CallError::other(message).into());
        }
        let entries = T::entries()?;
        // Checks all names first, so that a table with a used name leaves no entry registered.
        let explicit = &self.0.inner.core.explicit;
        let check = |(name, _): &(&'static str, Signature)| {
            explicit.check(&format!("{}/{name}", T::NAME), Implementer::Host, ModuleId::HOST)
        };
        entries.iter().try_for_each(check)?;
        let description = Table::new(T::NAME, &entries);
        let site = Site::new("table of functions", &table);
        table.register(&Offering { runtime: self.0, table: T::NAME, effect, site })?;
        tables.offer(description);
        Ok(())
    }

    /// Makes later loads fail with [`LoadError::Table`] if a module implements this table with a different definition. Without this call,
    /// such a module is loaded, and [`Tables::of_module`] then returns the error.
    ///
    /// # Errors
    /// Fails if a type of an entry has no path.
    pub fn expect<T: ModuleEntries>(&self) -> Result<(), Error> {
        self.0.inner.loads.registry.tables.expect(Table::new(T::NAME, &T::entries()?));
        Ok(())
    }

    /// Returns the table that a module of the Master implements. The returned table belongs to the current generation. After a reload or
    /// unload of the module, calls of entries return [`CallError::DeadHandle`]. Callers must then request the table again.
    ///
    /// # Errors
    /// Returns [`LoadError::NoModule`] if the Master has no such module, [`CallError::NotFound`] if the module does not implement this
    /// table, and [`LoadError::Table`] if the definitions differ.
    ///
    /// # Examples
    /// ```rust,no_run
    /// use alcedo_runtime::{Error, Runtime, entry_table};
    ///
    /// entry_table! {
    ///     /// Offered by the plugin.
    ///     pub module struct Scores {
    ///         /// Returns the score after a hit.
    ///         hit: fn(i32) -> i32,
    ///     }
    /// }
    ///
    /// fn hit(runtime: &Runtime) -> Result<i32, Error> {
    ///     let scores: Scores = runtime.tables().of_module("scores")?;
    ///     scores.hit.call((3,))
    /// }
    /// ```
    pub fn of_module<T: ModuleEntries<Context = OfMaster>>(&self, module: &str) -> Result<T, Error> {
        let table = Table::new(T::NAME, &T::entries()?);
        let master = self.0.inner.loads.master().ok_or(LoadError::NoMaster)?;
        let found = master.modules.iter().find(|found| found.name() == module);
        let found = found.ok_or_else(|| LoadError::NoModule { module: module.to_owned() })?;
        if !implements(module, found.described().tables, &table).map_err(LoadError::from)? {
            let message = format!(
                "{module} does not implement the table {}: its entry method returns a different table, or none",
                T::NAME
            );
            return Err(not_found(message).into());
        }
        T::bind(&(self.0.clone(), module.to_owned()))
    }
}

impl LoadContext {
    /// Returns the table that a module of the current generation implements. Any thread may use the table. When the generation unloads, for
    /// example after a [`replace`](LoadContext::replace), calls of entries return
    /// [`ContextUnloading`](crate::ContextError::ContextUnloading). Callers must then request the table again.
    ///
    /// ```no_run
    /// use alcedo_runtime::tables::OfContext;
    /// use alcedo_runtime::{Error, LoadContext, entry_table};
    ///
    /// entry_table! {
    ///     /// Offered by the module.
    ///     pub module struct Scores {
    ///         /// Returns the score after a hit.
    ///         hit: fn(i32) -> i32,
    ///     }
    /// }
    ///
    /// fn hit(slim: &LoadContext) -> Result<i32, Error> {
    ///     let scores: Scores<OfContext> = slim.table("scores")?;
    ///     Ok(scores.hit.call((3,))?)
    /// }
    /// ```
    ///
    /// # Errors
    /// Fails if the context has no such module, or if the context unloads. Also fails if the module does not implement the table, or if its
    /// definition of the table differs.
    pub fn table<T: ModuleEntries<Context = OfContext>>(&self, module: &str) -> Result<T, Error> {
        let table = Table::new(T::NAME, &T::entries()?);
        T::bind(&self.table_module(module, &table)?)
    }
}

/// A table that the host implements. Declared with [`entry_table!`](crate::entry_table).
///
/// # Examples
/// ```rust
/// use alcedo_runtime::tables::HostEntries;
/// use alcedo_runtime::{Error, Runtime, entry_table};
///
/// entry_table! {
///     /// Offered by the host.
///     pub host struct Clock {
///         /// Returns the hours of a day.
///         hours: fn() -> u32,
///     }
/// }
///
/// fn offer<T: HostEntries>(runtime: &Runtime, table: T) -> Result<(), Error> {
///     println!("offering {}", T::NAME);
///     runtime.tables().offer(table)
/// }
///
/// # fn main() -> Result<(), Error> {
/// offer(&Runtime::builder().build()?, Clock { hours: || 24 })?;
/// # Ok(())
/// # }
/// ```
pub trait HostEntries: Sized {
    /// Name of the table.
    const NAME: &'static str;

    /// Lists the entries with their signatures.
    ///
    /// # Errors
    /// Fails if a type has no path.
    #[doc(hidden)]
    fn entries() -> Result<Vec<(&'static str, Signature)>, CallError>;

    /// Registers the functions of the table.
    ///
    /// # Errors
    /// Fails if a name is used.
    #[doc(hidden)]
    #[track_caller]
    fn register(self, offering: &Offering<'_>) -> Result<(), Error>;
}

/// A table that a module implements. Declared with [`entry_table!`](crate::entry_table).
///
/// # Examples
/// ```rust
/// use alcedo_runtime::tables::ModuleEntries;
/// use alcedo_runtime::{Error, Runtime, entry_table};
///
/// entry_table! {
///     /// Offered by the plugin.
///     pub module struct Scores {
///         /// Returns the score after a hit.
///         hit: fn(i32) -> i32,
///     }
/// }
///
/// /// Rejects plugins whose table has another definition.
/// fn expect<T: ModuleEntries>(runtime: &Runtime) -> Result<(), Error> {
///     println!("expecting {}", T::NAME);
///     runtime.tables().expect::<T>()
/// }
///
/// # fn main() -> Result<(), Error> {
/// expect::<Scores>(&Runtime::builder().build()?)?;
/// # Ok(())
/// # }
/// ```
pub trait ModuleEntries: Sized {
    /// Kind of load context in which modules can implement the table.
    type Context: TableContext;
    /// Name of the table.
    const NAME: &'static str;

    /// Lists the entries with their signatures.
    ///
    /// # Errors
    /// Fails if a type has no path.
    #[doc(hidden)]
    fn entries() -> Result<Vec<(&'static str, Signature)>, CallError>;

    /// Binds the entries to the functions of a module.
    ///
    /// # Errors
    /// Fails if the module lacks an entry of the table.
    #[doc(hidden)]
    fn bind(module: &<Self::Context as TableContext>::Module) -> Result<Self, Error>;
}

/// Returns the signature of an entry.
///
/// # Errors
/// Fails if a type has no path.
#[doc(hidden)]
pub fn signature<A: ValueParams, R: NativeResult>() -> Result<Signature, CallError> {
    const {
        assert!(is_plain::<A, R>(), "an entry of a table takes and returns numbers, `bool` and names");
    }
    signature_of::<A, R>().map(Signature)
}

/// Table registration in progress.
#[doc(hidden)]
pub struct Offering<'a> {
    runtime: &'a Runtime,
    table: &'static str,
    effect: Effect,
    site: Site,
}

impl Offering<'_> {
    /// Registers an entry.
    ///
    /// # Errors
    /// Fails if the name is used.
    #[track_caller]
    pub fn entry<A: ValueParams, R: NativeResult, F: EntryBody<A, R>>(&self, name: &str, body: F) -> Result<(), Error> {
        let name = format!("{}/{name}", self.table);
        self.runtime.calls().register_entry::<A, R, F>(&name, self.effect, self.site, body)
    }
}

mod sealed {
    pub trait Sealed {}
}

/// Kind of load context in which modules can implement a table: [`OfMaster`] or [`OfContext`].
pub trait TableContext: sealed::Sealed + 'static {
    /// Type of an entry in a table that a module in this kind of context implements.
    type Entry<A: ValueParams, R: NativeResult>;

    /// Type of a module in this kind of context.
    #[doc(hidden)]
    type Module;

    /// Binds an entry.
    ///
    /// # Errors
    /// Fails if the module does not have the entry.
    #[doc(hidden)]
    fn bind<A: ValueParams, R: NativeResult>(
        module: &Self::Module,
        table: &str,
        entry: &str,
    ) -> Result<Self::Entry<A, R>, Error>;
}

/// Marks tables that modules of the Master implement. Such tables can be used only on the game thread; see [`Tables::of_module`].
#[derive(Debug)]
pub enum OfMaster {}

/// Marks tables that modules of Slims, pinned contexts and the Default implement. Any thread may use such tables; see
/// [`LoadContext::table`].
///
/// # Examples
/// ```rust
/// use alcedo_runtime::tables::OfContext;
/// use alcedo_runtime::{ContextError, entry_table};
///
/// entry_table! {
///     /// Offered by the module.
///     pub module struct Prices {
///         /// Returns the price with tax.
///         with_tax: fn(u32) -> u32,
///     }
/// }
///
/// /// Any thread may call the entries.
/// fn total(prices: &Prices<OfContext>, goods: &[u32]) -> Result<u32, ContextError> {
///     goods.iter().map(|price| prices.with_tax.call((*price,))).sum()
/// }
/// ```
#[derive(Debug)]
pub enum OfContext {}

impl sealed::Sealed for OfMaster {}
impl sealed::Sealed for OfContext {}

impl TableContext for OfMaster {
    type Entry<A: ValueParams, R: NativeResult> = TypedFunction<A, R>;
    type Module = (Runtime, String);

    fn bind<A: ValueParams, R: NativeResult>(
        (runtime, module): &(Runtime, String),
        table: &str,
        entry: &str,
    ) -> Result<TypedFunction<A, R>, Error> {
        runtime.entry(&format!("nm:/{module}:{table}:{entry}"))
    }
}

impl TableContext for OfContext {
    type Entry<A: ValueParams, R: NativeResult> = ContextEntry<A, R>;
    type Module = TableModule;

    fn bind<A: ValueParams, R: NativeResult>(
        module: &TableModule,
        table: &str,
        entry: &str,
    ) -> Result<ContextEntry<A, R>, Error> {
        Ok(ContextEntry { entry: module.entry::<A, R>(table, entry)?, of: PhantomData })
    }
}

/// Typed entry of a table that a module of a Slim, a pinned context or the Default implements. Valid for one generation: when the
/// generation unloads, for example by [`replace`](crate::LoadContext::replace), all calls return an error. Does not keep the module loaded.
/// Can be used on any thread. A clone refers to the same entry.
///
/// # Examples
/// ```rust,no_run
/// use alcedo_runtime::ContextError;
/// use alcedo_runtime::tables::ContextEntry;
///
/// fn damage(hit: &ContextEntry<(i32,), i32>, hits: &[i32]) -> Result<i32, ContextError> {
///     // One check for all calls.
///     hit.hot(|hit| hits.iter().filter_map(|strength| hit.call((*strength,)).ok()).sum())
/// }
/// ```
pub struct ContextEntry<A, R> {
    entry: TableEntry,
    of: PhantomData<fn(A) -> R>,
}

impl<A, R> Clone for ContextEntry<A, R> {
    fn clone(&self) -> Self {
        Self { entry: self.entry.clone(), of: PhantomData }
    }
}

impl<A, R> fmt::Debug for ContextEntry<A, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.entry.fmt(f)
    }
}

impl<A: ValueParams, R: NativeResult> ContextEntry<A, R> {
    /// Calls the entry on this thread.
    ///
    /// # Errors
    /// Returns [`ContextError::ContextUnloading`] if the generation of the entry unloads, [`CallError::TooDeep`] if the stack of the thread
    /// is nearly exhausted, and an error if the entry panics.
    #[track_caller]
    pub fn call(&self, arguments: A) -> Result<R, ContextError> {
        self.entry.within(Location::caller(), |trampoline| call_hot(trampoline, arguments))?
    }

    /// Checks the generation once, and runs `code`, which can then call the entry many times. The generation stays loaded until `code`
    /// returns. Each call costs as much as a C call through a pointer.
    ///
    /// # Errors
    /// Returns [`ContextError::ContextUnloading`] if the generation of the entry unloads, and [`CallError::TooDeep`] if the stack of the
    /// thread is nearly exhausted.
    #[track_caller]
    pub fn hot<T>(&self, code: impl FnOnce(HotFunction<'_, A, R>) -> T) -> Result<T, ContextError> {
        self.entry.within(Location::caller(), |trampoline| code(HotFunction::new(trampoline)))
    }
}

/// Declares a function table that a host and a module exchange. The keyword `host struct` declares a table of the host, and `module struct`
/// declares a table of a module. The host and the module must contain equal declarations. A module declares the table with the macro
/// `entry_table!` of `alcedo_plugin_api`. Parameters and results of entries are numbers, `bool` and names. See `runtime/docs/calls.md`.
///
/// In a host, a `host struct` contains a function or closure for each entry. The host passes this struct to
/// [`Tables::offer`](crate::Tables::offer). [`Tables::of_module`](crate::Tables::of_module) and
/// [`LoadContext::table`](crate::LoadContext::table) return a `module struct`.
///
/// # Examples
/// ```rust
/// use alcedo_runtime::{Runtime, entry_table};
///
/// entry_table! {
///     /// Offered by the host.
///     pub host struct Sky {
///         /// Returns the brightness at an hour.
///         light: fn(f64) -> f64,
///     }
/// }
///
/// # fn main() -> Result<(), alcedo_runtime::Error> {
/// let runtime = Runtime::builder().build()?;
/// runtime.tables().offer(Sky { light: |hour| if hour < 6.0 { 0.0 } else { 1.0 } })?;
/// let light = runtime.function::<(f64,), f64>("ex:/Sky/light")?;
/// assert_eq!(light.call((12.0,))?, 1.0);
/// # Ok(())
/// # }
/// ```
#[macro_export]
macro_rules! entry_table {
    (@entries [$($name:ident: $args:ty => $result:ty),+]) => {
        fn entries() -> ::core::result::Result<
            ::std::vec::Vec<(&'static ::core::primitive::str, $crate::Signature)>,
            $crate::CallError,
        > {
            ::core::result::Result::Ok(::std::vec![
                $((
                    ::core::stringify!($name).trim_start_matches("r#"),
                    $crate::tables::signature::<$args, $result>()?,
                )),+
            ])
        }
    };
    (
        $(#[$attr:meta])*
        $vis:vis host struct $table:ident {
            $($(#[$doc:meta])* $name:ident: fn($($ty:ty),* $(,)?) $(-> $result:ty)?),+ $(,)?
        }
    ) => {
        $(#[$attr])*
        #[allow(non_camel_case_types, reason = "the type of each function has the name of its entry")]
        $vis struct $table<$($name),+>
        where
            $($name: ::core::ops::Fn($($ty),*) $(-> $result)? + ::core::marker::Send + ::core::marker::Sync + 'static),+
        {
            $($(#[$doc])* pub $name: $name,)+
        }

        #[allow(non_camel_case_types, reason = "the type of each function has the name of its entry")]
        impl<$($name),+> $crate::tables::HostEntries for $table<$($name),+>
        where
            $($name: ::core::ops::Fn($($ty),*) $(-> $result)? + ::core::marker::Send + ::core::marker::Sync + 'static),+
        {
            const NAME: &'static ::core::primitive::str = ::core::stringify!($table);

            $crate::entry_table!(@entries [$($name: ($($ty,)*) => ($($result)?)),+]);

            fn register(
                self,
                offering: &$crate::tables::Offering<'_>,
            ) -> ::core::result::Result<(), $crate::Error> {
                $(offering.entry::<($($ty,)*), ($($result)?), _>(
                    ::core::stringify!($name).trim_start_matches("r#"),
                    self.$name,
                )?;)+
                ::core::result::Result::Ok(())
            }
        }
    };
    (
        $(#[$attr:meta])*
        $vis:vis module struct $table:ident {
            $($(#[$doc:meta])* $name:ident: fn($($ty:ty),* $(,)?) $(-> $result:ty)?),+ $(,)?
        }
    ) => {
        $(#[$attr])*
        $vis struct $table<P: $crate::tables::TableContext = $crate::tables::OfMaster> {
            $($(#[$doc])* pub $name: P::Entry<($($ty,)*), ($($result)?)>,)+
        }

        impl<P: $crate::tables::TableContext> $crate::tables::ModuleEntries for $table<P> {
            type Context = P;
            const NAME: &'static ::core::primitive::str = ::core::stringify!($table);

            $crate::entry_table!(@entries [$($name: ($($ty,)*) => ($($result)?)),+]);

            fn bind(
                module: &<P as $crate::tables::TableContext>::Module,
            ) -> ::core::result::Result<Self, $crate::Error> {
                ::core::result::Result::Ok(Self {
                    $($name: P::bind::<($($ty,)*), ($($result)?)>(
                        module,
                        ::core::stringify!($table),
                        ::core::stringify!($name).trim_start_matches("r#"),
                    )?,)+
                })
            }
        }
    };
}
