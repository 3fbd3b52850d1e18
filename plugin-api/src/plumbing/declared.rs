//! What a module declares, typed by what it is about: a property is one of this class and of that type, a function takes
//! and gives these, a cell receives just the number that its type stands for. Code that puts the pieces together wrongly
//! does not compile, whoever wrote it; so the macros need no `unsafe` for it, and nobody gains by writing it by hand.
#![expect(unsafe_code, reason = "declares what is transparent over a description that the border has")]

mod imports;

use core::marker::PhantomData;
use core::ops::Deref;

use alcedo_abi::abi_stable::std_types::{ROption, RSlice, RStr};
use alcedo_abi::call::{Call, Invoke, Status};
use alcedo_abi::describe::{
    Cell, ClassDesc, EnumDesc, EnumEntryDesc, ExportDesc, FunctionDesc, MetaDesc, PropertyDesc, SignatureDesc,
    StructDesc, ZCallInvoke,
};
use alcedo_abi::fingerprint::Fingerprint;
use alcedo_abi::kinds::{PropertyKind, function_flags, property_flags};

use super::describe::{Block, BlockOf, SignatureBlock, Words, struct_fingerprint};
use super::direct;
use super::enums::Underlying;
use super::returned::Returned;
use super::shells::{
    CustomThunk, Export, Method, Receiver, StaticMethod, Transparent, bare, export_shell, hooks, invoke, invoke_custom,
    invoke_nothing, invoke_static,
};
use crate::cells::{ClassCell, FunctionCell, PropertyCell};
use crate::class::Part;
use crate::kinds::FieldType;
use crate::signature::{Params, ReturnValue, ValueType, fingerprint, words};
use crate::type_text::is_path_of;
use crate::{Class, Value};

pub(super) use imports::import;
pub use imports::{
    import_class, import_enumeration, import_function, import_overridden, import_property, import_structure,
    member_name, section_of,
};

/// A description that may be put on the lists of the module: it is true.
#[repr(transparent)]
#[derive(Debug)]
pub struct Declared<D>(pub(super) D);

impl<D> Deref for Declared<D> {
    type Target = D;

    fn deref(&self) -> &D {
        &self.0
    }
}

// SAFETY: `Declared` is transparent over the description, and so are references to the two.
unsafe impl<D: 'static> Transparent for &'static Declared<D> {
    type Inner = &'static D;
}

/// The description of a property of class `C`.
#[repr(transparent)]
#[derive(Debug)]
pub struct Property<C>(PropertyDesc, PhantomData<fn() -> C>);

// SAFETY: `Property` is transparent over the description, beside which it has nothing.
unsafe impl<C: 'static> Transparent for Property<C> {
    type Inner = PropertyDesc;
}

/// A reflected property.
#[must_use]
pub const fn property<C: Class, T: Value>(
    name: &'static str,
    flags: u64,
    default: &'static str,
    about: About,
    cell: &'static PropertyCell<C, T>,
) -> Property<C> {
    let is_subobject = flags & property_flags::DEFAULT_SUBOBJECT != 0;
    assert!(!is_subobject || T::KIND.0 == PropertyKind::OBJECT.0, "a default subobject is held by an `Obj<Class>`");
    assert!(flags & (property_flags::OUT | property_flags::RETURN) == 0, "a property is no parameter");
    let ValueType { kind, path, .. } = ValueType::of::<T>();
    let desc = PropertyDesc {
        name: RStr::from_str(name),
        kind,
        type_path: RStr::from_str(path),
        flags,
        default: RStr::from_str(default),
        doc: RStr::from_str(about.doc),
        meta: RSlice::from_slice(about.meta),
        offset: 0,
        cell: ROption::RSome(&cell.0),
    };
    Property(desc, PhantomData)
}

/// The description of a function of class `C`.
#[repr(transparent)]
#[derive(Debug)]
pub struct Function<C>(FunctionDesc, PhantomData<fn() -> C>);

// SAFETY: `Function` is transparent over the description, beside which it has nothing.
unsafe impl<C: 'static> Transparent for Function<C> {
    type Inner = FunctionDesc;
}

impl<C> Clone for Function<C> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<C> Copy for Function<C> {}

/// The description of a function of interface `I`.
#[repr(transparent)]
#[derive(Debug)]
pub struct FunctionOf<I>(pub(super) SignatureDesc, pub(super) PhantomData<fn() -> I>);

