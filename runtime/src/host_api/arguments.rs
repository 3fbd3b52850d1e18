//! Argument types for calls from modules to the host. Each type represents what the module guarantees for one argument. The lists in
//! `alcedo_abi::list` document these guarantees, and only the implementations of [`IntoArgument`] rely on them. The function bodies have
//! parameters of these types, and access addresses only through the safe methods of these types.
//!
//! An argument with the lifetime `'c` belongs to one call. Addresses in the argument refer to values of the type that this call specifies.
#![expect(unsafe_code, reason = "dereferences pointers that a module lends for a call")]

use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::sync::Arc;

use alcedo_abi::kinds::PropertyKind;
use alcedo_abi::list::prelude::*;

use crate::boundary::{CallError, mismatch};
use crate::bridge::conjugates;
use crate::bridge::core::Core;
use crate::bridge::module_protocols::BorrowedDesc;
use crate::bridge::tasks::{Code, waking};
use crate::conjugate::owned_values::Opened;
use crate::object::property::PropertyType;
use crate::object::value::Value;
use crate::object::values::ptr::{Ptr, PtrMut};
use crate::object::values::text_memory::text_assign_raw;
use crate::zcall::buffer::BufferMut;

/// A raw parameter type that can be converted to the argument type `As` of a function body. `Host` is the type of the host context that the
/// conversion receives.
pub(super) trait IntoArgument<Host, As> {
    /// Converts the parameter.
    ///
    /// # Safety
    /// A module must have passed the parameter for the call that lasts `'c`. The promises that `alcedo_abi::list` documents must hold:
    /// strings are readable; a sink copies the data it receives and does not unwind; a buffer has unshared slots with valid pointers for
    /// the call; a host context is the context that the module was attached with, and its runtime exists; a type number belongs to the core
    /// `host`. The promises for addresses in the docs of `As` must hold until the call returns, unless the body itself invalidates the
    /// addresses.
    unsafe fn into_argument(self, host: Host) -> As;
}

impl<Host, T> IntoArgument<Host, T> for T {
    #[inline]
    unsafe fn into_argument(self, _host: Host) -> T {
        self
    }
}

impl<'c, Host> IntoArgument<Host, &'c str> for RStr<'c> {
    unsafe fn into_argument(self, _host: Host) -> &'c str {
        self.as_str()
    }
}

impl<'c, Host> IntoArgument<Host, BufferMut<'c>> for &'c mut ZCallBuffer {
    #[inline]
    unsafe fn into_argument(self, _host: Host) -> BufferMut<'c> {
        // SAFETY: the caller promises that the module provides the slots, unshared and valid during the call.
        unsafe { BufferMut::from_raw(self) }
    }
}

impl<Host> IntoArgument<Host, String> for TextView {
    unsafe fn into_argument(self, _host: Host) -> String {
        BorrowedText(self, PhantomData).copied()
    }
}

/// Binds a value to the call `'c`. The lifetime is invariant.
type OfCall<'c> = PhantomData<fn(&'c ()) -> &'c ()>;

/// A string whose bytes are readable during the call.
struct BorrowedText<'c>(TextView, OfCall<'c>);

impl BorrowedText<'_> {
    fn copied(&self) -> String {
        // SAFETY: the creator of this value promised that the module keeps the bytes readable during the call.
        String::from_utf8_lossy(unsafe { self.0.bytes() }).into_owned()
    }
}

/// Source location in a module at which a value is created.
pub(super) struct MadeAt<'c> {
    file: BorrowedText<'c>,
    pub(super) line: u32,
}

impl MadeAt<'_> {
    pub(super) fn file(&self) -> String {
        self.file.copied()
    }
}

impl<'c, Host> IntoArgument<Host, MadeAt<'c>> for &'c Site {
    unsafe fn into_argument(self, _host: Host) -> MadeAt<'c> {
        MadeAt { file: BorrowedText(self.file, PhantomData), line: self.line }
    }
}

