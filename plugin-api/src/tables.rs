//! Tables of functions that a module and its host exchange through the entry method of the module: `module! { entry: … }`.

use core::marker::PhantomData;
use core::sync::atomic::{AtomicI64, Ordering};

use alcedo_abi::abi_stable::std_types::{ROption, RSlice, RStr};
use alcedo_abi::call::FailureKind;
use alcedo_abi::describe::{EntryDesc, EntryTables, TableDesc};
use alcedo_abi::fingerprint::table_fingerprint;
use alcedo_abi::handles::ZCallHandle;
use alcedo_abi::names::unraw;
use alcedo_rt::CallError;

use crate::__private::SignatureWords;
use crate::direct::{Called, DirectCell, HotFunction, is_direct, of_bits};
use crate::host::zcall_resolve;
use crate::signature::{Params, ReturnValue, fingerprint, for_each_count};
use crate::zcall::Callee;

/// Entry of a table that the host implements: a host function with parameters `A` and result `R`. The entry is bound to the host's function
/// before the module's entry method runs, and remains bound for the module's lifetime.
///
/// A module of the Master may call the entry only on the game thread. A module of a Slim, a pinned context or the Default may
/// call the entry on any thread.
///
/// # Examples
/// ```
/// alcedo_plugin_api::entry_table! {
///     pub host struct Physics {
///         /// Returns the height of the ground.
///         ground: fn(f64, f64) -> f64,
///     }
/// }
///
/// /// Returns the height above the ground, or the absolute height if the ground is missing.
/// fn height(physics: &'static Physics, [x, y, z]: [f64; 3]) -> f64 {
///     match physics.ground.call((x, y)) {
///         Ok(ground) => z - ground,
///         Err(error) => {
///             eprintln!("{}: {error}", physics.ground.name());
///             z
///         }
///     }
/// }
/// ```
pub struct HostEntry<A, R> {
    name: &'static str,
    handle: AtomicI64,
    code: DirectCell<A, R>,
    of: PhantomData<fn(A) -> R>,
}

impl<A: Params, R: ReturnValue> HostEntry<A, R> {
    /// Creates an unbound entry. `name` is the entry's name in the host.
    #[doc(hidden)]
    #[must_use]
    pub const fn new(name: &'static str) -> Self {
        const { assert!(is_direct::<A, R>(), "an entry of a table takes and returns numbers, `bool` and names") }
        Self { name, handle: AtomicI64::new(ZCallHandle::NONE.0), code: DirectCell::new(), of: PhantomData }
    }

    /// Binds the entry to the function of the host.
    ///
    /// # Errors
    /// Fails with `NOT_FOUND` if the host does not have the function, or with `SIGNATURE` if the function's signature differs.
    #[doc(hidden)]
    pub fn bind(&self) -> Result<(), CallError> {
        let handle = zcall_resolve(self.name, fingerprint::<A, R>())?;
        self.handle.store(handle.0, Ordering::Relaxed);
        Ok(())
    }

    /// Returns the name of the entry in the host: `ex:/table/entry`.
    ///
    /// # Examples
    /// ```
    /// alcedo_plugin_api::entry_table! {
    ///     pub host struct Physics {
    ///         ground: fn(f64, f64) -> f64,
    ///     }
    /// }
    /// # let physics: &Physics = <Physics as alcedo_plugin_api::HostEntries>::table();
    /// assert_eq!(physics.ground.name(), "ex:/Physics/ground");
    /// ```
    #[must_use]
    pub fn name(&self) -> &str {
        self.name
    }

    fn handle(&self) -> ZCallHandle {
        ZCallHandle(self.handle.load(Ordering::Relaxed))
    }

    /// Calls the host function of the entry with `args`.
    ///
    /// # Errors
    /// Fails with `UNAVAILABLE` before the module's entry method has run, and after the host has ended. In a module of the Master, fails
    /// with `WRONG_THREAD` on threads except the game thread. Fails with `DURING_REBUILD` before the module's commit, unless the host
    /// registered the table as pure. If the function panics, returns the panic as an error.
    ///
    /// # Examples
    /// ```
    /// use alcedo_plugin_api::FailureKind;
    ///
    /// alcedo_plugin_api::entry_table! {
    ///     pub host struct Physics {
    ///         ground: fn(f64, f64) -> f64,
    ///     }
    /// }
    ///
    /// # let physics: &Physics = <Physics as alcedo_plugin_api::HostEntries>::table();
    /// // In a plugin's tests, no host binds the table.
    /// let error = physics.ground.call((1.0, 2.0)).expect_err("no entry method has run");
    /// assert_eq!(error.kind(), FailureKind::UNAVAILABLE);
    /// ```
    #[inline]
    pub fn call(&self, args: A) -> Result<R, CallError> {
        let direct = Called::without_object().and_then(|called| self.code.call(|| self.handle(), called, &args));
        of_bits(match direct {
            Some(bits) => bits,
            None => self.bits_by_slots(&args),
        })
    }

