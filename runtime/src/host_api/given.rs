//! What a module gives for a call, as types that carry what it has promised of it. The promises of the lists are taken over in one
//! place, [`Given`]: a body names in its signature what it takes, and follows the addresses by safe methods from there on.
//!
//! All that carries `'c` belongs to one call: an address is that of a value of the type which the same call names, and of no other.
#![expect(unsafe_code, reason = "follows what a module lends for a call")]

use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::sync::Arc;
use std::time::Instant;

use alcedo_abi::kinds::PropertyKind;
use alcedo_abi::list::prelude::*;

use crate::border::CallError;
use crate::bridge::conjugates;
use crate::bridge::core::Core;
use crate::bridge::module_protocols::Lent;
use crate::bridge::tasks::{Code, waking};
use crate::conjugate::blacks::Opened;
use crate::object::property::PropertyType;
use crate::object::value::Value;
use crate::object::values::ptr::{Ptr, PtrMut};
use crate::object::values::text_memory::text_assign_raw;
use crate::zcall::buffer::BufferMut;

/// A type of parameters, and what a body takes for it as `As`; `Host` is what the call has of its host.
pub(super) trait Given<Host, As> {
    /// Makes it so.
    ///
    /// # Safety
    /// It is what a module gave for the one call that lasts `'c`, by the promises of the lists: texts are readable; a sink copies
    /// what it is lent and does not unwind; a buffer lends its slots, unshared, with pointers that are right for the call; a host
    /// context is the module's own, whose runtime lives; a type number is one of the core that is `host`; and what the docs of
    /// `As` say of an address is true until the call ends, unless the body itself ends it.
    unsafe fn given(self, host: Host) -> As;
}

impl<Host, T> Given<Host, T> for T {
    #[inline]
    unsafe fn given(self, _host: Host) -> T {
        self
    }
}

impl<'c, Host> Given<Host, &'c str> for RStr<'c> {
    unsafe fn given(self, _host: Host) -> &'c str {
        self.as_str()
    }
}

impl<'c, Host> Given<Host, BufferMut<'c>> for &'c mut ZCallBuffer {
    #[inline]
    unsafe fn given(self, _host: Host) -> BufferMut<'c> {
        // SAFETY: the caller promises that the module lends the slots, unshared and right for the call.
        unsafe { BufferMut::from_raw(self) }
    }
}

impl<Host> Given<Host, String> for TextView {
    unsafe fn given(self, _host: Host) -> String {
        LentText(self, PhantomData).copied()
    }
}

/// Ties to the call `'c`, and to no shorter time.
type OfCall<'c> = PhantomData<fn(&'c ()) -> &'c ()>;

/// A text whose bytes are readable as long as the call.
struct LentText<'c>(TextView, OfCall<'c>);

impl LentText<'_> {
    fn copied(&self) -> String {
        let Self(TextView { data, len, .. }, _) = *self;
        if len == 0 {
            return String::new();
        }
        // SAFETY: the module lends the bytes, as whoever made this value has promised.
        let bytes = unsafe { std::slice::from_raw_parts(data, len) };
        String::from_utf8_lossy(bytes).into_owned()
    }
}

/// Where in the source of the module something is made.
pub(super) struct MadeAt<'c> {
    file: LentText<'c>,
    pub(super) line: u32,
}

impl MadeAt<'_> {
    pub(super) fn file(&self) -> String {
        self.file.copied()
    }
}

impl<'c, Host> Given<Host, MadeAt<'c>> for &'c Site {
    unsafe fn given(self, _host: Host) -> MadeAt<'c> {
        MadeAt { file: LentText(self.file, PhantomData), line: self.line }
    }
}

/// The type that a call names by a number.
#[derive(Clone, Copy)]
pub(super) struct CallType<'c> {
    core: &'c Core,
    pub(super) number: TypeNumber,
    call: OfCall<'c>,
}

impl<'c> Given<&'c Core, CallType<'c>> for TypeNumber {
    #[inline]
    unsafe fn given(self, core: &'c Core) -> CallType<'c> {
        CallType { core, number: self, call: PhantomData }
    }
}

impl<'c> CallType<'c> {
    /// The type itself.
    ///
    /// # Errors
    /// When there is none of the number, or its module is over.
    pub(super) fn known(self) -> Result<KnownType<'c>, CallError> {
        Ok(KnownType { ty: self.core.value_types.get(self.number)?, call: PhantomData })
    }
}

/// What a [`CallType`] is.
pub(super) struct KnownType<'c> {
    ty: PropertyType,
    call: OfCall<'c>,
}

impl KnownType<'_> {
    pub(super) fn into_type(self) -> PropertyType {
        self.ty
    }
}

impl Deref for KnownType<'_> {
    type Target = PropertyType;

    fn deref(&self) -> &PropertyType {
        &self.ty
    }
}

