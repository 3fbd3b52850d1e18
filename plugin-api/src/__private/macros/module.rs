//! Macros for a whole module and its lists: `module!`, descriptions, records of types, interfaces, and static functions.

/// Defines a module: its manifest section, its heap, its root module under the root symbol, and hooks for C functions with lasting side
/// effects. The host reads the manifest section without mapping the file. The module's own tests use the platform's heap and C functions
/// instead.
#[doc(hidden)]
#[macro_export]
macro_rules! __alcedo_module {
    (
        name: $name:expr, build_id: $build_id:expr, heap: $heap:ident, own_logger: $own_logger:literal,
        unhooked: $unhooked:tt, permissions: $permissions:expr, dependencies: $dependencies:expr,
        tables: $tables:expr, entry: $entry:expr, main: |$args:ident| $main:expr, exit: $exit:expr,
        suspends: $suspends:literal, suspend: $suspend:expr, resume: $resume:expr
    ) => {
        // The hooks contain global assembly, so they are expanded at the top level, outside of the block below.
        #[cfg(not(test))]
        $crate::__private::hook_names!($unhooked);
        // Only the items of `alcedo_build` depend on the build id, which changes in each build. The items have a codegen unit of their own,
        // because `alcedo_build` is at the top level. The compiler therefore reuses the code of all other items.
        mod alcedo_build {
            const ALCEDO_SOURCE: $crate::__private::manifest::Source<'static> = $crate::__private::manifest::Source {
                name: $name,
                version: $crate::__private::core::env!("CARGO_PKG_VERSION"),
                build_id: $build_id,
                compiler: $crate::__private::COMPILER,
                unwinds: $crate::__private::core::cfg!(panic = "unwind"),
                hooked: $crate::__private::HOOKED,
        own_heap: $crate::__private::heap!(is $heap),
                permissions: $permissions,
                dependencies: $dependencies,
            };
            // The host reads this section only from the file. `#[used]` retains this static, to which no code refers.
            #[used]
            #[unsafe(link_section = $crate::__private::section!(manifest))]
            static ALCEDO_MANIFEST: [$crate::__private::core::primitive::u8;
                $crate::__private::manifest::encoded_len(&ALCEDO_SOURCE)] =
                $crate::__private::manifest::encode(&ALCEDO_SOURCE);
            $crate::__private::retain!([$crate::__private::core::primitive::u8], ALCEDO_MANIFEST);

            pub(super) static ALCEDO_ID: [$crate::__private::core::primitive::u8; 16] =
                $crate::__private::core::primitive::u128::to_le_bytes(ALCEDO_SOURCE.build_id);
        }

        const _: () = {
            $crate::__private::heap!($heap);

            struct AlcedoModule;
            impl $crate::__private::ModuleHooks for AlcedoModule {
                fn main($args: &[&$crate::__private::core::primitive::str]) {
                    $main
                }

                fn exit() {
                    $exit
                }

                const TABLES: $crate::__private::EntryTables = $tables;

                fn entry() -> $crate::__private::CallResult<()> {
                    $entry
                }

                const OWN_LOGGER: $crate::__private::core::primitive::bool = $own_logger;

                const SUSPENDS: $crate::__private::core::primitive::bool = $suspends;

                const BUILD_ID: &'static [$crate::__private::core::primitive::u8; 16] = &alcedo_build::ALCEDO_ID;

                fn suspend() -> $crate::__private::CallResult<()> {
                    $suspend
                }

                fn resume() -> $crate::__private::CallResult<()> {
                    $resume
                }
            }

            // The symbol name is reserved for this static, so a second `module!` in a library causes a link error.
            #[unsafe(export_name = "alcedo_root_module")]
            static ALCEDO_ROOT: $crate::__private::LibHeader = $crate::__private::lib_header::<AlcedoModule>();
        };
    };
}

/// Defines the heap of the module as the global allocator, unless the author defines an allocator. Tests of the module use the
/// default allocator.
#[doc(hidden)]
#[macro_export]
macro_rules! __alcedo_heap {
    (is module) => {
        $crate::__private::OWN_HEAP
    };
    (is own) => {
        false
    };
    (module) => {
        #[cfg(not(test))]
        #[global_allocator]
        static ALCEDO_HEAP: $crate::__private::ModuleHeap = $crate::__private::ModuleHeap;
    };
    (own) => {};
}

