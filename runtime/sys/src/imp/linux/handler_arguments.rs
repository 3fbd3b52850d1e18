//! Checks the arguments of the dispatcher (the installed signal handler), and substitutes missing arguments. Code of the host may store the
//! dispatcher as its previous handler, and may later call the dispatcher with only the signal number. The arguments for the signal record
//! and the context are then stale register values.

use std::ffi::{c_int, c_void};

use super::c::{peek, signals};

/// Offset of the kernel's signal record from the context of the signal.
#[cfg(target_arch = "x86_64")]
const RECORD_BEHIND_CONTEXT: usize = 304;
#[cfg(target_arch = "aarch64")]
const RECORD_BEHIND_CONTEXT: usize = size_of::<libc::siginfo_t>().wrapping_neg();

/// Calls `handle` with the record and the context of a signal, or with minimal substitutes.
pub(super) fn with(
    signal: c_int,
    info: *mut libc::siginfo_t,
    context: *mut c_void,
    handle: impl FnOnce(*mut libc::siginfo_t, *mut c_void),
) {
    if are_provided(signal, info.addr(), context.addr()) {
        return handle(info, context);
    }
    signals::with_record(signal, |record, here| handle(record, here.cast()));
}

/// Checks if the kernel or other code has provided both arguments for this signal. Recognizes the kernel's arguments by their addresses
/// alone, because the interrupted thread may be forbidden to make system calls.
fn are_provided(signal: c_int, info: usize, context: usize) -> bool {
    if info == 0 || context == 0 || !info.is_multiple_of(8) || !context.is_multiple_of(align_of::<usize>()) {
        return false;
    }
    if info.wrapping_sub(context) == RECORD_BEHIND_CONTEXT {
        return true;
    }
    let mut number = [0; size_of::<c_int>()];
    let is_there = peek::read(info, &mut number) == number.len() && c_int::from_ne_bytes(number) == signal;
    let end_of_context = context.saturating_add(size_of::<libc::ucontext_t>() - size_of::<usize>());
    is_there && peek::word(context).is_some() && peek::word(end_of_context).is_some()
}

#[cfg(test)]
mod tests {
    use std::ptr;

    use super::super::c::peek;
    use super::{RECORD_BEHIND_CONTEXT, are_provided, with};

    #[test]
    fn only_mapped_records_of_the_signal_are_forwarded() {
        let (context, info) = ([0_usize; 512], [10_usize, 0]);
        let (record, context) = (ptr::from_ref(&info).addr(), ptr::from_ref(&context).addr());
        assert!(are_provided(10, record, context));
        assert!(
            are_provided(10, 0x4000_usize.wrapping_add(RECORD_BEHIND_CONTEXT), 0x4000),
            "as the kernel lays them out"
        );
        for (signal, info, context) in [
            (12, record, context),
            (10, 0, context),
            (10, record, 0),
            (10, 8, context),
            (10, record, 8),
            (10, record + 1, context),
        ] {
            assert!(!are_provided(signal, info, context), "{signal} {info:#x} {context:#x}");
        }
        let (mut number, nothing) = (0, ptr::without_provenance_mut(0x21));
        with(10, ptr::null_mut(), nothing, |info, context| {
            assert!(!info.is_null() && context != nothing);
            number = peek::word(info.addr()).expect("a record was passed on") as i32;
        });
        assert_eq!(number, 10);
    }
}