/// The place of a live value of the call's type, which no other code reads or writes while the body does.
#[derive(Clone, Copy)]
pub(super) struct Place<'c> {
    raw: ValuePlace,
    ty: CallType<'c>,
}

impl<'c> Given<&'c Core, Place<'c>> for &'c ValuePlace {
    #[inline]
    unsafe fn given(self, core: &'c Core) -> Place<'c> {
        Place { raw: *self, ty: CallType { core, number: self.ty, call: PhantomData } }
    }
}

impl<'c> Place<'c> {
    /// The value, to read, and to write where [`LiveValue::may_write`] lets it.
    ///
    /// # Errors
    /// When its type is not known.
    pub(super) fn open(self) -> Result<LiveValue<'c>, CallError> {
        Ok(LiveValue { place: self, ty: self.ty.known()? })
    }

    /// The value, to write.
    ///
    /// # Errors
    /// When its type is not known, or its owner may not be written now.
    pub(super) fn writable(self) -> Result<LiveValue<'c>, CallError> {
        let value = self.open()?;
        value.may_write()?;
        Ok(value)
    }
}

/// A live value that a call is about.
pub(super) struct LiveValue<'c> {
    place: Place<'c>,
    ty: KnownType<'c>,
}

impl<'c> LiveValue<'c> {
    pub(super) fn ty(&self) -> &KnownType<'c> {
        &self.ty
    }

    /// # Errors
    /// When it has an owner that may not be written now.
    pub(super) fn may_write(&self) -> Result<(), CallError> {
        match self.place.raw.owner {
            owner if owner.is_none() => Ok(()),
            owner => self.place.ty.core.world.objects.may_write(owner),
        }
    }

    pub(super) fn ptr(&self) -> Ptr<'_> {
        // SAFETY: the module promised a live value of the type at the place; the type is the one of the place's own number.
        unsafe { Ptr::new(self.place.raw.at, &self.ty) }
    }

    pub(super) fn ptr_mut(&mut self) -> PtrMut<'_> {
        self.with_type().0
    }

    /// The value, and its type, by which other addresses of the call are followed.
    pub(super) fn with_type(&mut self) -> (PtrMut<'_>, &KnownType<'c>) {
        // SAFETY: the module promised a live value of the type at the place, which it lets alone until the call returns; the type
        // is the one of the place's own number.
        (unsafe { PtrMut::new(self.place.raw.at, &self.ty) }, &self.ty)
    }

    /// Overwrites it by bytes, which may be its own.
    ///
    /// # Errors
    /// When it is no text of bytes.
    pub(super) fn assign_bytes(&mut self, bytes: BytesAt<'c>, len: BytesLen<'c>) -> Result<(), CallError> {
        if self.ty.kind() != PropertyKind::ANSI_STRING {
            return Err(wrong_kind(&self.ty, "ansi_assign"));
        }
        // SAFETY: the module promised a live value of the type at the place, which is a text; it lends the bytes for the call,
        // to which both their address and their number belong.
        unsafe { text_assign_raw(self.place.raw.at.cast(), bytes.0, len.0) };
        Ok(())
    }
}

macro_rules! addresses {
    ($($(#[$doc:meta])* $name:ident of $raw:ty;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub(super) struct $name<'c>($raw, OfCall<'c>);

        impl<'c> Given<&'c Core, $name<'c>> for $raw {
            #[inline]
            unsafe fn given(self, _core: &'c Core) -> $name<'c> {
                $name(self, PhantomData)
            }
        }
    )*};
}

addresses! {
    /// The address of a live value of the call's type.
    Address of *const u8;
    /// The address of a live value of the call's type, or null.
    MaybeAddress of *const u8;
    /// The address of a live key of the map or element of the set that the call's type is; it may lie in that itself.
    KeyAddress of *const u8;
    /// The address of a live field path.
    FieldPathAddress of *const u8;
    /// The address of a text in host memory, which no other code reads or writes while the body does.
    TextTarget of *mut TextRaw;
    /// The address of as many readable bytes as the call's [`BytesLen`] says.
    BytesAt of *const u8;
    /// How many bytes there are at the call's [`BytesAt`].
    BytesLen of usize;
}

impl<'c> Address<'c> {
    pub(super) fn of<'t>(self, ty: &'t KnownType<'c>) -> Ptr<'t> {
        // SAFETY: the module promised a live value of the call's type there, and a known type of the call is that.
        unsafe { Ptr::new(self.0, ty) }
    }
}

impl<'c> MaybeAddress<'c> {
    pub(super) fn address(self) -> Option<Address<'c>> {
        (!self.0.is_null()).then_some(Address(self.0, self.1))
    }
}

impl<'c> KeyAddress<'c> {
    /// The key, for a call whose type has keys.
    pub(super) fn of<'t>(self, ty: &'t KnownType<'c>) -> Option<Ptr<'t>> {
        let key = match &**ty {
            PropertyType::Map(entry) => entry.key(),
            PropertyType::Set(elements) => elements.ty(),
            _ => return None,
        };
        // SAFETY: the module promised a live key of the call's type there, and a known type of the call is that.
        Some(unsafe { Ptr::new(self.0, key) })
    }
}

