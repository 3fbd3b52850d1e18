//! Hooks of a plugin part: the red constructor, kept fields, and the finalizer. The host calls these hooks for each class. A generic hook
//! only selects the code of its class, and passes it to a panic guard that the hooks of all classes share. Optimized builds inline the
//! panic guard of the red constructor, because a host may construct many objects in a frame.
#![expect(unsafe_code, reason = "creates, borrows and drops plugin parts at addresses that the host keeps")]

use alcedo_abi::abi_stable::std_types::ROption;
use alcedo_abi::call::{Call, Failure, Invoke, PackedKept, Status};
use alcedo_abi::describe::PartHooks;
use alcedo_abi::handles::{ObjectHandle, PartPtr};
use alcedo_abi::value::{KeepSink, TextView};
use alcedo_rt::{catch_panics, catch_panics_uncounted, is_game_thread};

use super::trampolines::cell_of;
use crate::class::Part;
use crate::host::borrowed_text;
use crate::keep::packed::{Packer, Unpacker, kept_print};
use crate::keep::{KeptWriter, misread, unknown_field};
use crate::part_cell::{self, PartCell, Sharing, Space, Taking};
use crate::{CallError, This};

#[must_use]
pub(super) const fn hooks<C: Part>(
    class_constructor: ROption<Invoke>,
    post_init_properties: ROption<Invoke>,
) -> PartHooks {
    PartHooks {
        red_constructor: red_constructor::<C>,
        class_constructor,
        post_init_properties,
        save_kept: if C::KEPT.is_empty() { save_nothing } else { save_kept::<C> },
        load_kept: if C::KEPT.is_empty() { load_nothing::<C> } else { load_kept::<C> },
        kept_print: kept_print(C::KEPT),
        kept_count: C::KEPT.len() as u32,
        pack_kept: if C::KEPT.is_empty() { save_nothing } else { pack_kept::<C> },
        unpack_kept: if C::KEPT.is_empty() { unpack_nothing } else { unpack_kept::<C> },
        finalize: finalize::<C>,
    }
}

/// # Safety
/// See [`Invoke`], except that the plugin part does not exist yet, and that `call.params` is null or the address of a live [`PackedKept`]
/// with readable bytes. No other code uses this record until the function returns.
unsafe extern "C" fn red_constructor<C: Part>(call: &mut Call<'_>, out: &mut PartPtr) -> Status {
    let restore: Option<Restore> = if C::KEPT.is_empty() { None } else { Some(unpack::<C>) };
    // SAFETY: the caller upholds the contract of this function.
    unsafe { guarded_construction(call, out, construct::<C>, restore) }
}

