//! Macros for a whole module and its lists: `module!`, descriptions, records of types, interfaces, and static functions.

/// Defines a module: the manifest section, which is read without mapping the file; hooked copies of C functions with lasting
/// side effects; its heap; and its root under the root symbol. Tests of the module use the platform's functions.
#[doc(hidden)]
#[macro_export]
macro_rules! __alcedo_module {
    (
        name: $name:expr, build_id: $build_id:expr, heap: $heap:ident, own_logger: $own_logger:literal,
        unhooked: $unhooked:tt, dependencies: $dependencies:expr,
        tables: $tables:expr, entry: $entry:expr, main: |$args:ident| $main:expr, exit: $exit:expr,
        suspends: $suspends:literal, suspend: $suspend:expr, resume: $resume:expr
    ) => {
        // Assembly is at the top level of a module, never inside a block.
        #[cfg(not(test))]
        $crate::plumbing::hook_names!($unhooked);
        const _: () = {
            const ALCEDO_SOURCE: $crate::plumbing::manifest::Source<'static> = $crate::plumbing::manifest::Source {
                name: $name,
                version: $crate::plumbing::core::env!("CARGO_PKG_VERSION"),
                build_id: $build_id,
                compiler: $crate::plumbing::COMPILER,
                unwinds: $crate::plumbing::core::cfg!(panic = "unwind"),
                hooked: $crate::plumbing::HOOKED,
        own_heap: $crate::plumbing::heap!(is $heap),
                dependencies: $dependencies,
            };
            // The section is only read from the file: no code in the program refers to it.
            #[used]
            #[unsafe(link_section = ".alcedo.manifest")]
            static ALCEDO_MANIFEST: [$crate::plumbing::core::primitive::u8;
                $crate::plumbing::manifest::encoded_len(&ALCEDO_SOURCE)] =
                $crate::plumbing::manifest::encode(&ALCEDO_SOURCE);

            $crate::plumbing::heap!($heap);

            struct AlcedoModule;
            impl $crate::plumbing::ModuleHooks for AlcedoModule {
                fn main($args: &[&$crate::plumbing::core::primitive::str]) {
                    $main
                }

                fn exit() {
                    $exit
                }

                const TABLES: $crate::plumbing::EntryTables = $tables;

                fn entry() -> $crate::plumbing::core::result::Result<(), $crate::plumbing::CallError> {
                    $entry
                }

                const OWN_LOGGER: $crate::plumbing::core::primitive::bool = $own_logger;

                const SUSPENDS: $crate::plumbing::core::primitive::bool = $suspends;

                fn suspend() -> $crate::plumbing::core::result::Result<(), $crate::plumbing::CallError> {
                    $suspend
                }

                fn resume() -> $crate::plumbing::core::result::Result<(), $crate::plumbing::CallError> {
                    $resume
                }
            }

            // The name is reserved by this framework, and a library has one `module!`: a second one does not link.
            #[unsafe(export_name = "alcedo_root_module")]
            static ALCEDO_ROOT: $crate::plumbing::LibHeader = $crate::plumbing::lib_header::<AlcedoModule>();
        };
    };
}

/// Defines the allocator: the module's heap, or the author's own. Tests of the module use the platform's.
#[doc(hidden)]
#[macro_export]
macro_rules! __alcedo_heap {
    (is module) => {
        $crate::plumbing::OWN_HEAP
    };
    (is own) => {
        false
    };
    (module) => {
        #[cfg(not(test))]
        #[global_allocator]
        static ALCEDO_HEAP: $crate::plumbing::ModuleHeap = $crate::plumbing::ModuleHeap;
    };
    (own) => {};
}

/// Records a declared type in the section that is read without mapping the file.
#[doc(hidden)]
#[macro_export]
macro_rules! __alcedo_type_record {
    ($kind:ident $package:expr, $name:expr) => {
        const _: () = {
            const ALCEDO_LEN: usize = $crate::plumbing::manifest::type_record_len($package, $name);
            // The section is only read from the file: no code in the program refers to it.
            #[used]
            #[unsafe(link_section = ".alcedo.types")]
            static ALCEDO_RECORD: [u8; ALCEDO_LEN] = $crate::plumbing::manifest::type_record(
                $crate::plumbing::manifest::type_records::$kind,
                $package,
                $name,
            );
        };
    };
}

/// Adds a description to one of the module's lists. Only true descriptions have the element type of the lists.
#[doc(hidden)]
#[macro_export]
macro_rules! __alcedo_register {
    ($list:ident: $ty:ty = $desc:expr) => {
        const _: () = {
            static ALCEDO_DESC: $crate::plumbing::Declared<$ty> = $desc;
            #[$crate::plumbing::linkme::distributed_slice($crate::plumbing::$list)]
            #[linkme(crate = $crate::plumbing::linkme)]
            static ALCEDO_ENTRY: &'static $crate::plumbing::Declared<$ty> = &ALCEDO_DESC;
        };
    };
}

/// Lists the earlier names of a type or a member of this module.
#[doc(hidden)]
#[macro_export]
macro_rules! __alcedo_earlier_names {
    ($path:literal, $names:literal) => {
        $crate::plumbing::register! {
            EARLIER_NAMES: $crate::plumbing::MetaDesc = $crate::plumbing::earlier_names_of($path, $names)
        }
    };
}

