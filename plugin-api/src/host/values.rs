//! The host's functions in forms that are safe to use, as far as types can say what they demand: values go by pointers that carry
//! their type. As for all functions of the host, each checks its thread itself.
#![expect(unsafe_code, reason = "calls functions that follow addresses of values")]

use core::marker::PhantomData;
use core::panic::Location;
use std::any::TypeId;
use std::collections::BTreeMap;
use std::sync::{PoisonError, RwLock};

use alcedo_abi::handles::{BlackHandle, ClassId, ConjugateHandle, Name, ObjectHandle, TypeNumber, ZCallHandle};
use alcedo_abi::host::{BlackDirectory, BlackEntry, Directory, DirectoryEntry, Slices};
use alcedo_abi::kinds::PropertyKind;
use alcedo_abi::task::{Job, JobId};
use alcedo_abi::value::{TextRaw, TextView};
use alcedo_abi::values::{ConjugateState, Site, ValuePlace};
use alcedo_abi::zcall::{Slot, ZCallBuffer};
use alcedo_rt::{CallError, Host};

use crate::kinds::lending;
use crate::kinds::ptr::{Ptr, PtrMut};
use crate::kinds::row::{Keyed, List};
use crate::{FieldPath, UAnsiString, Value};

/// The host, unless this module holds a slice of its memory on this thread: what a call may do to that memory nobody
/// knows beforehand.
#[inline]
pub(crate) fn host(action: &str) -> Result<Host<'_>, CallError> {
    lending::allows_calls(action)?;
    // SAFETY: no slice is lent on this thread, as was asked just now.
    unsafe { Host::attached(action) }.ok_or_else(|| CallError::no_host(action))
}

/// The host, for what may be asked also while a slice of its memory is lent. It has such questions and no others.
#[derive(Clone, Copy)]
pub(super) struct Harmless(Host<'static>);

impl Harmless {
    /// `None` without a host.
    pub(super) fn host() -> Option<Self> {
        // SAFETY: the functions below look numbers up and copy facts, or end one value of the module's own, of which it has no slice,
        // since whoever lends one holds it. None runs code but that of this module, which asks for itself.
        unsafe { Host::attached("a question") }.map(Self)
    }
}

macro_rules! harmless {
    ($($name:ident($($arg:ident: $ty:ty),*) -> $result:ty;)*) => {
        impl Harmless {
            $(pub(super) fn $name(self $(, $arg: $ty)*) -> $result {
                self.0.$name($($arg),*)
            })*
        }
    };
}
harmless! {
    object_resolve(object: ObjectHandle, class: ClassId) -> Result<*mut u8, CallError>;
    object_name(object: ObjectHandle) -> Result<String, CallError>;
    object_class(object: ObjectHandle) -> Result<String, CallError>;
    name_text(name: Name) -> Result<String, CallError>;
    job_cancel(job: JobId) -> ();
    job_lives(job: JobId) -> u8;
    game_time() -> u64;
    black_drop(black: BlackHandle) -> ();
    conjugate_state(conjugate: ConjugateHandle) -> Result<ConjugateState, CallError>;
}

/// The numbers that the host gave to the types of this module. It has one host in its life.
static NUMBERS: RwLock<BTreeMap<TypeId, TypeNumber>> = RwLock::new(BTreeMap::new());

/// The host's number of a type; asked once.
pub(crate) fn type_number<T: Value>() -> Result<TypeNumber, CallError> {
    let key = TypeId::of::<T>();
    let known = NUMBERS.read().unwrap_or_else(PoisonError::into_inner).get(&key).copied();
    if let Some(known) = known {
        return Ok(known);
    }
    let text = T::TYPE.as_str();
    let number = host(text)?.type_resolve(text)?;
    NUMBERS.write().unwrap_or_else(PoisonError::into_inner).insert(key, number);
    Ok(number)
}

/// A place in the author's sources, as it crosses for a call: it leads to the text that the place has.
fn site_of(site: &Location<'_>) -> Site {
    Site { file: TextView::of(site.file()), line: site.line() }
}

/// A value of type `T` in host memory as calls name it that change it: as [`PtrMut`], with the number of its type and with the
/// object it belongs to.
pub(crate) struct Place<'a, T> {
    raw: ValuePlace,
    of: PhantomData<&'a mut fn() -> T>,
}

