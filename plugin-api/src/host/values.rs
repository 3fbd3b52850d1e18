//! What plugin code asks of the host about values. As for all functions of the host, each checks its thread itself.
#![expect(unsafe_code, reason = "calls functions that follow addresses of values")]

use core::panic::Location;
use std::any::TypeId;
use std::collections::BTreeMap;
use std::sync::{PoisonError, RwLock};

use alcedo_abi::handles::{BlackHandle, ClassId, ConjugateHandle, Name, ObjectHandle, TypeNumber, ZCallHandle};
use alcedo_abi::host::{BlackDirectory, BlackEntry, Directory, DirectoryEntry};
use alcedo_abi::kinds::PropertyKind;
use alcedo_abi::value::TextView;
use alcedo_abi::values::{ConjugateState, Site, ValuePlace};
use alcedo_abi::zcall::Slot;
use alcedo_rt::CallError;

use super::{buffer_of, harmless_host, host};
use crate::Value;

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

/// A value of type `T` in host memory, as calls name it.
pub(crate) fn place<T: Value>(owner: ObjectHandle, at: *mut T::Raw) -> Result<ValuePlace, CallError> {
    Ok(ValuePlace { owner, at: at.cast(), ty: type_number::<T>()? })
}

/// The value that zero bytes mean, for plugin code to own.
pub(crate) fn black_zero<T: Value>(site: &Location<'_>) -> Result<BlackHandle, CallError> {
    // SAFETY: null is allowed.
    unsafe { black_new::<T>(core::ptr::null(), site) }
}

/// A value for plugin code to own: a copy of that at `from`, or the one that zero bytes mean when it is null.
///
/// # Safety
/// `from` is null or a live value of type `T`.
pub(crate) unsafe fn black_new<T: Value>(from: *const T::Raw, site: &Location<'_>) -> Result<BlackHandle, CallError> {
    let ty = type_number::<T>()?;
    let host = host(T::TYPE.as_str())?;
    let site = site_of(site);
    // SAFETY: `from` is right by contract, and the site is live for the call.
    unsafe { host.black_new(ty, from.cast(), &site) }
}

/// Gives a value of plugin code back. Any thread; also while memory is lent, since a drop cannot be refused.
pub(crate) fn black_drop(black: BlackHandle) {
    // SAFETY: only the one value is ended, of which the module has no slice: whoever lends one holds it.
    if let Some(host) = unsafe { harmless_host() } {
        host.black_drop(black);
    }
}

