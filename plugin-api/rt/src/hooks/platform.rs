//! The platform's functions, looked up by name at run time, because direct references would bind to the module's own hooks.
//!
//! The code of this file allocates no memory in the module. A lookup takes the lock of the loader, so all lookups happen while the module
//! is being mapped, when the mapping thread already holds this lock. Later calls of platform functions therefore never wait for a thread
//! that is mapping a library.
#![expect(unsafe_code, reason = "calls C functions at addresses from the loader")]

use core::ffi::{CStr, c_char, c_int, c_long, c_uint, c_ulong, c_void};
use core::mem::{MaybeUninit, transmute};
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, Ordering};

use alcedo_abi::hooks::{Deregister, Destructor, OnExit, ThreadStart};

pub(super) use super::assembly::{dlsym, dlvsym};
use super::functions::{creating_functions, replaced_functions};
use super::tables::StreamFunctions;
use crate::outside::hook_context;

/// Handler that runs before or after a `fork`. If the handler was registered for a library, the C library removes the handler when this
/// library is unmapped.
pub type AtFork = Option<unsafe extern "C" fn()>;

struct Address {
    name: &'static CStr,
    found: AtomicPtr<c_void>,
}

impl Address {
    const fn new(name: &'static str) -> Self {
        match CStr::from_bytes_with_nul(name.as_bytes()) {
            Ok(name) => Self { name, found: AtomicPtr::new(null_mut()) },
            Err(_) => panic!("a name ends with a zero byte"),
        }
    }

    /// Returns the platform's function of this name, or null.
    fn get(&self) -> *mut c_void {
        let found = self.found.load(Ordering::Relaxed);
        if found.is_null() { self.load() } else { found }
    }

    #[cold]
    fn load(&self) -> *mut c_void {
        let found = find(Scope::Default, self.name);
        self.found.store(found, Ordering::Relaxed);
        found
    }
}

macro_rules! platform {
    (
        $resolve:ident, $addresses:ident, $table:ident;
        $(
            fn $name:ident($($arg:ident: $ty:ty),*) $(-> $ret:ty)? $(, without: $without:expr)? $(, if $condition:expr)?
                $(, hook: $hook:tt)? $(=> $entry:ident $(($($argument:expr),*))?)?;
        )*
    ) => {
        struct $addresses {
            $($name: Address,)*
        }

        static $table: $addresses = $addresses {
            $($name: Address::new(concat!(stringify!($name), "\0")),)*
        };

        fn $resolve() {
            $($table.$name.get();)*
        }

        $(
            /// Calls the platform's function of this name.
            ///
            /// # Safety
            /// The caller fulfills the contract of the C function.
            pub(crate) unsafe fn $name($($arg: $ty),*) $(-> $ret)? {
                let address = $table.$name.get();
                if address.is_null() {
                    return $($without)?;
                }
                // SAFETY: the loader returned the address of the C function, and the list contains its signature.
                // On Linux, variadic integer arguments are passed like other arguments. The caller fulfills the contract of the function.
                unsafe { transmute::<*mut c_void, unsafe extern "C" fn($($ty),*) $(-> $ret)?>(address)($($arg),*) }
            }
        )*
    };
}

pub(super) fn set_error(number: c_int) {
    // SAFETY: `errno` is a valid location of this thread, and no other thread writes it.
    unsafe { *libc::__errno_location() = number };
}

fn missing() -> c_int {
    set_error(libc::ENOSYS);
    -1
}

/// Search scope for a lookup by the loader.
#[derive(Clone, Copy)]
pub(super) enum Scope {
    /// Libraries in which the loader resolves the references of this library.
    Default,
    /// Libraries that follow this library in the search order of the loader.
    Next,
}

/// Returns the address that the loader finds for a symbol, or null.
pub(super) fn find(scope: Scope, name: &CStr) -> *mut c_void {
    let scope = match scope {
        Scope::Default => libc::RTLD_DEFAULT,
        Scope::Next => libc::RTLD_NEXT,
    };
    // SAFETY: the name is a C string, and neither scope contains hidden symbols of this module.
    unsafe { dlsym(scope, name.as_ptr()) }
}

