//! What a plugin asks of its host about values that it cannot handle by itself: texts, containers, delegates and
//! references in host memory, and the values that plugin code owns there.

use abi_stable::StableAbi;

use crate::call::{Failure, Status};
use crate::handles::{BlackHandle, ClassId, ConjugateHandle, Name, ObjectHandle, TypeNumber, ZCallHandle};
use crate::host::HostRef;
use crate::kinds::PropertyKind;
use crate::value::{TextSink, TextView};
use crate::zcall::{ZCallBuffer, ZCallStatus};

/// A value in host memory: where it lies, what it is, and whose it is.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct Place {
    /// The object it belongs to, be it deep inside; none for values of parameter blocks and of plugin code. Whether it may
    /// be written is asked of the object.
    pub owner: ObjectHandle,
    /// Its first byte.
    pub at: *mut u8,
    /// Its type.
    pub ty: TypeNumber,
}

/// Where a plugin made a value, for the statistics.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct Site {
    /// The source file.
    pub file: TextView,
    /// The line.
    pub line: u32,
}

/// Which side began a conjugate, in [`ConjugateState::color`].
pub mod color {
    /// The host did.
    pub const RED: u8 = 1;
    /// Plugin code did.
    pub const BLACK: u8 = 2;
}

/// What can be asked of any conjugate that is no object, be it expired or not.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, PartialEq, Eq, Debug)]
pub struct ConjugateState {
    /// One of [`color`].
    pub color: u8,
    /// One when it leads to its value no more, else zero.
    pub expired: u8,
    /// The kind of its value.
    pub kind: PropertyKind,
    /// One when `age` is what it has at the least: many others have had its place since.
    pub older: u8,
    /// Nanoseconds since it was made or lent.
    pub age: u64,
}

/// The functions for values. Unless a line says otherwise: game thread only, refused elsewhere with `WRONG_THREAD`;
/// whatever writes is refused with `DURING_REBUILD` when the owner of the place may not be written now.
///
/// # Safety
/// For all of them: `host` is the word of this module's [`crate::host::ModuleContext`]; references are live for the call;
/// texts are UTF-8; a [`Place`] and an address are those of a live value of the type.
#[repr(C)]
#[derive(StableAbi)]
#[sabi(kind(Prefix(prefix_ref = ValueTableRef)))]
#[sabi(missing_field(panic))]
pub struct ValueTable {
    /// The number of the type whose text this is, as signatures show it: `Array(f64)`, `Map(String, Object(/Script/A.B))`.
    /// It is the asking module's own, and ends with it.
    pub type_resolve: unsafe extern "C" fn(
        host: HostRef,
        module: u64,
        text: TextView,
        out: &mut TypeNumber,
        failure: &mut Failure,
    ) -> Status,

    /// A value of its own for plugin code: a copy of that at `from`, or the one that zero bytes mean when `from` is null.
    /// Where it lies is in the [`crate::host::BlackDirectory`].
    pub black_new: unsafe extern "C" fn(
        host: HostRef,
        module: u64,
        ty: TypeNumber,
        from: *const u8,
        site: &Site,
        out: &mut BlackHandle,
        failure: &mut Failure,
    ) -> Status,
    /// Gives one back. Without effect for one that ended with its generation. Any thread: off the game thread it waits in a
    /// queue until the game thread releases it.
    pub black_drop: unsafe extern "C" fn(host: HostRef, black: BlackHandle),

    /// Overwrites the value with that at `from`, of the same type.
    pub copy: unsafe extern "C" fn(host: HostRef, to: &Place, from: *const u8, failure: &mut Failure) -> Status,
    /// One if the two values of a type are equal, else zero.
    pub equal: unsafe extern "C" fn(
        host: HostRef,
        ty: TypeNumber,
        one: *const u8,
        two: *const u8,
        out: &mut u8,
        failure: &mut Failure,
    ) -> Status,
    /// A hash of the value: equal values of a type have equal ones, in this process.
    pub hash: unsafe extern "C" fn(
        host: HostRef,
        ty: TypeNumber,
        at: *const u8,
        out: &mut u64,
        failure: &mut Failure,
    ) -> Status,
    /// The value as text.
    pub print: unsafe extern "C" fn(
        host: HostRef,
        ty: TypeNumber,
        at: *const u8,
        sink: &TextSink,
        failure: &mut Failure,
    ) -> Status,
    /// Overwrites the value with what the text says.
    pub parse: unsafe extern "C" fn(host: HostRef, place: &Place, text: TextView, failure: &mut Failure) -> Status,
    /// Frees what the value owns and leaves zero bytes. For values that plugin code keeps on its stack for a call.
    pub clear: unsafe extern "C" fn(host: HostRef, place: &Place, failure: &mut Failure) -> Status,
    /// Overwrites a text of one byte a character.
    pub ansi_assign: unsafe extern "C" fn(
        host: HostRef,
        place: &Place,
        data: *const u8,
        len: usize,
        failure: &mut Failure,
    ) -> Status,

