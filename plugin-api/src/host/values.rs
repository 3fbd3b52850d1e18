//! The host's functions in forms that are safe to use, as far as types can say what they demand: values go by pointers that carry
//! their type. As for all functions of the host, each checks its thread itself.
#![expect(unsafe_code, reason = "calls functions that follow addresses of values")]

use core::marker::PhantomData;
use core::panic::Location;
use std::any::TypeId;
use std::collections::BTreeMap;
use std::sync::{PoisonError, RwLock};

use alcedo_abi::describe::Cell;
use alcedo_abi::fingerprint::Fingerprint;
use alcedo_abi::handles::{BlackHandle, ClassId, ConjugateHandle, Name, ObjectHandle, TypeNumber, ZCallHandle};
use alcedo_abi::host::{BlackDirectory, BlackEntry, Directory, DirectoryEntry, Slices};
use alcedo_abi::task::{Job, JobId};
use alcedo_abi::value::{TextRaw, TextView};
use alcedo_abi::values::{ConjugateState, Site, ValuePlace};
use alcedo_abi::zcall::{Slot, ZCallBuffer};
use alcedo_rt::{CallError, Host};

use crate::any_call::Wanted;
use crate::delegate_signature::Signature;
use crate::direct::is_direct;
use crate::kinds::lending;
use crate::kinds::ptr::{Ptr, PtrMut};
use crate::kinds::row::{Keyed, List};
use crate::plumbing::{CalledAs, FunctionCell, ImportCell, Outs};
use crate::signature::{Params, ReturnValue, fingerprint};
use crate::value::{plain_slot, plain_value};
use crate::zcall::Delegated;
use crate::{AnyArguments, AnyResult, FieldPath, UAnsiString, Value};

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
    direct_failure() -> Result<(), CallError>;
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

/// Where the value of a conjugate lies, which is one of type `T`.
pub(crate) fn conjugate_open_as<'a, T: Value>(conjugate: ConjugateHandle) -> Result<Place<'a, T>, CallError> {
    let ty = type_number::<T>()?;
    let raw = host("opening a conjugate")?.conjugate_open_as(conjugate, ty)?;
    Ok(Place { raw, of: PhantomData })
}

/// The type of the value of a conjugate, in words.
pub(crate) fn conjugate_type(conjugate: ConjugateHandle) -> Result<String, CallError> {
    host("asking for the type of a conjugate")?.conjugate_type(conjugate)
}

/// Calls through a handle with conjugates where the callee wants values that have one; `fits` is asked before whether what comes
/// back is wanted.
pub(crate) fn conjugate_zcall<A: AnyArguments, R: AnyResult>(
    object: Option<ObjectHandle>,
    handle: ZCallHandle,
    name: &str,
    args: &A,
) -> Result<R, CallError> {
    args.with_slots(object.unwrap_or_default(), |slots| {
        let end = slots.len() - usize::from(R::WANTED.is_none());
        let slots = &mut slots[usize::from(object.is_none())..end];
        let host = host(name)?;
        let result = match slots.first() {
            // What a delegate gives, only that delegate says.
            Some(delegate) if name.starts_with("nd:") => host.delegate_result(plain_value(*delegate)?)?,
            _ => host.zcall_result(handle)?,
        };
        Wanted::check::<R>(name, result)?;
        // SAFETY: the buffer lends `slots`, of which the host follows no address: what is neither plain nor a conjugate that it
        // knows, it refuses. It said just now that it gives what is wanted, and gives it to us alone.
        unsafe {
            host.conjugate_zcall(handle, &mut buffer_of(slots))?;
            R::take(slots.last().copied().unwrap_or(Slot::EMPTY))
        }
    })
}

/// What takes the values `A` and gives `R`, to be called on the thread it was made on: the game thread, or one where the host has
/// just found it for what lies in slots or is text.
pub(crate) struct Callee<'a, A, R> {
    way: Way<'a>,
    of: PhantomData<fn(A) -> R>,
    // A raw pointer, which keeps it on its thread.
    thread: PhantomData<*const ()>,
}

