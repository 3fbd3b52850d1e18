//! The host's functions for values, with plain errors. Like all of them they check their thread themselves.
#![expect(unsafe_code, reason = "calls the host's functions")]

use core::panic::Location;
use std::any::TypeId;
use std::collections::BTreeMap;
use std::sync::{PoisonError, RwLock};

use alcedo_abi::call::Failure;
use alcedo_abi::handles::{BlackHandle, ClassId, ConjugateHandle, Name, ObjectHandle, TypeNumber, ZCallHandle};
use alcedo_abi::host::{BlackDirectory, BlackEntry, Directory, DirectoryEntry};
use alcedo_abi::kinds::PropertyKind;
use alcedo_abi::value::{TextSink, TextView};
use alcedo_abi::values::{ConjugateState, Place, Site};
use alcedo_abi::zcall::{Slot, ZCallBuffer};
use alcedo_rt::CallError;

use super::{check, context, outcome, put_text};
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
    let context = context(text)?;
    let resolve = context.values.type_resolve();
    let mut number = TypeNumber::NONE;
    // SAFETY: host and module are the words of this module's context; text and references are live for the call.
    check(|failure| unsafe { resolve(context.host, context.module, TextView::of(text), &mut number, failure) })?;
    NUMBERS.write().unwrap_or_else(PoisonError::into_inner).insert(key, number);
    Ok(number)
}

/// A value of type `T` in host memory, as calls name it.
pub(crate) fn place<T: Value>(owner: ObjectHandle, at: *mut T::Raw) -> Result<Place, CallError> {
    Ok(Place { owner, at: at.cast(), ty: type_number::<T>()? })
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
    let context = context(T::TYPE.as_str())?;
    let black_new = context.values.black_new();
    let site = Site { file: TextView::of(site.file()), line: site.line() };
    let mut black = BlackHandle::NONE;
    // SAFETY: host and module are the words of this module's context; `from` is right by contract; the rest is live for
    // the call.
    check(|failure| unsafe { black_new(context.host, context.module, ty, from.cast(), &site, &mut black, failure) })?;
    Ok(black)
}

/// Gives a value of plugin code back. Any thread; also while memory is lent, since a drop cannot be refused.
pub(crate) fn black_drop(black: BlackHandle) {
    if let Some(context) = alcedo_rt::context() {
        let black_drop = context.values.black_drop();
        // SAFETY: the host is the word of this module's context, and it accepts any number.
        unsafe { black_drop(context.host, black) };
    }
}