    /// Runs `code` with a function pointer for many calls, as [`ZFunction::hot`](crate::ZFunction::hot) does. Available for
    /// entries whose host function captures no data. A module of the Master may call `hot` only on the game thread.
    ///
    /// # Errors
    /// Fails with `UNAVAILABLE` if the entry has no function pointer, or with `WRONG_STACK` on a coroutine's stack. [`call`](Self::call)
    /// works without a function pointer.
    ///
    /// # Examples
    /// ```
    /// use alcedo_plugin_api::CallError;
    ///
    /// alcedo_plugin_api::entry_table! {
    ///     pub host struct Physics {
    ///         ground: fn(f64, f64) -> f64,
    ///     }
    /// }
    ///
    /// fn profile(physics: &Physics) -> Result<Vec<f64>, CallError> {
    ///     physics.ground.hot(|ground| (0..100).map(|x| ground.call((f64::from(x), 0.0))).collect())?
    /// }
    /// ```
    pub fn hot<T>(&self, code: impl FnOnce(HotFunction<'_, A, R>) -> T) -> Result<T, CallError> {
        self.code.hot(self.handle(), Called::without_object(), self.name, code)
    }

    #[cold]
    #[inline(never)]
    fn bits_by_slots(&self, args: &A) -> Result<u64, CallError> {
        let handle = self.handle();
        if handle == ZCallHandle::NONE {
            let message =
                format!("`{}` is bound when the entry method of its module runs: `module! {{ entry: … }}`", self.name);
            return Err(CallError::new(FailureKind::UNAVAILABLE, message));
        }
        Callee::in_slots(handle).call(None, self.name, args).map(R::into_direct_bits)
    }
}

impl<A, R> core::fmt::Debug for HostEntry<A, R> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "`{}`", self.name)
    }
}

/// Table that the host implements, declared by [`entry_table!`](crate::entry_table). If the host has no table, this type is `()`.
///
/// # Examples
/// ```
/// use alcedo_plugin_api::HostEntries;
///
/// alcedo_plugin_api::entry_table! {
///     pub host struct Clock {
///         now: fn() -> f64,
///     }
/// }
///
/// fn is_a_table_of_the_host<T: HostEntries>() {}
///
/// is_a_table_of_the_host::<Clock>();
/// ```
pub trait HostEntries: 'static {
    /// Description of the table for the host.
    #[doc(hidden)]
    const TABLE: Option<&'static TableDesc>;

    /// Returns the single instance of the table in this module.
    #[doc(hidden)]
    fn table() -> &'static Self;

    /// Binds the entries to the functions of the host.
    #[doc(hidden)]
    fn bind(&self) -> Result<(), CallError>;
}

/// Table that this module implements, declared by [`entry_table!`](crate::entry_table). If the module has no table, this type is `()`.
///
/// # Examples
/// ```
/// use alcedo_plugin_api::ModuleEntries;
///
/// alcedo_plugin_api::entry_table! {
///     pub module struct Rules {
///         damage: fn(f64, bool) -> f64,
///     }
/// }
///
/// fn is_a_table_of_the_module<T: ModuleEntries>(_table: &T) {}
///
/// let rules = Rules { damage: |force, is_armored| if is_armored { force / 2.0 } else { force } };
/// is_a_table_of_the_module(&rules);
/// assert_eq!((rules.damage)(10.0, true), 5.0);
/// ```
pub trait ModuleEntries: Sized {
    /// Description of the table for the host.
    #[doc(hidden)]
    const TABLE: Option<&'static TableDesc>;

    /// Stores the functions of the table, so that the host can call them.
    #[doc(hidden)]
    fn fill(self);
}

impl HostEntries for () {
    const TABLE: Option<&'static TableDesc> = None;

    fn table() -> &'static Self {
        &()
    }

    fn bind(&self) -> Result<(), CallError> {
        Ok(())
    }
}