    /// Takes `remove` values from `at` on out of an array, and puts `insert` there that zero bytes mean. `OTHER` when the
    /// array has not so many.
    pub array_splice: unsafe extern "C" fn(
        host: HostRef,
        array: &Place,
        at: u32,
        remove: u32,
        insert: u32,
        failure: &mut Failure,
    ) -> Status,
    /// Makes room for so many values more than there are.
    pub array_reserve: unsafe extern "C" fn(host: HostRef, array: &Place, more: u32, failure: &mut Failure) -> Status,
    /// Where in the row of a set or map the key stands; [`u32::MAX`] when it does not.
    pub map_find: unsafe extern "C" fn(
        host: HostRef,
        map: &Place,
        key: *const u8,
        out: &mut u32,
        failure: &mut Failure,
    ) -> Status,
    /// Where in the row the key stands, now if not before; `is_new` is one then, and the value is what zero bytes mean. The
    /// key is copied.
    pub map_insert: unsafe extern "C" fn(
        host: HostRef,
        map: &Place,
        key: *const u8,
        out: &mut u32,
        is_new: &mut u8,
        failure: &mut Failure,
    ) -> Status,
    /// Takes an entry out by its place in the row; the last one takes that place.
    pub map_remove: unsafe extern "C" fn(host: HostRef, map: &Place, at: u32, failure: &mut Failure) -> Status,

    /// Points a reference (soft, lazy, weak, interface) to an object, or to none. `WRONG_CLASS` when it does not suit.
    pub reference_assign:
        unsafe extern "C" fn(host: HostRef, place: &Place, object: ObjectHandle, failure: &mut Failure) -> Status,
    /// The object a reference leads to now; none when it is not there, or is of a class that does not suit.
    pub reference_resolve: unsafe extern "C" fn(
        host: HostRef,
        ty: TypeNumber,
        at: *const u8,
        out: &mut ObjectHandle,
        failure: &mut Failure,
    ) -> Status,
    /// Makes a class reference name the class of that path. `NOT_FOUND` when a `SubclassOf` would name none,
    /// `WRONG_CLASS` when the class does not suit.
    pub class_assign: unsafe extern "C" fn(host: HostRef, place: &Place, path: Name, failure: &mut Failure) -> Status,
    /// The class that a class reference names now, or none.
    pub class_resolve: unsafe extern "C" fn(
        host: HostRef,
        ty: TypeNumber,
        at: *const u8,
        out: &mut ClassId,
        failure: &mut Failure,
    ) -> Status,
    /// The path of an object, as soft references name it.
    pub object_path: unsafe extern "C" fn(host: HostRef, object: ObjectHandle, sink: &TextSink) -> Status,

    /// Binds a delegate to a function of an object by name; a multicast or sparse one gets it in addition, once.
    /// `NOT_FOUND`, or `SIGNATURE` when the function takes or gives something else.
    pub delegate_bind: unsafe extern "C" fn(
        host: HostRef,
        delegate: &Place,
        object: ObjectHandle,
        function: TextView,
        failure: &mut Failure,
    ) -> Status,
    /// Takes bindings out: those to the object and function; with an empty name all to the object; with no object all.
    /// `out` is how many there were.
    pub delegate_unbind: unsafe extern "C" fn(
        host: HostRef,
        delegate: &Place,
        object: ObjectHandle,
        function: TextView,
        out: &mut u32,
        failure: &mut Failure,
    ) -> Status,
    /// Calls what is bound: slots for parameters and result, without an object. One that is bound to nothing fails with
    /// `NOT_FOUND`; a multicast or sparse one calls all whose objects live, those added last first, and has no result.
    pub delegate_call: unsafe extern "C" fn(
        host: HostRef,
        delegate: &Place,
        buffer: &mut ZCallBuffer,
        failure: &mut Failure,
    ) -> ZCallStatus,