impl<T: Value> Place<'_, T> {
    /// The value, to read.
    #[inline]
    pub(crate) fn ptr(&self) -> Ptr<'_, T> {
        // SAFETY: a place is made of a `PtrMut` to a value of the type, or by the host.
        unsafe { Ptr::new(self.raw.at.cast()) }
    }

    /// The object it belongs to.
    pub(crate) fn owner(&self) -> ObjectHandle {
        self.raw.owner
    }

    /// Its first byte.
    pub(crate) fn at(&self) -> *mut T::Raw {
        self.raw.at.cast()
    }
}

/// A value as calls name it.
pub(crate) fn place<T: Value>(owner: ObjectHandle, at: PtrMut<'_, T>) -> Result<Place<'_, T>, CallError> {
    let raw = ValuePlace { owner, at: at.at().cast(), ty: type_number::<T>()? };
    Ok(Place { raw, of: PhantomData })
}

/// A value for plugin code to own: a copy of another, or for none the one that zero bytes mean.
pub(crate) fn black_new<T: Value>(from: Option<Ptr<'_, T>>, site: &Location<'_>) -> Result<BlackHandle, CallError> {
    let ty = type_number::<T>()?;
    let host = host(T::TYPE.as_str())?;
    let from = from.map_or(core::ptr::null(), Ptr::at);
    // SAFETY: `Ptr` was promised a live value of the type, null is allowed, and the site is live for the call.
    unsafe { host.black_new(ty, from.cast(), &site_of(site)) }
}

/// Gives a value of plugin code back. Any thread; also while memory is lent, since a drop cannot be refused.
pub(crate) fn black_drop(black: BlackHandle) {
    if let Some(host) = Harmless::host() {
        host.black_drop(black);
    }
}

/// What the host has on a conjugate; `None` without a host.
pub(crate) fn conjugate_state(conjugate: ConjugateHandle) -> Option<ConjugateState> {
    let host = Harmless::host()?;
    host.conjugate_state(conjugate).ok()
}

/// How old a conjugate is that has expired, as the host's own errors say it.
#[cold]
pub(crate) fn age_in_words(conjugate: ConjugateHandle) -> String {
    match conjugate_state(conjugate) {
        Some(ConjugateState { age, older, .. }) => {
            let over = if older == 0 { "" } else { "more than " };
            format!("{over}{:.1} s", age as f64 / 1e9)
        }
        None => "the life of its host".to_owned(),
    }
}

/// A number for the value at a place, until the innermost call into this module has returned.
///
/// # Safety
/// The place is a property of its owner.
pub(crate) unsafe fn conjugate_lend<T: Value>(place: &Place<'_, T>) -> Result<ConjugateHandle, CallError> {
    let host = host("lending a value")?;
    // SAFETY: the place was promised a live value of the type; that it is a property is promised by the caller.
    unsafe { host.conjugate_lend(&place.raw) }
}

/// Where the value of a conjugate lies, which is one of type `T`.
pub(crate) fn conjugate_open_as<'a, T: Value>(conjugate: ConjugateHandle) -> Result<Place<'a, T>, CallError> {
    let ty = type_number::<T>()?;
    let raw = host("opening a conjugate")?.conjugate_open_as(conjugate, ty)?;
    Ok(Place { raw, of: PhantomData })
}

/// A copy of the value of a conjugate, for plugin code to own.
pub(crate) fn conjugate_clone(conjugate: ConjugateHandle, site: &Location<'_>) -> Result<BlackHandle, CallError> {
    let host = host("cloning a conjugate")?;
    // SAFETY: the site is live for the call.
    unsafe { host.conjugate_clone(conjugate, &site_of(site)) }
}

/// The type of the value of a conjugate, in words.
pub(crate) fn conjugate_type(conjugate: ConjugateHandle) -> Result<String, CallError> {
    host("asking for the type of a conjugate")?.conjugate_type(conjugate)
}

/// The kind of what a call through a handle gives back; zero for nothing.
pub(crate) fn zcall_result(handle: ZCallHandle) -> Result<PropertyKind, CallError> {
    host("asking what a ZCall gives")?.zcall_result(handle)
}

/// Calls through a handle with conjugates where the callee wants values that have one.
pub(crate) fn conjugate_zcall(handle: ZCallHandle, what: &str, slots: &mut [Slot]) -> Result<(), CallError> {
    let host = host(what)?;
    let mut buffer = buffer_of(slots);
    // SAFETY: the buffer lends `slots`, of which the host follows no address: what is neither plain nor a conjugate that it
    // knows, it refuses.
    unsafe { host.conjugate_zcall(handle, &mut buffer) }
}

/// What the module may read of the host's objects; `None` for a module that has to do with none.
#[inline]
fn directory() -> Option<&'static Directory> {
    let context = alcedo_rt::context()?;
    // SAFETY: the host keeps the head of its directory at this address as long as the module is attached; it changes it
    // on the game thread only, while no reference of ours is used.
    unsafe { context.directory.as_ref() }
}