// SAFETY: `FunctionOf` is transparent over the description, beside which it has nothing.
unsafe impl<I: 'static> Transparent for FunctionOf<I> {
    type Inner = SignatureDesc;
}

/// How many functions some lists have.
#[must_use]
pub const fn count_functions<C>(lists: &[&[Function<C>]]) -> usize {
    let (mut count, mut list) = (0, 0);
    while list < lists.len() {
        count += lists[list].len();
        list += 1;
    }
    count
}

/// A function that is on no list.
const fn nothing<C>() -> Function<C> {
    static CELL: Cell = Cell::new();
    const NONE: RStr<'static> = RStr::from_str("");
    unsafe extern "C" fn fail(_call: &mut Call<'_>) -> Status {
        Status::FAILED
    }
    let desc = FunctionDesc {
        name: NONE,
        flags: 0,
        overrides: NONE,
        params: RSlice::EMPTY,
        params_size: 0,
        params_align: 1,
        fingerprint: 0,
        invoke: Invoke(fail),
        direct: ROption::RNone,
        cell: &CELL,
        doc: NONE,
        meta: RSlice::EMPTY,
    };
    Function(desc, PhantomData)
}

/// The functions of some lists as one; `N` is what [`count_functions`] says.
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
    all
}

/// What is said of a member beside its flags.
#[must_use]
pub const fn meta(key: &'static str, value: &'static str) -> MetaDesc {
    MetaDesc { key: RStr::from_str(key), value: RStr::from_str(value) }
}

/// The earlier names of what has this path now, with commas between.
#[must_use]
pub const fn earlier_names(path: &'static str, names: &'static str) -> Declared<MetaDesc> {
    Declared(meta(path, names))
}

/// Words about a function.
#[derive(Clone, Copy, Debug)]
pub struct About {
    /// The doc comment.
    pub doc: &'static str,
    /// What else is said.
    pub meta: &'static [MetaDesc],
}

impl About {
    /// Nothing.
    pub const NONE: Self = Self { doc: "", meta: &[] };
}

/// A reflected function with the body `M`.
#[must_use]
pub const fn function<M: Method>(
    name: &'static str,
    flags: u64,
    overrides: &'static str,
    block: &'static BlockOf<M>,
    cell: &'static FunctionCell<M::Class, <M::Args as Params>::Values, M::Result>,
    about: About,
) -> Function<M::Class> {
    let known =
        function_flags::CALLABLE | function_flags::PURE | function_flags::NATIVE_EVENT | function_flags::OVERRIDE;
    assert!(flags & !known == 0, "a method of a class needs its object");
    let fallible = if <M::Returned as Returned>::MAY_FAIL { function_flags::FALLIBLE } else { 0 };
    let unchanging = if <M::Receiver as Receiver>::IS_SHARED { function_flags::CONST } else { 0 };
    let fingerprint = fingerprint::<M::Args, M::Result>();
    let flags = flags | fallible | unchanging;
    let Function(desc, of) =
        described((name, flags, overrides), block.block(), fingerprint, Invoke(invoke::<M>), &cell.0, about);
    Function(FunctionDesc { direct: direct::of_method::<M>(), ..desc }, of)
}

/// A reflected function that needs no object, with the body `M`.
#[must_use]
pub const fn static_function<M: StaticMethod>(
    name: &'static str,
    flags: u64,
    block: &'static SignatureBlock<<M::Args as Params>::Values, M::Result>,
    cell: &'static FunctionCell<M::Class, <M::Args as Params>::Values, M::Result>,
    about: About,
) -> Function<M::Class> {
    assert!(flags & !(function_flags::CALLABLE | function_flags::PURE) == 0, "nobody overrides a static function");
    let fallible = if <M::Returned as Returned>::MAY_FAIL { function_flags::FALLIBLE } else { 0 };
    let fingerprint = fingerprint::<M::Args, M::Result>();
    let flags = flags | function_flags::STATIC | fallible;
    let Function(desc, of) =
        described((name, flags, ""), block.block(), fingerprint, Invoke(invoke_static::<M>), &cell.0, about);
    Function(FunctionDesc { direct: direct::of_static::<M>(), ..desc }, of)
}

