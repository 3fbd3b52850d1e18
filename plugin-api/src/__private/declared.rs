//! Typed declarations of a module. The Rust type of a declaration contains the class and type of a property, the signature of a function,
//! or the kind of number that a cell receives. Therefore mismatched declarations do not compile, even in code without the macros, and the
//! macros need no `unsafe` for declarations.
#![expect(unsafe_code, reason = "declares types that are transparent over descriptions of the ABI")]

mod imports;

use core::marker::PhantomData;
use core::ops::Deref;

use alcedo_abi::abi_stable::std_types::{ROption, RSlice, RStr};
use alcedo_abi::call::Invoke;
use alcedo_abi::describe::{
    Cell, ClassDesc, EnumDesc, EnumEntryDesc, ExportDesc, FunctionDesc, MetaDesc, Metadata, PropertyDesc,
    SignatureDesc, StructDesc, ZCallInvoke, meta,
};
use alcedo_abi::enums;
use alcedo_abi::fingerprint::Fingerprint;
use alcedo_abi::kinds::{PropertyKind, function_flags, property_flags};
use alcedo_abi::type_text::is_path_of;

use super::describe::{Block, SignatureBlock, Words, struct_fingerprint, value};
use super::direct;
use super::enums::Underlying;
use super::part_hooks::hooks;
use super::returned::Returned;
use super::trampolines::{
    CustomThunk, Export, Method, MethodBody, Methods, NamesOf, Receiver, StaticMethodOf, Transparent, bare,
    export_trampoline, invoke, invoke_custom, invoke_nothing, invoke_static,
};
use crate::cells::{ClassCell, FunctionCell};
use crate::class::Part;
use crate::kinds::FieldType;
use crate::property::PropertyCell;
use crate::signature::{Params, ReturnValue, ValueType, fingerprint, words};
use crate::{Class, This, Value};

pub(super) use imports::{import, import_type};
pub use imports::{
    import_class, import_enumeration, import_function, import_overridden, import_property, import_structure,
    member_name, section_of,
};

/// Description that only the checked constructors of this folder can create. The lists of declarations in `registry.rs` accept only this
/// type.
#[repr(transparent)]
#[derive(Debug)]
pub struct Declared<D>(pub(super) D);

impl<D> Deref for Declared<D> {
    type Target = D;

    fn deref(&self) -> &D {
        &self.0
    }
}

// SAFETY: `Declared` is transparent over the description, so references to both types have the same layout.
unsafe impl<D: 'static> Transparent for &'static Declared<D> {
    type Inner = &'static D;
}

/// Description of a property of class `C`.
#[repr(transparent)]
#[derive(Debug)]
pub struct Property<C>(PropertyDesc, PhantomData<fn() -> C>);

// SAFETY: `Property` is transparent over the description and has no other data.
unsafe impl<C: 'static> Transparent for Property<C> {
    type Inner = PropertyDesc;
}

/// Describes a reflected property.
#[must_use]
pub const fn property<C: Class, T: Value>(
    name: &'static str,
    flags: u64,
    default: &'static str,
    metadata: Metadata,
    cell: &'static PropertyCell<C, T>,
) -> Property<C> {
    let is_subobject = flags & property_flags::DEFAULT_SUBOBJECT != 0;
    assert!(!is_subobject || T::KIND.0 == PropertyKind::OBJECT.0, "a default subobject is held by an `Obj<Class>`");
    assert!(flags & (property_flags::OUT | property_flags::RETURN) == 0, "a property is not a parameter");
    let desc = PropertyDesc {
        default: RStr::from_str(default),
        doc: RStr::from_str(metadata.doc),
        meta: RSlice::from_slice(metadata.meta),
        cell: ROption::RSome(&cell.0),
        ..value(name, ValueType::of::<T>(), flags)
    };
    Property(desc, PhantomData)
}

