//! Tokens with which views check that a value in host memory is still at its address. Before each access, a view checks two
//! conditions. The owner of the memory must be alive. The containers around the value must not have moved or destroyed values since the
//! value was looked up. The checks that read memory are in the Rust module of the view.

use core::marker::PhantomData;

use alcedo_abi::call::{Failure, FailureKind};
use alcedo_abi::handles::{BlackHandle, ObjectHandle};
use alcedo_abi::value::ArrayRaw;
use alcedo_rt::CallError;

use crate::host;

/// Maximum number of nested containers around a value.
const DEPTH: usize = 4;

/// Container around a value. A link has only two words, because each token contains four links and must be small.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Link {
    /// Address of an array, or null for an unused link. If `then` is [`Link::SET`], address of an optional's flag byte, which is 1 while
    /// the optional is set.
    pub(crate) at: *const (),
    /// Change counter of the array at the time when the value was looked up.
    pub(crate) then: u64,
}

impl Link {
    const NONE: Self = Self { at: core::ptr::null(), then: 0 };
    /// Marks a link to an optional. No link to an array contains this count: if an array's epoch has reached this maximum, the link stores
    /// the preceding count, so that each check fails.
    pub(crate) const SET: u64 = ArrayRaw::WORN;
}

/// Owner of a value's memory. The number in a variant is the count of destroyed objects or owned values when the value was looked up.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Owner {
    /// Memory that the host keeps during the frame.
    Frame,
    Object(ObjectHandle, u64),
    /// Owned value, which has its own block of memory.
    Black(BlackHandle, u32),
    /// Owned value that was destroyed before it was looked up.
    Ended(BlackHandle),
}

/// Token with which a view checks, during the frame `'f`, that a value is still at its address.
#[derive(Clone, Copy, Debug)]
pub struct ValidityToken<'f> {
    pub(crate) owner_kind: Owner,
    /// Containers around the value, outermost first.
    pub(crate) links: [Link; DEPTH],
    /// True for a key of a set or map, and for a value inside a key, since changing a key would break lookups in its container.
    pub(crate) is_key: bool,
    frame: PhantomData<&'f ()>,
}

impl ValidityToken<'_> {
    /// Creates a token for a property of an object. The host keeps the memory of the object during the frame.
    #[inline]
    pub(crate) fn of_object(owner: ObjectHandle) -> Self {
        Self::of(Owner::Object(owner, host::ends()))
    }

    /// Creates a token for a value in memory that the host keeps during the frame, such as a parameter block of the running call.
    pub(crate) fn of_frame() -> Self {
        Self::of(Owner::Frame)
    }

    /// Creates a token for an owned value that was alive when the count of destroyed owned values was `ends`.
    #[inline]
    pub(crate) fn of_black(black: BlackHandle, ends: u32) -> Self {
        Self::of(Owner::Black(black, ends))
    }

    /// Creates a token for a destroyed owned value.
    pub(crate) fn of_ended(black: BlackHandle) -> Self {
        Self::of(Owner::Ended(black))
    }

    #[inline]
    fn of(owner_kind: Owner) -> Self {
        Self { owner_kind, links: [Link::NONE; DEPTH], is_key: false, frame: PhantomData }
    }

    #[inline]
    pub(crate) fn as_key(self) -> Self {
        Self { is_key: true, ..self }
    }

    pub(crate) fn with(mut self, link: Link) -> Self {
        let Some(free) = self.links.iter_mut().find(|link| link.at.is_null()) else {
            alcedo_rt::fail(CallError::other(format!(
                "a view reaches through {DEPTH} containers: make an owned copy of an inner one by `to_owned()`"
            )));
        };
        *free = link;
        self
    }

    /// Returns the object that must be writable before a write. Returns `ObjectHandle::NONE` for values of frames and for owned values.
    #[inline]
    pub(crate) fn owner(&self) -> ObjectHandle {
        match self.owner_kind {
            Owner::Object(owner, _) => owner,
            Owner::Frame | Owner::Black(..) | Owner::Ended(_) => ObjectHandle::NONE,
        }
    }

    /// Returns true for a property of an object, and for a field inside a property. Returns false for a value inside a container.
    pub(crate) fn is_property(&self) -> bool {
        matches!(self.owner_kind, Owner::Object(..)) && self.links.iter().all(|link| link.at.is_null())
    }

    pub(crate) fn is_black(&self) -> bool {
        matches!(self.owner_kind, Owner::Black(..) | Owner::Ended(_))
    }

    #[cold]
    pub(crate) fn moved(&self, kind: &str, then: u64, now: u64) -> CallError {
        if now == ArrayRaw::WORN {
            let all = "all changes that its container can count (put the values into a new container)";
            return self.expired(kind, all);
        }
        let (age, s) = (now.wrapping_sub(then), if now.wrapping_sub(then) == 1 { "" } else { "s" });
        self.expired(kind, &format!("{age} change{s} of its container"))
    }

    #[cold]
    pub(crate) fn expired(&self, kind: &str, age: &str) -> CallError {
        let color = if self.is_black() { "black" } else { "red" };
        let (held, expected) = (format!("{color} {kind}").into(), age.into());
        let failure = Failure { object: self.owner(), held, expected, ..Failure::new(FailureKind::EXPIRED, kind) };
        CallError::from_failure(failure)
    }
}

#[cold]
pub(crate) fn written_key(kind: &str) -> CallError {
    CallError::other(format!(
        "a {kind} in a key cannot be changed in place, because its set or map would not find the key again: copy \
         the key by `to_owned()`, remove the key, and insert the changed copy"
    ))
}