/// An event that only scripts give a body. Without one it gives the zero value.
#[must_use]
pub const fn implementable_event<C: Class, A: Params, R: ReturnValue>(
    name: &'static str,
    flags: u64,
    block: &'static SignatureBlock<A, R>,
    cell: &'static FunctionCell<C, A::Values, R>,
    about: About,
) -> Function<C> {
    assert!(flags & !(function_flags::CALLABLE | function_flags::PURE) == 0, "its body is a script's");
    let flags = flags | function_flags::IMPLEMENTABLE_EVENT;
    described(
        (name, flags, ""),
        block.block(),
        c_fingerprint::<A, R>(block.descriptions()),
        Invoke(invoke_nothing),
        &cell.0,
        about,
    )
}

/// A function that brings its own thunk `T`, so its parameters may be of any type.
#[must_use]
pub const fn custom_thunk<T: CustomThunk, A: Params, R: ReturnValue>(
    name: &'static str,
    flags: u64,
    block: &'static SignatureBlock<A, R>,
    cell: &'static FunctionCell<T::Class, A::Values, R>,
    about: About,
) -> Function<T::Class> {
    assert!(
        flags & !(function_flags::CALLABLE | function_flags::PURE | function_flags::STATIC) == 0,
        "nobody overrides a function with a thunk of its own"
    );
    let flags = flags | function_flags::CUSTOM_THUNK;
    let fingerprint = fingerprint::<A, R>();
    described((name, flags, ""), block.block(), fingerprint, Invoke(invoke_custom::<T>), &cell.0, about)
}

/// A function whose body is in a C library. Without a host that calls C it gives the zero value.
pub(super) const fn import_of_c<C: Class, A: Params, R: ReturnValue>(
    (name, flags): (&'static str, u64),
    block: &'static SignatureBlock<A, R>,
    cell: &'static FunctionCell<C, A::Values, R>,
    about: About,
) -> Function<C> {
    described(
        (name, flags, ""),
        block.block(),
        c_fingerprint::<A, R>(block.descriptions()),
        Invoke(invoke_nothing),
        &cell.0,
        about,
    )
}

/// The fingerprint of a function of C: what it writes to comes back, which the description says and the types do not.
const fn c_fingerprint<A: Params, R: ReturnValue>(params: &[PropertyDesc]) -> u64 {
    let (mut print, mut at) = (Fingerprint::START, 0);
    while at < A::COUNT {
        if params[at].flags & property_flags::OUT != 0 {
            print = print.out();
        }
        print = print.value(A::TYPES[at].kind, A::TYPES[at].path);
        at += 1;
    }
    match R::VALUE {
        None => print.finish(),
        Some(ValueType { kind, path, .. }) => print.number(0xfeed).value(kind, path).finish(),
    }
}

const fn described<C>(
    (name, flags, overrides): (&'static str, u64, &'static str),
    block: &'static Block,
    fingerprint: u64,
    invoke: Invoke,
    cell: &'static Cell,
    about: About,
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
        doc: RStr::from_str(about.doc),
        meta: RSlice::from_slice(about.meta),
    };
    Function(desc, PhantomData)
}

/// A hook of class `C` that is called once in a life.
#[derive(Debug)]
pub struct Hook<C>(Invoke, PhantomData<fn() -> C>);

impl<C> Clone for Hook<C> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<C> Copy for Hook<C> {}

/// The hook with the body `M`.
#[must_use]
pub const fn hook<M: Method<Args = (), Result = ()>>() -> Hook<M::Class> {
    Hook(Invoke(invoke::<M>), PhantomData)
}

/// What the `#[uclass] impl` block of class `C` adds to its description.
#[derive(Debug)]
pub struct Body<C: 'static> {
    functions: &'static [Function<C>],
    class_constructor: Option<Hook<C>>,
    post_init_properties: Option<Hook<C>>,
}

impl<C> Clone for Body<C> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<C> Copy for Body<C> {}

impl<C> Body<C> {
    /// Of a class without such a block.
    pub const EMPTY: Self = Self::new(&[], None, None);

    /// With these functions and hooks.
    #[must_use]
    pub const fn new(
        functions: &'static [Function<C>],
        class_constructor: Option<Hook<C>>,
        post_init_properties: Option<Hook<C>>,
    ) -> Self {
        Self { functions, class_constructor, post_init_properties }
    }

    /// The same with these functions: its own, and those for interfaces.
    #[must_use]
    pub const fn with_functions(self, functions: &'static [Function<C>]) -> Self {
        Self { functions, ..self }
    }

    /// Its functions.
    #[must_use]
    pub const fn functions(self) -> &'static [Function<C>] {
        self.functions
    }

    const fn class_constructor(self) -> Option<Invoke> {
        match self.class_constructor {
            Some(hook) => Some(hook.0),
            None => None,
        }
    }

    const fn post_init_properties(self) -> Option<Invoke> {
        match self.post_init_properties {
            Some(hook) => Some(hook.0),
            None => None,
        }
    }
}