/// Description of a function of class `C`.
#[repr(transparent)]
#[derive(Debug)]
pub struct Function<C>(FunctionDesc, PhantomData<fn() -> C>);

// SAFETY: `Function` is transparent over the description and has no other data.
unsafe impl<C: 'static> Transparent for Function<C> {
    type Inner = FunctionDesc;
}

alcedo_abi::copies! {
    impl[C] Function<C>;
    impl[C] Hook<C>;
    impl[C] Body<C>;
}

/// Description of a function of interface `I`.
#[repr(transparent)]
#[derive(Debug)]
pub struct FunctionOf<I>(pub(super) SignatureDesc, pub(super) PhantomData<fn() -> I>);

// SAFETY: `FunctionOf` is transparent over the description and has no other data.
unsafe impl<I: 'static> Transparent for FunctionOf<I> {
    type Inner = SignatureDesc;
}

/// Returns the total number of functions in all lists.
#[must_use]
pub const fn count_functions<C>(lists: &[&[Function<C>]]) -> usize {
    let (mut count, mut list) = (0, 0);
    while list < lists.len() {
        count += lists[list].len();
        list += 1;
    }
    count
}

/// Returns a placeholder with which an array is filled before the functions are copied into it.
const fn nothing<C>() -> Function<C> {
    static CELL: Cell = Cell::new();
    const BLOCK: &SignatureBlock<(), ()> = &SignatureBlock::new(&[]);
    described(("", 0, ""), BLOCK.block(), 0, Invoke(invoke_nothing), &CELL, Metadata::NONE)
}

/// Concatenates lists of functions; `N` is the result of [`count_functions`].
#[must_use]
pub const fn all_functions<C, const N: usize>(lists: &[&[Function<C>]]) -> [Function<C>; N] {
    let mut all = [nothing(); N];
    let (mut to, mut list) = (0, 0);
    while list < lists.len() {
        let mut from = 0;
        while from < lists[list].len() {
            all[to] = lists[list][from];
            (from, to) = (from + 1, to + 1);
        }
        list += 1;
    }
    assert!(to == N, "the array has as many entries as the lists");
    all
}

/// Describes the earlier names of the item at `path`. `names` contains the names, separated by commas.
#[must_use]
pub const fn earlier_names(path: &'static str, names: &'static str) -> Declared<MetaDesc> {
    Declared(meta(path, names))
}

