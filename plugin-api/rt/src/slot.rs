//! The words that a host writes into its private copy of the module before it is mapped.
#![expect(unsafe_code, reason = "names a linker section, and follows the pointer that the host wrote there")]

use core::sync::atomic::Ordering;

use alcedo_abi::hooks::{HookContext, HookSlot};

/// Never written by the module itself. Code that reads the context refers to it, so the linker keeps the section.
#[used]
#[unsafe(link_section = ".alcedo.hooks")]
static SLOT: HookSlot = HookSlot::new();

/// What the host wrote; without a host, none. The same answer for as long as the module is mapped.
#[inline]
pub(crate) fn context() -> Option<&'static HookContext> {
    let context = SLOT.context.load(Ordering::Relaxed);
    // SAFETY: null, or what the host wrote before the module was mapped: a context that outlives the image.
    unsafe { context.as_ref() }
}