enum Way<'a> {
    Handle(ZCallHandle),
    Delegate(&'a ValuePlace),
}

impl<A: Params, R: ReturnValue> Callee<'static, A, R> {
    /// What the host has filled a cell with, for an object of the frame, which is the game thread's; the host looks by itself whether
    /// the object has it.
    ///
    /// # Errors
    /// When the host has not filled the cell, as in a plugin's own tests.
    pub(crate) fn in_cell<T>(
        _this: &impl CalledAs<T>,
        cell: &FunctionCell<T, A::Values, R>,
        what: &str,
    ) -> Result<Self, CallError> {
        match cell.cell().get() {
            Cell::UNFILLED => Err(CallError::no_host(what)),
            bits => {
                Ok(Self { way: Way::Handle(ZCallHandle(bits.cast_signed())), of: PhantomData, thread: PhantomData })
            }
        }
    }

    /// A function of a table, by the handle of its name and the fingerprint of just these types, which lie in slots.
    pub(crate) fn in_slots(handle: ZCallHandle) -> Self {
        const { assert!(is_direct::<A, R>()) }
        Self { way: Way::Handle(handle), of: PhantomData, thread: PhantomData }
    }

    /// What a name stands for, by the fingerprint of just these types. The host resolves on the game thread only, or for what lies in
    /// slots or is text.
    pub(crate) fn named(name: &str) -> Result<Self, CallError> {
        let handle = super::zcall_resolve(name, fingerprint::<A, R>())?;
        Ok(Self { way: Way::Handle(handle), of: PhantomData, thread: PhantomData })
    }
}

impl<'a> Callee<'a, (), ()> {
    /// What is bound to a delegate.
    pub(crate) fn bound<D: Delegated>(
        delegate: &'a Place<'_, D>,
    ) -> Callee<'a, <D::Signature as Signature>::Args, <D::Signature as Signature>::Result> {
        Callee { way: Way::Delegate(&delegate.raw), of: PhantomData, thread: PhantomData }
    }
}

impl<A: Params, R: ReturnValue> Callee<'_, A, R> {
    /// Its handle; the one of nothing for what is bound to a delegate.
    #[inline]
    pub(crate) fn handle(&self) -> ZCallHandle {
        match self.way {
            Way::Handle(handle) => handle,
            Way::Delegate(_) => ZCallHandle::NONE,
        }
    }

    /// Calls it; with an object, that is slot 0.
    ///
    /// # Errors
    /// Whatever the callee fails with.
    pub(crate) fn call(&self, object: Option<ObjectHandle>, what: &str, args: &A) -> Result<R, CallError> {
        let mut out = Some(R::out());
        let out_slot = out.as_mut().map_or(Slot::EMPTY, R::slot_out);
        // SAFETY: this is the game thread, or what `A` and `R` consist of lies in slots or is text, as `Callee` says. The slots are those of `A` and `R`, which the
        // callee takes and gives, as each way to make one says; they are right for the call, since what was staged and `out` stay
        // where they are until then, and the callee has filled what it gives. `Place` was promised a live delegate.
        unsafe {
            let call = |slots: &mut [Slot]| {
                let end = slots.len() - usize::from(R::VALUE.is_none());
                let slots = &mut slots[..end];
                let mut buffer = buffer_of(&mut slots[usize::from(object.is_none())..]);
                match self.way {
                    Way::Handle(handle) => host(what)?.zcall(handle, &mut buffer),
                    Way::Delegate(place) => host("calling a delegate")?.delegate_call(place, &mut buffer),
                }?;
                // It is there: nothing else takes it.
                let awaited = out.take().ok_or_else(|| CallError::other("what waits for a result"))?;
                R::take_out(slots.last().copied().unwrap_or(Slot::EMPTY), awaited)
            };
            args.with_slots(object.unwrap_or_default(), out_slot, call)
        }
    }
}

