//! Functions of native classes, declared by Rust types. The signature determines the function flags and the thunk. The thunk reads each
//! parameter by its type. Functions of plugin classes receive their flags by the same rules.

use std::any::Any;
use std::marker::PhantomData;
use std::rc::Rc;

use alcedo_abi::describe::{CParam, MetaDesc, Metadata};

use crate::boundary::CallError;
use crate::bridge::module_thunk::check_balanced;
use crate::kinds::{function_flags, property_flags};
use crate::native::direct::{of_method, of_static};
use crate::native::failing::failing;
use crate::native::method::{Method, Receiver, StaticMethod, run, run_static};
use crate::native::parts::Parts;
use crate::native::this::{Class, This};
use crate::object;
use crate::object::decl::FunctionDecl;
use crate::object::meta::Meta;
use crate::object::native_value::{NativeParams, NativeResult, NativeReturned};
use crate::object::natives::World;
use crate::object::thunk::{Frame, Thunk, function_of, idle};

/// Converts metadata to the form that a declaration stores.
pub(super) fn owned(meta: &[MetaDesc]) -> Meta {
    meta.iter().map(|MetaDesc { key, value }| (key.as_str().to_owned(), value.as_str().to_owned())).collect()
}

/// Names, defaults and C types of the parameters of a signature.
#[derive(Clone, Copy)]
struct Block {
    names: &'static [&'static str],
    defaults: &'static [&'static str],
    in_c: &'static [CParam],
}

/// Names, defaults and C types of the parameters of a signature. `A` and `R` are the Rust types.
pub struct SignatureBlock<A, R>(Block, PhantomData<fn(A) -> R>);

impl<A, R> SignatureBlock<A, R> {
    /// Creates a block with the parameter names, in order.
    pub const fn new(names: &'static [&'static str]) -> Self {
        Self(Block { names, defaults: &[], in_c: &[] }, PhantomData)
    }

    /// Sets the defaults of the parameters, in order. An empty string means that the parameter has no default.
    #[must_use]
    pub const fn with_defaults(self, defaults: &'static [&'static str]) -> Self {
        Self(Block { defaults, ..self.0 }, PhantomData)
    }

    /// Sets the C types of the parameters, in order.
    #[must_use]
    pub const fn in_c(self, in_c: &'static [CParam]) -> Self {
        Self(Block { in_c, ..self.0 }, PhantomData)
    }

    pub(super) const fn names(&self) -> &'static [&'static str] {
        self.0.names
    }
}

/// Zero-sized marker with the class of a function, and the types of its parameters and result.
pub struct FunctionCell<C, A, R>(PhantomData<fn(C, A) -> R>);

impl<C, A, R> FunctionCell<C, A, R> {
    /// Returns a new marker.
    #[expect(clippy::new_without_default, reason = "`Default::default` is not const, and statics call `new`")]
    pub const fn new() -> Self {
        Self(PhantomData)
    }
}

/// A reflected function of class `C`.
pub struct Function<C: 'static> {
    name: &'static str,
    flags: u64,
    overrides: &'static str,
    block: Block,
    metadata: Metadata,
    declare: fn(&Self, &Rc<Parts<C>>) -> FunctionDecl,
}

impl<C: 'static> Function<C> {
    /// Sets the path of the class whose event the function overrides. An empty string means that the function overrides no event.
    #[must_use]
    pub const fn overriding(self, overrides: &'static str) -> Self {
        Self { overrides, ..self }
    }

    pub(super) fn declared(&self, parts: &Rc<Parts<C>>) -> FunctionDecl {
        (self.declare)(self, parts)
    }

    fn of<A: NativeParams, R: NativeResult>(&self, black_code: Option<Rc<dyn Any>>, thunk: Thunk) -> FunctionDecl {
        let mut params = A::declared(self.block.names);
        for (param, default) in params.iter_mut().zip(self.block.defaults) {
            (*default).clone_into(&mut param.default);
        }
        for (param, in_c) in params.iter_mut().zip(self.block.in_c) {
            param.flags |= if in_c.is_out { property_flags::OUT } else { 0 };
            param.meta.extend(owned(in_c.meta));
        }
        params.extend(R::declared());
        FunctionDecl {
            flags: self.flags,
            overrides: self.overrides.to_owned(),
            params,
            doc: self.metadata.doc.to_owned(),
            meta: owned(self.metadata.meta),
            black_code,
            ..FunctionDecl::new(self.name, thunk)
        }
    }
}

