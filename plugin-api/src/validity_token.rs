//! Where a value in host memory lies, and by what it is known that it is still there. A view asks before each access:
//! the object it belongs to lives, and no container on the way to it has moved or ended a value since.
//! What looks into memory for that stands beside the view.

use core::marker::PhantomData;

use alcedo_abi::call::{Failure, FailureKind};
use alcedo_abi::handles::{BlackHandle, ObjectHandle};
use alcedo_abi::value::ArrayRaw;
use alcedo_rt::CallError;

use crate::host;

/// How many containers a value may be deep inside of.
const DEPTH: usize = 4;

/// One container on the way to a value. In two words, since a token has four of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Link {
    /// Null where there is none; a row; or, at [`Link::SET`], the byte of an optional that is one while there is a value.
    pub(crate) at: *const (),
    /// The row's counter when the value was looked up.
    pub(crate) then: u64,
}

impl Link {
    const NONE: Self = Self { at: core::ptr::null(), then: 0 };
    /// No row has it: one that is worn gets the count before, which it never has again.
    pub(crate) const SET: u64 = ArrayRaw::WORN;
}

/// What a value lies in, and the count of those that had ended when it was looked up.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Home {
    /// Something that stays for the frame.
    Frame,
    /// An object.
    Object(ObjectHandle, u64),
    /// A block of its own, for plugin code owns it.
    Black(BlackHandle, u32),
    /// The same, but it had ended before it was looked up.
    Ended(BlackHandle),
}

/// Where a value lies, for the frame `'f`.
#[derive(Clone, Copy, Debug)]
pub struct ValidityToken<'f> {
    pub(crate) home: Home,
    /// The containers it is inside of, outermost first.
    pub(crate) links: [Link; DEPTH],
    /// Whether it is a key of a set or map, or a part of one: its container finds it by what it was when it was put in.
    pub(crate) is_key: bool,
    frame: PhantomData<&'f ()>,
}

impl ValidityToken<'_> {
    /// A property of an object, whose memory stays for the frame.
    #[inline]
    pub(crate) fn of_object(owner: ObjectHandle) -> Self {
        Self::of(Home::Object(owner, host::ends()))
    }

    /// A value in a parameter block of the running call, or anywhere else that stays for the frame.
    pub(crate) fn of_frame() -> Self {
        Self::of(Home::Frame)
    }

    /// A value that plugin code owns, which was there beside this count of ended ones.
    #[inline]
    pub(crate) fn of_black(black: BlackHandle, ends: u32) -> Self {
        Self::of(Home::Black(black, ends))
    }

    /// A value that plugin code owned.
    pub(crate) fn of_ended(black: BlackHandle) -> Self {
        Self::of(Home::Ended(black))
    }

    #[inline]
    fn of(home: Home) -> Self {
        Self { home, links: [Link::NONE; DEPTH], is_key: false, frame: PhantomData }
    }

    /// The same value, which is a key there.
    #[inline]
    pub(crate) fn as_key(self) -> Self {
        Self { is_key: true, ..self }
    }

    pub(crate) fn with(mut self, link: Link) -> Self {
        let Some(free) = self.links.iter_mut().find(|link| link.at.is_null()) else {
            alcedo_rt::fail(CallError::other(format!(
                "a view reaches through {DEPTH} containers: take a `clone()` of an inner one, and go on from that"
            )));
        };
        *free = link;
        self
    }

    /// The object that is asked whether the value may be written; none for values of frames and of plugin code.
    #[inline]
    pub(crate) fn owner(&self) -> ObjectHandle {
        match self.home {
            Home::Object(owner, _) => owner,
            Home::Frame | Home::Black(..) | Home::Ended(_) => ObjectHandle::NONE,
        }
    }

    /// Whether it is a property of an object, or a field in one, with no container on the way.
    pub(crate) fn is_property(&self) -> bool {
        matches!(self.home, Home::Object(..)) && self.links.iter().all(|link| link.at.is_null())
    }

    /// Whether plugin code owns the value.
    pub(crate) fn is_black(&self) -> bool {
        matches!(self.home, Home::Black(..) | Home::Ended(_))
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
        let (held, wanted) = (format!("{color} {kind}").into(), age.into());
        let failure = Failure { object: self.owner(), held, wanted, ..Failure::new(FailureKind::EXPIRED, kind) };
        CallError::from_failure(failure)
    }
}

#[cold]
pub(crate) fn written_key(kind: &str) -> CallError {
    CallError::other(format!(
        "a {kind} in a key cannot be changed where it lies, since its set or map would not find the key again: take a \
         `clone()` of the key, remove it, and insert the clone, changed"
    ))
}