/// A property type that a call specifies by its id.
#[derive(Clone, Copy)]
pub(super) struct CallType<'c> {
    core: &'c Core,
    pub(super) number: TypeNumber,
    call: OfCall<'c>,
}

impl<'c> IntoArgument<&'c Core, CallType<'c>> for TypeNumber {
    #[inline]
    unsafe fn into_argument(self, core: &'c Core) -> CallType<'c> {
        CallType { core, number: self, call: PhantomData }
    }
}

impl<'c> CallType<'c> {
    /// Resolves the id to the type. Fails if the id is unknown, or if the module of the type has ended.
    pub(super) fn known(self) -> Result<KnownType<'c>, CallError> {
        Ok(KnownType { ty: self.core.value_types.get(self.number)?, call: PhantomData })
    }
}

/// Resolved type of a [`CallType`].
pub(super) struct KnownType<'c> {
    pub ty: PropertyType,
    call: OfCall<'c>,
}

impl Deref for KnownType<'_> {
    type Target = PropertyType;

    fn deref(&self) -> &PropertyType {
        &self.ty
    }
}

/// Address and type of an initialized value. No other code accesses the value while the body runs.
#[derive(Clone, Copy)]
pub(super) struct ValueLocation<'c> {
    raw: RawLocation,
    ty: CallType<'c>,
}

impl<'c> IntoArgument<&'c Core, ValueLocation<'c>> for &'c RawLocation {
    #[inline]
    unsafe fn into_argument(self, core: &'c Core) -> ValueLocation<'c> {
        ValueLocation { raw: *self, ty: CallType { core, number: self.ty, call: PhantomData } }
    }
}

impl<'c> ValueLocation<'c> {
    /// Returns the value for reading. After a successful [`LiveValue::may_write`], the caller may also write the value. Fails if the type
    /// is unknown.
    pub(super) fn open(self) -> Result<LiveValue<'c>, CallError> {
        Ok(LiveValue { location: self, ty: self.ty.known()? })
    }

    /// Returns the value for writing. Fails if the type is unknown, or if the owner of the value cannot currently be written.
    pub(super) fn writable(self) -> Result<LiveValue<'c>, CallError> {
        let value = self.open()?;
        value.may_write()?;
        Ok(value)
    }
}

/// An initialized value on which a call operates.
pub(super) struct LiveValue<'c> {
    location: ValueLocation<'c>,
    ty: KnownType<'c>,
}

impl<'c> LiveValue<'c> {
    pub(super) fn ty(&self) -> &KnownType<'c> {
        &self.ty
    }

    /// Checks that the owner of the value can currently be written. Succeeds for a value without an owner.
    pub(super) fn may_write(&self) -> Result<(), CallError> {
        match self.location.raw.owner {
            owner if owner.is_none() => Ok(()),
            owner => self.location.ty.core.world.objects.may_write(owner),
        }
    }

    /// Checks that the value may have `len` elements. Fails if the value is a fixed array of its owner with another length. Succeeds for a
    /// value without an owner.
    pub(super) fn may_have(&self, len: u32) -> Result<(), CallError> {
        let RawLocation { owner, at, .. } = self.location.raw;
        conjugates::may_have(self.location.ty.core, (owner, at), &self.ty, len)
    }

    pub(super) fn ptr(&self) -> Ptr<'_> {
        // SAFETY: the module promises an initialized value of the type at this address, and `ty` was resolved from the id in this location.
        unsafe { Ptr::new(self.location.raw.at, &self.ty) }
    }

    pub(super) fn ptr_mut(&mut self) -> PtrMut<'_> {
        self.with_type().0
    }

    /// Returns the value and its type. Callers also use the type to read the other addresses that the call has passed.
    pub(super) fn with_type(&mut self) -> (PtrMut<'_>, &KnownType<'c>) {
        // SAFETY: the module promises an initialized value of the type at this address, and does not access the value until the call
        // returns. `ty` was resolved from the id in this location.
        (unsafe { PtrMut::new(self.location.raw.at, &self.ty) }, &self.ty)
    }

    /// Overwrites the value with bytes. The bytes may be the current bytes of the value. Fails if the value is not a byte string.
    pub(super) fn assign_bytes(&mut self, bytes: BytesAt<'c>, len: BytesLen<'c>) -> Result<(), CallError> {
        if self.ty.kind() != PropertyKind::ANSI_STRING {
            return Err(wrong_kind(&self.ty, "ansi_assign"));
        }
        // SAFETY: the module promises an initialized value of the type at this address, and the type is a byte string. The module provides
        // the bytes during the call, and both `bytes` and `len` belong to this call.
        unsafe { text_assign_raw(self.location.raw.at.cast(), bytes.0, len.0) };
        Ok(())
    }
}