/// What the host knows of a conjugate; `None` without a host.
pub(crate) fn conjugate_state(conjugate: ConjugateHandle) -> Option<ConjugateState> {
    // SAFETY: facts about a number are copied.
    let host = unsafe { harmless_host() }?;
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
/// The place is a live property of its owner.
pub(crate) unsafe fn conjugate_lend(place: &ValuePlace) -> Result<ConjugateHandle, CallError> {
    let host = host("lending a value")?;
    // SAFETY: the place is right by contract.
    unsafe { host.conjugate_lend(place) }
}

/// Where the value of a conjugate lies, which is one of type `T`.
pub(crate) fn conjugate_open_as<T: Value>(conjugate: ConjugateHandle) -> Result<ValuePlace, CallError> {
    let ty = type_number::<T>()?;
    host("opening a conjugate")?.conjugate_open_as(conjugate, ty)
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
    let entry = unsafe { directory.entries.add(object.index() as usize) };
    // SAFETY: as above; it is the game thread's, which this is for all who hold a frame-bound value.
    let entry = unsafe { entry.read() };
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
    let entry = unsafe { directory.entries.add(index as usize) };
    // SAFETY: as above; it is the game thread's, which this is by contract.
    let BlackEntry { serial: there, at } = unsafe { entry.read() };
    (there == serial && serial != 0).then_some(at)
}

/// Where a value of plugin code lies now. Any thread may ask.
///
/// # Errors
/// `EXPIRED`, with kind and age, when it has ended; `WRONG_THREAD` off the game thread; `UNAVAILABLE` without a host.
#[inline]
pub(crate) fn black_at<T: Value>(black: BlackHandle) -> Result<*mut T::Raw, CallError> {
    let looked = if alcedo_rt::is_game_thread() { blacks() } else { None };
    match looked.and_then(|directory| black_in(directory, black)) {
        Some(at) => Ok(at.cast()),
        // The host says why, or where.
        None => conjugate_open_as::<T>(black.into()).map(|place| place.at.cast()),
    }
}

/// Where a value of plugin code lies, and the count of ended ones beside which that is true; nothing for one that has
/// ended. Only for those who hold a frame-bound value.
#[inline]
pub(crate) fn black_seen<T: Value>(black: BlackHandle) -> Option<(*mut T::Raw, u32)> {
    match blacks() {
        Some(directory) => Some((black_in(directory, black)?.cast(), directory.ends)),
        None => Some((conjugate_open_as::<T>(black.into()).ok()?.at.cast(), 0)),
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

/// Overwrites a value.
///
/// # Safety
/// `to` is a live value of its type, and `from` another one of the same.
pub(crate) unsafe fn copy(to: &ValuePlace, from: *const u8) -> Result<(), CallError> {
    let host = host("copying a value")?;
    // SAFETY: both values are live by contract.
    unsafe { host.copy(to, from) }
}

/// Whether two values are equal.
///
/// # Safety
/// Both are live values of type `T`.
pub(crate) unsafe fn equal<T: Value>(one: *const T::Raw, two: *const T::Raw) -> Result<bool, CallError> {
    let ty = type_number::<T>()?;
    let host = host("comparing values")?;
    // SAFETY: both values are live by contract.
    unsafe { host.equal(ty, one.cast(), two.cast()) }.map(|same| same != 0)
}

/// A hash of a value.
///
/// # Safety
/// It is a live value of type `T`.
pub(crate) unsafe fn hash<T: Value>(at: *const T::Raw) -> Result<u64, CallError> {
    let ty = type_number::<T>()?;
    let host = host("hashing a value")?;
    // SAFETY: the value is live by contract.
    unsafe { host.hash(ty, at.cast()) }
}

/// A value as text.
///
/// # Safety
/// It is a live value of type `T`.
pub(crate) unsafe fn print<T: Value>(at: *const T::Raw) -> Result<String, CallError> {
    let ty = type_number::<T>()?;
    let host = host("printing a value")?;
    // SAFETY: the value is live by contract.
    unsafe { host.print(ty, at.cast()) }
}

/// Overwrites a value with what a text says.
///
/// # Safety
/// The place is a live value.
pub(crate) unsafe fn parse(place: &ValuePlace, text: &str) -> Result<(), CallError> {
    let host = host("reading a value from text")?;
    // SAFETY: the place is live by contract.
    unsafe { host.parse(place, text) }
}

/// Frees what a value owns and leaves zero bytes.
///
/// # Safety
/// The place is a live value that plugin code keeps for a call.
pub(crate) unsafe fn clear(place: &ValuePlace) -> Result<(), CallError> {
    let host = host("freeing a value")?;
    // SAFETY: the place is live by contract.
    unsafe { host.clear(place) }
}

/// Overwrites a text of one byte a character.
///
/// # Safety
/// The place is a live text of that kind.
pub(crate) unsafe fn ansi_assign(place: &ValuePlace, bytes: &[u8]) -> Result<(), CallError> {
    let host = host("writing a text")?;
    // SAFETY: the place is live by contract, the bytes for the call.
    unsafe { host.ansi_assign(place, bytes.as_ptr(), bytes.len()) }
}

/// Takes values out of an array and puts such in that zero bytes mean.
///
/// # Safety
/// The place is a live array.
pub(crate) unsafe fn array_splice(array: &ValuePlace, at: u32, remove: u32, insert: u32) -> Result<(), CallError> {
    let host = host("changing the length of an array")?;
    // SAFETY: the place is live by contract.
    unsafe { host.array_splice(array, at, remove, insert) }
}

/// Makes room in an array.
///
/// # Safety
/// The place is a live array.
pub(crate) unsafe fn array_reserve(array: &ValuePlace, more: u32) -> Result<(), CallError> {
    let host = host("making room in an array")?;
    // SAFETY: the place is live by contract.
    unsafe { host.array_reserve(array, more) }
}

/// Where in the row of a set or map a key stands.
///
/// # Safety
/// The place is a live set or map, and `key` a live value of its key type.
pub(crate) unsafe fn map_find(map: &ValuePlace, key: *const u8) -> Result<Option<u32>, CallError> {
    let host = host("looking a key up")?;
    // SAFETY: place and key are live by contract.
    let at = unsafe { host.map_find(map, key) }?;
    Ok((at != u32::MAX).then_some(at))
}

/// Where in the row the key stands now, and whether it is new there.
///
/// # Safety
/// As [`map_find`].
pub(crate) unsafe fn map_insert(map: &ValuePlace, key: *const u8) -> Result<(u32, bool), CallError> {
    let host = host("inserting a key")?;
    // SAFETY: place and key are live by contract.
    unsafe { host.map_insert(map, key) }.map(|(at, is_new)| (at, is_new != 0))
}

/// Takes an entry out.
///
/// # Safety
/// The place is a live set or map.
pub(crate) unsafe fn map_remove(map: &ValuePlace, at: u32) -> Result<(), CallError> {
    let host = host("removing a key")?;
    // SAFETY: the place is live by contract.
    unsafe { host.map_remove(map, at) }
}

/// Points a reference to an object.
///
/// # Safety
/// The place is a live reference.
pub(crate) unsafe fn reference_assign(place: &ValuePlace, object: ObjectHandle) -> Result<(), CallError> {
    let host = host("pointing a reference")?;
    // SAFETY: the place is live by contract.
    unsafe { host.reference_assign(place, object) }
}

/// The object a reference leads to.
///
/// # Safety
/// It is a live reference of type `T`.
pub(crate) unsafe fn reference_resolve<T: Value>(at: *const T::Raw) -> Result<ObjectHandle, CallError> {
    let ty = type_number::<T>()?;
    let host = host("following a reference")?;
    // SAFETY: the reference is live by contract.
    unsafe { host.reference_resolve(ty, at.cast()) }
}

/// Makes a class reference name a class.
///
/// # Safety
/// The place is a live class reference.
pub(crate) unsafe fn class_assign(place: &ValuePlace, path: Name) -> Result<(), CallError> {
    let host = host("naming a class")?;
    // SAFETY: the place is live by contract.
    unsafe { host.class_assign(place, path) }
}

/// The class that a class reference names.
///
/// # Safety
/// It is a live class reference of type `T`.
pub(crate) unsafe fn class_resolve<T: Value>(at: *const T::Raw) -> Result<ClassId, CallError> {
    let ty = type_number::<T>()?;
    let host = host("finding a class")?;
    // SAFETY: the reference is live by contract.
    unsafe { host.class_resolve(ty, at.cast()) }
}

/// The path of an object; empty when it is gone.
pub(crate) fn object_path(object: ObjectHandle) -> String {
    host("object_path").and_then(|host| host.object_path(object)).unwrap_or_default()
}

/// Binds a delegate.
///
/// # Safety
/// The place is a live delegate of any of the three kinds.
pub(crate) unsafe fn delegate_bind(place: &ValuePlace, object: ObjectHandle, function: &str) -> Result<(), CallError> {
    let host = host("binding a delegate")?;
    // SAFETY: the place is live by contract.
    unsafe { host.delegate_bind(place, object, function) }
}

/// Takes bindings out of a delegate: how many there were.
///
/// # Safety
/// As [`delegate_bind`].
pub(crate) unsafe fn delegate_unbind(
    place: &ValuePlace,
    object: ObjectHandle,
    function: &str,
) -> Result<u32, CallError> {
    let host = host("unbinding a delegate")?;
    // SAFETY: the place is live by contract.
    unsafe { host.delegate_unbind(place, object, function) }
}

/// Calls what is bound.
///
/// # Safety
/// As [`delegate_bind`]; the slots are those of the delegate's signature.
pub(crate) unsafe fn delegate_call(place: &ValuePlace, slots: &mut [Slot]) -> Result<(), CallError> {
    let host = host("calling a delegate")?;
    let mut buffer = buffer_of(slots);
    // SAFETY: the place is live by contract, and the buffer lends `slots`.
    unsafe { host.delegate_call(place, &mut buffer) }
}

/// Makes a field path name a property.
///
/// # Safety
/// The place is a live field path.
pub(crate) unsafe fn field_assign(place: &ValuePlace, path: &str) -> Result<(), CallError> {
    let host = host("naming a property")?;
    // SAFETY: the place is live by contract.
    unsafe { host.field_assign(place, path) }
}

/// The text of the type of the property that a field path names; empty when it names none.
///
/// # Safety
/// It is a live field path.
pub(crate) unsafe fn field_type(at: *const u8) -> Result<String, CallError> {
    let host = host("finding a property")?;
    // SAFETY: the path is live by contract.
    unsafe { host.field_type(at) }
}

/// Another name, another outer, or both.
pub(crate) fn object_rename(object: ObjectHandle, name: &str, outer: ObjectHandle) -> Result<(), CallError> {
    host("rename")?.object_rename(object, name, outer)
}

/// Asks for a collection.
pub(crate) fn collect_garbage() -> Result<(), CallError> {
    host("collect")?.collect()
}
