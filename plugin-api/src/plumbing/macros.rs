//! The patterns behind the attributes. The proc macros read and check what an author wrote; what it becomes stands
//! here, so that every unsafe line that ends up in a plugin is in this one file, with its reason.
//!
//! Whoever writes safe code can call these patterns by hand. So a pattern with an unsafe line in it is whole: what the line
//! rests on (a cell, a description, its place on a list of the module) is made by the same pattern. And no expression, and
//! no attribute of an item that an unsafe line rests on, is taken from the caller into such a line.

/// A class: its face, the promise of `Class`, the accessors of its properties, and its description on the list.
#[doc(hidden)]
#[macro_export]
macro_rules! __alcedo_class {
    (
        declared $vis:vis $class:ident $face:ident $face_doc:literal, base: $base:ty,
        package: $package:literal, name: $name:literal, flags: $flags:expr, doc: $doc:literal,
        properties: [$({
            $(#[$attr:meta])*
            $cell:ident $get:ident $set:ident $try_set:ident: $ty:ty, $how:ident $arg:ty,
            name: $property:literal, flags: $property_flags:expr, default: $default:literal, doc: $property_doc:literal
        })*],
        kept: [$(($kept:ident, $kept_name:literal, $kept_ty:ty))*],
        fields: [$(($field:ident, $field_ty:ty))*],
        implements: [$($interface:ty),*],
    ) => {
        $crate::plumbing::face! { $vis $class $face $face_doc }
        const _: () = {
            static ALCEDO_CLASS: $crate::plumbing::ClassCell<$class> = $crate::plumbing::ClassCell::new();

            // SAFETY: the face above is transparent over `This`; path, base and members stand in the description below,
            // which the host emits before any code of the module runs.
            unsafe impl $crate::plumbing::Class for $class {
                type Base = $base;
                type Face<'f> = $face<'f>;
                const PATH: &'static $crate::plumbing::core::primitive::str =
                    $crate::plumbing::core::concat!("/Script/", $package, ".", $name);

                fn cell() -> &'static $crate::plumbing::Cell {
                    ALCEDO_CLASS.cell()
                }
            }

            // SAFETY: the hooks in the description below are those of this implementation.
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
                fn load_kept(
                    &mut self,
                    name: &$crate::plumbing::core::primitive::str,
                    data: &[$crate::plumbing::core::primitive::u8],
                ) -> $crate::plumbing::core::result::Result<(), $crate::plumbing::CallError> {
                    match name {
                        $($kept_name => $crate::plumbing::restore::<$kept_ty>(&mut self.$kept, data),)*
                        _ => $crate::plumbing::core::result::Result::Err($crate::plumbing::unknown_field(
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

            $(
                static $cell: $crate::plumbing::PropertyCell<$class, $ty> = {
                    // SAFETY: it stands in the description below.
                    unsafe { $crate::plumbing::PropertyCell::new() }
                };
                $crate::plumbing::property! {
                    $(#[$attr])* $class $face $get $set $try_set: $ty, $how $arg, $cell
                }
            )*

            $crate::plumbing::register! {
                CLASSES: $crate::plumbing::ClassDesc = {
                    #[allow(unused_imports, reason = "an `impl` block of the author's goes first")]
                    use $crate::plumbing::NoBody as _;
                    const ALCEDO_BODY: $crate::plumbing::Body<$class> = $class::ONE_UCLASS_IMPL_BLOCK_PER_CLASS;
                    $crate::plumbing::class_description(
                        ($package, $name),
                        $flags,
                        $doc,
                        &[$($crate::plumbing::property_description(
                            $property, $property_flags, $default, $property_doc, &$cell,
                        )),*],
                        ALCEDO_BODY,
                        &ALCEDO_CLASS,
                        &[$($crate::plumbing::interface_path::<$interface>()),*],
                    )
                }
            }
            $crate::plumbing::type_record!(CLASS $package, $name);
        };
    };
    (
        imported $vis:vis $class:ident $face:ident $face_doc:literal, base: $base:ty,
        package: $package:literal, name: $name:literal,
        properties: [$({
            $(#[$attr:meta])*
            $cell:ident $get:ident $set:ident $try_set:ident: $ty:ty, $how:ident $arg:ty, name: $property:literal
        })*],
    ) => {
        $crate::plumbing::face! { $vis $class $face $face_doc }
        const _: () = {
            static ALCEDO_CLASS: $crate::plumbing::ClassCell<$class> = $crate::plumbing::ClassCell::new();

            // SAFETY: the face above is transparent over `This`; path, base and members stand in the imports below, which
            // the host compares before any code of the module runs.
            unsafe impl $crate::plumbing::Class for $class {
                type Base = $base;
                type Face<'f> = $face<'f>;
                const PATH: &'static $crate::plumbing::core::primitive::str =
                    $crate::plumbing::core::concat!("/Script/", $package, ".", $name);

                fn cell() -> &'static $crate::plumbing::Cell {
                    ALCEDO_CLASS.cell()
                }
            }
            $crate::plumbing::register! {
                IMPORTS: $crate::plumbing::ImportDesc = $crate::plumbing::import_class(&ALCEDO_CLASS)
            }

            $(
                static $cell: $crate::plumbing::PropertyCell<$class, $ty> = {
                    // SAFETY: it stands in the import below.
                    unsafe { $crate::plumbing::PropertyCell::new() }
                };
                $crate::plumbing::register! {
                    IMPORTS: $crate::plumbing::ImportDesc = $crate::plumbing::import_property(
                        $crate::plumbing::core::concat!("/Script/", $package, ".", $name, ":", $property),
                        &$cell,
                    )
                }
                $crate::plumbing::property! {
                    $(#[$attr])* $class $face $get $set $try_set: $ty, $how $arg, $cell
                }
            )*
        };
    };
}

/// The face of a class.
#[doc(hidden)]
#[macro_export]
macro_rules! __alcedo_face {
    ($vis:vis $class:ident $face:ident $doc:literal) => {
        #[doc = $doc]
        #[repr(transparent)]
        #[derive(Clone, Copy, Debug)]
        $vis struct $face<'f>($crate::plumbing::This<'f, $class>);

        impl<'f> $crate::plumbing::core::ops::Deref for $face<'f> {
            type Target = <<$class as $crate::plumbing::Class>::Base as $crate::plumbing::Class>::Face<'f>;

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
    (
        $(#[$attr:meta])* $class:ident $face:ident $get:ident $set:ident $try_set:ident: $ty:ty, $how:ident $arg:ty, $cell:ident
    ) => {
        impl<'f> $face<'f> {
            $(#[$attr])*
            #[must_use]
            #[inline]
            pub fn $get(&self) -> <$ty as $crate::plumbing::Value>::Seen<'f> {
                $crate::plumbing::read_member(&self.0, &$cell)
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
            pub fn $try_set(
                &self,
                value: $arg,
            ) -> $crate::plumbing::core::result::Result<(), $crate::plumbing::CallError> {
                let value = $crate::plumbing::property!(@$how value, $ty);
                $crate::plumbing::write_member(&self.0, &$cell, value)
            }
        }
    };
    (@into $value:ident, $ty:ty) => {
        $crate::plumbing::core::convert::Into::<$ty>::into($value)
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
            pub fn $try_name(
                &self,
                $($arg: $ty),*
            ) -> $crate::plumbing::core::result::Result<$result, $crate::plumbing::CallError> {
                const ALCEDO_WHAT: &$crate::plumbing::core::primitive::str = $what;
                $crate::plumbing::invoke_member(&self.0, &$cell, ALCEDO_WHAT, &($($given,)*))
            }
        }
    };
}

/// Adds a description to one of the module's lists. Only what is true is of the type that the lists take.
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

/// The type of an interface, and its declaration here or the mention of it elsewhere.
#[doc(hidden)]
#[macro_export]
macro_rules! __alcedo_interface {
    ($origin:ident $(#[$attr:meta])* $vis:vis $interface:ident, package: $package:literal, name: $name:literal, doc: $doc:literal) => {
        $(#[$attr])*
        #[derive(Debug)]
        $vis enum $interface {}

        const _: () = {
            // SAFETY: the path is that of the interface which is declared or imported below.
            unsafe impl $crate::plumbing::Interface for $interface {
                const PATH: &'static $crate::plumbing::core::primitive::str =
                    $crate::plumbing::core::concat!("/Script/", $package, ".", $name);
            }
            $crate::plumbing::interface! { @$origin $interface $package $name $doc }
        };
    };
    (@declared $interface:ident $package:literal $name:literal $doc:literal) => {
        $crate::plumbing::register! {
            INTERFACES: $crate::plumbing::InterfaceDesc =
                $crate::plumbing::interface_description::<$interface>($package, $name, $doc)
        }
        $crate::plumbing::type_record!(INTERFACE $package, $name);
    };
    (@imported $interface:ident $package:literal $name:literal $doc:literal) => {
        static ALCEDO_CELL: $crate::plumbing::PresenceCell = $crate::plumbing::PresenceCell::new();
        $crate::plumbing::register! {
            IMPORTS: $crate::plumbing::ImportDesc = $crate::plumbing::import_interface::<$interface>(&ALCEDO_CELL)
        }
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
                const NAME: &'static $crate::plumbing::core::primitive::str = $name;

                fn run(($($arg,)*): Self::Args) -> Self::Result {
                    $call($($arg),*)
                }
            }
            $crate::plumbing::register! {
                EXPORTS: $crate::plumbing::ExportDesc =
                    $crate::plumbing::export_description::<AlcedoExport>($type_path, $signature)
            }
        };
    };
}

/// What is the same for both kinds of structs: how the host is told of it. `AlcedoRaw` lies as the host's struct does.
#[doc(hidden)]
#[macro_export]
macro_rules! __alcedo_declare {
    ($origin:ident $package:literal $name:literal $doc:literal [$(($field:ident, $field_name:literal, $ty:ty)),* $(,)?]) => {
        const ALCEDO_LAYOUT: ($crate::plumbing::core::primitive::usize, $crate::plumbing::core::primitive::usize) =
            ($crate::plumbing::core::mem::size_of::<AlcedoRaw>(), $crate::plumbing::core::mem::align_of::<AlcedoRaw>());
        $crate::plumbing::declare! {
            @$origin $package $name $doc
            [$((
                $field_name,
                $crate::plumbing::ValueType::of::<$ty>(),
                $crate::plumbing::core::mem::offset_of!(AlcedoRaw, $field),
            )),*]
            [$($crate::plumbing::parameter::<$ty>($field_name)),*]
            [$($crate::plumbing::core::mem::offset_of!(AlcedoRaw, $field)),*]
        }
    };
    (@declared $package:literal $name:literal $doc:literal $types:tt $fields:tt $offsets:tt) => {
        $crate::plumbing::register! {
            STRUCTS: $crate::plumbing::StructDesc = $crate::plumbing::structure_description(
                $package,
                $name,
                ALCEDO_LAYOUT,
                &$crate::plumbing::field_offsets($fields, $offsets),
                &$types,
                $doc,
            )
        }
        $crate::plumbing::type_record!(STRUCT $package, $name);
    };
    (@imported $package:literal $name:literal $doc:literal $types:tt $fields:tt $offsets:tt) => {
        static ALCEDO_CELL: $crate::plumbing::PresenceCell = $crate::plumbing::PresenceCell::new();
        $crate::plumbing::register! {
            IMPORTS: $crate::plumbing::ImportDesc = $crate::plumbing::import_structure(
                $crate::plumbing::core::concat!("/Script/", $package, ".", $name),
                ALCEDO_LAYOUT,
                &$types,
                &ALCEDO_CELL,
            )
        }
    };
}

/// A struct that travels by value.
#[doc(hidden)]
#[macro_export]
macro_rules! __alcedo_pod {
    (
        $origin:ident $name:ident, package: $package:literal, name: $text:literal, doc: $doc:literal,
        [$(($field:ident, $field_name:literal, $ty:ty)),* $(,)?]
    ) => {
      const _: () = {
        /// The struct as it lies in host memory: each field as the host stores it.
        #[repr(C)]
        pub struct AlcedoRaw {
            $($field: <$ty as $crate::plumbing::Value>::Raw,)*
        }

        const _: () = assert!(
            $crate::plumbing::core::mem::size_of::<$name>() == $crate::plumbing::core::mem::size_of::<AlcedoRaw>()
                && $crate::plumbing::core::mem::align_of::<$name>() == $crate::plumbing::core::mem::align_of::<AlcedoRaw>()
                $(&& $crate::plumbing::core::mem::offset_of!($name, $field)
                    == $crate::plumbing::core::mem::offset_of!(AlcedoRaw, $field))*,
            "a `#[ustruct(pod)]` struct lies in memory as C lays it out: take away its own `repr`",
        );

        // SAFETY: each field lies where its raw form does, which is asserted above, and has the very type, or `load` below would
        // not compile; so where each field lies as its raw form does and takes any bytes, the whole does. `for` makes a field
        // that does not a matter of who asks.
        unsafe impl $crate::plumbing::Plain for $name where $(for<'plain> $ty: $crate::plumbing::Plain),* {}

        // SAFETY: `AlcedoRaw` has the fields of the host's struct in order, laid out as C does, and size, alignment
        // and offsets are compared by fingerprint; each field's raw form is valid for any bytes, so the whole is.
        // Structs travel behind pointers to this form.
        unsafe impl $crate::plumbing::Value for $name {
            const KIND: $crate::plumbing::PropertyKind = $crate::plumbing::PropertyKind::STRUCT;
            const TYPE_PATH: &'static $crate::plumbing::core::primitive::str =
                $crate::plumbing::core::concat!("/Script/", $package, ".", $text);
            const OWNS_MEMORY: bool = false $(|| <$ty as $crate::plumbing::Value>::OWNS_MEMORY)*;
            type Raw = AlcedoRaw;
            type Seen<'f> = Self;
            type Literal = $crate::plumbing::NoDefault;
            type In = $crate::plumbing::core::mem::MaybeUninit<AlcedoRaw>;
            type Out = $crate::plumbing::core::mem::MaybeUninit<AlcedoRaw>;

            unsafe fn see<'f>(
                at: *mut AlcedoRaw,
                _spot: impl $crate::plumbing::core::ops::FnOnce() -> $crate::plumbing::Spot<'f>,
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
            ) -> $crate::plumbing::core::result::Result<(), $crate::plumbing::CallError> {
                // SAFETY: `target` is live by contract, and so is each of its fields.
                $(unsafe { <$ty as $crate::plumbing::Value>::store(&self.$field, &raw mut (*target).$field) }?;)*
                $crate::plumbing::core::result::Result::Ok(())
            }

            unsafe fn stage(&self) -> Self::In {
                let mut staged = $crate::plumbing::core::mem::MaybeUninit::zeroed();
                // SAFETY: zero bytes are a live value of every plain field.
                if let $crate::plumbing::core::result::Result::Err(error) = unsafe { self.store(staged.as_mut_ptr()) } {
                    $crate::plumbing::fail(error);
                }
                staged
            }

            unsafe fn slot_in(&self, staged: &Self::In) -> $crate::plumbing::Slot {
                $crate::plumbing::pointer_slot(staged)
            }

            fn out() -> Self::Out {
                $crate::plumbing::core::mem::MaybeUninit::zeroed()
            }

            unsafe fn slot_out(out: &mut Self::Out) -> $crate::plumbing::Slot {
                $crate::plumbing::pointer_slot_out(out)
            }

            unsafe fn take_out(
                _slot: $crate::plumbing::Slot,
                out: Self::Out,
            ) -> $crate::plumbing::core::result::Result<Self, $crate::plumbing::CallError> {
                // SAFETY: it was zeroed, which is a live value of every plain field, and filled by the callee.
                $crate::plumbing::core::result::Result::Ok(unsafe { Self::load(out.as_ptr()) })
            }

            unsafe fn from_slot(
                slot: $crate::plumbing::Slot,
            ) -> $crate::plumbing::core::result::Result<Self, $crate::plumbing::CallError> {
                let raw = $crate::plumbing::pointer_of::<AlcedoRaw>(slot)?;
                // SAFETY: for a struct the slot points to a live one, by contract.
                $crate::plumbing::core::result::Result::Ok(unsafe { Self::load(raw) })
            }

            unsafe fn into_slot(
                self,
                slot: &mut $crate::plumbing::Slot,
            ) -> $crate::plumbing::core::result::Result<(), $crate::plumbing::CallError> {
                let raw = $crate::plumbing::pointer_of::<AlcedoRaw>(*slot)?;
                // SAFETY: for a struct the slot points to zeroed or live memory of one, by contract.
                unsafe { self.store(raw) }
            }
        }

        $crate::plumbing::declare! { $origin $package $text $doc [$(($field, $field_name, $ty)),*] }
      };
    };
}

/// A struct that is used where it lies: the type that stands for a value of one's own, its face, and its description.
#[doc(hidden)]
#[macro_export]
macro_rules! __alcedo_struct {
    (
        $origin:ident $(#[$attr:meta])* $vis:vis $name:ident $face:ident $face_doc:literal,
        package: $package:literal, name: $text:literal, doc: $doc:literal,
        [$({
            $(#[$field_attr:meta])*
            $field:ident $set:ident $try_set:ident: $ty:ty, $how:ident $arg:ty, name: $field_name:literal
        })*]
    ) => {
        $(#[$attr])*
        $vis struct $name($crate::plumbing::Owned<Self>);

        #[doc = $face_doc]
        #[repr(transparent)]
        $vis struct $face<'f>($crate::plumbing::Lent<'f, $name>);

      const _: () = {
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
            const TYPE_PATH: &'static $crate::plumbing::core::primitive::str =
                $crate::plumbing::core::concat!("/Script/", $package, ".", $text);
            const OWNS_MEMORY: bool = true;
            type Raw = AlcedoRaw;
            type Literal = $crate::plumbing::NoDefault;
            type Seen<'f> = $crate::plumbing::Lent<'f, Self>;
            type In = ();
            type Out = $crate::plumbing::Owned<Self>;

            unsafe fn see<'f>(
                at: *mut AlcedoRaw,
                spot: impl $crate::plumbing::core::ops::FnOnce() -> $crate::plumbing::Spot<'f>,
            ) -> $crate::plumbing::Lent<'f, Self> {
                // SAFETY: promised by the caller.
                unsafe { $crate::plumbing::lend(at, spot()) }
            }

            fn lies_at(
                &self,
            ) -> $crate::plumbing::core::result::Result<$crate::plumbing::core::option::Option<*const AlcedoRaw>, $crate::plumbing::CallError> {
                $crate::plumbing::owned_at(self).map($crate::plumbing::core::option::Option::Some)
            }

            #[track_caller]
            unsafe fn load(raw: *const AlcedoRaw) -> Self {
                // SAFETY: promised by the caller.
                unsafe { $crate::plumbing::load_owned(raw, $crate::plumbing::core::panic::Location::caller()) }
            }

            unsafe fn store(&self, target: *mut AlcedoRaw) -> $crate::plumbing::core::result::Result<(), $crate::plumbing::CallError> {
                // SAFETY: promised by the caller.
                unsafe { $crate::plumbing::store_owned(self, target) }
            }

            unsafe fn stage(&self) {}

            unsafe fn slot_in(&self, (): &()) -> $crate::plumbing::Slot {
                $crate::plumbing::owned_slot(&self.0)
            }

            #[track_caller]
            fn out() -> $crate::plumbing::Owned<Self> {
                $crate::plumbing::owned_out::<Self>($crate::plumbing::core::panic::Location::caller())
            }

            unsafe fn slot_out(out: &mut $crate::plumbing::Owned<Self>) -> $crate::plumbing::Slot {
                $crate::plumbing::owned_slot(out)
            }

            unsafe fn take_out(
                _slot: $crate::plumbing::Slot,
                out: $crate::plumbing::Owned<Self>,
            ) -> $crate::plumbing::core::result::Result<Self, $crate::plumbing::CallError> {
                $crate::plumbing::core::result::Result::Ok(Self(out))
            }

            unsafe fn from_slot(
                slot: $crate::plumbing::Slot,
            ) -> $crate::plumbing::core::result::Result<Self, $crate::plumbing::CallError> {
                let raw = $crate::plumbing::pointer_of::<AlcedoRaw>(slot)?;
                // SAFETY: for a struct the slot points to a live one, by contract.
                $crate::plumbing::core::result::Result::Ok(unsafe { <Self as $crate::plumbing::Value>::load(raw) })
            }

            unsafe fn into_slot(
                self,
                slot: &mut $crate::plumbing::Slot,
            ) -> $crate::plumbing::core::result::Result<(), $crate::plumbing::CallError> {
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

            unsafe fn slot_of(raw: *const AlcedoRaw, (): &()) -> $crate::plumbing::Slot {
                $crate::plumbing::address_slot(raw)
            }
        }

        $crate::plumbing::owned_type! { [] $name }

        $(
            impl<'f> $face<'f> {
                $(#[$field_attr])*
                #[must_use]
                #[inline]
                pub fn $field(&self) -> <$ty as $crate::plumbing::Value>::Seen<'f> {
                    const ALCEDO_OFFSET: $crate::plumbing::core::primitive::usize =
                        $crate::plumbing::core::mem::offset_of!(AlcedoRaw, $field);
                    // SAFETY: `AlcedoRaw` has this field with this very type.
                    unsafe { $crate::plumbing::field::<_, $ty>(&self.0, ALCEDO_OFFSET) }
                }

                /// Writes the field. Where that is refused, the running call ends with the error.
                $(#[$field_attr])*
                #[inline]
                pub fn $set(&self, value: $arg) {
                    self.$try_set(value).unwrap_or_else(|error| $crate::plumbing::fail(error));
                }

                /// Writes the field, or says why not.
                $(#[$field_attr])*
                #[inline]
                pub fn $try_set(
                    &self,
                    value: $arg,
                ) -> $crate::plumbing::core::result::Result<(), $crate::plumbing::CallError> {
                    const ALCEDO_OFFSET: $crate::plumbing::core::primitive::usize =
                        $crate::plumbing::core::mem::offset_of!(AlcedoRaw, $field);
                    let value = $crate::plumbing::property!(@$how value, $ty);
                    // SAFETY: `AlcedoRaw` has this field with this very type.
                    unsafe { $crate::plumbing::set_field::<_, $ty>(&self.0, ALCEDO_OFFSET, value) }
                }
            }
        )*

        $crate::plumbing::declare! { $origin $package $text $doc [$(($field, $field_name, $ty)),*] }
      };
    };
}

/// Three texts as one, at compile time.
#[doc(hidden)]
#[macro_export]
macro_rules! __alcedo_join {
    ($a:expr, $b:expr, $c:expr) => {{
        const ALCEDO_LEN: usize = $crate::plumbing::joined_len([$a, $b, $c]);
        const ALCEDO_BYTES: [u8; ALCEDO_LEN] = $crate::plumbing::joined([$a, $b, $c]);
        const ALCEDO_TEXT: &str = match $crate::plumbing::core::str::from_utf8(&ALCEDO_BYTES) {
            $crate::plumbing::core::result::Result::Ok(text) => text,
            $crate::plumbing::core::result::Result::Err(_) => panic!("texts joined are a text"),
        };
        ALCEDO_TEXT
    }};
}

/// A whole module: the section that says who it is, read without mapping the file; its own copies of C functions by which
/// it could leave something behind; its heap; and its root under its symbol. Its tests keep the platform's functions.
#[doc(hidden)]
#[macro_export]
macro_rules! __alcedo_module {
    (
        name: $name:expr, build_id: $build_id:expr, heap: $heap:ident, dependencies: $dependencies:expr,
        main: |$args:ident| $main:expr, exit: $exit:expr
    ) => {
        // Assembly stands at the top of a module, never inside a block.
        #[cfg(not(test))]
        $crate::plumbing::hook_names!();
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
            // The section is only read from the file: nothing in the program refers to it.
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
            }

            // The name is this framework's own, and a library has one `module!`: a second one does not link.
            #[unsafe(export_name = "alcedo_root_module")]
            static ALCEDO_ROOT: $crate::plumbing::LibHeader = $crate::plumbing::lib_header::<AlcedoModule>();
        };
    };
}

/// The heap of the module as its allocator, or the author's own. Its tests keep the platform's.
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