/// Records a declared type in a section that the host reads without mapping the file.
#[doc(hidden)]
#[macro_export]
macro_rules! __alcedo_type_record {
    ($kind:ident $package:expr, $name:expr) => {
        const _: () = {
            $crate::__private::type_record! { @here $kind $package, $name }
        };
    };
    // Declares the items without a block of their own, because each block is a constant that the compiler checks.
    (@here $kind:ident $package:expr, $name:expr) => {
        // The host reads this section only from the file. No code refers to this static. `#[used]` therefore retains the static.
        #[used]
        #[unsafe(link_section = $crate::__private::section!(types))]
        static ALCEDO_RECORD: [$crate::__private::core::primitive::u8;
            $crate::__private::manifest::type_record_len($package, $name)] =
            $crate::__private::manifest::type_record($crate::__private::manifest::type_records::$kind, $package, $name);
        $crate::__private::retain!([$crate::__private::core::primitive::u8], ALCEDO_RECORD);
    };
}

/// Retains a static in a library. On Windows, GNU ld drops a static to which no code refers, even with `#[used]`. GNU ld always retains the
/// obsolete section `.jcr`, and all statics to which this section refers. No code reads the section.
#[cfg(windows)]
#[doc(hidden)]
#[macro_export]
macro_rules! __alcedo_retain {
    ($ty:ty, $static:ident) => {
        const _: () = {
            #[used]
            #[unsafe(link_section = ".jcr")]
            static ALCEDO_RETAINED: &'static $ty = &$static;
        };
    };
}

/// Expands to nothing, because linkers retain statics with `#[used]`.
#[cfg(not(windows))]
#[doc(hidden)]
#[macro_export]
macro_rules! __alcedo_retain {
    ($ty:ty, $static:ident) => {};
}

/// Adds a description to one of the module's lists. The lists accept only descriptions of the type `Declared`.
#[doc(hidden)]
#[macro_export]
macro_rules! __alcedo_register {
    ($list:ident: $ty:ty = $desc:expr) => {
        const _: () = {
            $crate::__private::register! { @here $list: $ty = $desc }
        };
    };
    // Declares the items without a block of their own, for a caller that already has a block.
    (@here $list:ident: $ty:ty = $desc:expr) => {
        static ALCEDO_DESC: $crate::__private::Declared<$ty> = $desc;
        $crate::__private::if_used! {
            {
                // Expansion of `linkme`'s attribute on Linux, without the attribute's checks, which take longer to compile. `listed`
                // checks that `$list` is a list of this crate, and that the entry has the list's type. Each section therefore has one
                // type.
                #[used]
                #[unsafe(link_section = $crate::__private::core::concat!(
                    "linkme_",
                    $crate::__private::core::stringify!($list)
                ))]
                static ALCEDO_ENTRY: &'static $crate::__private::Declared<$ty> =
                    $crate::__private::listed(&$crate::__private::$list, &ALCEDO_DESC);
            }
            {
                #[$crate::__private::linkme::distributed_slice($crate::__private::$list)]
                #[linkme(crate = $crate::__private::linkme)]
                static ALCEDO_ENTRY: &'static $crate::__private::Declared<$ty> = &ALCEDO_DESC;
                $crate::__private::retain!(&'static $crate::__private::Declared<$ty>, ALCEDO_ENTRY);
            }
        }
    };
}

/// Adds the earlier names of a type or a member of this module to a list.
#[doc(hidden)]
#[macro_export]
macro_rules! __alcedo_earlier_names {
    ($path:literal, $names:literal) => {
        $crate::__private::register! {
            EARLIER_NAMES: $crate::__private::MetaDesc = $crate::__private::earlier_names_of($path, $names)
        }
    };
}