impl FieldPathAddress<'_> {
    pub(super) fn read(self) -> Value {
        // SAFETY: the module promised a live field path there.
        unsafe { Ptr::new(self.0, &PropertyType::FieldPath) }.read()
    }
}

impl TextTarget<'_> {
    pub(super) fn assign(self, text: &str) {
        // SAFETY: the module promised a text there that it lets alone: a property of a living object, or a result in a parameter
        // block of the host. No text of the host's lies in it.
        unsafe { text_assign_raw(self.0, text.as_ptr(), text.len()) };
    }
}

/// The place of a live value of its type. One that belongs to no object stays where it is until the innermost frame closes.
pub(super) struct LastingPlace<'c>(Place<'c>);

impl<'c> Given<&'c Core, LastingPlace<'c>> for &'c ValuePlace {
    unsafe fn given(self, core: &'c Core) -> LastingPlace<'c> {
        LastingPlace(Place { raw: *self, ty: CallType { core, number: self.ty, call: PhantomData } })
    }
}

impl LastingPlace<'_> {
    /// A conjugate that leads there until the innermost frame closes.
    ///
    /// # Errors
    /// Those of [`conjugates::lend`].
    pub(super) fn lend(self) -> Result<ConjugateHandle, CallError> {
        let Place { raw: ValuePlace { owner, at, ty: number }, ty: CallType { core, .. } } = self.0;
        let value = Opened { owner, at, ty: core.value_types.get(number)?, number };
        // SAFETY: the module promised that a value without an owner stays there until the frame closes.
        unsafe { conjugates::lend(core, value, Instant::now()) }
    }
}

/// A job that a module hands over. Whoever takes it owns its code.
pub(super) struct OwnedJob<'c> {
    pub(super) job: &'c Job<'c>,
    pub(super) code: Code,
}

impl<'c, Host> Given<Host, OwnedJob<'c>> for &'c Job<'c> {
    unsafe fn given(self, _host: Host) -> OwnedJob<'c> {
        // SAFETY: the list makes the job the host's unless the call fails; when it does, the code is not used.
        OwnedJob { job: self, code: unsafe { Code::of(self) } }
    }
}

macro_rules! lent {
    ($($description:ident),*) => {$(
        impl<'c, 'd, Host> Given<Host, Lent<'c, $description<'d>>> for &'c $description<'d> {
            unsafe fn given(self, _host: Host) -> Lent<'c, $description<'d>> {
                // SAFETY: the list demands functions of the module's that do what their types say for the number.
                unsafe { Lent::new(self) }
            }
        }
    )*};
}
lent!(ProtocolDesc, ResolverDesc);

/// A waker that a module was lent or holds.
pub(super) struct LentWaker(ManuallyDrop<Arc<waking::Waking>>);

impl<Host> Given<Host, LentWaker> for *const () {
    unsafe fn given(self, _host: Host) -> LentWaker {
        // SAFETY: the list demands a waker that the host has lent or given out, so it is the address of a share; somebody holds
        // that until the call returns, and this one does not give it up.
        LentWaker(ManuallyDrop::new(unsafe { Arc::from_raw(self.cast::<waking::Waking>()) }))
    }
}

impl LentWaker {
    pub(super) fn waking(&self) -> &Arc<waking::Waking> {
        &self.0
    }
}

/// A waker that a module holds and gives up.
pub(super) struct HeldWaker(Arc<waking::Waking>);

impl<Host> Given<Host, HeldWaker> for *const () {
    unsafe fn given(self, _host: Host) -> HeldWaker {
        // SAFETY: the list demands a waker that the host has given out by `waker_clone`, so it is the address of a share that the
        // module has, and now gives up.
        HeldWaker(unsafe { Arc::from_raw(self.cast::<waking::Waking>()) })
    }
}

impl HeldWaker {
    pub(super) fn let_go(self) {
        drop(self.0);
    }
}

/// Where a module waits for a text.
pub(super) struct Sink<'c>(&'c TextSink);

impl<'c, Host> Given<Host, Sink<'c>> for &'c TextSink {
    unsafe fn given(self, _host: Host) -> Sink<'c> {
        Sink(self)
    }
}

impl Sink<'_> {
    pub(super) fn put(self, text: &str) {
        // SAFETY: the module promised that `put` takes this context, copies what it is lent and does not unwind.
        unsafe { (self.0.put)(self.0.context, text.as_ptr(), text.len()) };
    }
}

/// That a place is of a kind that a verb is for.
pub(super) fn wrong_kind(ty: &PropertyType, verb: &str) -> CallError {
    CallError::Signature { name: verb.to_owned(), found: ty.to_string(), wanted: format!("what {verb} is for") }
}