/// Describes a reflected function with the body `body`. The names of the function are at position `AT` in `B::NAMES`.
#[must_use]
pub const fn method<B, const AT: usize, K, A, R, X, F>(
    (flags, cell, metadata): (u64, &'static FunctionCell<B::Class, A::Values, R>, Metadata),
    overrides: &'static str,
    body: F,
) -> Function<B::Class>
where
    B: Methods<Class: Part>,
    K: Receiver + 'static,
    A: Params + 'static,
    R: ReturnValue + 'static,
    X: Returned<Value = R> + 'static,
    F: for<'p, 'f> Fn(K::Ref<'p, B::Class>, This<'f, B::Class>, A::Seen<'f>) -> X + Copy + Send + Sync + 'static,
{
    assert!(size_of_val(&body) == 0, "a body captures nothing");
    let known =
        function_flags::CALLABLE | function_flags::PURE | function_flags::NATIVE_EVENT | function_flags::OVERRIDE;
    assert!(flags & !known == 0, "a method of a class needs its object");
    let block = const {
        let (_, parameters, defaults, _) = B::NAMES[AT];
        &SignatureBlock::<A, R>::new(parameters).with_defaults(defaults)
    };
    let fallible = if X::MAY_FAIL { function_flags::FALLIBLE } else { 0 };
    let unchanging = if K::IS_SHARED { function_flags::CONST } else { 0 };
    let named = (B::NAMES[AT].0, flags | fallible | unchanging, overrides);
    let invoke = Invoke(invoke::<B, AT, K, A, X, F>);
    let Function(desc, of) = described(named, block.block(), fingerprint::<A, R>(), invoke, &cell.0, metadata);
    Function(FunctionDesc { direct: direct::of_method::<B, AT, K, A, X, F>(), ..desc }, of)
}

/// Describes a reflected static function with the body `body`. The names of the function are at position `AT` in `B::NAMES`.
#[must_use]
pub const fn static_method<B, const AT: usize, A, R, X, F>(
    flags: u64,
    cell: &'static FunctionCell<B::Class, A::Values, R>,
    metadata: Metadata,
    _body: F,
) -> Function<B::Class>
where
    B: Methods,
    A: Params + 'static,
    R: ReturnValue + 'static,
    X: Returned<Value = R> + 'static,
    F: for<'f> Fn(A::Seen<'f>) -> X + Copy + Send + Sync + 'static,
{
    assert!(size_of::<F>() == 0, "a body captures nothing");
    assert!(flags & !(function_flags::CALLABLE | function_flags::PURE) == 0, "a static function cannot be overridden");
    let block = const {
        let (_, parameters, defaults, _) = B::NAMES[AT];
        &SignatureBlock::<A::Values, R>::new(parameters).with_defaults(defaults)
    };
    let fallible = if X::MAY_FAIL { function_flags::FALLIBLE } else { 0 };
    let named = (B::NAMES[AT].0, flags | function_flags::STATIC | fallible, "");
    let invoke = Invoke(invoke_static::<StaticMethodOf<B, AT, A, X, F>>);
    let Function(desc, of) = described(named, block.block(), fingerprint::<A, R>(), invoke, &cell.0, metadata);
    Function(FunctionDesc { direct: direct::of_static::<StaticMethodOf<B, AT, A, X, F>>(), ..desc }, of)
}

/// Describes an event that only scripts implement. If no script implements the event, a call returns the zero value.
#[must_use]
pub const fn implementable_event<C: Class, A: Params, R: ReturnValue>(
    name: &'static str,
    flags: u64,
    block: &'static SignatureBlock<A, R>,
    cell: &'static FunctionCell<C, A::Values, R>,
    metadata: Metadata,
) -> Function<C> {
    assert!(
        flags & !(function_flags::CALLABLE | function_flags::PURE) == 0,
        "an implementable event has no native body"
    );
    without_body((name, flags | function_flags::IMPLEMENTABLE_EVENT), block, cell, metadata)
}

/// Describes a function with the custom thunk `T`. The function's parameters may be of any type.
#[must_use]
pub const fn custom_thunk<T: CustomThunk, A: Params, R: ReturnValue>(
    name: &'static str,
    flags: u64,
    block: &'static SignatureBlock<A, R>,
    cell: &'static FunctionCell<T::Class, A::Values, R>,
    metadata: Metadata,
) -> Function<T::Class> {
    assert!(
        flags & !(function_flags::CALLABLE | function_flags::PURE | function_flags::STATIC) == 0,
        "a function with a custom thunk cannot be overridden"
    );
    let flags = flags | function_flags::CUSTOM_THUNK;
    let fingerprint = fingerprint::<A, R>();
    described((name, flags, ""), block.block(), fingerprint, Invoke(invoke_custom::<T>), &cell.0, metadata)
}

/// Describes a function whose body is in a script or a C library. If that body is missing, a call returns the zero value.
pub(super) const fn without_body<C: Class, A: Params, R: ReturnValue>(
    (name, flags): (&'static str, u64),
    block: &'static SignatureBlock<A, R>,
    cell: &'static FunctionCell<C, A::Values, R>,
    metadata: Metadata,
) -> Function<C> {
    described(
        (name, flags, ""),
        block.block(),
        c_fingerprint::<A, R>(block.descriptions()),
        Invoke(invoke_nothing),
        &cell.0,
        metadata,
    )
}

/// Computes the fingerprint of a C function. Out parameters are marked only in the descriptions, not in the types `A`.
const fn c_fingerprint<A: Params, R: ReturnValue>(params: &[PropertyDesc]) -> u64 {
    let (mut print, mut at) = (Fingerprint::START, 0);
    while at < A::COUNT {
        let ValueType { kind, path, .. } = A::TYPES[at];
        print = print.param(params[at].flags & property_flags::OUT != 0, kind, path);
        at += 1;
    }
    match R::VALUE {
        None => print.finish(),
        Some(ValueType { kind, path, .. }) => print.result(kind, path).finish(),
    }
}

const fn described<C>(
    (name, flags, overrides): (&'static str, u64, &'static str),
    block: &'static Block,
    fingerprint: u64,
    invoke: Invoke,
    cell: &'static Cell,
    metadata: Metadata,
) -> Function<C> {
    let desc = FunctionDesc {
        name: RStr::from_str(name),
        flags,
        overrides: RStr::from_str(overrides),
        params: RSlice::from_slice(block.descriptions()),
        params_size: block.size(),
        params_align: block.align(),
        fingerprint,
        invoke,
        direct: ROption::RNone,
        cell,
        doc: RStr::from_str(metadata.doc),
        meta: RSlice::from_slice(metadata.meta),
    };
    Function(desc, PhantomData)
}

/// Hook of class `C` that takes no parameters, such as its class constructor.
#[derive(Debug)]
pub struct Hook<C>(Invoke, PhantomData<fn() -> C>);

/// Creates a hook whose body is the method `M`.
#[must_use]
pub const fn hook<M: Method<Args = (), Result = ()> + 'static>() -> Hook<M::Class> {
    const fn invoke_of<M, F>(_run: F) -> Invoke
    where
        M: Method + 'static,
        F: MethodBody<NamesOf<M>, M::Receiver, M::Args, M::Returned>,
    {
        Invoke(invoke::<NamesOf<M>, 0, M::Receiver, M::Args, M::Returned, F>)
    }
    Hook(invoke_of::<M, _>(M::run), PhantomData)
}

/// Converts an optional hook into the type that descriptions use.
const fn code_of<C>(hook: Option<Hook<C>>) -> ROption<Invoke> {
    match hook {
        Some(hook) => ROption::RSome(hook.0),
        None => ROption::RNone,
    }
}

/// Functions and hooks from the `#[uclass] impl` block of class `C`.
#[derive(Debug)]
pub struct Body<C: 'static> {
    functions: &'static [Function<C>],
    class_constructor: Option<Hook<C>>,
    post_init_properties: Option<Hook<C>>,
}

