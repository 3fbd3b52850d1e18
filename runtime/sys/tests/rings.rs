//! Tests that an image stays mapped while one of its io_urings may have requests in flight, because the kernel may still write to the
//! image's memory. The rings are created by system calls that no hook intercepts.
#![cfg(all(target_os = "linux", target_env = "gnu"))]
#![expect(unsafe_code, reason = "mapping a library runs its code")]

use std::ffi::{c_int, c_void};
use std::fs::File;
use std::io::{Write as _, pipe};
use std::os::fd::{AsRawFd as _, BorrowedFd};
use std::sync::atomic::{AtomicU8, Ordering::SeqCst};
use std::sync::{Mutex, MutexGuard, PoisonError};

use alcedo_sys::{EndState, Ending, HolderKind, hooks, process};

use crate::common::hooked::{AT_ONCE, Library, Module, finish, wait_for};

/// Serializes the tests, because the host searches the whole process for rings.
fn alone() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the descriptor of a new ring. Returns `None` if the system does not permit rings.
fn ring(module: &Module) -> Option<c_int> {
    let open: extern "C" fn() -> c_int = module.function(c"ring_open");
    match open() {
        ring @ 0.. => Some(ring),
        error => {
            let error = std::io::Error::from_raw_os_error(-error);
            eprintln!("skipped: this system gives out no io_uring: {error}");
            None
        }
    }
}

fn read(module: &Module, from: c_int, byte: *mut c_void) {
    let read: extern "C" fn(c_int, *mut c_void) -> c_int = module.function(c"ring_read");
    assert_eq!(read(from, byte), 1);
}

/// Waits until a ring is reported under this name as the reason why the image stays mapped.
fn is_kept(ending: &mut Ending, name: &str) {
    wait_for(|| (kept(ending) == name).then_some(())).unwrap_or_else(|| panic!("{name}"));
}

/// Returns the name of the only holder of the image. Polls several times to check that this holder remains the only one.
fn kept(ending: &mut Ending) -> String {
    let mut name = String::new();
    for _ in 0..20 {
        let EndState::Waiting(holders) = ending.poll() else { panic!("the ring is there") };
        assert_eq!((holders.len(), holders[0].kind), (1, HolderKind::Ring), "{holders:?}");
        name.clone_from(&holders[0].name);
    }
    name
}

#[test]
fn a_request_in_flight_keeps_memory_until_the_ring_is_closed() {
    let (_alone, library, (from, mut to)) = (alone(), Library::new(), pipe().expect("a pipe"));
    let module = library.map();
    let Some(fd) = ring(&module) else { return };
    // SAFETY: the word belongs to a live ledger.
    let page = unsafe { hooks::heap_grow(module.ledger.word(), 64 * 1024) };
    read(&module, from.as_raw_fd(), page);
    let unmap: extern "C" fn() = module.function(c"ring_unmap");
    let close: extern "C" fn() = module.function(c"ring_close");
    let (mut ending, _ledger) = module.begin_end(AT_ONCE);
    is_kept(&mut ending, &format!("io_uring (descriptor {fd}) with requests in flight"));
    to.write_all(b"x").expect("the ring reads");
    // SAFETY: the image and its heap are still mapped.
    let byte = unsafe { &*page.cast::<AtomicU8>() };
    wait_for(|| (byte.load(SeqCst) == b'x').then_some(())).expect("the kernel has written");
    is_kept(&mut ending, &format!("io_uring (descriptor {fd}) that may have requests in flight"));
    close();
    is_kept(&mut ending, "io_uring (closed, but still mapped)");
    unmap();
    assert_eq!(finish(&mut ending).heap_bytes, 64 * 1024);
}

