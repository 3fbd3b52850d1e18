//! Pages for the heap: from the host, or from the platform where there is none. What was given back is kept for a
//! while, since a vector that grows needs more soon.
#![expect(unsafe_code, reason = "asks for pages and gives them back")]

use core::ffi::c_void;
use core::ptr::{NonNull, null_mut};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::classes::SLAB;
use crate::hooks::platform;
use crate::slot::context;

/// How much is asked for at once when slabs run out.
const CHUNK: usize = 16 * SLAB;

/// How many spans of pages are kept, and of how many bytes at most in sum.
const KEPT: usize = 32;
const KEPT_BYTES: usize = 4 * 1024 * 1024;

/// Pages: an address that is a multiple of [`SLAB`], and a length that is one.
#[derive(Clone, Copy)]
struct Span {
    memory: NonNull<u8>,
    len: usize,
}

/// What is in stock. All of it stays the module's until the image is gone.
struct Stock {
    /// The first free slab; each names the next in its first word.
    slabs: *mut u8,
    /// What is left of the last chunk.
    chunk: Option<Span>,
    kept: [Option<Span>; KEPT],
    kept_bytes: usize,
}

// SAFETY: memory that is in stock belongs to whoever holds the lock.
unsafe impl Send for Stock {}

/// Never held while code of the plugin runs; the host's `heap_grow` may run under it, which does not call back.
static STOCK: Mutex<Stock> = Mutex::new(Stock { slabs: null_mut(), chunk: None, kept: [None; KEPT], kept_bytes: 0 });

fn stock() -> MutexGuard<'static, Stock> {
    // Nothing under this lock panics.
    STOCK.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Memory for a slab: its content is anything.
pub(super) fn take_slab() -> Option<NonNull<u8>> {
    let mut stock = stock();
    if let Some(slab) = NonNull::new(stock.slabs) {
        // SAFETY: `give_slab` wrote the next one there, and nobody has used the slab since.
        stock.slabs = unsafe { slab.cast::<*mut u8>().read() };
        return Some(slab);
    }
    let Span { memory, len } = match stock.chunk.take() {
        Some(chunk) => chunk,
        None => Span { memory: grow(CHUNK)?, len: CHUNK },
    };
    if len > SLAB {
        // SAFETY: the chunk is longer than one slab.
        let rest = unsafe { memory.add(SLAB) };
        stock.chunk = Some(Span { memory: rest, len: len - SLAB });
    }
    Some(memory)
}

/// Puts the memory of a slab into stock.
///
/// # Safety
/// It is from [`take_slab`], and nobody uses it any more.
pub(super) unsafe fn give_slab(memory: NonNull<u8>) {
    let mut stock = stock();
    // SAFETY: promised by our caller; a slab is aligned and longer than a word.
    unsafe { memory.cast::<*mut u8>().write(stock.slabs) };
    stock.slabs = memory.as_ptr();
}

/// Pages, and whether they are known to be zero.
pub(super) fn take_pages(len: usize) -> Option<(NonNull<u8>, bool)> {
    let mut stock = stock();
    let fits = |span: &Option<Span>| span.is_some_and(|span| span.len == len);
    if let Some(kept) = stock.kept.iter_mut().find(|span| fits(span))
        && let Some(span) = kept.take()
    {
        stock.kept_bytes -= len;
        return Some((span.memory, false));
    }
    drop(stock);
    grow(len).map(|memory| (memory, true))
}

/// Gives pages back.
///
/// # Safety
/// They are from [`take_pages`] with this length, and nobody uses them any more.
pub(super) unsafe fn give_pages(memory: NonNull<u8>, len: usize) {
    let mut stock = stock();
    if stock.kept_bytes + len <= KEPT_BYTES
        && let Some(empty) = stock.kept.iter_mut().find(|span| span.is_none())
    {
        *empty = Some(Span { memory, len });
        stock.kept_bytes += len;
        return;
    }
    drop(stock);
    // SAFETY: promised by our caller.
    unsafe { shrink(memory, len) }
}

fn grow(len: usize) -> Option<NonNull<u8>> {
    let memory = match context() {
        // SAFETY: the image is that of the same context, and the length is a multiple of `SLAB`.
        Some(context) => unsafe { (context.table.heap_grow)(context.image, len) }.cast::<u8>(),
        None => map_aligned(len),
    };
    NonNull::new(memory)
}

/// # Safety
/// The pages are whole ones of [`grow`], and nobody uses them any more.
unsafe fn shrink(memory: NonNull<u8>, len: usize) {
    let memory = memory.as_ptr().cast::<c_void>();
    match context() {
        // SAFETY: the image is that of the same context; the pages are from its `heap_grow`, says our caller.
        Some(context) => unsafe { (context.table.heap_shrink)(context.image, memory, len) },
        None => unmap(memory, len),
    }
}

/// The platform aligns to its own pages, so one slab more is asked for and what sticks out is given back.
fn map_aligned(len: usize) -> *mut u8 {
    let Some(more) = len.checked_add(SLAB) else { return null_mut() };
    let (protection, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    // SAFETY: a fresh mapping wherever there is room touches nobody's memory.
    let mapped = unsafe { platform::mmap(null_mut(), more, protection, flags, -1, 0) };
    if mapped == libc::MAP_FAILED {
        return null_mut();
    }
    let before = mapped.addr().next_multiple_of(SLAB) - mapped.addr();
    let aligned = mapped.wrapping_byte_add(before);
    unmap(mapped, before);
    unmap(aligned.wrapping_byte_add(len), SLAB - before);
    aligned.cast()
}

fn unmap(memory: *mut c_void, len: usize) {
    if len > 0 {
        // SAFETY: our callers pass pages of their own mappings, which nobody uses. It fails only for want of kernel
        // memory, and then the pages stay, which harms nobody.
        let _unmapped = unsafe { platform::munmap(memory, len) };
    }
}