/// Stands in for a missing `#[uclass] impl` block: such a block writes an inherent constant of the same name, which takes
/// precedence. Two blocks collide under this name.
pub trait NoBody: Class {
    /// Adds no function and no hook.
    const ONE_UCLASS_IMPL_BLOCK_PER_CLASS: Body<Self> = Body::EMPTY;
}

impl<C: Class> NoBody for C {}

/// What a class says of what others declare: the interfaces it implements, classes for subobjects of its bases, and defaults.
type OfBases = (&'static [RStr<'static>], &'static [MetaDesc], &'static [MetaDesc]);

/// A class that this module declares, by its package and its name there.
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
    assert!(is_path_of(C::PATH, package, name), "a class is declared under the path that it is known by");
    Declared(ClassDesc {
        package: RStr::from_str(package),
        name: RStr::from_str(name),
        base: RStr::from_str(<C::Base as Class>::PATH),
        flags,
        properties: RSlice::from_slice(bare(properties)),
        functions: RSlice::from_slice(bare(body.functions)),
        hooks: hooks::<C>(body.class_constructor(), body.post_init_properties()),
        cell: &cell.0,
        doc: RStr::from_str(doc),
        implements: RSlice::from_slice(implements),
        subobject_classes: RSlice::from_slice(subobject_classes),
        default_overrides: RSlice::from_slice(default_overrides),
    })
}

/// A struct that this module declares, by its package and its name there. The host lays its fields out by itself, and
/// refuses a struct that comes out with another fingerprint: so a description that is not true is one of no type.
#[must_use]
pub const fn structure<S: Value>(
    (package, name): (&'static str, &'static str),
    fields: &[FieldType<S>],
    descriptions: &'static [PropertyDesc],
    doc: &'static str,
) -> Declared<StructDesc> {
    assert!(is_path_of(S::TYPE_PATH, package, name), "a struct is declared under the path that it is known by");
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

/// An entry of an enum: its name and number, what people read, whether editors leave it out, and its doc comment.
#[must_use]
pub const fn enum_entry(
    (name, number): (&'static str, u64),
    display: &'static str,
    is_hidden: bool,
    doc: &'static str,
) -> EnumEntryDesc {
    let (name, display, doc) = (RStr::from_str(name), RStr::from_str(display), RStr::from_str(doc));
    EnumEntryDesc { name, number, display, doc, hidden: is_hidden as u8 }
}

/// The fingerprint of an enum, as the host computes it.
const fn enum_fingerprint(underlying: PropertyKind, is_flags: bool, numbers: &[(&str, u64)]) -> u64 {
    let mut print = Fingerprint::START.number(underlying.0 as u64).number(is_flags as u64);
    let mut at = 0;
    while at < numbers.len() {
        let (name, number) = numbers[at];
        print = print.text(name).number(number);
        at += 1;
    }
    print.finish()
}

/// An enum that this module declares, whose values are numbers of type `N` in memory.
#[must_use]
pub const fn enumeration<E: Value<Raw = N>, N: Underlying>(
    (package, name): (&'static str, &'static str),
    is_flags: bool,
    numbers: &[(&'static str, u64)],
    entries: &'static [EnumEntryDesc],
    doc: &'static str,
) -> Declared<EnumDesc> {
    assert!(is_path_of(E::TYPE_PATH, package, name), "an enum is declared under the path that it is known by");
    Declared(EnumDesc {
        package: RStr::from_str(package),
        name: RStr::from_str(name),
        underlying: N::KIND,
        flags: is_flags as u8,
        entries: RSlice::from_slice(entries),
        fingerprint: enum_fingerprint(N::KIND, is_flags, numbers),
        doc: RStr::from_str(doc),
    })
}

/// A static function that this module offers by name, with its signature as the host prints it: who calls it with values
/// makes the slots by these words.
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
        invoke: ZCallInvoke(export_shell::<E>),
        direct: direct::of_export::<E>(),
    })
}

/// A signature in the words of the host.
pub(crate) struct SignatureWords<A, R>(PhantomData<fn(A) -> R>);

impl<A: Params, R: ReturnValue> SignatureWords<A, R> {
    pub(crate) const TEXT: &'static str = { const { &words(A::TYPES, &R::VALUE) }.as_str() };
}