macro_rules! addresses {
    ($($(#[$doc:meta])* $name:ident of $raw:ty;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub(super) struct $name<'c>($raw, OfCall<'c>);

        impl<'c> IntoArgument<&'c Core, $name<'c>> for $raw {
            #[inline]
            unsafe fn into_argument(self, _core: &'c Core) -> $name<'c> {
                $name(self, PhantomData)
            }
        }
    )*};
}

addresses! {
    /// Address of an initialized value of the type that the call specifies.
    Address of *const u8;
    /// Null, or the address of an initialized value of the type that the call specifies.
    MaybeAddress of *const u8;
    /// Address of an initialized map key or set element. The call specifies the type of the map or set. The key may itself be stored in
    /// this map or set.
    KeyAddress of *const u8;
    /// Address of an initialized field path.
    FieldPathAddress of *const u8;
    /// Address of a string in host memory. No other code accesses the string while the body runs.
    TextTarget of *mut TextRaw;
    /// Address of readable bytes. The call specifies the number of bytes as [`BytesLen`].
    BytesAt of *const u8;
    /// Number of bytes at the [`BytesAt`] of the call.
    BytesLen of usize;
}

impl<'c> Address<'c> {
    pub(super) fn of<'t>(self, ty: &'t KnownType<'c>) -> Ptr<'t> {
        // SAFETY: the module promises an initialized value of the type that the call specifies, and `ty` is this type.
        unsafe { Ptr::new(self.0, ty) }
    }
}

impl<'c> MaybeAddress<'c> {
    pub(super) fn address(self) -> Option<Address<'c>> {
        (!self.0.is_null()).then_some(Address(self.0, self.1))
    }
}

impl<'c> KeyAddress<'c> {
    /// Returns the key. Returns `None` if the type is not a map or a set.
    pub(super) fn of<'t>(self, ty: &'t KnownType<'c>) -> Option<Ptr<'t>> {
        let key = match &**ty {
            PropertyType::Map(entry) => entry.key(),
            PropertyType::Set(elements) => elements.ty(),
            _ => return None,
        };
        // SAFETY: the module promises an initialized key of the type that the call specifies, and `ty` is this type.
        Some(unsafe { Ptr::new(self.0, key) })
    }
}

impl FieldPathAddress<'_> {
    pub(super) fn read(self) -> Value {
        // SAFETY: the module promises an initialized field path at this address.
        unsafe { Ptr::new(self.0, &PropertyType::FieldPath) }.read()
    }
}

impl TextTarget<'_> {
    pub(super) fn assign(self, text: &str) {
        // SAFETY: the module promises a string at this address, and does not access the string during the call. The string is a property of
        // a live object, or a result in a parameter block of the host. `text` does not overlap the string.
        unsafe { text_assign_raw(self.0, text.as_ptr(), text.len()) };
    }
}

/// Address and type of an initialized value. A value without an owner stays valid until the innermost frame closes.
pub(super) struct LastingLocation<'c>(ValueLocation<'c>);