    /// Makes a field path name a property. `NOT_FOUND` when there is none of that path; the empty path names none.
    pub field_assign:
        unsafe extern "C" fn(host: HostRef, place: &Place, path: TextView, failure: &mut Failure) -> Status,
    /// The text of the type of the property that a field path names now; nothing is put when it names none.
    pub field_type:
        unsafe extern "C" fn(host: HostRef, at: *const u8, sink: &TextSink, failure: &mut Failure) -> Status,

    /// Gives an object another name, another outer, or both; the outer it has for another one of its own is refused.
    pub object_rename: unsafe extern "C" fn(
        host: HostRef,
        object: ObjectHandle,
        name: TextView,
        outer: ObjectHandle,
        failure: &mut Failure,
    ) -> Status,
    /// Asks for a collection. Inside a call it is refused with `UNAVAILABLE`, and done at the next safe point.
    pub collect: unsafe extern "C" fn(host: HostRef, failure: &mut Failure) -> Status,

    /// Color, kind and age of a conjugate, and whether it has expired. `NOT_FOUND` for a number that was never given out.
    pub conjugate_state: unsafe extern "C" fn(
        host: HostRef,
        conjugate: ConjugateHandle,
        out: &mut ConjugateState,
        failure: &mut Failure,
    ) -> Status,
    /// A red conjugate for the value at a place, until the innermost red frame closes: for dynamic calls. The place is a
    /// property of its owner, or, without one, a value that stays where it is until then; not a part of a container.
    /// `UNAVAILABLE` outside of every red frame.
    pub conjugate_lend:
        unsafe extern "C" fn(host: HostRef, place: &Place, out: &mut ConjugateHandle, failure: &mut Failure) -> Status,
    /// Where the value of a conjugate lies, until the innermost red frame closes or the black is given back. `EXPIRED`,
    /// with kind and age, when there is none any more.
    pub conjugate_open: unsafe extern "C" fn(
        host: HostRef,
        conjugate: ConjugateHandle,
        out: &mut Place,
        failure: &mut Failure,
    ) -> Status,
    /// A black copy of the value of any conjugate. `EXPIRED` as for `conjugate_open`.
    pub conjugate_clone: unsafe extern "C" fn(
        host: HostRef,
        module: u64,
        conjugate: ConjugateHandle,
        site: &Site,
        out: &mut BlackHandle,
        failure: &mut Failure,
    ) -> Status,
    /// The text of the type of a conjugate's value, as `type_resolve` takes it; nothing is put for an expired one.
    pub conjugate_type: unsafe extern "C" fn(
        host: HostRef,
        conjugate: ConjugateHandle,
        sink: &TextSink,
        failure: &mut Failure,
    ) -> Status,
    /// `HostTable::zcall` for callers that know no types: what has a conjugate and is no object stands in its slot as a
    /// [`crate::zcall::SlotType::CONJUGATE`], going in any that has not expired, coming out a black of the module's.
    pub conjugate_zcall: unsafe extern "C" fn(
        host: HostRef,
        module: u64,
        handle: ZCallHandle,
        buffer: &mut ZCallBuffer,
        failure: &mut Failure,
    ) -> ZCallStatus,

    /// As `conjugate_open`, for a caller that will use the value as one of the type `ty`. `SIGNATURE`, with both types, when
    /// it is another.
    pub conjugate_open_as: unsafe extern "C" fn(
        host: HostRef,
        conjugate: ConjugateHandle,
        ty: TypeNumber,
        out: &mut Place,
        failure: &mut Failure,
    ) -> Status,
    /// The kind of what a call through a handle gives back, zero for nothing; of a property, its kind. `SIGNATURE` when only
    /// the callee knows.
    #[sabi(last_prefix_field)]
    pub zcall_result: unsafe extern "C" fn(
        host: HostRef,
        handle: ZCallHandle,
        out: &mut PropertyKind,
        failure: &mut Failure,
    ) -> Status,
}