/// Clears the loader's error state for this thread.
pub(super) fn forget_error() {
    dlerror();
}

// SAFETY: `dlerror` has no requirements.
unsafe extern "C" {
    safe fn dlerror() -> *mut c_char;
}

/// Returns the base address of the library that contains an address.
pub(super) fn library_at(address: usize) -> Option<usize> {
    let (mut info, address) = (MaybeUninit::<libc::Dl_info>::uninit(), core::ptr::without_provenance(address));
    // SAFETY: the loader only compares the address, and fills the struct if it finds the library.
    let info = unsafe { (libc::dladdr(address, info.as_mut_ptr()) != 0).then(|| info.assume_init()) };
    info.map(|info| info.dli_fbase.addr())
}

/// Looks up the addresses of all platform functions that this module needs. Called by the first initializer of the module.
pub extern "C" fn resolve() {
    resolve_creating();
    resolve_reported();
    if hook_context().is_none() {
        resolve_replaced();
    }
}

replaced_functions!(platform resolve_replaced, Replaced, REPLACED;);
creating_functions!(platform resolve_creating, Creating, CREATING;);

// Functions that are reported: the hooks call the platform's function and notify the host.
platform! {
    resolve_reported, Reported, REPORTED;

    fn close(fd: c_int) -> c_int, without: missing();
    fn fcntl(fd: c_int, command: c_int, argument: usize) -> c_int, without: missing();
    fn pthread_setname_np(thread: usize, name: *const c_char) -> c_int, without: libc::ENOSYS;
    fn syscall(number: c_long, first: usize, second: usize, third: usize, fourth: usize, fifth: usize, sixth: usize) -> c_long, without: missing().into();

    fn __register_frame(begin: *const c_void);
    fn __deregister_frame(begin: *const c_void);
    fn fclose(stream: *mut c_void) -> c_int, without: missing();
    fn setvbuf(stream: *mut c_void, buffer: *mut c_char, mode: c_int, len: usize) -> c_int, without: missing();
    fn setbuffer(stream: *mut c_void, buffer: *mut c_char, len: usize);

    // Functions for devices, message queues, jumps and processes.
    fn ioctl(fd: c_int, request: c_ulong, argument: usize) -> c_int, without: missing();
    fn mq_close(queue: c_int) -> c_int, without: missing();
    fn longjmp(buffer: *mut c_void, value: c_int);
    fn _longjmp(buffer: *mut c_void, value: c_int);
    fn siglongjmp(buffer: *mut c_void, value: c_int);
    fn __longjmp_chk(buffer: *mut c_void, value: c_int);
    fn fork() -> c_int, without: missing();
    fn posix_spawn(pid: *mut c_int, program: *const c_char, actions: *const c_void, attributes: *const c_void, arguments: *const *mut c_char, environment: *const *mut c_char) -> c_int, without: libc::ENOSYS;
    fn posix_spawnp(pid: *mut c_int, program: *const c_char, actions: *const c_void, attributes: *const c_void, arguments: *const *mut c_char, environment: *const *mut c_char) -> c_int, without: libc::ENOSYS;

    // Stores the address of a string in the environment.
    fn putenv(text: *mut c_char) -> c_int, without: missing();

    // Functions that close streams.
    fn pclose(stream: *mut c_void) -> c_int, without: missing();
    fn closedir(folder: *mut c_void) -> c_int, without: missing();

    // Returns the size of a block of the C heap.
    fn malloc_usable_size(block: *mut c_void) -> usize, without: 0;

    // Registers handlers for `fork`.
    fn __register_atfork(prepare: AtFork, parent: AtFork, child: AtFork, dso: *mut c_void) -> c_int, without: libc::ENOSYS;
}

/// Returns the unwinder's function that deregisters tables. Returns `None` if the process does not have this function.
pub(crate) fn deregister() -> Option<Deregister> {
    let address = REPORTED.__deregister_frame.get();
    // SAFETY: the loader returned the address of `__deregister_frame`, which has this signature.
    (!address.is_null()).then(|| unsafe { transmute::<*mut c_void, Deregister>(address) })
}
