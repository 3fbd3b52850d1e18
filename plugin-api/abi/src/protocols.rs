//! Protocols and resolvers of calls by name that a module registers. The host has a number for each, which only the module
//! follows, and the functions by which it is asked. None of them is called once the module's generation is set aside or over.

use abi_stable::StableAbi;
use abi_stable::std_types::{RStr, RString};

use crate::call::{Failure, Status};
use crate::value::TextSink;
use crate::zcall::ZCallBuffer;

/// Reads an address, which is what stands behind the colon of a name, and puts its one spelling into the sink. Game thread only.
///
/// # Safety
/// `protocol` is a number that the module gave with this function; the rest is lent for the call.
#[repr(transparent)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct ReadAddress(
    pub unsafe extern "C" fn(protocol: u64, address: RStr<'_>, spelling: &TextSink, failure: &mut Failure) -> Status,
);

/// Says what a name stands for. Game thread only.
///
/// # Safety
/// `resolver` is a number that the module gave with this function; the rest is lent for the call.
#[repr(transparent)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct ResolveName(
    pub unsafe extern "C" fn(resolver: u64, name: RStr<'_>, answer: &mut Resolution, failure: &mut Failure) -> Status,
);

/// Calls a function that a resolver has answered with. Game thread only.
///
/// # Safety
/// `function` is the number of a [`Resolution`] that came from the resolver given with this function, and was not dropped;
/// `buffer` lends its slots, unshared, for the call, and they are what the signature of that resolution says.
#[repr(transparent)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct CallResolved(
    pub unsafe extern "C" fn(function: u64, buffer: &mut ZCallBuffer, failure: &mut Failure) -> Status,
);

/// Drops a function that a resolver has answered with. The module drops what is left when it ends. Game thread only.
///
/// # Safety
/// As for [`CallResolved`]; the number is not used again.
#[repr(transparent)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct DropResolved(pub unsafe extern "C" fn(function: u64, failure: &mut Failure) -> Status);

/// A protocol of a module. The texts are copied before the call returns.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct ProtocolDesc<'a> {
    /// Its number in the module.
    pub number: u64,
    /// The word before the colon.
    pub word: RStr<'a>,
    /// How its names look, for errors.
    pub form: RStr<'a>,
    /// What can be done about a name that leads nowhere, for errors; may be empty.
    pub way_out: RStr<'a>,
    /// How its addresses are read.
    pub read: ReadAddress,
    /// Not zero where any address without spaces behind a `/` is one, and has one spelling: `read` is not called then.
    pub is_plain: u8,
}

/// A resolver of a module. The texts are copied before the call returns.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct ResolverDesc<'a> {
    /// Its number in the module.
    pub number: u64,
    /// The word of the protocol whose names it resolves: one of the module's own, or of the host's.
    pub protocol: RStr<'a>,
    /// How errors name it.
    pub label: RStr<'a>,
    /// The smallest of a protocol is called first.
    pub priority: i32,
    /// What a name stands for.
    pub resolve: ResolveName,
    /// The way into a function that it answers with.
    pub call: CallResolved,
    /// The end of one.
    pub drop: DropResolved,
}

/// What sort of answer a [`Resolution`] is.
#[repr(transparent)]
#[derive(StableAbi, Clone, Copy, PartialEq, Eq, Debug)]
pub struct ResolutionKind(pub u8);

impl ResolutionKind {
    /// It has none of that name; the text says why, and may be empty.
    pub const DECLINED: Self = Self(0);
    /// The function of this number and signature; the text is the signature in words.
    pub const FUNCTION: Self = Self(1);
}

/// What a resolver says to a name.
#[repr(C)]
#[derive(StableAbi, Clone, Debug)]
pub struct Resolution {
    /// What sort of answer.
    pub kind: ResolutionKind,
    /// Depends on the sort.
    pub text: RString,
    /// The number of the function in the module.
    pub function: u64,
    /// Fingerprint of its signature.
    pub fingerprint: u64,
}

impl Resolution {
    /// Declined, without a reason.
    #[must_use]
    pub const fn declined() -> Self {
        Self { kind: ResolutionKind::DECLINED, text: RString::new(), function: 0, fingerprint: 0 }
    }
}