impl<C> Body<C> {
    /// Body of a class without a `#[uclass] impl` block.
    pub const EMPTY: Self = Self::new(&[], None, None);

    /// Creates the body from the functions and hooks of a block.
    #[must_use]
    pub const fn new(
        functions: &'static [Function<C>],
        class_constructor: Option<Hook<C>>,
        post_init_properties: Option<Hook<C>>,
    ) -> Self {
        Self { functions, class_constructor, post_init_properties }
    }

    /// Replaces the list of functions, for example to add functions of interfaces.
    #[must_use]
    pub const fn with_functions(self, functions: &'static [Function<C>]) -> Self {
        Self { functions, ..self }
    }

    /// Returns the functions.
    #[must_use]
    pub const fn functions(self) -> &'static [Function<C>] {
        self.functions
    }
}

/// Provides the empty body of a class without a `#[uclass] impl` block. A block defines an inherent constant of this name, which takes
/// precedence over this constant. A class with two blocks does not compile, because both blocks define the inherent constant.
pub trait NoBody: Class {
    /// Body without functions and hooks.
    const ONE_UCLASS_IMPL_BLOCK_PER_CLASS: Body<Self> = Body::EMPTY;
}

impl<C: Class> NoBody for C {}

/// Data of a class that concerns its bases: interfaces, overrides of inherited subobject classes, and overrides of inherited defaults.
type OfBases = (&'static [RStr<'static>], &'static [MetaDesc], &'static [MetaDesc]);

