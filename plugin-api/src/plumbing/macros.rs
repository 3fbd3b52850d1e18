//! The patterns behind the attributes. The proc macros read and check what an author wrote; what it becomes stands
//! here, so that every unsafe line that ends up in a plugin is in this one file, with its reason.

/// A class: its face, and the promise of `Class`.
#[doc(hidden)]
#[macro_export]
macro_rules! __alcedo_class {
    (face: $(#[$attr:meta])* $vis:vis $class:ident $face:ident) => {
        $(#[$attr])*
        #[repr(transparent)]
        #[derive(Clone, Copy, Debug)]
        $vis struct $face<'f>($crate::plumbing::This<'f, $class>);
    };
    (impl: $class:ident $face:ident $base:ty, $path:expr) => {
        static ALCEDO_CLASS: $crate::plumbing::Cell = $crate::plumbing::Cell::new();

        // SAFETY: the face above is transparent over `This`; base, path and members stand in the descriptions that
        // the host emits, or compares, before any code of the module runs.
        unsafe impl $crate::plumbing::Class for $class {
            type Base = $base;
            type Face<'f> = $face<'f>;
            const PATH: &'static str = $path;

            fn cell() -> &'static $crate::plumbing::Cell {
                &ALCEDO_CLASS
            }
        }

        impl<'f> ::core::ops::Deref for $face<'f> {
            type Target = <$base as $crate::plumbing::Class>::Face<'f>;

            fn deref(&self) -> &Self::Target {
                $crate::plumbing::base_ref(&self.0)
            }
        }
    };
}

