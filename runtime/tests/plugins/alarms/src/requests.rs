//! Messages, reads and name look-ups that a thread of the C library completes.
#![expect(unsafe_code, reason = "calls C functions, like plugins that wrap a C library")]

use std::ffi::{CString, c_int, c_uint, c_void};
use std::mem;
use std::ptr::{null, null_mut};
use std::sync::Mutex;

use crate::raw::{Event, count_on, on_event};

/// Opens the queue that `ALARMS_QUEUE` names, and leaves the queue open.
fn queue() -> c_int {
    let name = std::env::var("ALARMS_QUEUE").expect("the test sets the queue");
    let name = CString::new(name).expect("the name has no zero byte");
    // SAFETY: the name is a C string; the attributes are optional.
    let queue = unsafe { mq_open(name.as_ptr(), libc::O_RDWR | libc::O_CREAT | libc::O_NONBLOCK, 0o600, null()) };
    assert!(queue >= 0, "{}", std::io::Error::last_os_error());
    queue
}

/// Requests a signal for the next message in the queue.
pub(crate) fn message() {
    count_on(libc::SIGUSR1);
    // SAFETY: the queue is open, and the event is initialized.
    assert_eq!(unsafe { mq_notify(queue(), &Event::signal(libc::SIGUSR1)) }, 0);
}

/// Requests a function call for the next message in the queue.
pub(crate) fn message_call() {
    // SAFETY: the queue is open, and the event is initialized.
    assert_eq!(unsafe { mq_notify(queue(), &Event::call(on_event)) }, 0);
}

/// Write end of the pipe from which the last read request reads.
static WAITING: Mutex<Option<c_int>> = Mutex::new(None);

fn begin_read(event: Event) {
    let mut pair = [0; 2];
    // SAFETY: `pair` is valid for two descriptors.
    assert_eq!(unsafe { libc::pipe(pair.as_mut_ptr()) }, 0);
    let buffer = Box::leak(Box::new([0_u8; 16]));
    // SAFETY: all zeroes are a valid `aiocb`.
    let block: &'static mut libc::aiocb = Box::leak(Box::new(unsafe { mem::zeroed() }));
    block.aio_fildes = pair[0];
    block.aio_buf = buffer.as_mut_ptr().cast();
    block.aio_nbytes = buffer.len();
    let slot = (&raw mut block.aio_sigevent).cast::<Event>();
    // SAFETY: `Event` has the layout of `sigevent`.
    unsafe { slot.write(event) };
    // SAFETY: the block and its buffer are never freed.
    assert_eq!(unsafe { libc::aio_read(block) }, 0);
    // Publishes the descriptor of the write end. The test writes to this descriptor to complete the read.
    let name = std::env::var_os("ALARMS_PIPE").expect("the test sets the path");
    std::fs::write(name, pair[1].to_string()).expect("the file is writable");
    *WAITING.lock().expect("the lock is not poisoned") = Some(pair[1]);
}

/// Requests a read from a pipe, with a signal on completion. This module never writes to the pipe.
pub(crate) fn read() {
    count_on(libc::SIGUSR1);
    begin_read(Event::signal(libc::SIGUSR1));
}

/// Requests a read from a pipe, with a function call on completion.
pub(crate) fn read_call() {
    begin_read(Event::call(on_event));
}

/// `struct gaicb`.
#[repr(C)]
struct Names {
    name: *const libc::c_char,
    service: *const libc::c_char,
    hints: *const libc::addrinfo,
    result: *mut libc::addrinfo,
    error: c_int,
    rest: [c_int; 5],
}

impl Names {
    const fn of(name: &'static std::ffi::CStr) -> Self {
        let (result, rest) = (null_mut(), [0; 5]);
        Self { name: name.as_ptr(), service: null(), hints: null(), result, error: 0, rest }
    }
}

/// Looks up names synchronously, on a thread whose stack is unmapped when the thread ends. Writes the address of a variable on this stack
/// to the file that `ALARMS_RELEASE` names.
pub(crate) fn names_waited() {
    let waits = || {
        let mut blocks: [Names; 3] = [c"127.0.0.1", c"localhost", c"::1"].map(Names::of);
        let mut list = blocks.each_mut().map(|block| (&raw mut *block).cast());
        // SAFETY: the list and its blocks are valid until the function returns, and no event is raised.
        assert_eq!(unsafe { getaddrinfo_a(0, list.as_mut_ptr(), 3, &Event::none()) }, 0);
        write_address(list.as_ptr().addr());
        for block in blocks {
            // SAFETY: the look-up succeeded, and the result is freed once.
            unsafe { libc::freeaddrinfo(block.result) };
        }
    };
    let thread = std::thread::Builder::new().stack_size(64 << 20).spawn(waits);
    thread.expect("a thread can be started").join().expect("waiting does not panic");
}

/// Looks up a numeric address, which needs no server. A function is called on completion. Returns after this function was called.
pub(crate) fn names() {
    let block: &'static mut Names = Box::leak(Box::new(Names::of(c"127.0.0.1")));
    let list: &'static mut [*mut c_void; 1] = Box::leak(Box::new([(&raw mut *block).cast()]));
    let before = crate::raw::calls();
    // SAFETY: the list and its block are never freed.
    assert_eq!(unsafe { getaddrinfo_a(1, list.as_mut_ptr(), 1, &Event::call(on_event)) }, 0);
    while crate::raw::calls() == before {
        std::thread::yield_now();
    }
}

static mut BLOCKS: [Names; 8] = [const { Names::of(c"127.0.0.1") }; 8];

/// Looks up names without a notification, and waits for the results. The control blocks are in this module's image. Writes the address of
/// these blocks to the file that `ALARMS_RELEASE` names.
pub(crate) fn names_in_image() {
    let first = (&raw mut BLOCKS).cast::<Names>();
    let blocks: [*mut c_void; 8] = std::array::from_fn(|at| first.wrapping_add(at).cast());
    // SAFETY: the blocks are static, and no event is raised.
    assert_eq!(unsafe { getaddrinfo_a(1, { blocks }.as_mut_ptr(), 8, &Event::none()) }, 0);
    for block in blocks {
        // SAFETY: the block is static.
        while unsafe { gai_error(block) } == IN_PROGRESS {
            std::thread::yield_now();
        }
        // SAFETY: the block is static, and its look-up is complete.
        let block = unsafe { block.cast::<Names>().read() };
        // SAFETY: the look-up succeeded, and the result is freed once.
        unsafe { libc::freeaddrinfo(block.result) };
    }
    write_address(first.addr());
}

fn write_address(address: usize) {
    let name = std::env::var_os("ALARMS_RELEASE").expect("the test sets it");
    std::fs::write(name, address.to_string()).expect("the file is writable");
}

/// `EAI_INPROGRESS`.
const IN_PROGRESS: c_int = -100;

unsafe extern "C" {
    fn mq_open(name: *const libc::c_char, flags: c_int, mode: c_uint, attributes: *const c_void) -> c_int;
    fn mq_notify(queue: c_int, event: &Event) -> c_int;
    fn gai_error(block: *mut c_void) -> c_int;
    fn getaddrinfo_a(mode: c_int, list: *mut *mut c_void, count: c_int, event: &Event) -> c_int;
}