/// Defines the type of an interface and its view, and declares or imports the interface.
#[doc(hidden)]
#[macro_export]
macro_rules! __alcedo_interface {
    (
        $origin:ident $(#[$attr:meta])* $vis:vis $interface:ident $view:ident $view_doc:literal,
        package: $package:literal, name: $name:literal, doc: $doc:literal,
        functions: [$({
            $function:literal ($($param:literal: $ty:ty),*) -> $result:ty, may_fail: $may_fail:literal,
            text: $text:literal, doc: $function_doc:literal
        })*],
    ) => {
        $(#[$attr])*
        #[derive($crate::__private::core::fmt::Debug)]
        $vis enum $interface {}

        #[doc = $view_doc]
        #[derive(
            $crate::__private::core::clone::Clone,
            $crate::__private::core::marker::Copy,
            $crate::__private::core::fmt::Debug
        )]
        $vis struct $view<'f>($crate::__private::InterfaceThis<'f, $interface>);

        impl<'f> $crate::__private::core::ops::Deref for $view<'f> {
            type Target = $crate::__private::InterfaceThis<'f, $interface>;

            fn deref(&self) -> &Self::Target {
                &self.0
            }
        }

        const _: () = {
            // SAFETY: `PATH` is the path of the interface that is declared or imported below.
            unsafe impl $crate::__private::Interface for $interface {
                type View<'f> = $view<'f>;
                const PATH: &'static $crate::__private::core::primitive::str =
                    $crate::__private::core::concat!("/Script/", $package, ".", $name);
                const FUNCTIONS: &'static [$crate::__private::InterfaceFunction] =
                    &[$($crate::__private::compared::<($($ty,)*), $result>($function, $text)),*];
                const NAMES: &'static $crate::__private::core::primitive::str =
                    $crate::__private::core::concat!("these:" $(, " `", $function, "`")*);

                fn view<'f>(this: $crate::__private::InterfaceThis<'f, Self>) -> $view<'f> {
                    $view(this)
                }
            }
            $crate::__private::interface! {
                @$origin $interface $package $name $doc
                [$({ $function ($($param: $ty),*) -> $result, $may_fail, $function_doc })*]
            }
        };
    };
    (
        @declared $interface:ident $package:literal $name:literal $doc:literal
        [$({ $function:literal ($($param:literal: $ty:ty),*) -> $result:ty, $may_fail:literal, $function_doc:literal })*]
    ) => {
        $crate::__private::register! {
            INTERFACES: $crate::__private::InterfaceDesc = $crate::__private::interface_description::<$interface>(
                $package,
                $name,
                &[$($crate::__private::interface_function::<$interface, ($($ty,)*), $result>(
                    $function,
                    $may_fail,
                    {
                        const BLOCK: &$crate::__private::SignatureBlock<($($ty,)*), $result> =
                            &$crate::__private::SignatureBlock::new(&[$($param),*]);
                        BLOCK
                    },
                    $function_doc,
                )),*],
                $doc,
            )
        }
        $crate::__private::type_record!(INTERFACE $package, $name);
    };
    (@imported $interface:ident $package:literal $name:literal $doc:literal $functions:tt) => {
        $crate::__private::register! {
            IMPORTS: $crate::__private::ImportDesc = $crate::__private::import_interface::<$interface>()
        }
    };
}

/// Exports a static function by name.
#[doc(hidden)]
#[macro_export]
macro_rules! __alcedo_export {
    (
        type_path: $type_path:expr, name: $name:expr,
        ($($arg:ident: $ty:ty),*) -> $result:ty, returns: $returned:ty, location: $location:expr, $call:expr
    ) => {
        $crate::__private::export! {
            @of $type_path, $name, ($($ty),*) -> $result, returns: $returned, location: $location, |($($arg,)*)| $call($($arg),*)
        }
    };
    (
        @of $type_path:expr, $name:expr, ($($ty:ty),*) -> $result:ty, returns: $returned:ty, location: $location:expr,
        |$args:pat_param| $run:expr
    ) => {
        const _: () = {
            struct AlcedoExport;
            impl $crate::__private::Export for AlcedoExport {
                type Args = ($($ty,)*);
                type Result = $result;
                type Returned = $returned;
                const NAME: &'static $crate::__private::core::primitive::str = $name;
                const LOCATION: $crate::__private::SourceLocation = $location;

                #[allow(deprecated, reason = "exports a deprecated function for its remaining callers")]
                fn run($args: Self::Args) -> Self::Returned {
                    $run
                }
            }
            const ALCEDO_LEN: $crate::__private::core::primitive::usize =
                $crate::__private::Words::<AlcedoExport>::LEN;
            static ALCEDO_WORDS: $crate::__private::Words<AlcedoExport, ALCEDO_LEN> =
                $crate::__private::Words::in_words();
            $crate::__private::register! {
                EXPORTS: $crate::__private::ExportDesc =
                    $crate::__private::export_description($type_path, &ALCEDO_WORDS)
            }
        };
    };
}
