//! Stack of script frames in one memory block, the list of running calls, and copies of single values between frames and parameter blocks.
#![expect(unsafe_code, reason = "allocates and frees the memory of frames, and moves values in this memory")]

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::cell::{Cell, UnsafeCell};
use std::ptr::NonNull;
use std::rc::Rc;

use alcedo_base::boundary::CallError;
use alcedo_base::handles::{Name, ObjectHandle};
use alcedo_reflect::storage::View;
use alcedo_reflect::values::ptr::{Ptr, PtrMut};

use crate::cost;
use crate::exec::{Instruction, Linked, Move, Site};
use crate::size;

pub(crate) struct Activation {
    pub(crate) linked: Rc<Linked>,
    /// Instruction at which this call continues after a callee returns.
    pub(crate) next: *const Instruction,
    pub(crate) base: *mut u8,
    pub(crate) object: ObjectHandle,
    pub(crate) memory: *mut u8,
    pub(crate) class: Name,
    /// Call site in the caller. Null if native or plugin code, or the machine itself, started the call.
    pub(crate) site: *const Site,
}

/// Memory of frames and parameter blocks, and the list of running calls.
pub(crate) struct Frames {
    start: NonNull<u8>,
    layout: Layout,
    /// Start of the next frame or block.
    top: Cell<*mut u8>,
    /// Running calls. The vector has capacity for `most` calls, so its elements never move. No reference to an element outlives the access
    /// for which it was created.
    running: UnsafeCell<Vec<Activation>>,
    /// Maximum number of calls.
    most: u32,
}

impl Frames {
    /// Allocates `bytes` bytes of memory for at most `most` calls.
    pub(crate) fn new(bytes: usize, most: u32) -> Self {
        let size = bytes.max(1 << 16).next_multiple_of(16);
        let layout = Layout::from_size_align(size, 16).expect("frames take less than half of the address space");
        // SAFETY: the size is not zero.
        let start = NonNull::new(unsafe { alloc_zeroed(layout) }).unwrap_or_else(|| handle_alloc_error(layout));
        let running = UnsafeCell::new(Vec::with_capacity(most as usize));
        Self { start, layout, top: Cell::new(start.as_ptr()), running, most }
    }

    #[inline]
    pub(crate) fn top(&self) -> *mut u8 {
        self.top.get()
    }

    /// Frees all frames and blocks at or above `top`.
    #[inline]
    pub(crate) fn give_back(&self, top: *mut u8) {
        self.top.set(self.top.get().min(top));
    }

    /// Returns the innermost call. At least one call must exist. While this call is innermost, it does not move, and no other code writes
    /// to it.
    #[inline]
    pub(crate) fn innermost(&self) -> *mut Activation {
        // SAFETY: the reference to the list is not used after this statement.
        unsafe { (*self.running.get()).as_mut_ptr().wrapping_add(self.depth() - 1) }
    }

    #[inline]
    pub(crate) fn depth(&self) -> usize {
        // SAFETY: the reference to the list is not used after this statement.
        unsafe { (*self.running.get()).len() }
    }

    /// Calls `visit` for each call, innermost first.
    pub(crate) fn each(&self, visit: &mut dyn FnMut(&Activation)) {
        // SAFETY: `visit` is a function of this crate that never calls scripts.
        unsafe { &*self.running.get() }.iter().rev().for_each(visit);
    }

    /// Calls `visit` for the `self` objects of all calls, and for all objects that registers refer to.
    pub(crate) fn each_object(&self, visit: &mut dyn FnMut(ObjectHandle)) {
        self.each(&mut |running| {
            visit(running.object);
            // SAFETY: each register of the frame holds a value of the register's type, and nothing writes to the frame during
            // the visit.
            let view = unsafe { View::from_raw(running.base, &running.linked.schema) };
            view.objects().into_iter().for_each(&mut *visit);
        });
    }

    /// Allocates `size` zeroed bytes above the existing frames and blocks. Returns `None` if the memory is exhausted.
    #[inline]
    pub(crate) fn take(&self, size: usize) -> Option<*mut u8> {
        let base = self.top.get();
        let left = self.layout.size() - (base.addr() - self.start.as_ptr().addr());
        let size = size.next_multiple_of(16);
        if size > left {
            return None;
        }
        // SAFETY: at least `size` bytes are free after `top`.
        unsafe { zero(base, size) };
        self.top.set(base.wrapping_add(size));
        Some(base)
    }

    /// Returns the error of a call that exceeds the depth limit or the memory limit.
    #[cold]
    pub(crate) fn too_deep(&self, what: String) -> CallError {
        CallError::TooDeep { what, limit: self.most }
    }

    /// Pushes a frame and returns its address. If the depth limit or the memory limit is reached, pushes no frame and returns `linked` as
    /// the error.
    #[inline(always)]
    pub(crate) fn push(
        &self,
        linked: Rc<Linked>,
        object: ObjectHandle,
        memory: *mut u8,
        class: Name,
        site: *const Site,
    ) -> Result<*mut u8, Rc<Linked>> {
        let base = self.top.get();
        let left = self.layout.size() - (base.addr() - self.start.as_ptr().addr());
        let size = linked.frame_size as usize;
        // SAFETY: the list has capacity for `most`, and no reference to it is kept. At least `size` bytes are free after `top`.
        unsafe {
            let running = &mut *self.running.get();
            let depth = running.len();
            if depth >= self.most as usize || size > left {
                return Err(linked);
            }
            zero(base, size);
            self.top.set(base.wrapping_add(size));
            let next = linked.instructions.as_ptr();
            running.as_mut_ptr().add(depth).write(Activation { linked, next, base, object, memory, class, site });
            running.set_len(depth + 1);
        }
        Ok(base)
    }