impl<'c> IntoArgument<&'c Core, LastingLocation<'c>> for &'c RawLocation {
    unsafe fn into_argument(self, core: &'c Core) -> LastingLocation<'c> {
        LastingLocation(ValueLocation { raw: *self, ty: CallType { core, number: self.ty, call: PhantomData } })
    }
}

impl LastingLocation<'_> {
    /// Returns a conjugate that refers to the value until the innermost frame closes. Returns the errors of [`conjugates::borrow_red`].
    pub(super) fn borrow_red(self) -> Result<ConjugateHandle, CallError> {
        let ValueLocation { raw: RawLocation { owner, at, ty: number }, ty: CallType { core, .. } } = self.0;
        let value = Opened { owner, at, ty: core.value_types.get(number)?, number };
        // SAFETY: the module promises that a value without an owner stays valid until the frame closes.
        unsafe { conjugates::borrow_red(core, value) }
    }
}

/// A job that a module transfers to the host. The host then owns the code of the job.
pub(super) struct OwnedJob<'c> {
    pub(super) job: &'c Job<'c>,
    pub(super) code: Code,
}

impl<'c, Host> IntoArgument<Host, OwnedJob<'c>> for &'c Job<'c> {
    unsafe fn into_argument(self, _host: Host) -> OwnedJob<'c> {
        // SAFETY: the list states that the job is transferred to the host unless the call fails. A call that fails does not use the code.
        OwnedJob { job: self, code: unsafe { Code::of(self) } }
    }
}

macro_rules! borrowed_desc {
    ($($description:ident),*) => {$(
        impl<'c, 'd, Host> IntoArgument<Host, BorrowedDesc<'c, $description<'d>>> for &'c $description<'d> {
            unsafe fn into_argument(self, _host: Host) -> BorrowedDesc<'c, $description<'d>> {
                // SAFETY: the list requires functions of the module that match their types when called with the number in the description.
                unsafe { BorrowedDesc::new(self) }
            }
        }
    )*};
}
borrowed_desc!(ProtocolDesc, ResolverDesc);

/// A waker that a module borrows or owns.
pub(super) struct BorrowedWaker(ManuallyDrop<Arc<waking::Waking>>);

impl<Host> IntoArgument<Host, BorrowedWaker> for *const () {
    unsafe fn into_argument(self, _host: Host) -> BorrowedWaker {
        // SAFETY: the list requires a waker that the host has passed or created. So the pointer is the address of a counted reference that
        // exists until the call returns; `ManuallyDrop` does not release this reference.
        BorrowedWaker(ManuallyDrop::new(unsafe { Arc::from_raw(self.cast::<waking::Waking>()) }))
    }
}

impl BorrowedWaker {
    pub(super) fn waking(&self) -> &Arc<waking::Waking> {
        &self.0
    }
}

/// Converts a waker that a module owns.
impl<Host> IntoArgument<Host, Arc<waking::Waking>> for *const () {
    unsafe fn into_argument(self, _host: Host) -> Arc<waking::Waking> {
        // SAFETY: the list requires a waker created by `waker_clone`. So the pointer is the address of a counted reference that the module
        // owns, and this call takes over the reference.
        unsafe { Arc::from_raw(self.cast::<waking::Waking>()) }
    }
}

/// Callback that a module provides for receiving a string.
pub(super) struct Sink<'c>(&'c TextSink);

impl<'c, Host> IntoArgument<Host, Sink<'c>> for &'c TextSink {
    unsafe fn into_argument(self, _host: Host) -> Sink<'c> {
        Sink(self)
    }
}

impl Sink<'_> {
    pub(super) fn put(self, text: &str) {
        // SAFETY: the module promises that `put` accepts this context, copies the bytes and does not unwind.
        unsafe { (self.0.put)(self.0.context, text.as_ptr(), text.len()) };
    }
}

/// Returns the error for a value of a kind that the function does not support.
pub(super) fn wrong_kind(ty: &PropertyType, verb: &str) -> CallError {
    mismatch(&verb, ty, &format_args!("what {verb} is for"))
}
