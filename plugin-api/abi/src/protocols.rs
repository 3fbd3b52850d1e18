//! Protocols and resolvers that a module registers for calls by name. For each protocol and resolver, the host stores its functions and the
//! number under which the module registered it, and passes the number in each call. The host calls the functions only while the module's
//! generation is live and not suspended.

use abi_stable::StableAbi;
use abi_stable::std_types::{RStr, RString};

use crate::call::{Failure, Status};
use crate::value::TextSink;
use crate::zcall::ZCallBuffer;

/// Parses an address, which is the part of a name after `:/`, and writes its canonical form into the sink. Called on the game thread
/// only.
///
/// # Safety
/// `protocol` is a number that the module registered with this function. The further arguments are borrowed until the function returns.
#[repr(transparent)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct ReadAddress(
    pub unsafe extern "C" fn(protocol: u64, address: RStr<'_>, spelling: &TextSink, failure: &mut Failure) -> Status,
);

/// Resolves a name. Called on the game thread only.
///
/// # Safety
/// `resolver` is a number that the module registered with this function. The further arguments are borrowed until the function returns.
#[repr(transparent)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct ResolveName(
    pub unsafe extern "C" fn(resolver: u64, name: RStr<'_>, answer: &mut Resolution, failure: &mut Failure) -> Status,
);

/// Calls a function that a resolver has returned. Called on the game thread only.
///
/// # Safety
/// `function` is the number of a [`Resolution`] that has not been dropped. The resolution was returned by a resolver that was registered
/// with this [`CallResolved`]. `buffer` borrows its slots exclusively until the function returns; the slots match the signature of the
/// resolution.
#[repr(transparent)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct CallResolved(
    pub unsafe extern "C" fn(function: u64, buffer: &mut ZCallBuffer, failure: &mut Failure) -> Status,
);

/// Drops a function that a resolver has returned. When the module ends, it drops its remaining resolved functions itself, without this
/// function. Called on the game thread only.
///
/// # Safety
/// `function` fulfills the requirements of [`CallResolved`], and is not used again.
#[repr(transparent)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct DropResolved(pub unsafe extern "C" fn(function: u64, failure: &mut Failure) -> Status);

/// Protocol of a module. The host copies the strings before the registration returns.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct ProtocolDesc<'a> {
    /// Number by which the module identifies the protocol.
    pub number: u64,
    /// Prefix that selects the protocol: the part of a name before the colon.
    pub word: RStr<'a>,
    /// Syntax of the protocol's names, for errors.
    pub form: RStr<'a>,
    /// Hint for errors about unknown names, or empty.
    pub help: RStr<'a>,
    /// Function that parses addresses.
    pub read: ReadAddress,
    /// Nonzero if every address that begins with `/` and has no spaces is valid and canonical. The host then does not call `read`.
    pub is_plain: u8,
}

/// Resolver of a module. The host copies the strings before the registration returns.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct ResolverDesc<'a> {
    /// Number by which the module identifies the resolver.
    pub number: u64,
    /// Prefix of the protocol whose names the resolver resolves: a protocol of the host or of any module.
    pub protocol: RStr<'a>,
    /// Name of the resolver, for errors.
    pub label: RStr<'a>,
    /// Priority of the resolver. Among the resolvers of a protocol, the host calls the resolver with the smallest number first.
    pub priority: i32,
    /// Function that resolves names.
    pub resolve: ResolveName,
    /// Function that calls a resolved function.
    pub call: CallResolved,
    /// Function that drops a resolved function.
    pub drop: DropResolved,
}

/// Kind of a [`Resolution`].
#[repr(transparent)]
#[derive(StableAbi, Clone, Copy, PartialEq, Eq, Debug)]
pub struct ResolutionKind(pub u8);

impl ResolutionKind {
    /// The resolver declines the name. [`Resolution::text`] contains the reason, or is empty.
    pub const DECLINED: Self = Self(0);
    /// The name resolves to a function. [`Resolution::text`] contains the function's signature.
    pub const FUNCTION: Self = Self(1);
}

/// Result that a resolver returns for a name.
#[repr(C)]
#[derive(StableAbi, Clone, Debug)]
pub struct Resolution {
    /// Kind of the result.
    pub kind: ResolutionKind,
    /// Reason for declining the name, or signature of the function.
    pub text: RString,
    /// Number by which the module identifies the function.
    pub function: u64,
    /// Fingerprint of the function's signature.
    pub fingerprint: u64,
}

impl Resolution {
    /// Returns a result that declines a name without a reason.
    #[must_use]
    pub const fn declined() -> Self {
        Self { kind: ResolutionKind::DECLINED, text: RString::new(), function: 0, fingerprint: 0 }
    }
}