/// The accessors of one property. `$cell` is a static that holds its offset.
#[doc(hidden)]
#[macro_export]
macro_rules! __alcedo_property {
    ($(#[$attr:meta])* $face:ident $get:ident $set:ident $try_set:ident: $ty:ty, $how:ident $arg:ty, $cell:ident) => {
        impl<'f> $face<'f> {
            $(#[$attr])*
            #[must_use]
            #[inline]
            pub fn $get(&self) -> <$ty as $crate::plumbing::Value>::Seen<'f> {
                // SAFETY: the cell is this property's, declared or imported with this very type.
                unsafe { $crate::plumbing::read_member::<_, $ty>(&self.0, &$cell) }
            }

            /// Writes the property. When the host refuses writes, as in a red constructor during a reload for any
            /// object but its own, the running call ends with that error.
            $(#[$attr])*
            #[inline]
            pub fn $set(&self, value: $arg) {
                self.$try_set(value).unwrap_or_else(|error| $crate::plumbing::fail(error));
            }

            /// Writes the property, or says why the host refuses.
            $(#[$attr])*
            #[inline]
            pub fn $try_set(&self, value: $arg) -> ::core::result::Result<(), $crate::plumbing::CallError> {
                let value = $crate::plumbing::property!(@$how value, $ty);
                // SAFETY: the cell is this property's, declared or imported with this very type.
                unsafe { $crate::plumbing::write_member::<_, $ty>(&self.0, &$cell, value) }
            }
        }
    };
    (@into $value:ident, $ty:ty) => {
        ::core::convert::Into::<$ty>::into($value)
    };
    (@give $value:ident, $ty:ty) => {
        $value
    };
}

/// The callers of one function. `$cell` is a static that holds its handle.
#[doc(hidden)]
#[macro_export]
macro_rules! __alcedo_call {
    (
        $(#[$attr:meta])*
        $face:ident $name:ident $try_name:ident($($arg:ident: $ty:ty = $given:expr),*) -> $result:ty, $cell:ident, $what:expr
    ) => {
        impl $face<'_> {
            $(#[$attr])*
            ///
            /// When the call fails, the running call ends with the same error.
            pub fn $name(&self, $($arg: $ty),*) -> $result {
                self.$try_name($($arg),*).unwrap_or_else(|error| $crate::plumbing::fail(error))
            }

            $(#[$attr])*
            ///
            /// # Errors
            /// Whatever the callee fails with.
            pub fn $try_name(&self, $($arg: $ty),*) -> ::core::result::Result<$result, $crate::plumbing::CallError> {
                const ALCEDO_WHAT: &str = $what;
                // SAFETY: the cell is this function's, declared or imported with these very types.
                unsafe { $crate::plumbing::invoke_member(&self.0, &$cell, ALCEDO_WHAT, &($($given,)*)) }
            }
        }
    };
}

/// The face of a parameter, for the call that `$this` is of.
#[doc(hidden)]
#[macro_export]
macro_rules! __alcedo_red {
    ($red:ident, $this:ident) => {
        // SAFETY: both came into the same call.
        unsafe { $red.open(&$this) }
    };
}

/// Something used that another module or the host declares; the static `$cell` receives its number.
#[doc(hidden)]
#[macro_export]
macro_rules! __alcedo_import {
    ($kind:ident $path:expr, $fingerprint:expr, $cell:expr) => {
        const _: () = {
            static ALCEDO_IMPORT: $crate::plumbing::ImportDesc = $crate::plumbing::ImportDesc {
                kind: $crate::plumbing::ImportKind::$kind,
                path: $crate::plumbing::RStr::from_str($path),
                fingerprint: $fingerprint,
                cell: &$cell,
            };
    $crate::plumbing::register!(IMPORTS: $crate::plumbing::ImportDesc = &ALCEDO_IMPORT);
        };
    };
}

/// Adds a description to one of the module's lists.
#[doc(hidden)]
#[macro_export]
macro_rules! __alcedo_register {
    ($list:ident: $ty:ty = $desc:expr) => {
        const _: () = {
            #[$crate::plumbing::linkme::distributed_slice($crate::plumbing::$list)]
            #[linkme(crate = $crate::plumbing::linkme)]
            static ALCEDO_ENTRY: &'static $ty = $desc;
        };
    };
}

/// Notes a declared type in the section that is read without mapping the file.
#[doc(hidden)]
#[macro_export]
macro_rules! __alcedo_type_record {
    ($kind:ident $package:expr, $name:expr) => {
        const _: () = {
            const ALCEDO_LEN: usize = $crate::plumbing::manifest::type_record_len($package, $name);
            // The section is only read from the file: nothing in the program refers to it.
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

/// Emits a class with the plugin half `$class`. `send:` lists the types of its fields, each checked already.
#[doc(hidden)]
#[macro_export]
macro_rules! __alcedo_emit_class {
    (
        $class:ident,
        package: $package:expr, name: $name:expr, flags: $flags:expr, doc: $doc:expr,
        properties: [$($property:expr),* $(,)?],
        kept: [$(($kept:ident, $kept_name:expr, $kept_ty:ty)),* $(,)?],
        fields: [$(($field:ident, $field_ty:ty)),* $(,)?],
        implements: [$($implements:expr),* $(,)?],
    ) => {
        // SAFETY: every field was shown to be `Send` by `the_finalizer_thread_drops`.
        unsafe impl $crate::plumbing::Part for $class {
            fn red_constructor(this: $crate::plumbing::This<'_, Self>) -> Self {
                #[allow(unused_imports, reason = "the author's own red constructor goes first")]
                use $crate::plumbing::WithoutARedConstructor as _;
                $class::alcedo_red_constructor(this)
            }

            #[allow(unused_variables, reason = "a class may keep nothing")]
            fn save_kept(&self, keeper: &mut $crate::plumbing::Keeper<'_>) {
                $(keeper.put::<$kept_ty>($kept_name, &self.$kept);)*
            }

            #[allow(unused_variables, reason = "a class may keep nothing")]
            fn load_kept(&mut self, name: &str, data: &[u8]) -> ::core::result::Result<(), $crate::plumbing::CallError> {
                match name {
                    $($kept_name => $crate::plumbing::restore::<$kept_ty>(&mut self.$kept, data),)*
                    _ => ::core::result::Result::Err($crate::plumbing::unknown_field(
                        <Self as $crate::plumbing::Class>::PATH,
                        name,
                    )),
                }
            }
        }

        impl<M> $crate::plumbing::DefaultPart<M> for $class
        where
            $($crate::plumbing::Probe<M, $field_ty>: $crate::plumbing::BuildDefault<Out = $field_ty>,)*
        {
            fn default_part() -> Self {
                Self {
                    $($field: <$crate::plumbing::Probe<M, $field_ty> as $crate::plumbing::BuildDefault>::build(),)*
                }
            }
        }

        static ALCEDO_DESC: $crate::plumbing::ClassDesc = {
            #[allow(unused_imports, reason = "an `impl` block of the author's goes first")]
            use $crate::plumbing::NoBody as _;
            const ALCEDO_BODY: $crate::plumbing::Body = $class::ONE_UCLASS_IMPL_BLOCK_PER_CLASS;
            $crate::plumbing::ClassDesc {
                package: $crate::plumbing::RStr::from_str($package),
                name: $crate::plumbing::RStr::from_str($name),
                base: $crate::plumbing::RStr::from_str(
                    <<$class as $crate::plumbing::Class>::Base as $crate::plumbing::Class>::PATH,
                ),
                flags: $flags,
                properties: $crate::plumbing::RSlice::from_slice(&[$($property),*]),
                functions: $crate::plumbing::RSlice::from_slice(ALCEDO_BODY.functions),
                hooks: $crate::plumbing::hooks::<$class>(ALCEDO_BODY),
                cell: &ALCEDO_CLASS,
                doc: $crate::plumbing::RStr::from_str($doc),
                implements: $crate::plumbing::RSlice::from_slice(&[$($implements),*]),
            }
        };
        $crate::plumbing::register!(CLASSES: $crate::plumbing::ClassDesc = &ALCEDO_DESC);
        $crate::plumbing::type_record!(CLASS $package, $name);
    };
}

/// The type of an interface, and its declaration here or the mention of it elsewhere.
#[doc(hidden)]
#[macro_export]
macro_rules! __alcedo_interface {
    (type: $(#[$attr:meta])* $vis:vis $name:ident $path:expr) => {
        $(#[$attr])*
        #[derive(Debug)]
        $vis enum $name {}

        impl $crate::plumbing::Interface for $name {
            const PATH: &'static str = $path;
        }
    };
    (emit: $package:expr, $name:expr, $doc:expr) => {
        const _: () = {
            static ALCEDO_DESC: $crate::plumbing::InterfaceDesc = $crate::plumbing::InterfaceDesc {
                package: $crate::plumbing::RStr::from_str($package),
                name: $crate::plumbing::RStr::from_str($name),
                doc: $crate::plumbing::RStr::from_str($doc),
            };
            $crate::plumbing::register!(INTERFACES: $crate::plumbing::InterfaceDesc = &ALCEDO_DESC);
            $crate::plumbing::type_record!(INTERFACE $package, $name);
        };
    };
    (import: $path:expr) => {
        const _: () = {
            static ALCEDO_CELL: $crate::plumbing::Cell = $crate::plumbing::Cell::new();
            $crate::plumbing::import!(INTERFACE $path, 0, ALCEDO_CELL);
        };
    };
}

/// A static function offered by name.
#[doc(hidden)]
#[macro_export]
macro_rules! __alcedo_export {
    (
        type_path: $type_path:expr, name: $name:expr, signature: $signature:expr,
        ($($arg:ident: $ty:ty),*) -> $result:ty, $call:expr
    ) => {
        const _: () = {
            struct AlcedoExport;
            impl $crate::plumbing::Export for AlcedoExport {
                type Args = ($($ty,)*);
                type Result = $result;
                const NAME: &'static str = $name;

                fn run(($($arg,)*): Self::Args) -> Self::Result {
                    $call($($arg),*)
                }
            }
            static ALCEDO_DESC: $crate::plumbing::ExportDesc = $crate::plumbing::ExportDesc {
                type_path: $crate::plumbing::RStr::from_str($type_path),
                name: $crate::plumbing::RStr::from_str($name),
                fingerprint: $crate::plumbing::fingerprint::<($($ty,)*), $result>(),
                signature: $crate::plumbing::RStr::from_str($signature),
                invoke: $crate::plumbing::ZCallInvoke($crate::plumbing::export_shell::<AlcedoExport>),
            };
            $crate::plumbing::register!(EXPORTS: $crate::plumbing::ExportDesc = &ALCEDO_DESC);
        };
    };
}

/// A struct that travels by value.
#[doc(hidden)]
#[macro_export]
macro_rules! __alcedo_pod {
    ($name:ident, $path:expr, [$(($field:ident, $field_name:expr, $ty:ty)),* $(,)?]) => {
        /// The struct as it lies in host memory: each field as the host stores it.
        #[repr(C)]
        pub struct AlcedoRaw {
            $($field: <$ty as $crate::plumbing::Value>::Raw,)*
        }

        /// The struct as C lays it out.
        #[repr(C)]
        struct AlcedoForm {
            $($field: $ty,)*
        }

        const _: () = assert!(
            ::core::mem::size_of::<$name>() == ::core::mem::size_of::<AlcedoForm>()
                && ::core::mem::align_of::<$name>() == ::core::mem::align_of::<AlcedoForm>(),
            "a `#[ustruct(pod)]` struct lies in memory as C lays it out: take away its own `repr`",
        );

        // SAFETY: the struct is `repr(C)` and nothing more, which is asserted above; so where each field lies as its raw form
        // does and takes any bytes, the whole does. `for` makes a field that does not a matter of who asks.
        unsafe impl $crate::plumbing::Plain for $name where $(for<'plain> $ty: $crate::plumbing::Plain),* {}

        // SAFETY: `AlcedoRaw` has the fields of the host's struct in order, laid out as C does, and size, alignment
        // and offsets are compared by fingerprint; each field's raw form is valid for any bytes, so the whole is.
        // Structs travel behind pointers to this form.
        unsafe impl $crate::plumbing::Value for $name {
            const KIND: $crate::plumbing::PropertyKind = $crate::plumbing::PropertyKind::STRUCT;
            const TYPE_PATH: &'static str = $path;
            const OWNS_MEMORY: bool = false $(|| <$ty as $crate::plumbing::Value>::OWNS_MEMORY)*;
            type Raw = AlcedoRaw;
            type Seen<'f> = Self;
            type Literal = $crate::plumbing::NoDefault;
            type In = ::core::mem::MaybeUninit<AlcedoRaw>;
            type Out = ::core::mem::MaybeUninit<AlcedoRaw>;

            unsafe fn see<'f>(
                at: *mut AlcedoRaw,
                _spot: impl ::core::ops::FnOnce() -> $crate::plumbing::Spot<'f>,
            ) -> Self {
                // SAFETY: promised by the caller.
                unsafe { Self::load(at) }
            }

            unsafe fn load(raw: *const AlcedoRaw) -> Self {
                Self {
                    // SAFETY: `raw` is live by contract, and so is each of its fields.
                    $($field: unsafe { <$ty as $crate::plumbing::Value>::load(&raw const (*raw).$field) },)*
                }
            }

            unsafe fn store(
                &self,
                target: *mut AlcedoRaw,
            ) -> ::core::result::Result<(), $crate::plumbing::CallError> {
                // SAFETY: `target` is live by contract, and so is each of its fields.
                $(unsafe { <$ty as $crate::plumbing::Value>::store(&self.$field, &raw mut (*target).$field) }?;)*
                ::core::result::Result::Ok(())
            }

            fn stage(&self) -> Self::In {
                let mut staged = ::core::mem::MaybeUninit::zeroed();
                // SAFETY: zero bytes are a live value of every plain field.
                if let ::core::result::Result::Err(error) = unsafe { self.store(staged.as_mut_ptr()) } {
                    $crate::plumbing::fail(error);
                }
                staged
            }

            fn slot_in(&self, staged: &Self::In) -> $crate::plumbing::Slot {
                $crate::plumbing::pointer_slot(staged)
            }

            fn out() -> Self::Out {
                ::core::mem::MaybeUninit::zeroed()
            }

            fn slot_out(out: &mut Self::Out) -> $crate::plumbing::Slot {
                $crate::plumbing::pointer_slot_out(out)
            }

            fn take_out(
                _slot: $crate::plumbing::Slot,
                out: Self::Out,
            ) -> ::core::result::Result<Self, $crate::plumbing::CallError> {
                // SAFETY: it was zeroed, which is a live value of every plain field, and filled by the callee.
                ::core::result::Result::Ok(unsafe { Self::load(out.as_ptr()) })
            }

            unsafe fn from_slot(
                slot: $crate::plumbing::Slot,
            ) -> ::core::result::Result<Self, $crate::plumbing::CallError> {
                let raw = $crate::plumbing::pointer_of::<AlcedoRaw>(slot)?;
                // SAFETY: for a struct the slot points to a live one, by contract.
                ::core::result::Result::Ok(unsafe { Self::load(raw) })
            }

            unsafe fn into_slot(
                self,
                slot: &mut $crate::plumbing::Slot,
            ) -> ::core::result::Result<(), $crate::plumbing::CallError> {
                let raw = $crate::plumbing::pointer_of::<AlcedoRaw>(*slot)?;
                // SAFETY: for a struct the slot points to zeroed or live memory of one, by contract.
                unsafe { self.store(raw) }
            }
        }

        const ALCEDO_FIELDS: &[(&str, $crate::plumbing::ValueType, usize)] = &[
            $(($field_name, $crate::plumbing::ValueType::of::<$ty>(), ::core::mem::offset_of!(AlcedoRaw, $field))),*
        ];
        const ALCEDO_FINGERPRINT: u64 = $crate::plumbing::struct_fingerprint(
            ::core::mem::size_of::<AlcedoRaw>(),
            ::core::mem::align_of::<AlcedoRaw>(),
            ALCEDO_FIELDS,
        );
    };
    (emit: $package:expr, $name:expr, $doc:expr, [$(($field:ident, $field_name:expr, $ty:ty)),* $(,)?]) => {
        static ALCEDO_DESC: $crate::plumbing::StructDesc = $crate::plumbing::StructDesc {
            package: $crate::plumbing::RStr::from_str($package),
            name: $crate::plumbing::RStr::from_str($name),
            size: ::core::mem::size_of::<AlcedoRaw>() as u32,
            align: ::core::mem::align_of::<AlcedoRaw>() as u32,
            fields: $crate::plumbing::RSlice::from_slice(&$crate::plumbing::field_offsets(
                [$($crate::plumbing::parameter::<$ty>($field_name)),*],
                [$(::core::mem::offset_of!(AlcedoRaw, $field)),*],
            )),
            fingerprint: ALCEDO_FINGERPRINT,
            doc: $crate::plumbing::RStr::from_str($doc),
        };
        $crate::plumbing::register!(STRUCTS: $crate::plumbing::StructDesc = &ALCEDO_DESC);
        $crate::plumbing::type_record!(STRUCT $package, $name);
    };
    (import: $path:expr) => {
        static ALCEDO_CELL: $crate::plumbing::Cell = $crate::plumbing::Cell::new();
        $crate::plumbing::import!(STRUCT $path, ALCEDO_FINGERPRINT, ALCEDO_CELL);
    };
}

/// Three texts as one, at compile time.
#[doc(hidden)]
#[macro_export]
macro_rules! __alcedo_join {
    ($a:expr, $b:expr, $c:expr) => {{
        const ALCEDO_LEN: usize = $crate::plumbing::joined_len([$a, $b, $c]);
        const ALCEDO_BYTES: [u8; ALCEDO_LEN] = $crate::plumbing::joined([$a, $b, $c]);
        const ALCEDO_TEXT: &str = match ::core::str::from_utf8(&ALCEDO_BYTES) {
            ::core::result::Result::Ok(text) => text,
            ::core::result::Result::Err(_) => panic!("texts joined are a text"),
        };
        ALCEDO_TEXT
    }};
}

/// The section that says who the module is, read without mapping the file.
#[doc(hidden)]
#[macro_export]
macro_rules! __alcedo_manifest {
    (name: $name:expr, build_id: $build_id:expr, own_heap: $own_heap:expr, dependencies: $dependencies:expr) => {
        const ALCEDO_SOURCE: $crate::plumbing::manifest::Source<'static> = $crate::plumbing::manifest::Source {
            name: $name,
            version: ::core::env!("CARGO_PKG_VERSION"),
            build_id: $build_id,
            compiler: $crate::plumbing::COMPILER,
            unwinds: ::core::cfg!(panic = "unwind"),
            hooked: $crate::plumbing::HOOKED,
            own_heap: $own_heap && $crate::plumbing::OWN_HEAP,
            dependencies: $dependencies,
        };
        // The section is only read from the file: nothing in the program refers to it.
        #[used]
        #[unsafe(link_section = ".alcedo.manifest")]
        static ALCEDO_MANIFEST: [u8; $crate::plumbing::manifest::encoded_len(&ALCEDO_SOURCE)] =
            $crate::plumbing::manifest::encode(&ALCEDO_SOURCE);
    };
}

/// A struct that is used where it lies. `face:` and `owned:` stand where the author's struct stood; the rest is beside.
#[doc(hidden)]
#[macro_export]
macro_rules! __alcedo_struct {
    (owned: $(#[$attr:meta])* $vis:vis $name:ident) => {
        $(#[$attr])*
        $vis struct $name($crate::plumbing::Owned<Self>);
    };
    (face: $(#[$attr:meta])* $vis:vis $name:ident $face:ident) => {
        $(#[$attr])*
        #[repr(transparent)]
        $vis struct $face<'f>($crate::plumbing::Lent<'f, $name>);
    };
    ($name:ident $face:ident, $path:expr, [$(($field:ident, $field_name:expr, $ty:ty)),* $(,)?]) => {
        /// The struct as it lies in host memory: each field as the host stores it.
        #[repr(C)]
        pub struct AlcedoRaw {
            $($field: <$ty as $crate::plumbing::Value>::Raw,)*
        }

        // SAFETY: `AlcedoRaw` has the fields of the host's struct in order, laid out as C does, and size, alignment
        // and offsets are compared by fingerprint; each field's raw form is valid for any bytes until it is followed, so
        // the whole is. Structs travel behind pointers to this form.
        unsafe impl $crate::plumbing::Value for $name {
            const KIND: $crate::plumbing::PropertyKind = $crate::plumbing::PropertyKind::STRUCT;
            const TYPE_PATH: &'static str = $path;
            const OWNS_MEMORY: bool = true;
            type Raw = AlcedoRaw;
            type Literal = $crate::plumbing::NoDefault;
            type Seen<'f> = $crate::plumbing::Lent<'f, Self>;
            type In = ();
            type Out = $crate::plumbing::Owned<Self>;

            unsafe fn see<'f>(
                at: *mut AlcedoRaw,
                spot: impl ::core::ops::FnOnce() -> $crate::plumbing::Spot<'f>,
            ) -> $crate::plumbing::Lent<'f, Self> {
                // SAFETY: promised by the caller.
                unsafe { $crate::plumbing::lend(at, spot()) }
            }

            fn lies_at(&self) -> ::core::option::Option<*const AlcedoRaw> {
                ::core::option::Option::Some($crate::plumbing::owned_at(self))
            }

            #[track_caller]
            unsafe fn load(raw: *const AlcedoRaw) -> Self {
                // SAFETY: promised by the caller.
                unsafe { $crate::plumbing::load_owned(raw, ::core::panic::Location::caller()) }
            }

            unsafe fn store(&self, target: *mut AlcedoRaw) -> ::core::result::Result<(), $crate::plumbing::CallError> {
                // SAFETY: promised by the caller.
                unsafe { $crate::plumbing::store_owned(self, target) }
            }

            fn stage(&self) {}

            fn slot_in(&self, (): &()) -> $crate::plumbing::Slot {
                $crate::plumbing::address_slot($crate::plumbing::owned_at(self))
            }

            #[track_caller]
            fn out() -> $crate::plumbing::Owned<Self> {
                $crate::plumbing::owned_out::<Self>(::core::panic::Location::caller())
            }

            fn slot_out(out: &mut $crate::plumbing::Owned<Self>) -> $crate::plumbing::Slot {
                $crate::plumbing::owned_slot(out)
            }

            fn take_out(
                _slot: $crate::plumbing::Slot,
                out: $crate::plumbing::Owned<Self>,
            ) -> ::core::result::Result<Self, $crate::plumbing::CallError> {
                ::core::result::Result::Ok(Self(out))
            }

            unsafe fn from_slot(
                slot: $crate::plumbing::Slot,
            ) -> ::core::result::Result<Self, $crate::plumbing::CallError> {
                let raw = $crate::plumbing::pointer_of::<AlcedoRaw>(slot)?;
                // SAFETY: for a struct the slot points to a live one, by contract.
                ::core::result::Result::Ok(unsafe { <Self as $crate::plumbing::Value>::load(raw) })
            }

            unsafe fn into_slot(
                self,
                slot: &mut $crate::plumbing::Slot,
            ) -> ::core::result::Result<(), $crate::plumbing::CallError> {
                let raw = $crate::plumbing::pointer_of::<AlcedoRaw>(*slot)?;
                // SAFETY: for a struct the slot of a result points to zero bytes, which are a live one, by contract.
                unsafe { $crate::plumbing::store_owned(&self, raw) }
            }
        }

        // SAFETY: the face is transparent over `Lent`; every way to make one goes through the host with this type's number.
        unsafe impl $crate::plumbing::Kind for $name {
            type Face<'f> = $face<'f>;
            type Shown = ();

            fn owned(&self) -> &$crate::plumbing::Owned<Self> {
                &self.0
            }

            fn from_owned(owned: $crate::plumbing::Owned<Self>) -> Self {
                Self(owned)
            }

            unsafe fn show(_raw: *const AlcedoRaw) {}

            fn slot_of(raw: *const AlcedoRaw, (): &()) -> $crate::plumbing::Slot {
                $crate::plumbing::address_slot(raw)
            }
        }

        $crate::plumbing::owned_type! { [] $name }

        const ALCEDO_FIELDS: &[(&str, $crate::plumbing::ValueType, usize)] = &[
            $(($field_name, $crate::plumbing::ValueType::of::<$ty>(), ::core::mem::offset_of!(AlcedoRaw, $field))),*
        ];
        const ALCEDO_FINGERPRINT: u64 = $crate::plumbing::struct_fingerprint(
            ::core::mem::size_of::<AlcedoRaw>(),
            ::core::mem::align_of::<AlcedoRaw>(),
            ALCEDO_FIELDS,
        );
    };
    (field: $(#[$attr:meta])* $face:ident $field:ident $get:ident $set:ident $try_set:ident: $ty:ty, $how:ident $arg:ty) => {
        impl<'f> $face<'f> {
            $(#[$attr])*
            #[must_use]
            #[inline]
            pub fn $get(&self) -> <$ty as $crate::plumbing::Value>::Seen<'f> {
                // SAFETY: `AlcedoRaw` has this field with this very type.
                unsafe { $crate::plumbing::field::<_, $ty>(&self.0, ::core::mem::offset_of!(AlcedoRaw, $field)) }
            }

            /// Writes the field. Where that is refused, the running call ends with the error.
            $(#[$attr])*
            #[inline]
            pub fn $set(&self, value: $arg) {
                self.$try_set(value).unwrap_or_else(|error| $crate::plumbing::fail(error));
            }

            /// Writes the field, or says why not.
            $(#[$attr])*
            #[inline]
            pub fn $try_set(&self, value: $arg) -> ::core::result::Result<(), $crate::plumbing::CallError> {
                let value = $crate::plumbing::property!(@$how value, $ty);
                let offset = ::core::mem::offset_of!(AlcedoRaw, $field);
                // SAFETY: `AlcedoRaw` has this field with this very type.
                unsafe { $crate::plumbing::set_field::<_, $ty>(&self.0, offset, value) }
            }
        }
    };
}

/// The root module under its symbol.
#[doc(hidden)]
#[macro_export]
macro_rules! __alcedo_root {
    (main: |$args:ident| $main:expr, exit: $exit:expr) => {
        struct AlcedoModule;
        impl $crate::plumbing::ModuleHooks for AlcedoModule {
            fn main($args: &[&str]) {
                $main
            }

            fn exit() {
                $exit
            }
        }

        // The name is this framework's own, and a library has one `module!`: a second one does not link.
        #[unsafe(export_name = "alcedo_root_module")]
        static ALCEDO_ROOT: $crate::plumbing::LibHeader = $crate::plumbing::lib_header::<AlcedoModule>();
    };
}

/// The module's own copies of C functions by which it could leave something behind. Its tests keep the platform's.
#[doc(hidden)]
#[macro_export]
macro_rules! __alcedo_hook {
    () => {
        #[cfg(not(test))]
        $crate::plumbing::hook_names!();
    };
}

/// The heap of the module as its allocator. Its tests keep the platform's.
#[doc(hidden)]
#[macro_export]
macro_rules! __alcedo_allocator {
    () => {
        #[cfg(not(test))]
        #[global_allocator]
        static ALCEDO_HEAP: $crate::plumbing::ModuleHeap = $crate::plumbing::ModuleHeap;
    };
}
