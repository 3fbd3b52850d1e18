//! The shells: what the C names of the module jump to. Most have one of a few shapes, each a macro here, and the lists that
//! the macros are given stand in the other files; a shell that has a shape of its own is written here as well. A shell calls
//! the platform or the host, and what has to be decided is decided by functions of the other files.
//!
//! A line of a list names the function of the platform by the name of the shell, and so says that both have one contract.
#![expect(unsafe_code, reason = "C functions, handed over to the host or the platform")]

use core::ffi::{CStr, c_char, c_int, c_long, c_void};
use core::ptr::{null_mut, with_exposed_provenance, with_exposed_provenance_mut};

use super::closing::{is_refused, variable};
use super::descriptors::{FcntlEffect, effect_of_fcntl};
use super::forks::AtFork;
use super::functions::{mmap, mremap, munmap, realloc, shmat, shmdt};
use super::signals::sigaltstack;
use super::{lookups, notes, platform, told};
use crate::outside::hook_context;

/// One shell, under the name that the C function has.
macro_rules! shell {
    (
        $of:ident: $(#[doc = $doc:tt])* $name:ident($($arg:ident: $ty:ty),* $(,)?) $(-> $ret:ty)? { $($code:tt)* }
    ) => {
        #[doc = concat!("`", stringify!($of), "` of this module.")]
        $(#[doc = $doc])*
        ///
        /// # Safety
        /// As the C function says.
        #[allow(unsafe_code, reason = "the lists of shells stand in files that have no unsafe code of their own")]
        pub unsafe extern "C" fn $name($($arg: $ty),*) $(-> $ret)? {
            $($code)*
        }
    };
}

/// Hooks that are the host's work as a whole: with a host its function is called instead of the platform's. The host's takes
/// the same arguments, or those that the line says.
macro_rules! hooks {
    ($(
        $platform:ident, $name:ident($($arg:ident: $ty:ty),*) $(-> $ret:ty)? $(, if $condition:expr)?
            => $entry:ident $(($($given:expr),*))?;
    )*) => {$(shell! { $platform: $name($($arg: $ty),*) $(-> $ret)? {
        let context = $crate::outside::hook_context()$(.filter(|_| $condition))?;
        // SAFETY: our caller keeps to the C function's contract, which the host's and the platform's functions share; the
        // image is that of the same context.
        unsafe {
            match context {
                Some(context) => hooks!(@call context $entry($($arg),*) $(($($given),*))?),
                None => $crate::hooks::platform::$platform($($arg),*),
            }
        }
    }})*};
    (@call $context:ident $entry:ident($($arg:ident),*)) => {
        ($context.table.$entry)($context.image, $($arg),*)
    };
    (@call $context:ident $entry:ident($($arg:ident),*) ($($given:expr),*)) => {
        ($context.table.$entry)($context.image, $($given),*)
    };
}

/// Hooks with code of their own around the platform's function. The code gets the call as a value, which it may use once.
macro_rules! around {
    ($(
        $(#[doc = $doc:tt])*
        $name:ident($($arg:ident: $ty:ty),*) $(-> $ret:ty)?, |$call:ident| $code:expr;
    )*) => {$(shell! { $name: $(#[doc = $doc])* $name($($arg: $ty),*) $(-> $ret)? {
        // SAFETY: our caller keeps to the C function's contract for one call with these arguments, and this is the one.
        let $call = $crate::hooks::shells::once(move || unsafe { $crate::hooks::platform::$name($($arg),*) });
        $code
    }})*};
}

/// A call that can be made once, whatever it is made of.
pub(super) fn once<R>(call: impl FnOnce() -> R) -> impl FnOnce() -> R {
    call
}

/// Hooks of what makes a descriptor, of which the host is told.
macro_rules! openers {
    ($($name:ident($($arg:ident: $ty:ty),*);)*) => {$(shell! { $name: $name($($arg: $ty),*) -> c_int {
        // SAFETY: our caller keeps to the C function's contract, by which the result is a new descriptor or an error.
        unsafe {
            let fd = $crate::hooks::platform::$name($($arg),*);
            $crate::hooks::notes::opened(fd);
            fd
        }
    }})*};
}

/// Hooks of what makes two descriptors at the place that comes last.
macro_rules! pair_openers {
    ($($name:ident($($arg:ident: $ty:ty),*; $pair:ident);)*) => {$(shell! { $name: $name($($arg: $ty),*) -> c_int {
        // SAFETY: our caller keeps to the C function's contract, by which two new descriptors are there after a zero.
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

/// Hooks of what makes a block of the C heap, on a condition or always.
macro_rules! makers {
    ($($name:ident($($arg:ident: $ty:ty),*) $(if $condition:expr)?;)*) => {$(shell! { $name: $name($($arg: $ty),*) -> *mut c_char {
        let is_made = true $(&& $condition)?;
        // SAFETY: our caller keeps to the C function's contract, by which the result is then a new block, or null.
        unsafe {
            let block = $crate::hooks::platform::$name($($arg),*);
            if is_made { $crate::hooks::blocks::handed_over(block.cast()).cast() } else { block }
        }
    }})*};
}

/// Hooks of what prints into a block that it makes, and leaves its address at `$text`.
macro_rules! printers {
    ($($name:ident($($arg:ident: $ty:ty),*; $text:ident);)*) => {$(shell! {
        $name:
        /// Its last argument is a `va_list`, which is passed as an address.
        $name($($arg: $ty),*) -> c_int {
        // SAFETY: our caller keeps to the C function's contract, by which a new block is there unless the result is an error.
        unsafe {
            let result = $crate::hooks::platform::$name($($arg),*);
            if result >= 0 {
                *$text = $crate::hooks::blocks::handed_over((*$text).cast()).cast();
            }
            if result >= 0 && (*$text).is_null() { -1 } else { result }
        }
    }})*};
}

/// Hooks of what reads into the block at `$line`, which the C library may move, or into one that it makes.
macro_rules! readers {
    ($($name:ident($($arg:ident: $ty:ty),*; $line:ident $room:ident);)*) => {$(shell! { $name: $name($($arg: $ty),*) -> isize {
        // SAFETY: our caller keeps to the C function's contract: a place with a block or null, where the function leaves
        // such a one again. What is no place is refused by the platform.
        unsafe {
            // A block of another module stays that module's, wherever it moves.
            if let (Some(line), Some(room)) = ($line.as_mut(), $room.as_ref()) {
                *line = $crate::hooks::blocks::lent(line.cast(), *room).cast();
            }
            let before = $line.as_ref().copied();
            let is_ours = before.is_some_and(|block| {
                block.is_null() || $crate::hooks::blocks::are_copied() || $crate::hooks::notes::block_lent(block.cast()) != 0
            });
            let result = $crate::hooks::platform::$name($($arg),*);
            if is_ours {
                *$line = $crate::hooks::blocks::handed_over((*$line).cast()).cast();
            }
            result
        }
    }})*};
}

/// Hooks of what makes a stream or a folder with a descriptor: one that it is given, or one that can be asked for.
macro_rules! streams {
    ($(
        $(#[doc = $doc:tt])*
        $name:ident($($arg:ident: $ty:ty),*), $made_by:literal with $fd:ident $(of $kind:ident)?;
    )*) => {$(shell! { $name: $(#[doc = $doc])* $name($($arg: $ty),*) -> *mut c_void {
        // SAFETY: our caller keeps to the C function's contract, by which the result is a new stream of this kind, or null.
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

/// Hooks of what makes a stream over memory of the module, and is refused where that would outlive the module.
macro_rules! memory_streams {
    ($(
        $(#[doc = $doc:tt])*
        $name:ident($($arg:ident: $ty:ty),*) $(if $condition:expr)?, $text:literal, $made_by:literal at $place:expr;
    )*) => {$(shell! { $name: $(#[doc = $doc])* $name($($arg: $ty),*) -> *mut c_void {
        let is_over_ours = true $(&& $condition)?;
        if is_over_ours && $crate::hooks::closing::is_refused($text) {
            return core::ptr::null_mut();
        }
        // SAFETY: our caller keeps to the C function's contract, by which the result is a new stream, or null.
        unsafe {
            let stream = $crate::hooks::platform::$name($($arg),*);
            if is_over_ours {
                $crate::hooks::notes::stream_bound(stream, $made_by, $place);
            }
            stream
        }
    }})*};
}

/// Hooks of jumps to what a buffer says.
macro_rules! jumps {
    ($($name:ident;)*) => {$(shell! {
        $name:
        /// It may leave a signal handler.
        $name(buffer: *mut c_void, value: c_int) {
        // SAFETY: our caller keeps to the C function's contract, by which the buffer is filled. The jump does not come
        // back, and nothing here is dropped.
        unsafe {
            $crate::hooks::notes::jumps(buffer);
            $crate::hooks::platform::$name(buffer, value);
        }
    }})*};
}

/// Hooks of what starts a program.
macro_rules! spawners {
    ($($name:ident;)*) => {$(shell! { $name: $name(
        pid: *mut c_int,
        program: *const c_char,
        actions: *const c_void,
        attributes: *const c_void,
        arguments: *const *mut c_char,
        environment: *const *mut c_char
    ) -> c_int {
        let mut number = 0;
        let to = &raw mut number;
        // SAFETY: our caller keeps to the C function's contract: a place for the number, or null. The platform writes the
        // number to our own place first.
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

/// `__register_frame` of this module.
///
/// # Safety
/// As the C function says.
pub unsafe extern "C" fn register_frame(begin: *const c_void) {
    // SAFETY: our caller keeps to the C function's contract; the unwinder that has the table is the one
    // that gives it back.
    unsafe {
        platform::__register_frame(begin);
        if hook_context().is_some()
            && let Some(deregister) = platform::deregister()
        {
            notes::frame_registered(begin, deregister);
        }
    }
}

/// `fclose` of this module.
///
/// # Safety
/// As the C function says.
pub unsafe extern "C" fn fclose(stream: *mut c_void) -> c_int {
    let place = notes::stream_closed(stream);
    // SAFETY: our caller keeps to the C function's contract. The place is null, or that of a stream which writes a block there
    // as it is closed; whoever made the stream keeps the place until then.
    unsafe {
        let result = platform::fclose(stream);
        notes::block_made(place.as_ref().map_or(null_mut(), |block| *block));
        result
    }
}

/// `setvbuf` of this module. A stream may outlive the module, and the end of the process looks into its buffer; so it gets
/// one of its own. The size is a wish, says the C library.
///
/// # Safety
/// As the C function says.
pub unsafe extern "C" fn setvbuf(stream: *mut c_void, buffer: *mut c_char, mode: c_int, len: usize) -> c_int {
    let buffer = if hook_context().is_some() { null_mut() } else { buffer };
    // SAFETY: our caller keeps to the C function's contract, and no buffer is fine with it too.
    unsafe { platform::setvbuf(stream, buffer, mode, len) }
}

/// `setbuffer` of this module, as [`setvbuf`].
///
/// # Safety
/// As the C function says.
pub unsafe extern "C" fn setbuffer(stream: *mut c_void, buffer: *mut c_char, len: usize) {
    let is_handed_on = buffer.is_null() || hook_context().is_none();
    // SAFETY: our caller keeps to the C function's contract: an open stream, which is all that `setvbuf` asks for without a buffer.
    unsafe {
        if is_handed_on {
            platform::setbuffer(stream, buffer, len);
        } else {
            platform::setvbuf(stream, null_mut(), libc::_IOFBF, len);
        }
    }
}

/// `setbuf` of this module, as [`setvbuf`].
///
/// # Safety
/// As the C function says.
pub unsafe extern "C" fn setbuf(stream: *mut c_void, buffer: *mut c_char) {
    // SAFETY: our caller keeps to the C function's contract; this is what that function does.
    unsafe { setbuffer(stream, buffer, libc::BUFSIZ as usize) };
}

/// `reallocarray` of this module. The platform's would move a block that the host knows behind its back.
///
/// # Safety
/// As the C function says.
pub unsafe extern "C" fn reallocarray(old: *mut c_void, count: usize, size: usize) -> *mut c_void {
    match count.checked_mul(size) {
        // SAFETY: our caller keeps to the C function's contract, which is that of `realloc` but for the product.
        Some(size) => unsafe { realloc(old, size) },
        None => null_mut(),
    }
}

/// `fcntl` of this module: two of its commands make a descriptor, others have one raise signals.
///
/// # Safety
/// As the C function says.
pub unsafe extern "C" fn fcntl(fd: c_int, command: c_int, argument: usize) -> c_int {
    // SAFETY: our caller keeps to the C function's contract, and the argument is passed on as it came; after a command that
    // makes a descriptor, the result is a new one or an error.
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

/// `putenv` of this module. The very string that it is given becomes a part of the environment; from a module that is being
/// closed, a copy does. Without a sign of equality, the variable is taken out: so it is with the C function.
///
/// # Safety
/// As the C function says.
pub unsafe extern "C" fn putenv(text: *mut c_char) -> c_int {
    let is_refused = !text.is_null() && is_refused(c"putenv");
    // SAFETY: our caller keeps to the C function's contract: a C string, and a moment at which the environment may be changed.
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
    /// By which the C library knows this library.
    static __dso_handle: u8;
}

/// `__register_atfork` of this module: whatever it says, it is this library that wants to be called.
///
/// # Safety
/// As the C function says.
pub unsafe extern "C" fn register_atfork(prepare: AtFork, parent: AtFork, child: AtFork, dso: *mut c_void) -> c_int {
    if is_refused(c"pthread_atfork") {
        return libc::ENOMEM;
    }
    let dso = if hook_context().is_some() { (&raw const __dso_handle).cast_mut().cast() } else { dso };
    // SAFETY: our caller keeps to the C function's contract.
    unsafe { platform::__register_atfork(prepare, parent, child, dso) }
}

/// `pthread_setname_np` of this module.
///
/// # Safety
/// As the C function says.
pub unsafe extern "C" fn pthread_setname_np(thread: usize, name: *const c_char) -> c_int {
    // SAFETY: our caller keeps to the C function's contract, by which the name is a C string; asking for one's own handle has
    // no conditions.
    unsafe {
        let result = platform::pthread_setname_np(thread, name);
        if result == 0 && thread == libc::pthread_self() as usize && hook_context().is_some() {
            told::own_name(CStr::from_ptr(name).to_bytes());
        }
        result
    }
}

/// `syscall` of this module. Where C says `...`, all six arguments are handed on, as the C function does. Memory is on record
/// whichever way it is asked for.
///
/// # Safety
/// As the C function says.
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
    // SAFETY: our caller keeps to the contract of the call, which is that of the C function with its name.
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
                // A ring that the kernel will write for: what came back is its descriptor, made just now.
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

/// One hooked name, in the section `alcedo_hooked`, which [`__alcedo_name`](crate::__alcedo_name) writes: the distances from
/// each of the two words to what it is about, so that the loader has nothing to write there.
#[repr(C)]
#[derive(Debug)]
pub struct HookedName {
    /// To the name, a C string.
    name: i32,
    /// To the module's own function.
    hook: i32,
}

impl HookedName {
    /// The name, and the module's own function.
    fn parts(&'static self) -> (&'static CStr, *mut c_void) {
        // SAFETY: there are no others than those that the assembler has made, and it wrote there how far it is to the name, a
        // C string.
        let name = unsafe { CStr::from_ptr(behind(&self.name).cast()) };
        (name, behind(&self.hook).cast_mut())
    }
}

/// What a word is about that says how far away that is.
fn behind(distance: &'static i32) -> *const c_void {
    // The table, the names and the functions are parts of one mapping of one file.
    core::ptr::from_ref(distance).cast::<c_void>().wrapping_byte_offset(*distance as isize)
}

/// Hooks of what finds functions by their names. The C names bring the table along, behind the arguments of either function.
macro_rules! lookups {
    ($($name:ident($($arg:ident: $ty:ty),*; $($unused:ident: $unused_ty:ty)?) of $text:ident;)*) => {$(
        #[doc = concat!("`", stringify!($name), "` of this module.")]
        ///
        /// # Safety
        /// As the C function says; `begin` and `end` are those of the section `alcedo_hooked` of this module.
        pub unsafe extern "C" fn $name(
            $($arg: $ty,)* $($unused: $unused_ty,)? begin: *const HookedName, end: *const HookedName,
        ) -> *mut c_void {
            // SAFETY: our caller keeps to the C function's contract, by which what was found has a name, a C string; and it
            // promises the ends of a section that holds nothing but entries, and that nothing writes to.
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