impl ModuleEntries for () {
    const TABLE: Option<&'static TableDesc> = None;

    fn fill(self) {}
}

/// Function that can be the entry method of a module.
#[diagnostic::on_unimplemented(
    message = "the entry method of a module is `fn(&'static H) -> M`, `fn(&'static H)` or `fn() -> M`",
    label = "`H` is a table of the host and `M` one of the module, both declared by `entry_table!`"
)]
pub trait EntryMethod<Shape> {
    /// Type of the host's table.
    type Host: HostEntries;
    /// Type of the module's table.
    type Module: ModuleEntries;

    /// Descriptions of the two tables.
    const TABLES: EntryTables = EntryTables {
        host: stable(<Self::Host as HostEntries>::TABLE),
        module: stable(<Self::Module as ModuleEntries>::TABLE),
    };

    /// Calls the entry method.
    fn exchange(self, host: &'static Self::Host) -> Self::Module;
}

const fn stable(table: Option<&'static TableDesc>) -> ROption<&'static TableDesc> {
    match table {
        Some(table) => ROption::RSome(table),
        None => ROption::RNone,
    }
}

impl<H: HostEntries, M: ModuleEntries, F: FnOnce(&'static H) -> M> EntryMethod<(H, M)> for F {
    type Host = H;
    type Module = M;

    fn exchange(self, host: &'static H) -> M {
        self(host)
    }
}

impl<M: ModuleEntries, F: FnOnce() -> M> EntryMethod<(M,)> for F {
    type Host = ();
    type Module = M;

    fn exchange(self, (): &'static ()) -> M {
        self()
    }
}

/// Returns the descriptions of an entry method's tables.
#[must_use]
pub const fn tables_of<Shape, F: EntryMethod<Shape>>(_entry: &F) -> EntryTables {
    F::TABLES
}

/// Binds the table of the host, calls the entry method, and stores the returned table of the module.
///
/// # Errors
/// Fails if an entry of the host's table cannot be bound.
pub fn run_entry<Shape, F: EntryMethod<Shape>>(entry: F) -> Result<(), CallError> {
    let host = F::Host::table();
    host.bind()?;
    entry.exchange(host).fill();
    Ok(())
}

/// Describes an entry of a table.
#[must_use]
pub const fn entry<A: Params, R: ReturnValue>(name: &'static str) -> EntryDesc {
    const { assert!(is_direct::<A, R>(), "an entry of a table takes and returns numbers, `bool` and names") }
    EntryDesc {
        name: RStr::from_str(unraw(name)),
        signature: RStr::from_str(SignatureWords::<A, R>::TEXT),
        fingerprint: fingerprint::<A, R>(),
    }
}

/// Returns the name of an entry with its signature fingerprint.
#[must_use]
pub const fn entry_print<A: Params, R: ReturnValue>(name: &'static str) -> (&'static str, u64) {
    (unraw(name), fingerprint::<A, R>())
}

/// Describes a table that consists of these entries.
#[must_use]
pub const fn table(name: &'static str, prints: &[(&str, u64)], entries: &'static [EntryDesc]) -> TableDesc {
    let fingerprint = table_fingerprint(prints);
    TableDesc { name: RStr::from_str(name), fingerprint, entries: RSlice::from_slice(entries) }
}

/// Function that can be an entry of a module's table: a `fn` with up to eight parameters.
pub trait EntryFn<A> {
    /// Type of the result.
    type Result;

    /// Calls the function.
    fn call(self, args: A) -> Self::Result;
}

macro_rules! functions {
    ($count:literal: $($at:literal $name:ident $value:ident $staged:ident $back:ident)*) => {
        impl<R, $($name),*> EntryFn<($($name,)*)> for fn($($name),*) -> R {
            type Result = R;

            #[inline]
            fn call(self, ($($value,)*): ($($name,)*)) -> R {
                self($($value),*)
            }
        }
    };
}
for_each_count!(functions);

/// Ends the running call with the error that the entry method of this module has not returned the table.
#[cold]
pub fn not_filled(table: &str) -> ! {
    let message =
        format!("the entry method of this module has not returned the table {table}: `module! {{ entry: … }}`");
    alcedo_rt::fail(CallError::new(FailureKind::UNAVAILABLE, message))
}

/// Declares a table of functions that a host and a module exchange. `host struct` declares a table that the host implements, `module
/// struct` a table that the module implements. Host and module include the same declaration; the host expands it with the macro
/// `entry_table!` of `alcedo_runtime`. Parameters and results of entries are numbers, `bool` and names.
///
/// In a module, a `host struct` has a [`HostEntry`] for each entry, and a `module struct` has a `fn` pointer for each entry. The entry
/// method of the module receives the `host struct` and returns the `module struct`. The entry method runs before the main function, after
/// the host has compared both tables with its own tables. A module should declare only the tables that it exchanges: if the entry
/// method does not return a declared `module struct`, calls of the entries of this struct fail.
///
/// ```
/// use alcedo_plugin_api as alcedo;
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
/// static ENGINE: std::sync::OnceLock<&Engine> = std::sync::OnceLock::new();
///
/// // `module! { name: "scores", entry: entry }` makes it the entry method.
/// fn entry(engine: &'static Engine) -> Scores {
///     let _first = ENGINE.set(engine);
///     Scores { hit: |score| ENGINE.get().and_then(|engine| engine.add.call((score, 10)).ok()).unwrap_or(score) }
/// }
///
/// # let _ = entry;
/// ```
#[macro_export]
macro_rules! entry_table {
    (@table $table:ident [$($name:ident: $args:ty => $result:ty),+]) => {{
        const ALCEDO_ENTRIES: &[$crate::__private::EntryDesc] = &[
            $($crate::__private::entry::<$args, $result>($crate::__private::core::stringify!($name))),+
        ];
        const ALCEDO_TABLE: $crate::__private::TableDesc = $crate::__private::table(
            $crate::__private::core::stringify!($table),
            &[$($crate::__private::entry_print::<$args, $result>($crate::__private::core::stringify!($name))),+],
            ALCEDO_ENTRIES,
        );
        $crate::__private::core::option::Option::Some(&ALCEDO_TABLE)
    }};
    (
        $(#[$attr:meta])*
        $vis:vis host struct $table:ident {
            $($(#[$doc:meta])* $name:ident: fn($($ty:ty),* $(,)?) $(-> $result:ty)?),+ $(,)?
        }
    ) => {
        $(#[$attr])*
        #[derive(Debug)]
        $vis struct $table {
            $($(#[$doc])* pub $name: $crate::HostEntry<($($ty,)*), ($($result)?)>,)+
        }

        impl $crate::__private::HostEntries for $table {
            const TABLE: $crate::__private::core::option::Option<&'static $crate::__private::TableDesc> =
                $crate::entry_table!(@table $table [$($name: ($($ty,)*) => ($($result)?)),+]);

            fn table() -> &'static Self {
                static ALCEDO_TABLE: $table = $table {
                    $($name: $crate::HostEntry::new($crate::__private::join!(
                        $crate::__private::core::concat!("ex:/", $crate::__private::core::stringify!($table)),
                        "/",
                        $crate::__private::unraw($crate::__private::core::stringify!($name))
                    )),)+
                };
                &ALCEDO_TABLE
            }

            fn bind(&self) -> $crate::__private::CallResult<()> {
                $(self.$name.bind()?;)+
                $crate::__private::core::result::Result::Ok(())
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
        #[derive(Debug)]
        $vis struct $table {
            $($(#[$doc])* pub $name: fn($($ty),*) $(-> $result)?,)+
        }

        const _: () = {
            static ALCEDO_FILLED: $crate::__private::OnceLock<$table> = $crate::__private::OnceLock::new();

            impl $crate::__private::ModuleEntries for $table {
                const TABLE: $crate::__private::core::option::Option<&'static $crate::__private::TableDesc> =
                    $crate::entry_table!(@table $table [$($name: ($($ty,)*) => ($($result)?)),+]);

                fn fill(self) {
                    let _first = ALCEDO_FILLED.set(self);
                }
            }

            $($crate::__private::export! {
                @of $crate::__private::core::stringify!($table),
                $crate::__private::unraw($crate::__private::core::stringify!($name)),
                ($($ty),*) -> ($($result)?), returns: ($($result)?),
                location: $crate::__private::SourceLocation {
                    file: $crate::__private::core::file!(),
                    line: $crate::__private::core::line!(),
                    column: $crate::__private::core::column!(),
                },
                |args| match ALCEDO_FILLED.get() {
                    $crate::__private::core::option::Option::Some(table) => {
                        $crate::__private::EntryFn::call(table.$name, args)
                    }
                    $crate::__private::core::option::Option::None => {
                        $crate::__private::not_filled($crate::__private::core::stringify!($table))
                    }
                }
            })+
        };
    };
}