/// What the host knows of a conjugate; `None` without a host.
pub(crate) fn conjugate_state(conjugate: ConjugateHandle) -> Option<ConjugateState> {
    let context = alcedo_rt::context()?;
    let ask = context.values.conjugate_state();
    let mut state = ConjugateState { color: 0, expired: 1, kind: PropertyKind(0), older: 0, age: 0 };
    // SAFETY: the host is the word of this module's context, and it accepts any number; the references are live for it.
    check(|failure| unsafe { ask(context.host, conjugate, &mut state, failure) }).ok()?;
    Some(state)
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
pub(crate) unsafe fn conjugate_lend(place: &Place) -> Result<ConjugateHandle, CallError> {
    let context = context("lending a value")?;
    let lend = context.values.conjugate_lend();
    let mut conjugate = ConjugateHandle::NONE;
    // SAFETY: the host is the word of this module's context; the place is right by contract.
    check(|failure| unsafe { lend(context.host, place, &mut conjugate, failure) })?;
    Ok(conjugate)
}

/// Where the value of a conjugate lies, which is one of type `T`.
pub(crate) fn conjugate_open_as<T: Value>(conjugate: ConjugateHandle) -> Result<Place, CallError> {
    let ty = type_number::<T>()?;
    let context = context("opening a conjugate")?;
    let open = context.values.conjugate_open_as();
    let mut place = Place { owner: ObjectHandle::NONE, at: core::ptr::null_mut(), ty };
    // SAFETY: the host is the word of this module's context, and it accepts any number; the references are live for it.
    check(|failure| unsafe { open(context.host, conjugate, ty, &mut place, failure) })?;
    Ok(place)
}

/// A copy of the value of a conjugate, for plugin code to own.
pub(crate) fn conjugate_clone(conjugate: ConjugateHandle, site: &Location<'_>) -> Result<BlackHandle, CallError> {
    let context = context("cloning a conjugate")?;
    let clone = context.values.conjugate_clone();
    let site = Site { file: TextView::of(site.file()), line: site.line() };
    let mut black = BlackHandle::NONE;
    // SAFETY: host and module are the words of this module's context, and the host accepts any number; the references are
    // live for the call.
    check(|failure| unsafe { clone(context.host, context.module, conjugate, &site, &mut black, failure) })?;
    Ok(black)
}

/// The type of the value of a conjugate, in words.
pub(crate) fn conjugate_type(conjugate: ConjugateHandle) -> Result<String, CallError> {
    let context = context("asking for the type of a conjugate")?;
    let ask = context.values.conjugate_type();
    let mut text = String::new();
    let sink = TextSink { context: (&raw mut text).cast(), put: put_text };
    // SAFETY: the host is the word of this module's context, and it accepts any number; the sink is live for the call.
    check(|failure| unsafe { ask(context.host, conjugate, &sink, failure) })?;
    Ok(text)
}

/// The kind of what a call through a handle gives back; zero for nothing.
pub(crate) fn zcall_result(handle: ZCallHandle) -> Result<PropertyKind, CallError> {
    let context = context("asking what a ZCall gives")?;
    let ask = context.values.zcall_result();
    let mut kind = PropertyKind(0);
    // SAFETY: the host is the word of this module's context, and it accepts any handle; the references are live for it.
    check(|failure| unsafe { ask(context.host, handle, &mut kind, failure) })?;
    Ok(kind)
}

/// Calls through a handle with conjugates where the callee wants values that have one.
pub(crate) fn conjugate_zcall(handle: ZCallHandle, what: &str, slots: &mut [Slot]) -> Result<(), CallError> {
    let context = context(what)?;
    let zcall = context.values.conjugate_zcall();
    let mut buffer = ZCallBuffer { slots: slots.as_mut_ptr(), len: slots.len() };
    let mut failure = Failure::none();
    // SAFETY: host and module are the words of this module's context; the buffer lends `slots`, of which the host follows
    // no address: what is neither plain nor a conjugate that it knows, it refuses.
    let status = unsafe { zcall(context.host, context.module, handle, &mut buffer, &mut failure) };
    outcome(status, failure, what)
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
pub(crate) unsafe fn copy(to: &Place, from: *const u8) -> Result<(), CallError> {
    let context = context("copying a value")?;
    let copy = context.values.copy();
    // SAFETY: the host is the word of this module's context; both values are live by contract.
    check(|failure| unsafe { copy(context.host, to, from, failure) })
}

/// Whether two values are equal.
///
/// # Safety
/// Both are live values of type `T`.
pub(crate) unsafe fn equal<T: Value>(one: *const T::Raw, two: *const T::Raw) -> Result<bool, CallError> {
    let ty = type_number::<T>()?;
    let context = context("comparing values")?;
    let equal = context.values.equal();
    let mut same = 0;
    // SAFETY: the host is the word of this module's context; both values are live by contract.
    check(|failure| unsafe { equal(context.host, ty, one.cast(), two.cast(), &mut same, failure) })?;
    Ok(same != 0)
}

/// A hash of a value.
///
/// # Safety
/// It is a live value of type `T`.
pub(crate) unsafe fn hash<T: Value>(at: *const T::Raw) -> Result<u64, CallError> {
    let ty = type_number::<T>()?;
    let context = context("hashing a value")?;
    let hash = context.values.hash();
    let mut out = 0;
    // SAFETY: the host is the word of this module's context; the value is live by contract.
    check(|failure| unsafe { hash(context.host, ty, at.cast(), &mut out, failure) })?;
    Ok(out)
}

/// A value as text.
///
/// # Safety
/// It is a live value of type `T`.
pub(crate) unsafe fn print<T: Value>(at: *const T::Raw) -> Result<String, CallError> {
    let ty = type_number::<T>()?;
    let context = context("printing a value")?;
    let print = context.values.print();
    let mut text = String::new();
    let sink = TextSink { context: (&raw mut text).cast(), put: put_text };
    // SAFETY: the host is the word of this module's context; the value is live by contract, the sink for the call.
    check(|failure| unsafe { print(context.host, ty, at.cast(), &sink, failure) })?;
    Ok(text)
}

/// Overwrites a value with what a text says.
///
/// # Safety
/// The place is a live value.
pub(crate) unsafe fn parse(place: &Place, text: &str) -> Result<(), CallError> {
    let context = context("reading a value from text")?;
    let parse = context.values.parse();
    // SAFETY: the host is the word of this module's context; the place is live by contract, the text for the call.
    check(|failure| unsafe { parse(context.host, place, TextView::of(text), failure) })
}

/// Frees what a value owns and leaves zero bytes.
///
/// # Safety
/// The place is a live value that plugin code keeps for a call.
pub(crate) unsafe fn clear(place: &Place) -> Result<(), CallError> {
    let context = context("freeing a value")?;
    let clear = context.values.clear();
    // SAFETY: the host is the word of this module's context; the place is live by contract.
    check(|failure| unsafe { clear(context.host, place, failure) })
}

/// Overwrites a text of one byte a character.
///
/// # Safety
/// The place is a live text of that kind.
pub(crate) unsafe fn ansi_assign(place: &Place, bytes: &[u8]) -> Result<(), CallError> {
    let context = context("writing a text")?;
    let assign = context.values.ansi_assign();
    // SAFETY: the host is the word of this module's context; the place is live by contract, the bytes for the call.
    check(|failure| unsafe { assign(context.host, place, bytes.as_ptr(), bytes.len(), failure) })
}

/// Takes values out of an array and puts such in that zero bytes mean.
///
/// # Safety
/// The place is a live array.
pub(crate) unsafe fn array_splice(array: &Place, at: u32, remove: u32, insert: u32) -> Result<(), CallError> {
    let context = context("changing the length of an array")?;
    let splice = context.values.array_splice();
    // SAFETY: the host is the word of this module's context; the place is live by contract.
    check(|failure| unsafe { splice(context.host, array, at, remove, insert, failure) })
}

/// Makes room in an array.
///
/// # Safety
/// The place is a live array.
pub(crate) unsafe fn array_reserve(array: &Place, more: u32) -> Result<(), CallError> {
    let context = context("making room in an array")?;
    let reserve = context.values.array_reserve();
    // SAFETY: the host is the word of this module's context; the place is live by contract.
    check(|failure| unsafe { reserve(context.host, array, more, failure) })
}

/// Where in the row of a set or map a key stands.
///
/// # Safety
/// The place is a live set or map, and `key` a live value of its key type.
pub(crate) unsafe fn map_find(map: &Place, key: *const u8) -> Result<Option<u32>, CallError> {
    let context = context("looking a key up")?;
    let find = context.values.map_find();
    let mut at = u32::MAX;
    // SAFETY: the host is the word of this module's context; place and key are live by contract.
    check(|failure| unsafe { find(context.host, map, key, &mut at, failure) })?;
    Ok((at != u32::MAX).then_some(at))
}

/// Where in the row the key stands now, and whether it is new there.
///
/// # Safety
/// As [`map_find`].
pub(crate) unsafe fn map_insert(map: &Place, key: *const u8) -> Result<(u32, bool), CallError> {
    let context = context("inserting a key")?;
    let insert = context.values.map_insert();
    let (mut at, mut is_new) = (0, 0);
    // SAFETY: the host is the word of this module's context; place and key are live by contract.
    check(|failure| unsafe { insert(context.host, map, key, &mut at, &mut is_new, failure) })?;
    Ok((at, is_new != 0))
}

/// Takes an entry out.
///
/// # Safety
/// The place is a live set or map.
pub(crate) unsafe fn map_remove(map: &Place, at: u32) -> Result<(), CallError> {
    let context = context("removing a key")?;
    let remove = context.values.map_remove();
    // SAFETY: the host is the word of this module's context; the place is live by contract.
    check(|failure| unsafe { remove(context.host, map, at, failure) })
}

/// Points a reference to an object.
///
/// # Safety
/// The place is a live reference.
pub(crate) unsafe fn reference_assign(place: &Place, object: ObjectHandle) -> Result<(), CallError> {
    let context = context("pointing a reference")?;
    let assign = context.values.reference_assign();
    // SAFETY: the host is the word of this module's context; the place is live by contract.
    check(|failure| unsafe { assign(context.host, place, object, failure) })
}

/// The object a reference leads to.
///
/// # Safety
/// It is a live reference of type `T`.
pub(crate) unsafe fn reference_resolve<T: Value>(at: *const T::Raw) -> Result<ObjectHandle, CallError> {
    let ty = type_number::<T>()?;
    let context = context("following a reference")?;
    let resolve = context.values.reference_resolve();
    let mut object = ObjectHandle::NONE;
    // SAFETY: the host is the word of this module's context; the reference is live by contract.
    check(|failure| unsafe { resolve(context.host, ty, at.cast(), &mut object, failure) })?;
    Ok(object)
}

/// Makes a class reference name a class.
///
/// # Safety
/// The place is a live class reference.
pub(crate) unsafe fn class_assign(place: &Place, path: Name) -> Result<(), CallError> {
    let context = context("naming a class")?;
    let assign = context.values.class_assign();
    // SAFETY: the host is the word of this module's context; the place is live by contract.
    check(|failure| unsafe { assign(context.host, place, path, failure) })
}

/// The class that a class reference names.
///
/// # Safety
/// It is a live class reference of type `T`.
pub(crate) unsafe fn class_resolve<T: Value>(at: *const T::Raw) -> Result<ClassId, CallError> {
    let ty = type_number::<T>()?;
    let context = context("finding a class")?;
    let resolve = context.values.class_resolve();
    let mut class = ClassId::NONE;
    // SAFETY: the host is the word of this module's context; the reference is live by contract.
    check(|failure| unsafe { resolve(context.host, ty, at.cast(), &mut class, failure) })?;
    Ok(class)
}

/// The path of an object; empty when it is gone.
pub(crate) fn object_path(object: ObjectHandle) -> String {
    let Ok(context) = context("object_path") else { return String::new() };
    let object_path = context.values.object_path();
    // SAFETY: the host is the word of this module's context; the sink is live for the call.
    super::collect(|sink| unsafe { object_path(context.host, object, sink) })
}

/// Binds a delegate.
///
/// # Safety
/// The place is a live delegate of any of the three kinds.
pub(crate) unsafe fn delegate_bind(place: &Place, object: ObjectHandle, function: &str) -> Result<(), CallError> {
    let context = context("binding a delegate")?;
    let bind = context.values.delegate_bind();
    // SAFETY: the host is the word of this module's context; the place is live by contract, the text for the call.
    check(|failure| unsafe { bind(context.host, place, object, TextView::of(function), failure) })
}

/// Takes bindings out of a delegate: how many there were.
///
/// # Safety
/// As [`delegate_bind`].
pub(crate) unsafe fn delegate_unbind(place: &Place, object: ObjectHandle, function: &str) -> Result<u32, CallError> {
    let context = context("unbinding a delegate")?;
    let unbind = context.values.delegate_unbind();
    let mut count = 0;
    // SAFETY: the host is the word of this module's context; the place is live by contract, the rest for the call.
    check(|failure| unsafe { unbind(context.host, place, object, TextView::of(function), &mut count, failure) })?;
    Ok(count)
}

/// Calls what is bound.
///
/// # Safety
/// As [`delegate_bind`]; the slots are those of the delegate's signature.
pub(crate) unsafe fn delegate_call(place: &Place, slots: &mut [Slot]) -> Result<(), CallError> {
    let context = context("calling a delegate")?;
    let call = context.values.delegate_call();
    let mut buffer = ZCallBuffer { slots: slots.as_mut_ptr(), len: slots.len() };
    let mut failure = Failure::none();
    // SAFETY: the host is the word of this module's context; the place is live by contract, and the buffer lends `slots`.
    let status = unsafe { call(context.host, place, &mut buffer, &mut failure) };
    outcome(status, failure, "a delegate")
}

/// Makes a field path name a property.
///
/// # Safety
/// The place is a live field path.
pub(crate) unsafe fn field_assign(place: &Place, path: &str) -> Result<(), CallError> {
    let context = context("naming a property")?;
    let assign = context.values.field_assign();
    // SAFETY: the host is the word of this module's context; the place is live by contract, the text for the call.
    check(|failure| unsafe { assign(context.host, place, TextView::of(path), failure) })
}

/// The text of the type of the property that a field path names; empty when it names none.
///
/// # Safety
/// It is a live field path.
pub(crate) unsafe fn field_type(at: *const u8) -> Result<String, CallError> {
    let context = context("finding a property")?;
    let field_type = context.values.field_type();
    let mut text = String::new();
    let sink = TextSink { context: (&raw mut text).cast(), put: put_text };
    // SAFETY: the host is the word of this module's context; the path is live by contract, the sink for the call.
    check(|failure| unsafe { field_type(context.host, at, &sink, failure) })?;
    Ok(text)
}

/// Another name, another outer, or both.
pub(crate) fn object_rename(object: ObjectHandle, name: &str, outer: ObjectHandle) -> Result<(), CallError> {
    let context = context("rename")?;
    let rename = context.values.object_rename();
    // SAFETY: the host is the word of this module's context; the text is live for the call.
    check(|failure| unsafe { rename(context.host, object, TextView::of(name), outer, failure) })
}

/// Asks for a collection.
pub(crate) fn collect_garbage() -> Result<(), CallError> {
    let context = context("collect")?;
    let collect = context.values.collect();
    // SAFETY: the host is the word of this module's context.
    check(|failure| unsafe { collect(context.host, failure) })
}