/// Where the host counts the slices of its memory that are lent, and the number of this module; `None` without a host.
pub(crate) fn slices() -> Option<(&'static Slices, u64)> {
    let context = alcedo_rt::context()?;
    // SAFETY: the host keeps the word, if it gave one, as long as this module is attached, which it is while its code runs.
    Some((unsafe { context.slices.as_ref() }?, context.module))
}

/// How often objects have ended so far: while it stands still, addresses inside objects stay right.
#[inline]
pub(crate) fn ends() -> u64 {
    directory().map_or(0, |directory| directory.ends)
}

/// The entry of a living object.
#[inline]
pub(crate) fn entry(object: ObjectHandle) -> Option<DirectoryEntry> {
    let directory = directory()?;
    if object.index() >= directory.len {
        return None;
    }
    // SAFETY: the host has `len` entries there, and the index is below it.
    // They are the game thread's, which this is for all who hold a frame-bound value.
    let entry = unsafe { directory.entries.add(object.index() as usize).read() };
    (entry.serial == object.serial() && !object.is_none()).then_some(entry)
}

/// Whether an object that was there when `ends` was read is there still.
#[inline]
pub(crate) fn lives(object: ObjectHandle, ends: u64) -> bool {
    match directory() {
        Some(directory) if directory.ends == ends => true,
        Some(_) => entry(object).is_some(),
        None => super::object_lives(object),
    }
}

/// Where values of plugin code lie; `None` for a module that may own none.
#[inline]
fn blacks() -> Option<&'static BlackDirectory> {
    let context = alcedo_rt::context()?;
    // SAFETY: the host keeps the head at this address as long as the module is attached; it changes it on the game thread
    // only, while no reference of ours is used.
    unsafe { context.blacks.as_ref() }
}

/// Where a value of plugin code lies, as the directory says. Game thread only.
#[inline]
fn black_in(directory: &BlackDirectory, black: BlackHandle) -> Option<*mut u8> {
    let (index, serial) = (black.0 as u32, (black.0 >> 32) as u32);
    if index >= directory.len {
        return None;
    }
    // SAFETY: the host has `len` entries there, and the index is below it.
    // They are the game thread's, which this is by contract.
    let BlackEntry { serial: there, at } = unsafe { directory.entries.add(index as usize).read() };
    (there == serial && serial != 0).then_some(at)
}

/// Where a value of plugin code lies now. Any thread may call this.
///
/// # Errors
/// `EXPIRED`, with kind and age, when it has ended; `WRONG_THREAD` off the game thread; `UNAVAILABLE` without a host.
#[inline]
pub(crate) fn black_at<T: Value>(black: BlackHandle) -> Result<*mut T::Raw, CallError> {
    let looked = if alcedo_rt::is_game_thread() { blacks() } else { None };
    match looked.and_then(|directory| black_in(directory, black)) {
        Some(at) => Ok(at.cast()),
        // The host says why, or where.
        None => conjugate_open_as::<T>(black.into()).map(|place| place.at()),
    }
}