/// Defines the type of an interface and its view, and declares or imports it.
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
        #[derive(Debug)]
        $vis enum $interface {}

        #[doc = $view_doc]
        #[derive(Clone, Copy, Debug)]
        $vis struct $view<'f>($crate::plumbing::InterfaceThis<'f, $interface>);

        impl<'f> $crate::plumbing::core::ops::Deref for $view<'f> {
            type Target = $crate::plumbing::InterfaceThis<'f, $interface>;

            fn deref(&self) -> &Self::Target {
                &self.0
            }
        }

        const _: () = {
            // SAFETY: the path is that of the interface that is declared or imported below.
            unsafe impl $crate::plumbing::Interface for $interface {
                type View<'f> = $view<'f>;
                const PATH: &'static $crate::plumbing::core::primitive::str =
                    $crate::plumbing::core::concat!("/Script/", $package, ".", $name);
                const FUNCTIONS: &'static [$crate::plumbing::InterfaceFunction] =
                    &[$($crate::plumbing::compared::<($($ty,)*), $result>($function, $text)),*];
                const NAMES: &'static $crate::plumbing::core::primitive::str =
                    $crate::plumbing::core::concat!("these:" $(, " `", $function, "`")*);

                fn view<'f>(this: $crate::plumbing::InterfaceThis<'f, Self>) -> $view<'f> {
                    $view(this)
                }
            }
            $crate::plumbing::interface! {
                @$origin $interface $package $name $doc
                [$({ $function ($($param: $ty),*) -> $result, $may_fail, $function_doc })*]
            }
        };
    };
    (
        @declared $interface:ident $package:literal $name:literal $doc:literal
        [$({ $function:literal ($($param:literal: $ty:ty),*) -> $result:ty, $may_fail:literal, $function_doc:literal })*]
    ) => {
        $crate::plumbing::register! {
            INTERFACES: $crate::plumbing::InterfaceDesc = $crate::plumbing::interface_description::<$interface>(
                $package,
                $name,
                &[$($crate::plumbing::interface_function::<$interface, ($($ty,)*), $result>(
                    $function,
                    $may_fail,
                    {
                        const BLOCK: &$crate::plumbing::SignatureBlock<($($ty,)*), $result> =
                            &$crate::plumbing::SignatureBlock::new(&[$($param),*]);
                        BLOCK
                    },
                    $function_doc,
                )),*],
                $doc,
            )
        }
        $crate::plumbing::type_record!(INTERFACE $package, $name);
    };
    (@imported $interface:ident $package:literal $name:literal $doc:literal $functions:tt) => {
        static ALCEDO_CELL: $crate::plumbing::PresenceCell = $crate::plumbing::PresenceCell::new();
        $crate::plumbing::register! {
            IMPORTS: $crate::plumbing::ImportDesc = $crate::plumbing::import_interface::<$interface>(&ALCEDO_CELL)
        }
    };
}

/// Exports a static function by name.
#[doc(hidden)]
#[macro_export]
macro_rules! __alcedo_export {
    (
        type_path: $type_path:expr, name: $name:expr,
        ($($arg:ident: $ty:ty),*) -> $result:ty, returns: $returned:ty, place: $place:expr, $call:expr
    ) => {
        $crate::plumbing::export! {
            @of $type_path, $name, ($($ty),*) -> $result, returns: $returned, place: $place, |($($arg,)*)| $call($($arg),*)
        }
    };
    (
        @of $type_path:expr, $name:expr, ($($ty:ty),*) -> $result:ty, returns: $returned:ty, place: $place:expr,
        |$args:pat_param| $run:expr
    ) => {
        const _: () = {
            struct AlcedoExport;
            impl $crate::plumbing::Export for AlcedoExport {
                type Args = ($($ty,)*);
                type Result = $result;
                type Returned = $returned;
                const NAME: &'static $crate::plumbing::core::primitive::str = $name;
                const PLACE: $crate::plumbing::Place = $place;

                fn run($args: Self::Args) -> Self::Returned {
                    $run
                }
            }
            const ALCEDO_LEN: $crate::plumbing::core::primitive::usize =
                $crate::plumbing::Words::<AlcedoExport>::LEN;
            static ALCEDO_WORDS: $crate::plumbing::Words<AlcedoExport, ALCEDO_LEN> =
                $crate::plumbing::Words::in_words();
            $crate::plumbing::register! {
                EXPORTS: $crate::plumbing::ExportDesc =
                    $crate::plumbing::export_description($type_path, &ALCEDO_WORDS)
            }
        };
    };
}

/// Joins three strings at compile time.
#[doc(hidden)]
#[macro_export]
macro_rules! __alcedo_join {
    ($a:expr, $b:expr, $c:expr) => {{
        const ALCEDO_LEN: usize = $crate::plumbing::joined_len([$a, $b, $c]);
        const ALCEDO_BYTES: [u8; ALCEDO_LEN] = $crate::plumbing::joined([$a, $b, $c]);
        const ALCEDO_TEXT: &str = match $crate::plumbing::core::str::from_utf8(&ALCEDO_BYTES) {
            $crate::plumbing::core::result::Result::Ok(text) => text,
            $crate::plumbing::core::result::Result::Err(_) => panic!("joined strings are valid UTF-8"),
        };
        ALCEDO_TEXT
    }};
}