/// Restores the kept fields of a part of one class.
///
/// # Safety
/// `part` is a plugin part that this module created for the class.
type Restore = unsafe fn(part: PartPtr, input: &mut Unpacker<'_>) -> Result<(), CallError>;

/// # Safety
/// `memory` is the memory of `object`. Both are live until the function returns.
unsafe fn construct<C: Part>(object: ObjectHandle, memory: *mut u8) -> *mut () {
    // SAFETY: the caller upholds the contract of this function.
    let this = unsafe { This::<C>::new(object, memory) };
    Box::into_raw(Box::new(PartCell::new(C::red_constructor(this)))).cast()
}

/// # Safety
/// See [`red_constructor`]; `code` has the requirements of [`construct`], and `restore` is for the class of `code`.
#[cfg_attr(not(debug_assertions), inline)]
unsafe fn guarded_construction(
    call: &mut Call<'_>,
    out: &mut PartPtr,
    code: unsafe fn(ObjectHandle, *mut u8) -> *mut (),
    restore: Option<Restore>,
) -> Status {
    let Call { object, memory, params, failure, .. } = call;
    let (object, memory, kept) = (*object, *memory, (*params).cast::<PackedKept>());
    catch_panics_uncounted(failure, || {
        // SAFETY: the caller upholds the contract of this function.
        let part = PartPtr(unsafe { code(object, memory) });
        // SAFETY: the caller promises null or a live record, which no other code uses during the call.
        if let (Some(restore), Some(kept)) = (restore, unsafe { kept.as_mut() }) {
            let bytes = TextView { data: kept.data, len: kept.len };
            // SAFETY: the caller promises readable bytes, and `code` has created the part for the class of `restore`.
            let restored = unsafe { restore(part, &mut Unpacker::new(bytes.bytes())) };
            // The host repeats a failed restoration, and then receives the error.
            kept.restored = restored.is_ok().into();
        }
        *out = part;
        Ok(())
    })
}

/// Holder of the borrow during which a plugin part is saved.
const SAVING: &Sharing = &Sharing::new("keep");

/// Holder of the borrow during which a plugin part is restored.
const FILLING: &Taking = &Taking::new("keep");

/// Defines hooks for the kept fields of a part. A hook passes the code of its class to a panic guard that all classes share. This code
/// receives the cell of the part.
macro_rules! kept_hooks {
    ($(
        fn $hook:ident($($arg:ident: $ty:ty),*) in $guard:ident($($passed:expr),*)
            by $code:ident($($input:ident: $input_ty:ty),*) = |$cell:ident| $body:expr;
    )*) => {$(
        /// # Safety
        /// `part` is a plugin part that this module created for `C`; the other arguments are live for the call.
        unsafe extern "C" fn $hook<C: Part>(part: PartPtr, $($arg: $ty,)* failure: &mut Failure) -> Status {
            // SAFETY: the caller upholds the contract of this function.
            unsafe { $guard(part, $($passed,)* failure, $code::<C>) }
        }

        /// # Safety
        /// `part` is a plugin part that this module created for `C`.
        unsafe fn $code<C: Part>(part: PartPtr, $($input: $input_ty),*) -> Result<(), CallError> {
            // SAFETY: the caller upholds the contract of this function.
            let $cell = unsafe { cell_of::<C>(part.0, ObjectHandle::NONE) }?;
            $body
        }
    )*};
}

kept_hooks! {
    fn save_kept(sink: &KeepSink) in guarded_save(sink) by save(writer: &mut KeptWriter<'_>) = |cell| {
        cell.shared(ObjectHandle::NONE, SAVING, &mut Space::new())?.part().save_kept(writer);
        Ok(())
    };
    fn load_kept(name: TextView, data: *const u8, len: usize) in guarded_load(name, TextView { data, len })
        by load(name: &str, data: &[u8]) = |cell| {
            cell.taken(ObjectHandle::NONE, FILLING, &mut Space::new())?.part().load_kept(name, data)
        };
    fn pack_kept(sink: &KeepSink) in guarded_pack(sink) by pack(out: &mut Packer<'_>) = |cell| {
        cell.shared(ObjectHandle::NONE, SAVING, &mut Space::new())?.part().pack_kept(out);
        Ok(())
    };
    fn unpack_kept(data: *const u8, len: usize) in guarded_unpack(TextView { data, len })
        by unpack(input: &mut Unpacker<'_>) = |cell| {
            let read = cell.taken(ObjectHandle::NONE, FILLING, &mut Space::new())?.part().unpack_kept(input);
            read.filter(|()| input.is_empty()).ok_or_else(|| misread(C::PATH))
        };
}

/// Saves a part without kept fields, that is, checks only that no method borrows the part exclusively. All classes without kept fields use
/// this function.
///
/// # Safety
/// `part` is a plugin part that this module created.
unsafe extern "C" fn save_nothing(part: PartPtr, _sink: &KeepSink, failure: &mut Failure) -> Status {
    catch_panics_uncounted(failure, || {
        // SAFETY: the caller promises a part, and each part is in a cell.
        unsafe { part_cell::check_shared(part.0, SAVING) }
    })
}

/// Restores a part without kept fields. Fails if the saved data is not empty.
///
/// # Safety
/// No requirements.
unsafe extern "C" fn unpack_nothing(_part: PartPtr, _data: *const u8, len: usize, failure: &mut Failure) -> Status {
    catch_panics(failure, || if len == 0 { Ok(()) } else { Err(misread("a class without kept fields")) })
}

/// Rejects a saved field, because the class has no kept fields.
///
/// # Safety
/// The name is live for the call.
unsafe extern "C" fn load_nothing<C: Part>(
    _part: PartPtr,
    name: TextView,
    _data: *const u8,
    _len: usize,
    failure: &mut Failure,
) -> Status {
    // SAFETY: the caller upholds the contract of this function.
    unsafe { guarded_refusal(name, failure, C::PATH) }
}

/// # Safety
/// See [`load_nothing`].
unsafe fn guarded_refusal(name: TextView, failure: &mut Failure, path: &str) -> Status {
    // SAFETY: the caller upholds the contract of this function.
    catch_panics(failure, || Err(unknown_field(path, &unsafe { borrowed_text(name) })))
}

/// # Safety
/// See [`save_kept`]; `code` has the requirements of [`save`].
unsafe fn guarded_save(
    part: PartPtr,
    sink: &KeepSink,
    failure: &mut Failure,
    code: unsafe fn(PartPtr, &mut KeptWriter<'_>) -> Result<(), CallError>,
) -> Status {
    catch_panics_uncounted(failure, || {
        let put = |name: &str, data: &[u8]| {
            // SAFETY: name and data are live for the call. The sink belongs to the host and is called with its own context.
            unsafe { (sink.put)(sink.context, TextView::of(name), data.as_ptr(), data.len()) };
        };
        // SAFETY: the caller upholds the contract of this function.
        unsafe { code(part, &mut KeptWriter { sink: &put }) }
    })
}

/// # Safety
/// See [`load_kept`]; `code` has the requirements of [`load`].
unsafe fn guarded_load(
    part: PartPtr,
    name: TextView,
    data: TextView,
    failure: &mut Failure,
    code: unsafe fn(PartPtr, &str, &[u8]) -> Result<(), CallError>,
) -> Status {
    catch_panics_uncounted(failure, || {
        // SAFETY: the caller upholds the contract of this function.
        unsafe { code(part, &borrowed_text(name), data.bytes()) }
    })
}

/// # Safety
/// See [`pack_kept`]; `code` has the requirements of [`pack`].
unsafe fn guarded_pack(
    part: PartPtr,
    sink: &KeepSink,
    failure: &mut Failure,
    code: unsafe fn(PartPtr, &mut Packer<'_>) -> Result<(), CallError>,
) -> Status {
    catch_panics_uncounted(failure, || {
        let put = |data: &[u8]| {
            // SAFETY: the data is live for the call. The sink belongs to the host and is called with its own context.
            unsafe { (sink.put)(sink.context, TextView::of(""), data.as_ptr(), data.len()) };
        };
        let mut out = Packer::new(&put);
        // SAFETY: the caller upholds the contract of this function.
        unsafe { code(part, &mut out) }?;
        out.flush();
        Ok(())
    })
}

/// # Safety
/// See [`unpack_kept`]; `code` has the requirements of [`unpack`].
unsafe fn guarded_unpack(
    part: PartPtr,
    data: TextView,
    failure: &mut Failure,
    code: unsafe fn(PartPtr, &mut Unpacker<'_>) -> Result<(), CallError>,
) -> Status {
    catch_panics_uncounted(failure, || {
        // SAFETY: the caller upholds the contract of this function.
        unsafe { code(part, &mut Unpacker::new(data.bytes())) }
    })
}

/// # Safety
/// `part` is a plugin part that this module created for `C`, and the host passes its ownership.
unsafe extern "C" fn finalize<C: Part>(part: PartPtr, failure: &mut Failure) -> Status {
    // SAFETY: the caller upholds the contract of this function.
    unsafe { guarded_end(part, failure, end::<C>) }
}

/// # Safety
/// See [`finalize`].
unsafe fn end<C: Part>(part: PartPtr) -> Result<(), CallError> {
    // SAFETY: the caller promises a part of this class and passes its ownership.
    // The red constructor allocated the part as a box of this type.
    unsafe {
        let cell = cell_of::<C>(part.0, ObjectHandle::NONE)?;
        if !cell.is_free() {
            // The holder's name is stored on the stack of the game thread, so only the game thread may read it.
            let holder = if is_game_thread() { cell.holder() } else { "a method" };
            return Err(CallError::reentrant(ObjectHandle::NONE, holder, "drop"));
        }
        drop(Box::from_raw(part.0.cast::<PartCell<C>>()));
    }
    Ok(())
}

/// # Safety
/// See [`finalize`]; `code` has the requirements of [`end`].
unsafe fn guarded_end(
    part: PartPtr,
    failure: &mut Failure,
    code: unsafe fn(PartPtr) -> Result<(), CallError>,
) -> Status {
    // SAFETY: the caller upholds the contract of this function.
    catch_panics(failure, || unsafe { code(part) })
}