/// Describes the function with the body `M`.
pub const fn function_description<M: Method>(
    name: &'static str,
    flags: u64,
    block: &SignatureBlock<M::Args, M::Result>,
    _cell: &FunctionCell<M::Class, M::Args, M::Result>,
    metadata: Metadata,
) -> Function<M::Class> {
    let fallible = if M::Returned::MAY_FAIL { function_flags::FALLIBLE } else { 0 };
    let unchanging = if M::Receiver::IS_SHARED { function_flags::CONST } else { 0 };
    let flags = flags | fallible | unchanging;
    let declare = |function: &Function<M::Class>, parts: &Rc<Parts<M::Class>>| {
        let parts = Rc::clone(parts);
        function.of::<M::Args, M::Result>(
            of_method::<M>(&parts),
            Rc::new(move |context, frame| {
                let this = This::new(object::World::of(context), frame.object());
                let (args, kept) = M::Args::take(frame)?;
                frame.finish()?;
                let result = run::<M>(&parts, this, args)?;
                M::Args::give(kept, frame)?;
                result.give(frame)
            }),
        )
    };
    Function { name, flags, overrides: "", block: block.0, metadata, declare }
}

/// Describes the static function with the body `M`.
pub const fn static_function<M: StaticMethod>(
    name: &'static str,
    flags: u64,
    block: &SignatureBlock<M::Args, M::Result>,
    _cell: &FunctionCell<M::Class, M::Args, M::Result>,
    metadata: Metadata,
) -> Function<M::Class> {
    let fallible = if M::Returned::MAY_FAIL { function_flags::FALLIBLE } else { 0 };
    let flags = flags | function_flags::STATIC | fallible;
    let declare = |function: &Function<M::Class>, _parts: &Rc<Parts<M::Class>>| {
        function.of::<M::Args, M::Result>(
            of_static::<M>(),
            Rc::new(|_context, frame| {
                let (args, kept) = M::Args::take(frame)?;
                frame.finish()?;
                let result = run_static::<M>(args)?;
                M::Args::give(kept, frame)?;
                result.give(frame)
            }),
        )
    };
    Function { name, flags, overrides: "", block: block.0, metadata, declare }
}

/// Describes an event that only scripts implement. An event without an implementation returns the zero value.
pub const fn implementable_event<C: Class, A: NativeParams, R: NativeResult>(
    name: &'static str,
    flags: u64,
    block: &SignatureBlock<A, R>,
    _cell: &FunctionCell<C, A, R>,
    metadata: Metadata,
) -> Function<C> {
    without_body::<C, A, R>(name, flags | function_flags::IMPLEMENTABLE_EVENT, block, metadata)
}

/// Implemented by a type that represents the custom thunk of one function.
pub trait CustomThunk: 'static {
    /// Class of the function.
    type Class: Class;

    /// Reads the parameters of the call, performs the call, and stores the result.
    ///
    /// # Errors
    /// Returns the error of the call. After an error, no result is stored.
    fn run(world: &World, frame: &mut Frame<'_>) -> Result<(), CallError>;
}

/// Describes a function with the custom thunk `T`. The parameters of this function may have any type.
pub const fn custom_thunk<T: CustomThunk, A: NativeParams, R: NativeResult>(
    name: &'static str,
    flags: u64,
    block: &SignatureBlock<A, R>,
    _cell: &FunctionCell<T::Class, A, R>,
    metadata: Metadata,
) -> Function<T::Class> {
    let flags = flags | function_flags::CUSTOM_THUNK;
    let declare = |function: &Function<T::Class>, _parts: &Rc<Parts<T::Class>>| {
        function.of::<A, R>(
            None,
            Rc::new(|context, frame| {
                failing(|| T::run(object::World::of(context), frame))?;
                check_balanced(frame, &function_of(frame).path)
            }),
        )
    };
    Function { name, flags, overrides: "", block: block.0, metadata, declare }
}

/// Describes a function without a native body. A script, or the C library that the class is bound to, implements the function.
pub(super) const fn without_body<C: Class, A: NativeParams, R: NativeResult>(
    name: &'static str,
    flags: u64,
    block: &SignatureBlock<A, R>,
    metadata: Metadata,
) -> Function<C> {
    let declare = |function: &Function<C>, _parts: &Rc<Parts<C>>| function.of::<A, R>(None, idle());
    Function { name, flags, overrides: "", block: block.0, metadata, declare }
}
