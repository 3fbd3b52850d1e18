//! Calls a function on several objects in one ABI crossing. One direct call covers consecutive objects, until the call on an object fails
//! or requires slots. The function is then called with slots on this object. A failed call does not stop the remaining calls.
#![expect(unsafe_code, reason = "dereferences pointers that a module lends for the calls")]

use std::mem::MaybeUninit;

use alcedo_abi::call::Failure;
use alcedo_abi::direct::{DirectStatus, MOST_WORDS};
use alcedo_abi::host_direct::EachCall;
use alcedo_abi::zcall::{Slot, SlotValue};

use super::arguments::IntoArgument;
use crate::boundary::CallError;
use crate::bridge::core::Core;
use crate::bridge::host_direct::take_failure;
use crate::bridge::uf::method_call;
use crate::handles::{ObjectHandle, ZCallHandle};
use crate::zcall::black_code::BlackCode;
use crate::zcall::buffer::BufferMut;
use crate::zcall::call::Slots;

/// Buffers that a module provides for calls on several objects.
pub(super) struct EachMut<'c> {
    objects: &'c [ObjectHandle],
    slots: &'c mut [Slot],
    results: &'c mut [MaybeUninit<u64>],
    failures: *mut (),
    failed: unsafe extern "C" fn(*mut (), usize, &Failure),
}

impl<'c, Host> IntoArgument<Host, EachMut<'c>> for &'c mut EachCall {
    unsafe fn into_argument(self, _host: Host) -> EachMut<'c> {
        let EachCall { objects, count, slots, len, results, failures, failed } = *self;
        // SAFETY: the caller promises that the module provides `count` objects and results, and `len` slots, unshared during the call.
        unsafe {
            EachMut {
                objects: if count == 0 { &[] } else { std::slice::from_raw_parts(objects, count) },
                slots: if len == 0 { &mut [] } else { std::slice::from_raw_parts_mut(slots, len) },
                results: if count == 0 { &mut [] } else { std::slice::from_raw_parts_mut(results.cast(), count) },
                failures,
                failed,
            }
        }
    }
}

impl EachMut<'_> {
    /// Reports to the module that the call on the object at index `at` has failed.
    fn report_failure(&mut self, at: usize, error: &CallError) {
        self.results[at].write(0);
        // SAFETY: the module provides the function and its context `failures` for this call. The function copies the failure and does not
        // unwind.
        unsafe { (self.failed)(self.failures, at, &error.to_failure()) };
    }
}

pub(super) fn zcall_each(
    core: &Core,
    handle: ZCallHandle,
    fingerprint: u64,
    mut each: EachMut<'_>,
) -> Result<(), CallError> {
    let callee = core.zcalls.callee_of(handle, fingerprint)?;
    let count = each.slots.len().saturating_sub(1);
    if fingerprint == 0 || callee.slots() != Slots::Function || each.slots.is_empty() {
        return Err(CallError::Buffer { message: format!("`{}` is not called on several objects", callee.name()) });
    }
    if method_call(&callee).is_none() {
        return Err(CallError::Buffer {
            message: format!(
                "`{}` is a static function, which is called on no object: call it as a function of its class, or by name with \
                 `zcall`",
                callee.name()
            ),
        });
    }
    let mut bits = [0; MOST_WORDS];
    for (bits, slot) in bits.iter_mut().zip(&each.slots[1..]) {
        *bits = slot.bits();
    }
    let before = each.slots.last().copied().unwrap_or(Slot::EMPTY);
    let mut at = 0;
    while at < each.objects.len() {
        if let Some((code, context)) = callee.black_code().and_then(BlackCode::each)
            && core.world.mode.direct_version() != alcedo_abi::host_direct::CLOSED
        {
            let (objects, results) = (&each.objects[at..], &mut each.results[at..]);
            // SAFETY: this code runs on the game thread, which the trampoline has checked, and direct calls are open, so no commit is
            // pending. The code has the signature with this fingerprint. The module provides values for this signature, and as many
            // results as objects. Code for direct calls exists only if all values fit in slots.
            let answer =
                unsafe { code(context, objects.as_ptr(), objects.len(), bits.as_ptr(), results.as_mut_ptr().cast()) };
            at += answer.bits as usize;
            match answer.status {
                DirectStatus::DONE => return Ok(()),
                DirectStatus::FAILED => {
                    each.report_failure(at, &take_failure());
                    at += 1;
                    continue;
                }
                _ => {}
            }
        }
        // Sets the object slot and the result slot, as a call on a single object does.
        each.slots[0] = Slot::from_bits(ObjectHandle::SLOT, each.objects[at].into_bits());
        each.slots[count] = if count == 0 { each.slots[0] } else { before };
        match core.zcalls.dispatch(core.here(), handle, BufferMut::over(each.slots)).1 {
            Ok(()) => {
                each.results[at].write(each.slots[count].bits());
            }
            Err(error) => each.report_failure(at, &error),
        }
        at += 1;
    }
    Ok(())
}