/// Describes a class of this module. The first argument contains the package, and the class's name in the package.
#[must_use]
pub const fn class<C: Part>(
    (package, name): (&'static str, &'static str),
    flags: u64,
    doc: &'static str,
    properties: &'static [Property<C>],
    body: Body<C>,
    cell: &'static ClassCell<C>,
    (implements, subobject_classes, default_overrides): OfBases,
) -> Declared<ClassDesc> {
    assert!(is_path_of(C::PATH, package, name), "the path of a class must match its declaration");
    Declared(ClassDesc {
        package: RStr::from_str(package),
        name: RStr::from_str(name),
        base: RStr::from_str(<C::Base as Class>::PATH),
        flags,
        properties: RSlice::from_slice(bare(properties)),
        functions: RSlice::from_slice(bare(body.functions)),
        hooks: hooks::<C>(code_of(body.class_constructor), code_of(body.post_init_properties)),
        cell: &cell.0,
        doc: RStr::from_str(doc),
        implements: RSlice::from_slice(implements),
        subobject_classes: RSlice::from_slice(subobject_classes),
        default_overrides: RSlice::from_slice(default_overrides),
    })
}

/// Describes a struct of this module. The first argument contains the package, and the struct's name in the package. The host computes the
/// layout itself, and rejects a struct with a different fingerprint, so it never creates a type from a wrong description.
#[must_use]
pub const fn structure<S: Value>(
    (package, name): (&'static str, &'static str),
    fields: &[FieldType<S>],
    descriptions: &'static [PropertyDesc],
    doc: &'static str,
) -> Declared<StructDesc> {
    assert!(is_path_of(S::TYPE_PATH, package, name), "the path of a struct must match its declaration");
    Declared(StructDesc {
        package: RStr::from_str(package),
        name: RStr::from_str(name),
        size: size_of::<S::Raw>() as u32,
        align: align_of::<S::Raw>() as u32,
        fields: RSlice::from_slice(descriptions),
        fingerprint: struct_fingerprint(fields),
        doc: RStr::from_str(doc),
    })
}

/// Describes an enum of this module. In memory, its values are numbers of type `N`.
#[must_use]
pub const fn enumeration<E: Value<Raw = N>, N: Underlying>(
    (package, name): (&'static str, &'static str),
    is_flags: bool,
    numbers: &[(&'static str, u64)],
    entries: &'static [EnumEntryDesc],
    doc: &'static str,
) -> Declared<EnumDesc> {
    assert!(is_path_of(E::TYPE_PATH, package, name), "the path of an enum must match its declaration");
    Declared(enums::enumeration((package, name), N::KIND, is_flags, numbers, entries, doc))
}

/// Describes an exported static function. The description contains the signature in the syntax of the host, from which callers without
/// static types create the slots of a call.
#[must_use]
pub const fn export<E: Export, const N: usize>(
    type_path: &'static str,
    words: &'static Words<E, N>,
) -> Declared<ExportDesc> {
    Declared(ExportDesc {
        type_path: RStr::from_str(type_path),
        name: RStr::from_str(E::NAME),
        fingerprint: fingerprint::<E::Args, E::Result>(),
        signature: RStr::from_str(words.as_str()),
        invoke: ZCallInvoke(export_trampoline::<E>),
        direct: direct::of_export::<E>(),
    })
}

/// Signature of a function as a string, in the syntax of the host.
pub(crate) struct SignatureWords<A, R>(PhantomData<fn(A) -> R>);

impl<A: Params, R: ReturnValue> SignatureWords<A, R> {
    pub(crate) const TEXT: &'static str = { const { &words(A::TYPES, &R::VALUE, true) }.as_str() };
}
