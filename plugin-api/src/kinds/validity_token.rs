//! Where a value in host memory lies, and by what it is known that it is still there. A view asks before each access:
//! the object it belongs to lives, and no container on the way to it has moved or ended a value since.
#![expect(unsafe_code, reason = "reads the change counters of containers in host memory")]

use core::marker::PhantomData;

use alcedo_abi::call::{Failure, FailureKind};
use alcedo_abi::handles::{BlackHandle, ObjectHandle};
use alcedo_abi::value::ArrayRaw;
use alcedo_rt::CallError;

use super::lending::{self, Access};
use crate::host;

/// How many containers a value may be deep inside of.
const DEPTH: usize = 4;

/// One container on the way to a value. In two words, since a token has four of them.
#[derive(Clone, Copy, Debug)]
struct Link {
    /// Null where there is none; a row; or, at [`Link::SET`], the byte of an optional that is one while there is a value.
    at: *const (),
    /// The row's counter when the value was looked up.
    then: u64,
}

impl Link {
    const NONE: Self = Self { at: core::ptr::null(), then: 0 };
    /// No row has it: one that is worn gets the count before, which it never has again.
    const SET: u64 = ArrayRaw::WORN;
}

/// What a value lies in, and the count of those that had ended when it was looked up.
#[derive(Clone, Copy, Debug)]
enum Home {
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
    home: Home,
    /// The containers it is inside of, outermost first.
    links: [Link; DEPTH],
    /// Whether it is a key of a set or map, or a part of one: its container finds it by what it was when it was put in.
    is_key: bool,
    frame: PhantomData<&'f ()>,
}

impl ValidityToken<'_> {
    /// A property of an object, whose memory stays for the frame.
    #[inline]
    pub(crate) fn of_object(owner: ObjectHandle) -> Self {
        Self::of(Home::Object(owner, host::values::ends()))
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

    /// A value in the row of a container that lies here.
    ///
    /// # Safety
    /// The row is live as long as this token is good, and so is the value while the row's counter stands still.
    pub(crate) unsafe fn in_row(self, row: *const ArrayRaw) -> Self {
        // SAFETY: the row is live by contract.
        let epoch = unsafe { epoch(row) };
        self.with(Link { at: row.cast(), then: epoch.min(ArrayRaw::WORN - 1) })
    }

    /// The value of an optional that lies here.
    ///
    /// # Safety
    /// The byte is live as long as this token is good, and so is the value while the byte is not zero.
    pub(crate) unsafe fn in_optional(self, is_set: *const u8) -> Self {
        self.with(Link { at: is_set.cast(), then: Link::SET })
    }

    /// The same value, which is a key there.
    #[inline]
    pub(crate) fn as_key(self) -> Self {
        Self { is_key: true, ..self }
    }

    fn with(mut self, link: Link) -> Self {
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

    /// Whether the value is still there, and may be accessed now.
    ///
    /// # Errors
    /// `EXPIRED` with kind and age; `LENT` while a slice forbids it; `OTHER` for a write to a key.
    #[inline]
    pub(crate) fn check(&self, access: Access, kind: &str) -> Result<(), CallError> {
        lending::allows(access, kind)?;
        if self.is_key && access == Access::Write {
            return Err(written_key(kind));
        }
        match self.home {
            Home::Frame => {}
            Home::Object(owner, ends) if host::values::lives(owner, ends) => {}
            Home::Black(black, ends) if host::values::black_lives(black, ends) => {}
            Home::Object(owner, _) => return Err(self.expired(kind, &format!("the life of its owner {owner}"))),
            Home::Black(black, _) | Home::Ended(black) => {
                return Err(self.expired(kind, &host::values::age_in_words(black.into())));
            }
        }
        for link in &self.links {
            if link.at.is_null() {
                break;
            }
            if link.then == Link::SET {
                // SAFETY: the links before this one hold, so the byte is live by the contract of `in_optional`.
                if unsafe { link.at.cast::<u8>().read() } == 0 {
                    return Err(self.expired(kind, "the last value of its optional"));
                }
                continue;
            }
            // SAFETY: the links before this one hold, so the row is live by the contract of `in_row`.
            let now = unsafe { epoch(link.at.cast()) };
            if now != link.then {
                return Err(self.moved(kind, link.then, now));
            }
        }
        Ok(())
    }

    #[cold]
    fn moved(&self, kind: &str, then: u64, now: u64) -> CallError {
        if now == ArrayRaw::WORN {
            let all = "all changes that its container can count (put the values into a new container)";
            return self.expired(kind, all);
        }
        let (age, s) = (now.wrapping_sub(then), if now.wrapping_sub(then) == 1 { "" } else { "s" });
        self.expired(kind, &format!("{age} change{s} of its container"))
    }

    #[cold]
    fn expired(&self, kind: &str, age: &str) -> CallError {
        let color = if self.is_black() { "black" } else { "red" };
        let (held, wanted) = (format!("{color} {kind}").into(), age.into());
        let failure = Failure { object: self.owner(), held, wanted, ..Failure::new(FailureKind::EXPIRED, kind) };
        CallError::from_failure(failure)
    }
}

#[cold]
fn written_key(kind: &str) -> CallError {
    CallError::other(format!(
        "a {kind} in a key cannot be changed where it lies, since its set or map would not find the key again: take a \
         `clone()` of the key, remove it, and insert the clone, changed"
    ))
}

/// # Safety
/// The row is live.
#[inline]
unsafe fn epoch(row: *const ArrayRaw) -> u64 {
    // SAFETY: promised by the caller; no reference is made, since the host changes the row.
    unsafe { (&raw const (*row).epoch).read() }
}