#[test]
fn recently_closed_rings_are_awaited() {
    let (_alone, library, (from, _to)) = (alone(), Library::new(), pipe().expect("a pipe"));
    let module = library.map();
    let Some(_fd) = ring(&module) else { return };
    // SAFETY: the word belongs to a live ledger.
    read(&module, from.as_raw_fd(), unsafe { hooks::heap_grow(module.ledger.word(), 64 * 1024) });
    // Requests the stop of the module, as a host does before it runs exit hooks.
    module.ledger.request_stop();
    let unmap: extern "C" fn() = module.function(c"ring_unmap");
    let close: extern "C" fn() = module.function(c"ring_close");
    unmap();
    close();
    let (mut ending, _ledger) = module.begin_end(AT_ONCE);
    let EndState::Waiting(holders) = ending.poll() else { panic!("the kernel may not have done yet") };
    assert_eq!((holders[0].kind, holders[0].name.as_str()), (HolderKind::Ring, "io_uring (closed a moment ago)"));
    finish(&mut ending);
}

#[test]
fn earlier_or_unused_rings_keep_no_image() {
    let (_alone, library, (from, _to)) = (alone(), Library::new(), pipe().expect("a pipe"));
    let first = library.map();
    let Some(_fd) = ring(&first) else { return };
    let mut byte = 0u8;
    read(&first, from.as_raw_fd(), (&raw mut byte).cast());
    let second = library.map();
    let idle = ring(&second).expect("there was one before");
    // Without the descriptor of a ring that is still mapped, the host cannot determine if requests are in flight.
    let unmap: extern "C" fn() = second.function(c"ring_unmap");
    unmap();
    second.end(AT_ONCE);
    let unmap: extern "C" fn() = first.function(c"ring_unmap");
    let close: extern "C" fn() = first.function(c"ring_close");
    let (mut ending, _ledger) = first.begin_end(AT_ONCE);
    assert!(kept(&mut ending).contains("with requests in flight"));
    // SAFETY: the descriptor belonged to the second image, which is unmapped.
    unsafe { libc::close(idle) };
    unmap();
    close();
    finish(&mut ending);
}

#[test]
fn a_ring_is_known_by_more_than_its_number() {
    let (_alone, library, (from, _to)) = (alone(), Library::new(), pipe().expect("a pipe"));
    let module = library.map();
    let Some(fd) = ring(&module) else { return };
    let mut byte = 0u8;
    read(&module, from.as_raw_fd(), (&raw mut byte).cast());
    let unmap: extern "C" fn() = module.function(c"ring_unmap");
    let close: extern "C" fn() = module.function(c"ring_close");
    // SAFETY: the descriptor is open.
    let duplicate = unsafe { BorrowedFd::borrow_raw(fd) }.try_clone_to_owned().expect("a descriptor");
    unmap();
    close();
    // A different file reuses the ring's old descriptor number, and the ring has a new descriptor number.
    let other = File::open("/dev/null").expect("a file");
    let (mut ending, _ledger) = module.begin_end(AT_ONCE);
    let name = format!("io_uring (descriptor {}) with requests in flight", duplicate.as_raw_fd());
    is_kept(&mut ending, &name);
    drop(duplicate);
    finish(&mut ending);
    drop(other);
}

#[test]
fn rings_declared_by_the_host_keep_no_image() {
    let (_alone, library, (from, _to)) = (alone(), Library::new(), pipe().expect("a pipe"));
    let (first, second) = (library.map(), library.map());
    let Some(fd) = ring(&first) else { return };
    let byte = Box::leak(Box::new(0u8));
    read(&first, from.as_raw_fd(), (&raw mut *byte).cast());
    let (mut ending, _ledger) = second.begin_end(AT_ONCE);
    assert!(kept(&mut ending).starts_with("io_uring"));
    // SAFETY: the only request of the ring accesses memory of the test.
    let results = [fd, from.as_raw_fd(), -1].map(|fd| unsafe { process::own_ring(fd) });
    assert_eq!(results, [true, false, false]);
    finish(&mut ending);
    let unmap: extern "C" fn() = first.function(c"ring_unmap");
    let close: extern "C" fn() = first.function(c"ring_close");
    unmap();
    close();
    first.end(AT_ONCE);
}