impl<A: Params, R: ReturnValue> Callee<'static, A, R> {
    /// A function of a C library, of an object of the frame.
    ///
    /// # Errors
    /// As for [`Self::in_cell`].
    pub(crate) fn in_import_cell<T, O>(
        _this: &impl CalledAs<T>,
        cell: &ImportCell<T, A::Values, R, O>,
        what: &str,
    ) -> Result<ImportCallee<A, R, O>, CallError> {
        match cell.cell().get() {
            Cell::UNFILLED => Err(CallError::no_host(what)),
            bits => {
                let way = Way::Handle(ZCallHandle(bits.cast_signed()));
                Ok(ImportCallee { callee: Callee { way, of: PhantomData, thread: PhantomData }, outs: PhantomData })
            }
        }
    }
}

/// A function of a C library, which gives the values `O` beside its result. Only [`Callee::in_import_cell`] has one.
pub(crate) struct ImportCallee<A, R, O> {
    callee: Callee<'static, A, R>,
    outs: PhantomData<fn() -> O>,
}

impl<A: Params, R: ReturnValue, O: Outs> ImportCallee<A, R, O> {
    /// Calls it on an object.
    ///
    /// # Errors
    /// Whatever the callee fails with.
    pub(crate) fn call(&self, object: ObjectHandle, what: &str, args: &A) -> Result<(R, O), CallError> {
        /// The object, eight parameters, a result, and as many out parameters.
        const MOST: usize = 18;
        let (mut out, mut outs) = (R::out(), O::out());
        let out_slot = R::slot_out(&mut out);
        let Way::Handle(handle) = self.callee.way else { return Err(CallError::no_host(what)) };
        // SAFETY: this is the game thread, as for `Callee::call`. The slots are those of `A`, then those of `O`, which the
        // description of the function behind the cell has as its out parameters; so the host fills them as it fills a result, and then that of `R`. What
        // was staged, `out` and `outs` stay where they are until the call is over.
        unsafe {
            let call = |slots: &mut [Slot]| {
                // The last slot is that of the result, which comes behind the out parameters.
                let (end, mut row) = (slots.len() - 1, [Slot::EMPTY; MOST]);
                row[..end].copy_from_slice(&slots[..end]);
                let last = end + O::put_slots(&mut outs, &mut row[end..]);
                row[last] = slots[end];
                let count = last + usize::from(R::VALUE.is_some());
                host(what)?.zcall(handle, &mut buffer_of(&mut row[..count]))?;
                Ok::<_, CallError>((row, end, last))
            };
            let (row, end, last) = args.with_slots(object, out_slot, call)?;
            let result = R::take_out(row[last], out);
            let outs = O::take(&row[end..], outs);
            Ok((result?, outs?))
        }
    }
}

/// A property of an object, by its `up` name: overwritten where there is a value to write, or else read.
pub(crate) fn property<T: Value>(object: ObjectHandle, name: &str, write: Option<&T>) -> Result<Option<T>, CallError> {
    let handle = super::zcall_resolve(name, Fingerprint::START.value(T::KIND, T::TYPE_PATH).finish())?;
    // SAFETY: the host has just resolved the name with the fingerprint of `T`, which it does on the game thread only.
    unsafe { exchange(handle, object, name, write) }
}

/// The same by the handle of the name.
///
/// # Safety
/// The host has given the handle for the fingerprint of `T`, and this is the game thread.
pub(crate) unsafe fn exchange<T: Value>(
    handle: ZCallHandle,
    object: ObjectHandle,
    name: &str,
    write: Option<&T>,
) -> Result<Option<T>, CallError> {
    let mut out = write.is_none().then(T::out);
    // SAFETY: the caller promises handle and thread. What is staged and what waits for a result stand on this stack until the call is
    // over, and the host has filled the latter then.
    unsafe {
        let staged = write.map(|value| (value, value.stage()));
        let slot = match (&staged, &mut out) {
            (Some((value, staged)), _) => value.slot_in(staged),
            (None, Some(out)) => <T as Value>::slot_out(out),
            (None, None) => Slot::EMPTY,
        };
        let mut slots = [plain_slot(object), plain_slot(u8::from(write.is_some())), slot];
        host(name)?.zcall(handle, &mut buffer_of(&mut slots))?;
        out.map(|out| <T as Value>::take_out(slots[2], out)).transpose()
    }
}

