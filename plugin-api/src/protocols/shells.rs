//! The shells of what a module registers for calls by name: its protocols, its resolvers, and the functions that these answer with.
//! Each only converts, inside one trap.
#![expect(unsafe_code, reason = "turns what the host lends over the border into references and values")]

use core::marker::PhantomData;
use std::rc::Rc;

use alcedo_abi::abi_stable::std_types::{RStr, RString};
use alcedo_abi::call::{Failure, Status};
use alcedo_abi::protocols::{
    CallResolved, DropResolved, ProtocolDesc, ReadAddress, Resolution, ResolutionKind, ResolveName, ResolverDesc,
};
use alcedo_abi::value::TextSink;
use alcedo_abi::zcall::ZCallBuffer;
use alcedo_rt::{CallError, Host, trap};

use super::{Protocol, Resolver, Said};
use crate::plumbing::{Place, Returned, typed_slots};
use crate::registered;
use crate::signature::Params;

/// A function that a resolver answers with.
pub(crate) type Body = Rc<dyn FnBody>;

/// The same, as a trait.
pub(crate) trait FnBody {
    /// Calls it.
    ///
    /// # Safety
    /// The buffer lends its slots, live and unshared, for the call, and they are what the signature of the function says.
    unsafe fn call(&self, buffer: &mut ZCallBuffer) -> Result<(), CallError>;
}

/// A closure of an author's, by its types.
pub(crate) struct FunctionBody<F, A, X> {
    code: F,
    place: Place,
    of: PhantomData<fn(A) -> X>,
}

impl<A: Params, X: Returned, F: Fn(A) -> X> FunctionBody<F, A, X> {
    pub(crate) fn new(code: F, place: Place) -> Self {
        Self { code, place, of: PhantomData }
    }
}

impl<A: Params, X: Returned, F: Fn(A) -> X> FnBody for FunctionBody<F, A, X> {
    unsafe fn call(&self, buffer: &mut ZCallBuffer) -> Result<(), CallError> {
        // SAFETY: the caller promises slots that are what the signature says, which was made of the same types.
        unsafe { typed_slots::<A, X>("a function of a resolver", self.place, buffer, &self.code) }
    }
}

/// Tells the host of a protocol: its word, its form, its way out.
pub(crate) fn add_protocol(
    host: Host<'_>,
    number: u64,
    [word, form, way_out]: [RStr<'_>; 3],
    is_plain: bool,
) -> Result<(), CallError> {
    let protocol =
        ProtocolDesc { number, word, form, way_out, read: ReadAddress(read_address), is_plain: is_plain.into() };
    // SAFETY: the function reads addresses by the protocol of this number, which this thread has.
    unsafe { host.protocol_add(&protocol) }
}

/// Tells the host of a resolver: the word of its protocol, its label.
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
    // SAFETY: the functions are those of the resolver of this number, and of what it answers with.
    unsafe { host.resolver_add(&resolver) }
}

fn find<T: ?Sized + 'static>(number: u64) -> Result<Rc<T>, CallError> {
    registered::find(number).ok_or_else(|| CallError::other(format!("nothing is registered under the number {number}")))
}

/// # Safety
/// As [`ReadAddress`] says.
unsafe extern "C" fn read_address(
    protocol: u64,
    address: RStr<'_>,
    spelling: &TextSink,
    failure: &mut Failure,
) -> Status {
    trap(failure, || {
        let text = find::<dyn Protocol>(protocol)?.read(address.as_str()).map_err(CallError::other)?;
        // SAFETY: `ReadAddress`: the sink is lent for the call, and copies what it is given.
        unsafe { (spelling.put)(spelling.context, text.as_ptr(), text.len()) };
        Ok(())
    })
}

/// # Safety
/// As [`ResolveName`] says.
unsafe extern "C" fn resolve_name(
    resolver: u64,
    name: RStr<'_>,
    answer: &mut Resolution,
    failure: &mut Failure,
) -> Status {
    trap(failure, || {
        *answer = match find::<dyn Resolver>(resolver)?.resolve(name.as_str())?.0 {
            Said::Declined(reason) => Resolution { text: reason.into(), ..Resolution::declined() },
            Said::Function(function) => Resolution {
                kind: ResolutionKind::FUNCTION,
                text: RString::from(function.words),
                fingerprint: function.fingerprint,
                function: registered::keep(Rc::new(function.body)),
            },
        };
        Ok(())
    })
}

/// # Safety
/// As [`CallResolved`] says.
unsafe extern "C" fn call_resolved(function: u64, buffer: &mut ZCallBuffer, failure: &mut Failure) -> Status {
    trap(failure, || {
        let function = find::<dyn FnBody>(function)?;
        // SAFETY: `CallResolved`: the slots are lent for the call, and are what the signature of this function says.
        unsafe { function.call(buffer) }
    })
}

/// # Safety
/// As [`DropResolved`] says.
unsafe extern "C" fn drop_resolved(function: u64, failure: &mut Failure) -> Status {
    trap(failure, || {
        registered::drop_one(function);
        Ok(())
    })
}
