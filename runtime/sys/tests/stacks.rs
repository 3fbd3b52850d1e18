//! Tests alternate signal stacks that an image has set on threads that it did not start. Each stack is removed by the thread on which it
//! was set.
#![cfg(all(target_os = "linux", target_env = "gnu"))]
#![expect(unsafe_code, reason = "hooks replace C functions")]

use std::ptr;
use std::sync::mpsc;
use std::thread;

use alcedo_sys::{EndState, HolderKind, checkpoint, hooks};

use crate::common::hooked::{AT_ONCE, Library, Module, finish};

/// Returns the address of this thread's alternate stack, and `true` if the stack is enabled.
fn here() -> (usize, bool) {
    // SAFETY: all zeroes are a valid `stack_t`.
    let mut stack: libc::stack_t = unsafe { std::mem::zeroed() };
    // SAFETY: the call sets no stack, and the variable has room for a stack.
    assert_eq!(unsafe { libc::sigaltstack(ptr::null(), &raw mut stack) }, 0);
    (stack.ss_sp.addr(), stack.ss_flags & libc::SS_DISABLE == 0)
}

/// Sets a stack for this thread through the hook of an image.
fn set(word: usize) {
    let memory = Box::leak(vec![0_u8; 65536].into_boxed_slice());
    let stack = libc::stack_t { ss_sp: memory.as_mut_ptr().cast(), ss_flags: 0, ss_size: memory.len() };
    let image = ptr::with_exposed_provenance(word);
    // SAFETY: the word belongs to a live ledger, and the memory is never freed.
    assert_eq!(unsafe { hooks::alternate_stack(image, (&raw const stack).cast(), ptr::null_mut()) }, 0);
    assert_eq!(here(), (memory.as_ptr().addr(), true));
}

fn word(module: &Module) -> usize {
    module.ledger.word().expose_provenance()
}

#[test]
fn foreign_threads_keep_the_image_until_their_checkpoint_restores_the_stack() {
    let library = Library::new();
    let module = library.map();
    let (word, (resume, resumed), (done, over)) = (word(&module), mpsc::channel(), mpsc::channel());
    thread::scope(|scope| {
        scope.spawn(move || {
            let before = here();
            set(word);
            done.send(()).expect("somebody waits");
            resumed.recv().expect("somebody speaks");
            checkpoint();
            assert_eq!(here(), before);
            done.send(()).expect("somebody waits");
            resumed.recv().expect("somebody speaks");
        });
        over.recv().expect("it is set");
        let (mut ending, _ledger) = module.begin_end(AT_ONCE);
        let EndState::Waiting(holders) = ending.poll() else { panic!("a thread has its stack") };
        assert_eq!((holders.len(), holders[0].kind), (1, HolderKind::SignalStack), "{holders:?}");
        assert!(!holders[0].thread.is_empty(), "{holders:?}");
        resume.send(()).expect("it waits");
        over.recv().expect("it is returned");
        finish(&mut ending);
        resume.send(()).expect("it waits");
    });
}

#[test]
fn a_thread_that_has_ended_has_no_stack() {
    let library = Library::new();
    let module = library.map();
    let word = word(&module);
    thread::spawn(move || set(word)).join().expect("it ends well");
    module.end(AT_ONCE);
}

#[test]
fn stacks_of_two_images_are_restored_in_either_order() {
    for first_goes_first in [true, false] {
        thread::spawn(move || {
            let library = Library::new();
            let before = here();
            let (first, second) = (library.map(), library.map());
            set(word(&first));
            let of_first = here();
            set(word(&second));
            let of_second = here();
            if first_goes_first {
                first.end(AT_ONCE);
                assert_eq!(here(), of_second);
                second.end(AT_ONCE);
            } else {
                second.end(AT_ONCE);
                assert_eq!(here(), of_first);
                first.end(AT_ONCE);
            }
            assert_eq!(here(), before);
        })
        .join()
        .expect("it ends well");
    }
}