/// Where a value of plugin code lies, and the count of ended ones beside which that is true; nothing for one that has
/// ended. Only for those who hold a frame-bound value.
#[inline]
pub(crate) fn black_seen<T: Value>(black: BlackHandle) -> Option<(*mut T::Raw, u32)> {
    match blacks() {
        Some(directory) => Some((black_in(directory, black)?.cast(), directory.ends)),
        None => Some((conjugate_open_as::<T>(black.into()).ok()?.at(), 0)),
    }
}

/// Whether a value of plugin code that was looked at when `ends` was read is there still. Only for those who hold a
/// frame-bound value.
#[inline]
pub(crate) fn black_lives(black: BlackHandle, ends: u32) -> bool {
    match blacks() {
        Some(directory) if directory.ends == ends => true,
        Some(directory) => black_in(directory, black).is_some(),
        None => conjugate_state(black.into()).is_some_and(|state| state.expired == 0),
    }
}

/// Functions of the host about one value that lives there: a place, or a value to read.
macro_rules! ask {
    ($(
        $(#[$attr:meta])*
        $name:ident($what:literal) for $of:ident<$kind:ident: $bound:path>($($arg:ident: $arg_ty:ty = $given:expr),*) -> $result:ty $(, $map:expr)?;
    )*) => {$(
        $(#[$attr])*
        pub(crate) fn $name<$kind: $bound>(of: ask!(@ty $of $kind) $(, $arg: $arg_ty)*) -> Result<$result, CallError> {
            ask!(@type $of $kind ty);
            let host = host($what)?;
            // SAFETY: `Place` and `Ptr` were promised a live value of the type, which the host is told; what is given beside it
            // was promised by its own type, and lives for the call.
            let given = unsafe { ask!(@call $of of ty host $name($($given),*)) };
            given$(.map($map))?
        }
    )*};
    (@ty Place $kind:ident) => { &Place<'_, $kind> };
    (@ty Ptr $kind:ident) => { Ptr<'_, $kind> };
    (@type Place $kind:ident $ty:ident) => {};
    (@type Ptr $kind:ident $ty:ident) => { let $ty = type_number::<$kind>()?; };
    (@call Place $of:ident $ty:ident $host:ident $name:ident($($given:expr),*)) => { $host.$name(&$of.raw, $($given),*) };
    (@call Ptr $of:ident $ty:ident $host:ident $name:ident($($given:expr),*)) => {
        $host.$name($ty, $of.at().cast(), $($given),*)
    };
}
ask! {
    /// Overwrites a value with another.
    copy("copying a value") for Place<T: Value>(from: Ptr<'_, T> = from.at().cast()) -> ();
    /// Whether two values are equal.
    equal("comparing values") for Ptr<T: Value>(two: Ptr<'_, T> = two.at().cast()) -> bool, |same| same != 0;
    /// A hash of a value.
    hash("hashing a value") for Ptr<T: Value>() -> u64;
    /// A value as text.
    print("printing a value") for Ptr<T: Value>() -> String;
    /// Overwrites a value with what a text says.
    parse("reading a value from text") for Place<T: Value>(text: &str = text) -> ();
    /// Frees what a value owns and leaves zero bytes.
    clear("freeing a value") for Place<T: Value>() -> ();
    /// Takes values out of an array and puts such in that zero bytes mean.
    array_splice("changing the length of an array") for Place<T: List>(at: u32 = at, remove: u32 = remove, insert: u32 = insert) -> ();
    /// Makes room in an array.
    array_reserve("making room in an array") for Place<T: List>(more: u32 = more) -> ();
    /// Where in the row of a set or map a key stands.
    map_find("looking a key up") for Place<M: Keyed>(key: Ptr<'_, M::Key> = key.at().cast()) -> Option<u32>,
        |at| (at != u32::MAX).then_some(at);
    /// Where in the row the key stands now, and whether it is new there.
    map_insert("inserting a key") for Place<M: Keyed>(key: Ptr<'_, M::Key> = key.at().cast()) -> (u32, bool),
        |(at, is_new)| (at, is_new != 0);
    /// Takes an entry out.
    map_remove("removing a key") for Place<M: Keyed>(at: u32 = at) -> ();
    /// Points a reference to an object.
    reference_assign("pointing a reference") for Place<T: Value>(object: ObjectHandle = object) -> ();
    /// The object a reference leads to.
    reference_resolve("following a reference") for Ptr<T: Value>() -> ObjectHandle;
    /// Makes a class reference name a class.
    class_assign("naming a class") for Place<T: Value>(path: Name = path) -> ();
    /// The class that a class reference names.
    class_resolve("finding a class") for Ptr<T: Value>() -> ClassId;
    /// Binds a delegate.
    delegate_bind("binding a delegate") for Place<T: Value>(object: ObjectHandle = object, function: &str = function) -> ();
    /// Takes bindings out of a delegate: how many there were.
    delegate_unbind("unbinding a delegate") for Place<T: Value>(object: ObjectHandle = object, function: &str = function) -> u32;
    /// Makes a field path name a property.
    field_assign("naming a property") for Place<T: Value>(path: &str = path) -> ();
}

/// Overwrites a text of one byte a character.
pub(crate) fn ansi_assign(place: &Place<'_, UAnsiString>, bytes: &[u8]) -> Result<(), CallError> {
    let host = host("writing a text")?;
    // SAFETY: `Place` was promised a live text of that kind, and the bytes are live for the call.
    unsafe { host.ansi_assign(&place.raw, bytes.as_ptr(), bytes.len()) }
}

/// The text of the type of the property that a field path names; empty when it names none.
pub(crate) fn field_type(path: Ptr<'_, FieldPath>) -> Result<String, CallError> {
    let host = host("finding a property")?;
    // SAFETY: `Ptr` was promised a live field path.
    unsafe { host.field_type(path.at().cast()) }
}

/// Calls what is bound.
///
/// # Safety
/// The slots are those of the delegate's signature.
pub(crate) unsafe fn delegate_call<T: Value>(delegate: &Place<'_, T>, slots: &mut [Slot]) -> Result<(), CallError> {
    let host = host("calling a delegate")?;
    let mut buffer = buffer_of(slots);
    // SAFETY: `Place` was promised a live value, and the buffer lends `slots`, which are right by contract.
    unsafe { host.delegate_call(&delegate.raw, &mut buffer) }
}

/// The path of an object; empty when it is gone.
pub(crate) fn object_path(object: ObjectHandle) -> String {
    host("object_path").and_then(|host| host.object_path(object)).unwrap_or_default()
}

/// Another name, another outer, or both.
pub(crate) fn object_rename(object: ObjectHandle, name: &str, outer: ObjectHandle) -> Result<(), CallError> {
    host("rename")?.object_rename(object, name, outer)
}

/// Asks for a collection.
pub(crate) fn collect_garbage() -> Result<(), CallError> {
    host("collect")?.collect()
}

/// Overwrites a text in host memory.
pub(crate) fn assign_text<T: Value<Raw = TextRaw>>(target: PtrMut<'_, T>, text: &str) -> Result<(), CallError> {
    let host = host("a text")?;
    // SAFETY: `PtrMut` was promised a live text of the host that may be written.
    unsafe { host.text_assign(target.at(), text) }
}

/// Gives a job to the host, which owns it from then on.
///
/// # Safety
/// `job` is whole: its functions are those of its data; and of a posted one the data may change threads.
///
/// # Errors
/// Why the host does not take it; it is still the caller's then.
pub(crate) unsafe fn job_take(job: &Job<'_>) -> Result<JobId, CallError> {
    let host = host("a task, a timer or a posted closure")?;
    // SAFETY: what the job consists of is promised by the caller.
    unsafe { host.job_take(job) }
}

/// Calls through a handle.
///
/// # Safety
/// The pointer slots among `slots` are what the signature of the callee says, and live for the call.
pub(crate) unsafe fn zcall(handle: ZCallHandle, what: &str, slots: &mut [Slot]) -> Result<(), CallError> {
    let host = host(what)?;
    let mut buffer = buffer_of(slots);
    // SAFETY: the buffer lends `slots`, whose pointers are right by contract.
    unsafe { host.zcall(handle, &mut buffer) }
}

/// Lends slots for a call.
fn buffer_of(slots: &mut [Slot]) -> ZCallBuffer {
    ZCallBuffer { slots: slots.as_mut_ptr(), len: slots.len() }
}
