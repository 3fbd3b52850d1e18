//! Trampolines: the functions behind the module's C names. This file defines a macro for each common form of a trampoline, and contains the
//! trampolines of rare forms. The other files pass lists of functions to these macros. A trampoline only calls the platform or the host.
//! Conditions are in functions of the other files.
//!
//! In a list, the trampoline and the platform's function share one name, because both have one contract.
#![expect(unsafe_code, reason = "C functions, passed to the host or the platform")]

use core::ffi::{CStr, c_char, c_int, c_long, c_void};
use core::ptr::{null_mut, with_exposed_provenance, with_exposed_provenance_mut};

use super::closing::{is_refused, variable};
use super::descriptors::{FcntlEffect, effect_of_fcntl};
use super::functions::{mmap, mremap, munmap, realloc, shmat, shmdt, sigaltstack};
use super::platform::AtFork;
use super::{blocks, lookups, notes, platform, thread_names};
use crate::outside::hook_context;

/// Defines a trampoline with the name of the C function.
macro_rules! trampoline {
    (
        $of:ident: $(#[doc = $doc:tt])* $name:ident($($arg:ident: $ty:ty),* $(,)?) $(-> $ret:ty)? { $($code:tt)* }
    ) => {
        #[doc = concat!("`", stringify!($of), "` of this module.")]
        $(#[doc = $doc])*
        ///
        /// # Safety
        /// The caller fulfills the contract of the C function.
        #[allow(unsafe_code, reason = "the lists of trampolines are in files without other unsafe code")]
        pub unsafe extern "C" fn $name($($arg: $ty),*) $(-> $ret)? {
            $($code)*
        }
    };
}

/// Defines hooks that the host implements. While a host is present, the hook calls the host's function instead of the platform's function.
/// The hook passes on its own arguments, unless the line of the list specifies other arguments. The results `without` are for `platform!`.
macro_rules! hooks {
    ($(
        fn $name:ident($($arg:ident: $ty:ty),*) $(-> $ret:ty)? $(, without: $without:expr)? $(, if $condition:expr)?
            => $entry:ident $(($($argument:expr),*))?;
    )*) => {$(trampoline! { $name: $name($($arg: $ty),*) $(-> $ret)? {
        let context = $crate::outside::hook_context()$(.filter(|_| $condition))?;
        // SAFETY: the caller fulfills the C function's contract, which the host's and the platform's functions share.
        // The image pointer is from the same context.
        unsafe {
            match context {
                Some(context) => hooks!(@call context $entry($($arg),*) $(($($argument),*))?),
                None => $crate::hooks::platform::$name($($arg),*),
            }
        }
    }})*};
    (@call $context:ident $entry:ident($($arg:ident),*)) => {
        ($context.table.$entry)($context.image, $($arg),*)
    };
    (@call $context:ident $entry:ident($($arg:ident),*) ($($argument:expr),*)) => {
        ($context.table.$entry)($context.image, $($argument),*)
    };
}

/// Defines hooks that run additional code around the platform's function. This code receives the call of the platform's function as a
/// closure, and runs the closure at most once.
macro_rules! around {
    ($(
        $(#[doc = $doc:tt])*
        $name:ident($($arg:ident: $ty:ty),*) $(-> $ret:ty)?, |$call:ident| $code:expr;
    )*) => {$(trampoline! { $name: $(#[doc = $doc])* $name($($arg: $ty),*) $(-> $ret)? {
        // SAFETY: the caller fulfills the C function's contract for one call with these arguments, and the closure is called at most once.
        let $call = $crate::hooks::trampolines::once(move || unsafe { $crate::hooks::platform::$name($($arg),*) });
        $code
    }})*};
}

pub(super) fn once<R>(call: impl FnOnce() -> R) -> impl FnOnce() -> R {
    call
}

/// Defines hooks of functions that create a descriptor, a stream or a block, each by the macro that its line names. The results `without`
/// are for `platform!`.
macro_rules! reports {
    ($(
        fn $name:ident($($arg:ident: $ty:ty),*) -> $ret:ty, without: $without:expr, hook: [$hook:ident $($more:tt)*];
    )*) => {$($hook! { $name($($arg: $ty),*) $($more)*; })*};
}

/// Defines hooks of functions that create a descriptor. The hooks report the descriptor to the host.
macro_rules! openers {
    ($($name:ident($($arg:ident: $ty:ty),*);)*) => {$(trampoline! { $name: $name($($arg: $ty),*) -> c_int {
        // SAFETY: the caller fulfills the C function's contract, so the result is a new descriptor or an error.
        unsafe {
            let fd = $crate::hooks::platform::$name($($arg),*);
            $crate::hooks::notes::opened(fd);
            fd
        }
    }})*};
}

/// Defines hooks of functions that create two descriptors and store them at the address in their last argument.
macro_rules! pair_openers {
    ($($name:ident($($arg:ident: $ty:ty),*) at $pair:ident;)*) => {$(trampoline! { $name: $name($($arg: $ty),*) -> c_int {
        // SAFETY: the caller fulfills the C function's contract, so two new descriptors are stored at `$pair` if the result is zero.
        unsafe {
            let result = $crate::hooks::platform::$name($($arg),*);
            if result == 0 {
                let [first, second] = *$pair.cast::<[c_int; 2]>();
                $crate::hooks::notes::opened(first);
                $crate::hooks::notes::opened(second);
            }
            result
        }
    }})*};
}

/// Defines hooks of functions that allocate a block of the C heap, either always or if the condition is true.
macro_rules! makers {
    ($($name:ident($($arg:ident: $ty:ty),*) $(if $condition:expr)?;)*) => {$(trampoline! { $name: $name($($arg: $ty),*) -> *mut c_char {
        let is_made = true $(&& $condition)?;
        // SAFETY: the caller fulfills the C function's contract, so the result is null or, if `is_made` is true, a new block.
        unsafe {
            let block = $crate::hooks::platform::$name($($arg),*);
            if is_made { $crate::hooks::blocks::handed_over(block.cast()).cast() } else { block }
        }
    }})*};
}

/// Defines hooks of functions that allocate a block, print into the block, and store the block's address at `$text`.
macro_rules! printers {
    ($($name:ident($($arg:ident: $ty:ty),*) at $text:ident;)*) => {$(trampoline! {
        $name:
        /// The last argument is a `va_list`, passed as an address.
        $name($($arg: $ty),*) -> c_int {
        // SAFETY: the caller fulfills the C function's contract, so unless the result is an error, `$text` points to a new block's address.
        unsafe {
            let result = $crate::hooks::platform::$name($($arg),*);
            if result >= 0 {
                *$text = $crate::hooks::blocks::handed_over((*$text).cast()).cast();
            }
            if result >= 0 && (*$text).is_null() { -1 } else { result }
        }
    }})*};
}

/// Defines hooks of functions that read into the block at `$line` or into a new block. The C library may move the existing block.
macro_rules! readers {
    ($($name:ident($($arg:ident: $ty:ty),*) at $line:ident $room:ident;)*) => {$(trampoline! { $name: $name($($arg: $ty),*) -> isize {
        // SAFETY: the caller fulfills the C function's contract: `$line` points to the address of a block or to null.
        // The C function overwrites this address. The platform rejects a null `$line` or `$room`, and then leaves the block unchanged.
        unsafe {
            // A block from a different module never becomes a block of this module, even if the platform moves the block.
            if let (Some(line), Some(room)) = ($line.as_mut(), $room.as_ref()) {
                *line = $crate::hooks::blocks::borrowed(line.cast(), *room).cast();
            }
            let before = $line.as_ref().copied().filter(|_| !$room.is_null());
            let is_ours = before.is_some_and(|block| {
                block.is_null() || $crate::hooks::blocks::are_copied() || $crate::hooks::notes::block_borrowed(block.cast()) != 0
            });
            let result = $crate::hooks::platform::$name($($arg),*);
            if is_ours {
                *$line = $crate::hooks::blocks::handed_over((*$line).cast()).cast();
            }
            result
        }
    }})*};
}

/// Defines hooks of functions that create a stream or a directory stream with a descriptor, which is either an argument or the result of a
/// C function.
macro_rules! streams {
    ($(
        $name:ident($($arg:ident: $ty:ty),*), $made_by:literal with $fd:ident $(of $kind:ident)?;
    )*) => {$(trampoline! { $name: $name($($arg: $ty),*) -> *mut c_void {
        // SAFETY: the caller fulfills the C function's contract, so the result is a new stream of this kind, or null.
        unsafe {
            let stream = $crate::hooks::platform::$name($($arg),*);
            if !stream.is_null() {
                $(let $fd = libc::$kind(stream.cast());)?
                $crate::hooks::notes::stream_opened(stream, $fd, $made_by);
            }
            stream
        }
    }})*};
}

/// Defines hooks of functions that create a stream over memory of the module. These hooks fail while the module is being closed, because
/// the stream would outlive the module.
macro_rules! memory_streams {
    ($(
        $name:ident($($arg:ident: $ty:ty),*) $(if $condition:expr)?, $text:literal, $made_by:literal at $buffer:expr;
    )*) => {$(trampoline! { $name: $name($($arg: $ty),*) -> *mut c_void {
        let is_over_ours = true $(&& $condition)?;
        if is_over_ours && $crate::hooks::closing::is_refused($text) {
            return core::ptr::null_mut();
        }
        // SAFETY: the caller fulfills the C function's contract, so the result is a new stream, or null.
        unsafe {
            let stream = $crate::hooks::platform::$name($($arg),*);
            if is_over_ours {
                $crate::hooks::notes::stream_bound(stream, $made_by, $buffer);
            }
            stream
        }
    }})*};
}

/// Defines hooks of functions that jump to the location stored in a buffer.
macro_rules! jumps {
    ($($name:ident;)*) => {$(trampoline! {
        $name:
        /// The jump may leave a signal handler.
        $name(buffer: *mut c_void, value: c_int) {
        // SAFETY: the caller fulfills the C function's contract, so the buffer is filled.
        // The jump does not return, and no value here needs a drop.
        unsafe {
            $crate::hooks::notes::jumps(buffer);
            $crate::hooks::platform::$name(buffer, value);
        }
    }})*};
}

/// Defines hooks of functions that start a program.
macro_rules! spawners {
    ($($name:ident;)*) => {$(trampoline! { $name: $name(
        pid: *mut c_int,
        program: *const c_char,
        actions: *const c_void,
        attributes: *const c_void,
        arguments: *const *mut c_char,
        environment: *const *mut c_char
    ) -> c_int {
        let mut number = 0;
        let to = &raw mut number;
        // SAFETY: the caller fulfills the C function's contract: `pid` is a valid pointer or null.
        // The platform writes the process id to the local variable.
        unsafe {
            let result = $crate::hooks::platform::$name(to, program, actions, attributes, arguments, environment);
            if result == 0 {
                $crate::hooks::notes::child_started(number);
                if !pid.is_null() {
                    pid.write(number);
                }
            }
            result
        }
    }})*};
}

/// Hook of `__register_frame`.
///
/// # Safety
/// The caller fulfills the contract of the C function.
pub unsafe extern "C" fn register_frame(begin: *const c_void) {
    // SAFETY: the caller fulfills the C function's contract. `deregister` is the function of the unwinder that has registered the table.
    unsafe {
        platform::__register_frame(begin);
        if hook_context().is_some()
            && let Some(deregister) = platform::deregister()
        {
            notes::frame_registered(begin, deregister);
        }
    }
}

/// Hook of `fclose`.
///
/// # Safety
/// The caller fulfills the contract of the C function.
pub unsafe extern "C" fn fclose(stream: *mut c_void) -> c_int {
    let location = notes::stream_closed(stream);
    // SAFETY: the caller fulfills the C function's contract.
    // `location` is null, or the location to which closing the stream writes the address of a new block.
    // The creator of the stream keeps this location valid until the stream is closed.
    unsafe {
        let result = platform::fclose(stream);
        if let Some(block) = location.cast_mut().as_mut() {
            *block = blocks::handed_over(*block);
        }
        result
    }
}

/// Hook of `setvbuf`. A stream may outlive the module, and the C library accesses the buffer of the stream when the process exits. If a
/// host is present, the C library therefore allocates the buffer, for which `len` is only a hint.
///
/// # Safety
/// The caller fulfills the contract of the C function.
pub unsafe extern "C" fn setvbuf(stream: *mut c_void, buffer: *mut c_char, mode: c_int, len: usize) -> c_int {
    let buffer = if hook_context().is_some() { null_mut() } else { buffer };
    // SAFETY: the caller fulfills the C function's contract, which also allows a null buffer.
    unsafe { platform::setvbuf(stream, buffer, mode, len) }
}

/// Hook of `setbuffer`. Replaces the caller's buffer as [`setvbuf`] does.
///
/// # Safety
/// The caller fulfills the contract of the C function.
pub unsafe extern "C" fn setbuffer(stream: *mut c_void, buffer: *mut c_char, len: usize) {
    let is_handed_on = buffer.is_null() || hook_context().is_none();
    // SAFETY: the caller fulfills the C function's contract: the stream is open. `setvbuf` without a buffer has no other requirement.
    unsafe {
        if is_handed_on {
            platform::setbuffer(stream, buffer, len);
        } else {
            platform::setvbuf(stream, null_mut(), libc::_IOFBF, len);
        }
    }
}

/// Hook of `setbuf`. Replaces the caller's buffer as [`setvbuf`] does.
///
/// # Safety
/// The caller fulfills the contract of the C function.
pub unsafe extern "C" fn setbuf(stream: *mut c_void, buffer: *mut c_char) {
    // SAFETY: the caller fulfills the C function's contract, and the platform's `setbuf` calls `setbuffer` in the same way.
    unsafe { setbuffer(stream, buffer, libc::BUFSIZ as usize) };
}

/// Hook of `reallocarray`. The platform's function would move a block without notifying the host.
///
/// # Safety
/// The caller fulfills the contract of the C function.
pub unsafe extern "C" fn reallocarray(old: *mut c_void, count: usize, size: usize) -> *mut c_void {
    match count.checked_mul(size) {
        // SAFETY: the caller fulfills the C function's contract, which equals that of `realloc` except for the multiplication.
        Some(size) => unsafe { realloc(old, size) },
        None => {
            platform::set_error(libc::ENOMEM);
            null_mut()
        }
    }
}

/// Hook of `fcntl`. Two commands create a descriptor, and some commands enable signals for a descriptor.
///
/// # Safety
/// The caller fulfills the contract of the C function.
pub unsafe extern "C" fn fcntl(fd: c_int, command: c_int, argument: usize) -> c_int {
    // SAFETY: the caller fulfills the C function's contract, and the argument is passed unchanged.
    // After a command that creates a descriptor, the result is a new descriptor or an error.
    unsafe {
        let result = platform::fcntl(fd, command, argument);
        match effect_of_fcntl(command, argument) {
            FcntlEffect::MakesOne => notes::opened(result),
            FcntlEffect::Signals => notes::signals_changed(fd, result),
            FcntlEffect::Nothing => {}
        }
        result
    }
}

/// Hook of `putenv`. The C function stores the address of the string in the environment. While the module is being closed, the hook stores
/// a copy instead. A string without an equals sign removes the variable, as in the C function.
///
/// # Safety
/// The caller fulfills the contract of the C function.
pub unsafe extern "C" fn putenv(text: *mut c_char) -> c_int {
    let is_refused = !text.is_null() && is_refused(c"putenv");
    // SAFETY: the caller fulfills the C function's contract: `text` is a C string, and no other thread uses the environment.
    unsafe {
        if !is_refused {
            return platform::putenv(text);
        }
        match variable(CStr::from_ptr(text).to_bytes()) {
            Some((name, None)) => libc::unsetenv(name.as_ptr()),
            Some((name, Some(value))) => libc::setenv(name.as_ptr(), value.as_ptr(), 1),
            None => -1,
        }
    }
}

unsafe extern "C" {
    /// Handle by which the C library identifies this library.
    static __dso_handle: u8;
}

/// Hook of `__register_atfork`. If a host is present, registers the handlers for this library, regardless of `dso`.
///
/// # Safety
/// The caller fulfills the contract of the C function.
pub unsafe extern "C" fn register_atfork(prepare: AtFork, parent: AtFork, child: AtFork, dso: *mut c_void) -> c_int {
    if is_refused(c"pthread_atfork") {
        return libc::ENOMEM;
    }
    let dso = if hook_context().is_some() { (&raw const __dso_handle).cast_mut().cast() } else { dso };
    // SAFETY: the caller fulfills the C function's contract.
    unsafe { platform::__register_atfork(prepare, parent, child, dso) }
}

/// Hook of `pthread_setname_np`.
///
/// # Safety
/// The caller fulfills the contract of the C function.
pub unsafe extern "C" fn pthread_setname_np(thread: usize, name: *const c_char) -> c_int {
    // SAFETY: the caller fulfills the C function's contract, so the name is a C string; `pthread_self` has no requirements.
    unsafe {
        let result = platform::pthread_setname_np(thread, name);
        if result == 0 && thread == libc::pthread_self() as usize && hook_context().is_some() {
            thread_names::own_name(CStr::from_ptr(name).to_bytes());
        }
        result
    }
}

/// Hook of `syscall`. Passes on all six arguments that the variadic C function can have. System calls that map memory are passed to the
/// hooks of the corresponding C functions, so that the host also records this memory.
///
/// # Safety
/// The caller fulfills the contract of the C function.
pub unsafe extern "C" fn syscall(
    number: c_long,
    first: usize,
    second: usize,
    third: usize,
    fourth: usize,
    fifth: usize,
    sixth: usize,
) -> c_long {
    const IS_HOOKED: bool = !cfg!(feature = "pass-through");
    let address = with_exposed_provenance_mut::<c_void>(first);
    let word = |address: *mut c_void| address.expose_provenance() as c_long;
    // SAFETY: the caller fulfills the contract of the system call, which equals the contract of the C function with this name.
    unsafe {
        match number {
            libc::SYS_sigaltstack => sigaltstack(address.cast_const(), with_exposed_provenance_mut(second)).into(),
            libc::SYS_mmap if IS_HOOKED => {
                word(mmap(address, second, third as c_int, fourth as c_int, fifth as c_int, sixth as i64))
            }
            libc::SYS_munmap if IS_HOOKED => munmap(address, second).into(),
            libc::SYS_mremap if IS_HOOKED => {
                word(mremap(address, second, third, fourth as c_int, with_exposed_provenance_mut(fifth)))
            }
            libc::SYS_shmat if IS_HOOKED => {
                word(shmat(first as c_int, with_exposed_provenance(second), third as c_int))
            }
            libc::SYS_shmdt if IS_HOOKED => shmdt(address).into(),
            _ => {
                let result = platform::syscall(number, first, second, third, fourth, fifth, sixth);
                // The result is the descriptor of a new ring. The kernel will write to this ring.
                if number == libc::SYS_io_uring_setup
                    && let Ok(fd) = c_int::try_from(result)
                {
                    notes::opened(fd);
                }
                result
            }
        }
    }
}

/// Hooked name in the section `alcedo_hooked`, written by [`__alcedo_name`](crate::__alcedo_name). Each field stores the offset from its
/// own address to its target, so the loader applies no relocations.
#[repr(C)]
#[derive(Debug)]
pub struct HookedName {
    /// Offset of the name, a C string.
    name: i32,
    /// Offset of the hook.
    hook: i32,
}

impl HookedName {
    /// Returns the name and the address of the module's hook.
    fn parts(&'static self) -> (&'static CStr, *mut c_void) {
        // SAFETY: the assembler creates all values of this type, and stores the offset of the name, which is a C string.
        let name = unsafe { CStr::from_ptr(behind(&self.name).cast()) };
        (name, behind(&self.hook).cast_mut())
    }
}

/// Returns the address to which a relative offset refers.
fn behind(distance: &'static i32) -> *const c_void {
    // The table, the names and the functions are in one mapping of one file.
    core::ptr::from_ref(distance).cast::<c_void>().wrapping_byte_offset(*distance as isize)
}

/// Defines hooks of functions that look up symbols. The assembly code behind the C names passes the bounds of the hook table after the
/// arguments of the C function.
macro_rules! lookups {
    ($($name:ident($($arg:ident: $ty:ty),*; $($unused:ident: $unused_ty:ty)?) of $text:ident;)*) => {$(
        #[doc = concat!("`", stringify!($name), "` of this module.")]
        ///
        /// # Safety
        /// The caller fulfills the contract of the C function; `begin` and `end` are the bounds of this module's section `alcedo_hooked`.
        pub unsafe extern "C" fn $name(
            $($arg: $ty,)* $($unused: $unused_ty,)? begin: *const HookedName, end: *const HookedName,
        ) -> *mut c_void {
            // SAFETY: the caller fulfills the C function's contract, so the name of a found symbol is a C string.
            // The caller also promises the bounds of a section that contains only entries and is never written.
            unsafe {
                let found = platform::$name($($arg),*);
                if found.is_null() || hook_context().is_none() {
                    return found;
                }
                let names: &'static [HookedName] = core::slice::from_raw_parts(begin, end.offset_from_unsigned(begin));
                lookups::own(found, CStr::from_ptr($text), names.iter().map(HookedName::parts))
            }
        }
    )*};
}

lookups! {
    dlsym(handle: *mut c_void, name: *const c_char; _of_dlvsym: usize) of name;
    dlvsym(handle: *mut c_void, name: *const c_char, version: *const c_char;) of name;
}