/// Where the host counts the slices of its memory that are lent, and the number of this module; `None` without a host.
pub(crate) fn slices() -> Option<(&'static Slices, u64)> {
    let context = alcedo_rt::context()?;
    // SAFETY: the host keeps the word, if it gave one, as long as this module is attached, which it is while its code runs.
    Some((unsafe { context.slices.as_ref() }?, context.module))
}

macro_rules! directories {
    ($($(#[$attr:meta])* $name:ident: $ty:ty, $entry:ty;)*) => {$(
        $(#[$attr])*
        #[inline]
        fn $name(index: Option<u32>) -> Option<(&'static $ty, Option<$entry>)> {
            let context = alcedo_rt::context()?;
            // SAFETY: the host keeps the head of the directory at this address as long as the module is attached; it changes it on the
            // game thread only, while no reference of ours is used. It has `len` entries there, which are the game thread's: only
            // who is there gives an index.
            unsafe {
                let head = context.$name.as_ref()?;
                let index = index.filter(|index| *index < head.len);
                Some((head, index.map(|index| head.entries.add(index as usize).read())))
            }
        }
    )*};
}
directories! {
    /// What the module may read of the host's objects, and the entry at an index; `None` for a module that has to do with none.
    directory: Directory, DirectoryEntry;
    /// Where values of plugin code lie, and the entry at an index; `None` for a module that may own none.
    blacks: BlackDirectory, BlackEntry;
}

/// How often objects have ended so far: while it stands still, addresses inside objects stay right.
#[inline]
pub(crate) fn ends() -> u64 {
    directory(None).map_or(0, |(directory, _entry)| directory.ends)
}

/// The entry of a living object.
#[inline]
pub(crate) fn entry(object: ObjectHandle) -> Option<DirectoryEntry> {
    let (_directory, entry) = directory(Some(object.index()))?;
    let entry = entry?;
    (entry.serial == object.serial() && !object.is_none()).then_some(entry)
}

/// Whether an object that was there when `ends` was read is there still.
#[inline]
pub(crate) fn lives(object: ObjectHandle, ends: u64) -> bool {
    match directory(None) {
        Some((directory, _entry)) if directory.ends == ends => true,
        Some(_) => entry(object).is_some(),
        None => super::object_lives(object),
    }
}

/// Where a value of plugin code lies, as the directory says, and the count of ended ones beside which that is true. Game thread
/// only.
#[inline]
fn black_in(black: BlackHandle) -> Option<(Option<*mut u8>, u32)> {
    let (index, serial) = (black.0 as u32, (black.0 >> 32) as u32);
    let (directory, entry) = blacks(Some(index))?;
    let entry = entry.filter(|there| there.serial == serial && serial != 0);
    Some((entry.map(|there| there.at), directory.ends))
}

/// Where a value of plugin code lies now. Any thread may call this.
///
/// # Errors
/// `EXPIRED`, with kind and age, when it has ended; `WRONG_THREAD` off the game thread; `UNAVAILABLE` without a host.
#[inline]
pub(crate) fn black_at<T: Value>(black: BlackHandle) -> Result<*mut T::Raw, CallError> {
    let looked = if alcedo_rt::is_game_thread() { black_in(black) } else { None };
    match looked.and_then(|(at, _ends)| at) {
        Some(at) => Ok(at.cast()),
        // The host says why, or where.
        None => conjugate_open_as::<T>(black.into()).map(|place| place.at()),
    }
}

/// Where a value of plugin code lies, and the count of ended ones beside which that is true; nothing for one that has
/// ended. Only for those who hold a frame-bound value.
#[inline]
pub(crate) fn black_seen<T: Value>(black: BlackHandle) -> Option<(*mut T::Raw, u32)> {
    match black_in(black) {
        Some((at, ends)) => Some((at?.cast(), ends)),
        None => Some((conjugate_open_as::<T>(black.into()).ok()?.at(), 0)),
    }
}

/// Whether a value of plugin code that was looked at when `ends` was read is there still. Only for those who hold a
/// frame-bound value.
#[inline]
pub(crate) fn black_lives(black: BlackHandle, ends: u32) -> bool {
    match blacks(None) {
        Some((directory, _entry)) if directory.ends == ends => true,
        Some(_) => black_in(black).is_some_and(|(at, _ends)| at.is_some()),
        None => conjugate_state(black.into()).is_some_and(|state| state.expired == 0),
    }
}

/// Functions of the host that believe what they are told of the values they are given. Each takes these as types that were
/// promised it, and is `unsafe` itself where there is no such type.
macro_rules! calls {
    ($(
        $(#[$attr:meta])*
        $([$unsafe:ident])? $name:ident$(<$kind:ident: $bound:path>)?($($arg:ident: $arg_ty:ty),*) -> $result:ty
            $([$var:ident = $first:expr])? = $what:expr => $call:ident($($given:expr),*) $(, $map:expr)?;
    )*) => {$(
        $(#[$attr])*
        pub(crate) $($unsafe)? fn $name$(<$kind: $bound>)?($($arg: $arg_ty),*) -> Result<$result, CallError> {
            $(let $var = $first;)?
            let host = host($what)?;
            // SAFETY: `Place`, `Ptr` and `PtrMut` were promised a live value of the type, which the host is told; what is given beside
            // it was promised by its own type, or by the caller, and lives for the call.
            let given = unsafe { host.$call($($given),*) };
            given$(.map($map))?
        }
    )*};
}
calls! {
    /// Overwrites a value with another.
    copy<T: Value>(of: &Place<'_, T>, from: Ptr<'_, T>) -> () =
        "copying a value" => copy(&of.raw, from.at().cast());
    /// Whether two values are equal.
    equal<T: Value>(of: Ptr<'_, T>, two: Ptr<'_, T>) -> bool [ty = type_number::<T>()?] =
        "comparing values" => equal(ty, of.at().cast(), two.at().cast()), |same| same != 0;
    /// A hash of a value.
    hash<T: Value>(of: Ptr<'_, T>) -> u64 [ty = type_number::<T>()?] =
        "hashing a value" => hash(ty, of.at().cast());
    /// A value as text.
    print<T: Value>(of: Ptr<'_, T>) -> String [ty = type_number::<T>()?] =
        "printing a value" => print(ty, of.at().cast());
    /// Overwrites a value with what a text says.
    parse<T: Value>(of: &Place<'_, T>, text: &str) -> () =
        "reading a value from text" => parse(&of.raw, text);
    /// Frees what a value owns and leaves zero bytes.
    clear<T: Value>(of: &Place<'_, T>) -> () =
        "freeing a value" => clear(&of.raw);
    /// Takes values out of an array and puts such in that zero bytes mean.
    array_splice<T: List>(of: &Place<'_, T>, at: u32, remove: u32, insert: u32) -> () =
        "changing the length of an array" => array_splice(&of.raw, at, remove, insert);
    /// Makes room in an array.
    array_reserve<T: List>(of: &Place<'_, T>, more: u32) -> () =
        "making room in an array" => array_reserve(&of.raw, more);
    /// Where in the row of a set or map a key stands.
    map_find<M: Keyed>(of: &Place<'_, M>, key: Ptr<'_, M::Key>) -> Option<u32> =
        "looking a key up" => map_find(&of.raw, key.at().cast()), |at| (at != u32::MAX).then_some(at);
    /// Where in the row the key stands now, and whether it is new there.
    map_insert<M: Keyed>(of: &Place<'_, M>, key: Ptr<'_, M::Key>) -> (u32, bool) =
        "inserting a key" => map_insert(&of.raw, key.at().cast()), |(at, is_new)| (at, is_new != 0);
    /// Takes an entry out.
    map_remove<M: Keyed>(of: &Place<'_, M>, at: u32) -> () =
        "removing a key" => map_remove(&of.raw, at);
    /// Points a reference to an object.
    reference_assign<T: Value>(of: &Place<'_, T>, object: ObjectHandle) -> () =
        "pointing a reference" => reference_assign(&of.raw, object);
    /// The object a reference leads to.
    reference_resolve<T: Value>(of: Ptr<'_, T>) -> ObjectHandle [ty = type_number::<T>()?] =
        "following a reference" => reference_resolve(ty, of.at().cast());
    /// Makes a class reference name a class.
    class_assign<T: Value>(of: &Place<'_, T>, path: Name) -> () =
        "naming a class" => class_assign(&of.raw, path);
    /// The class that a class reference names.
    class_resolve<T: Value>(of: Ptr<'_, T>) -> ClassId [ty = type_number::<T>()?] =
        "finding a class" => class_resolve(ty, of.at().cast());
    /// Binds a delegate.
    delegate_bind<T: Value>(of: &Place<'_, T>, object: ObjectHandle, function: &str) -> () =
        "binding a delegate" => delegate_bind(&of.raw, object, function);
    /// Takes bindings out of a delegate: how many there were.
    delegate_unbind<T: Value>(of: &Place<'_, T>, object: ObjectHandle, function: &str) -> u32 =
        "unbinding a delegate" => delegate_unbind(&of.raw, object, function);
    /// Makes a field path name a property.
    field_assign<T: Value>(of: &Place<'_, T>, path: &str) -> () =
        "naming a property" => field_assign(&of.raw, path);
    /// A value for plugin code to own: a copy of another, or for none the one that zero bytes mean.
    black_new<T: Value>(from: Option<Ptr<'_, T>>, site: &Location<'_>) -> BlackHandle [ty = type_number::<T>()?] =
        T::TYPE.as_str()
        => black_new(ty, from.map_or(core::ptr::null(), Ptr::at).cast(), &site_of(site));
    /// A number for the value at a place, until the innermost call into this module has returned.
    ///
    /// # Safety
    /// The place is a property of its owner.
    [unsafe] conjugate_lend<T: Value>(place: &Place<'_, T>) -> ConjugateHandle =
        "lending a value" => conjugate_lend(&place.raw);
    /// A copy of the value of a conjugate, for plugin code to own.
    conjugate_clone(conjugate: ConjugateHandle, site: &Location<'_>) -> BlackHandle =
        "cloning a conjugate" => conjugate_clone(conjugate, &site_of(site));
    /// Overwrites a text of one byte a character.
    ansi_assign(place: &Place<'_, UAnsiString>, bytes: &[u8]) -> () =
        "writing a text" => ansi_assign(&place.raw, bytes.as_ptr(), bytes.len());
    /// The text of the type of the property that a field path names; empty when it names none.
    field_type(path: Ptr<'_, FieldPath>) -> String = "finding a property" => field_type(path.at().cast());
    /// Overwrites a text in host memory.
    assign_text<T: Value<Raw = TextRaw>>(target: PtrMut<'_, T>, text: &str) -> () = "a text" => text_assign(target.at(), text);
    /// Gives a job to the host, which owns it from then on.
    ///
    /// # Safety
    /// `job` is whole: its functions are those of its data; and of a posted one the data may change threads.
    ///
    /// # Errors
    /// Why the host does not take it; it is still the caller's then.
    [unsafe] job_take(job: &Job<'_>) -> JobId = "a task, a timer or a posted closure" => job_take(job);
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

/// Lends slots for a call.
fn buffer_of(slots: &mut [Slot]) -> ZCallBuffer {
    ZCallBuffer { slots: slots.as_mut_ptr(), len: slots.len() }
}