    /// Pops the innermost frame and destroys its values.
    #[inline]
    pub(crate) fn pop(&self) {
        // SAFETY: the removed element has no other owner, and its code is read once. Each register of the frame holds a value
        // of the register's type, and nothing refers to the frame any more.
        unsafe {
            let running = &mut *self.running.get();
            let Some(last) = running.len().checked_sub(1) else { return };
            running.set_len(last);
            let ended = running.as_ptr().add(last);
            let (linked, base) = ((&raw const (*ended).linked).read(), (*ended).base);
            for slot in &linked.owning {
                let at = base.wrapping_add(usize::from(slot.offset));
                PtrMut::new(at, &slot.property.ty).destroy();
            }
            self.top.set(base);
        }
    }

    pub(crate) fn unwind(&self, depth: usize) {
        while self.depth() > depth {
            self.pop();
        }
    }
}

/// Writes zeros to `size` bytes, a multiple of 16. For the usual small frames, avoids the call of `memset`.
#[inline]
unsafe fn zero(at: *mut u8, size: usize) {
    // SAFETY: the caller promised `size` writable bytes, aligned to 16 bytes.
    unsafe {
        match size {
            16 => at.cast::<[u128; 1]>().write([0; 1]),
            32 => at.cast::<[u128; 2]>().write([0; 2]),
            48 => at.cast::<[u128; 3]>().write([0; 3]),
            64 => at.cast::<[u128; 4]>().write([0; 4]),
            80 => at.cast::<[u128; 5]>().write([0; 5]),
            96 => at.cast::<[u128; 6]>().write([0; 6]),
            112 => at.cast::<[u128; 7]>().write([0; 7]),
            128 => at.cast::<[u128; 8]>().write([0; 8]),
            size => at.write_bytes(0, size),
        }
    }
}

impl Drop for Frames {
    fn drop(&mut self) {
        self.unwind(0);
        // SAFETY: `new` allocated the memory with this layout, and no frames remain.
        unsafe { dealloc(self.start.as_ptr(), self.layout) };
    }
}

impl Move {
    /// Copies a value from the caller's frame to the parameters at `params`. Checks the memory limit after each copy that may allocate
    /// memory, because many large arguments could exhaust the memory before a check after the call.
    ///
    /// # Errors
    /// Returns [`CallError::TooLarge`] if the limit is exceeded.
    ///
    /// # Safety
    /// `caller` must point to the frame of the caller. The code of the caller must contain this move. `params` must point to the parameters
    /// of the call.
    #[inline]
    pub(crate) unsafe fn over(&self, caller: *const u8, params: *mut u8) -> Result<(), CallError> {
        let from = self.from(caller);
        // SAFETY: the loader compared the types; the caller promised both addresses.
        unsafe { self.one(from, params.wrapping_add(usize::from(self.param_offset))) };
        if self.plain.is_some() || size::is_within_limit() { Ok(()) } else { Err(size::limit_exceeded()) }
    }

    /// Variant of [`Move::over`] for bytewise copies. Does nothing for a typed copy.
    ///
    /// # Safety
    /// The requirements of [`Move::over`] apply.
    #[inline(always)]
    pub(crate) unsafe fn over_plain(&self, caller: *const u8, params: *mut u8) {
        let from = self.from(caller);
        if let Some(size) = self.plain {
            // SAFETY: the caller promised the requirements of `over`, and `size` is the size of the type.
            unsafe { move_plain(params.wrapping_add(usize::from(self.param_offset)), from, size) };
        }
    }

    /// Copies a value from the parameters at `params` back to the caller's frame.
    ///
    /// # Safety
    /// The requirements of [`Move::over`] apply.
    #[inline]
    pub(crate) unsafe fn back(&self, caller: *mut u8, params: *const u8) {
        // SAFETY: the caller promised the requirements of `over`.
        unsafe {
            self.one(
                params.wrapping_add(usize::from(self.param_offset)),
                caller.wrapping_add(usize::from(self.caller_offset)),
            );
        }
    }

    /// Returns the address of the source value.
    #[inline(always)]
    fn from(&self, caller: *const u8) -> *const u8 {
        match &self.source {
            None => caller.wrapping_add(usize::from(self.caller_offset)),
            Some(constant) => constant.value.at().cast_const(),
        }
    }

    #[inline]
    unsafe fn one(&self, from: *const u8, to: *mut u8) {
        // SAFETY: the callers have disjoint values of the type at both addresses, and `size` is the size of the type.
        unsafe {
            if let Some(size) = self.plain {
                move_plain(to, from, size);
            } else {
                let from = Ptr::new(from, &self.property.ty);
                cost::add(cost::of(from));
                PtrMut::new(to, &self.property.ty).copy_from(from);
            }
        }
    }
}

/// Copies a value of `size` bytes. Optimized for small sizes.
///
/// # Safety
/// Both pointers must point to values of `size` bytes that own no memory. `to` must be valid for writes.
#[inline]
pub(crate) unsafe fn move_plain(to: *mut u8, from: *const u8, size: u16) {
    // SAFETY: the caller promised values of this size.
    unsafe {
        match size {
            1 => *to = *from,
            4 => to.copy_from(from, 4),
            8 => to.copy_from(from, 8),
            12 => to.copy_from(from, 12),
            size => to.copy_from(from, usize::from(size)),
        }
    }
}
