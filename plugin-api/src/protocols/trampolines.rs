//! Trampolines for protocols, for resolvers, and for functions that resolvers return. Inside one panic guard, a trampoline converts its
//! arguments and calls the author's code.
#![expect(unsafe_code, reason = "converts data borrowed from the host into references and values")]

use core::marker::PhantomData;
use std::rc::Rc;

use alcedo_abi::abi_stable::std_types::{RStr, RString};
use alcedo_abi::call::{Failure, Status};
use alcedo_abi::protocols::{
    CallResolved, DropResolved, ProtocolDesc, ReadAddress, Resolution, ResolutionKind, ResolveName, ResolverDesc,
};
use alcedo_abi::value::TextSink;
use alcedo_abi::zcall::ZCallBuffer;
use alcedo_rt::{CallError, Host, catch_panics};

use super::{Protocol, Resolved, Resolver};
use crate::__private::{Returned, SourceLocation, typed_slots};
use crate::registered;
use crate::signature::Params;

pub(crate) type Body = Rc<dyn FnBody>;

pub(crate) trait FnBody {
    /// Calls the function.
    ///
    /// # Safety
    /// The slots of the buffer are live and unshared during the call, and match the signature of the function.
    unsafe fn call(&self, buffer: &mut ZCallBuffer) -> Result<(), CallError>;
}

/// Closure of the author with the parameter types `A` and the return type `X`.
pub(crate) struct FunctionBody<F, A, X> {
    code: F,
    location: SourceLocation,
    of: PhantomData<fn(A) -> X>,
}

impl<A: Params, X: Returned, F: Fn(A) -> X> FunctionBody<F, A, X> {
    pub(crate) fn new(code: F, location: SourceLocation) -> Self {
        Self { code, location, of: PhantomData }
    }
}

impl<A: Params, X: Returned, F: Fn(A) -> X> FnBody for FunctionBody<F, A, X> {
    unsafe fn call(&self, buffer: &mut ZCallBuffer) -> Result<(), CallError> {
        // SAFETY: the caller promises slots that match the signature, which was derived from these types.
        unsafe { typed_slots::<A, X>("a function of a resolver", self.location, buffer, &self.code) }
    }
}

/// Registers a protocol with the host: its prefix, its syntax and its hint.
pub(crate) fn add_protocol(
    host: Host<'_>,
    number: u64,
    [word, form, help]: [RStr<'_>; 3],
    is_plain: bool,
) -> Result<(), CallError> {
    let protocol =
        ProtocolDesc { number, word, form, help, read: ReadAddress(read_address), is_plain: is_plain.into() };
    // SAFETY: `read_address` looks up the protocol by this number, under which this thread has registered the protocol.
    unsafe { host.protocol_add(&protocol) }
}

/// Registers a resolver with the host: its label and the prefix of its protocol.
pub(crate) fn add_resolver(
    host: Host<'_>,
    number: u64,
    [protocol, label]: [RStr<'_>; 2],
    priority: i32,
) -> Result<(), CallError> {
    let resolver = ResolverDesc {
        number,
        protocol,
        label,
        priority,
        resolve: ResolveName(resolve_name),
        call: CallResolved(call_resolved),
        drop: DropResolved(drop_resolved),
    };
    // SAFETY: `resolve_name` looks up the resolver by this number. The other functions look up functions that the resolver has returned.
    unsafe { host.resolver_add(&resolver) }
}

fn find<T: ?Sized + 'static>(number: u64) -> Result<Rc<T>, CallError> {
    registered::find(number)
        .ok_or_else(|| CallError::other(format!("no function is registered under the number {number}")))
}

/// # Safety
/// See [`ReadAddress`].
unsafe extern "C" fn read_address(
    protocol: u64,
    address: RStr<'_>,
    spelling: &TextSink,
    failure: &mut Failure,
) -> Status {
    catch_panics(failure, || {
        let text = find::<dyn Protocol>(protocol)?.read(address.as_str()).map_err(CallError::other)?;
        // SAFETY: as `ReadAddress` requires, the sink is borrowed for the call; the sink copies its argument.
        unsafe { (spelling.put)(spelling.context, text.as_ptr(), text.len()) };
        Ok(())
    })
}

/// # Safety
/// See [`ResolveName`].
unsafe extern "C" fn resolve_name(
    resolver: u64,
    name: RStr<'_>,
    answer: &mut Resolution,
    failure: &mut Failure,
) -> Status {
    catch_panics(failure, || {
        *answer = match find::<dyn Resolver>(resolver)?.resolve(name.as_str())?.0 {
            Resolved::Declined(reason) => Resolution { text: reason.into(), ..Resolution::declined() },
            Resolved::Function(function) => Resolution {
                kind: ResolutionKind::FUNCTION,
                text: RString::from(function.signature),
                fingerprint: function.fingerprint,
                function: registered::keep(Rc::new(function.body)),
            },
        };
        Ok(())
    })
}

/// # Safety
/// See [`CallResolved`].
unsafe extern "C" fn call_resolved(function: u64, buffer: &mut ZCallBuffer, failure: &mut Failure) -> Status {
    catch_panics(failure, || {
        let function = find::<dyn FnBody>(function)?;
        // SAFETY: as `CallResolved` requires, the slots are borrowed for the call and match the signature of this function.
        unsafe { function.call(buffer) }
    })
}

/// # Safety
/// See [`DropResolved`].
unsafe extern "C" fn drop_resolved(function: u64, failure: &mut Failure) -> Status {
    catch_panics(failure, || {
        registered::drop_one(function);
        Ok(())
    })
}
