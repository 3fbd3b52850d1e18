//! Tests the public behavior of the table: handles during changes to names, modules, resolvers and dispatchers, and calls of the table by
//! resolvers and dispatchers.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use alcedo_abi::zcall::ZCallStatus;

use super::{ZCallTable, status_of};
use crate::boundary::CallError;
use crate::buffer::BufferMut;
use crate::call::Implementer;
use crate::chain::tests::{add, body, chain, nothing};
use crate::chain::{Answer, ResolverChain};
use crate::game_thread::GameThreadId;
use crate::handles::{ModuleId, ObjectHandle, ZCallHandle};
use crate::owned::DynBuffer;

impl ZCallTable {
    /// Returns the number of live handles, including handles of suspended modules.
    fn len(&self) -> usize {
        self.state.borrow().names.values().map(Vec::len).sum()
    }
}

const MODULE: Implementer = Implementer::Module(ModuleId(7));
const OLD: ModuleId = ModuleId(1);
const NEW: ModuleId = ModuleId(2);

/// Call table with a resolver chain. The chain resolves `ex:/h…` to functions of the host, and all other names to functions of the current
/// module.
struct Fixture {
    table: Rc<ZCallTable>,
    chain: ResolverChain,
    module: Rc<Cell<ModuleId>>,
    resolved_names: Rc<RefCell<Vec<String>>>,
}

fn fixture() -> Fixture {
    let (module, resolved_names) = (Rc::new(Cell::new(OLD)), Rc::new(RefCell::new(Vec::new())));
    let chain = chain();
    let (now, log) = (Rc::clone(&module), Rc::clone(&resolved_names));
    add(&chain, move |name| {
        log.borrow_mut().push(name.to_string());
        let module = now.get();
        let (side, owner) = match name.rest() {
            "nobody" => return Ok(Answer::declined("")),
            text if text.starts_with('h') => (Implementer::Host, 0),
            _ => (MODULE, module.0),
        };
        Ok(Answer::Function(body(side, owner, "-> u64", 5, move |mut buffer| buffer.set(0, owner))))
    });
    Fixture { table: Rc::new(ZCallTable::new()), chain, module, resolved_names }
}

impl Fixture {
    fn resolve(&self, name: &str) -> ZCallHandle {
        self.table.resolve(&self.chain, name, 5).expect(name)
    }

    /// Calls the handle. Returns the status, and the value that the callee wrote.
    fn call(&self, handle: ZCallHandle) -> (ZCallStatus, Option<u64>) {
        let (status, _, wrote) = call(&self.table, handle);
        (status, wrote)
    }
}

fn call(table: &ZCallTable, handle: ZCallHandle) -> (ZCallStatus, Result<(), CallError>, Option<u64>) {
    let id = GameThreadId::here();
    let gt = id.prove().expect("this thread");
    let mut buffer = DynBuffer::with_len(1);
    let (status, result) = table.dispatch(gt, handle, buffer.as_buffer_mut());
    assert_eq!(status == ZCallStatus::SUCCESS, result.is_ok());
    let untouched = buffer.as_buffer_mut().slot(0).expect("slot 0").bits() == 0 && result.is_err();
    (status, result, (!untouched).then(|| buffer.get(0).expect("slot 0")))
}

#[test]
fn a_name_has_one_handle_and_is_resolved_once() {
    let f = fixture();
    let first = f.resolve("ex:/m");
    assert_eq!(f.resolve("ex:/m"), first);
    assert_eq!(*f.resolved_names.borrow(), ["ex:/m"]);
    assert_eq!(f.call(first), (ZCallStatus::SUCCESS, Some(1)));
    assert_eq!(f.table.callee(first).map(|callee| callee.name().to_string()), Some("ex:/m".to_owned()));
}

#[test]
fn the_sign_selects_host_or_module() {
    let f = fixture();
    let handles = ["ex:/h1", "ex:/m1", "ex:/h2", "ex:/m2"].map(|name| f.resolve(name).0);
    assert_eq!(handles, [1, -1, 2, -2]);
    assert_eq!(f.call(ZCallHandle(2)), (ZCallStatus::SUCCESS, Some(0)));
}

#[test]
fn an_unassigned_handle_is_invalid() {
    let f = fixture();
    f.resolve("ex:/h");
    for handle in [0, 2, -1, i64::MAX, i64::MIN] {
        assert_eq!(f.call(ZCallHandle(handle)), (ZCallStatus::INVALID_HANDLE, None), "{handle}");
    }
}

#[test]
fn handles_die_with_their_generation_and_are_never_used_again() {
    let f = fixture();
    let (host, old) = (f.resolve("ex:/h"), f.resolve("ex:/m"));
    f.table.end_module(OLD);
    f.table.end_module(ModuleId::HOST);
    f.module.set(NEW);
    let new = f.resolve("ex:/m");
    assert_eq!((old.0, new.0), (-1, -2));
    assert_eq!(f.call(old), (ZCallStatus::DISPATCHER_NOT_FOUND, None));
    assert_eq!(f.call(new), (ZCallStatus::SUCCESS, Some(2)));
    assert_eq!(f.call(host), (ZCallStatus::SUCCESS, Some(0)));
    assert!(f.table.callee(old).is_none());
    assert_eq!(f.table.len(), 2);
}

#[test]
fn generations_may_end_in_any_order() {
    let f = fixture();
    let old = f.resolve("ex:/a");
    f.module.set(NEW);
    let new = f.resolve("ex:/b");
    f.table.end_module(NEW);
    assert_eq!(f.call(new), (ZCallStatus::DISPATCHER_NOT_FOUND, None));
    assert_eq!(f.call(old), (ZCallStatus::SUCCESS, Some(1)));
    f.table.end_module(OLD);
    assert_eq!(f.call(new), (ZCallStatus::DISPATCHER_NOT_FOUND, None));
    assert_eq!(f.call(old), (ZCallStatus::DISPATCHER_NOT_FOUND, None));
    assert_eq!(f.table.len(), 0);
}

#[test]
fn a_rollback_restores_old_handles_and_invalidates_new_ones() {
    for end_first in [true, false] {
        let f = fixture();
        let old = f.resolve("ex:/m");
        f.table.suspend(OLD);
        assert_eq!(f.call(old), (ZCallStatus::CONTEXT_UNAVAILABLE, None));
        f.module.set(NEW);
        let new = f.resolve("ex:/m");
        assert_ne!(new, old);
        assert_eq!(f.resolve("ex:/m"), new);
        assert_eq!(f.call(new), (ZCallStatus::SUCCESS, Some(2)));
        if end_first {
            f.table.end_module(NEW);
            f.table.resume(OLD);
        } else {
            f.table.resume(OLD);
            assert_eq!(f.resolve("ex:/m"), old, "the old wins even before the new has ended");
            f.table.end_module(NEW);
        }
        assert_eq!(f.resolve("ex:/m"), old);
        assert_eq!(f.call(old), (ZCallStatus::SUCCESS, Some(1)));
        assert_eq!(f.call(new), (ZCallStatus::DISPATCHER_NOT_FOUND, None));
    }
}

#[test]
fn a_commit_kills_the_suspended_handles() {
    let f = fixture();
    let (old, only_old) = (f.resolve("ex:/m"), f.resolve("ex:/gone"));
    f.table.suspend(OLD);
    f.module.set(NEW);
    let new = f.resolve("ex:/m");
    f.table.end_module(OLD);
    f.table.resume(OLD);
    for dead in [old, only_old] {
        assert_eq!(f.call(dead), (ZCallStatus::DISPATCHER_NOT_FOUND, None));
    }
    assert_eq!(f.resolve("ex:/m"), new);
}

#[test]
fn registration_needs_a_running_generation() {
    let f = fixture();
    f.table.suspend(OLD);
    let unavailable = Err(CallError::Unavailable { what: "`ex:/m`".to_owned() });
    assert_eq!(f.table.resolve(&f.chain, "ex:/m", 0), unavailable);
    f.table.end_module(OLD);
    assert_eq!(f.table.resolve(&f.chain, "ex:/m", 0), unavailable);
    assert_eq!(f.table.len(), 0);
}

#[test]
fn another_signature_is_found_before_the_first_call() {
    let f = fixture();
    for _ in ["not yet known", "not known still"] {
        let error = f.table.resolve(&f.chain, "ex:/m", 6).expect_err("5 is not 6").to_string();
        assert_eq!(
            error,
            "`ex:/m` has the signature (-> u64, fingerprint 0000000000000005), the caller was built for \
             (fingerprint 0000000000000006): rebuild or correct the caller"
        );
    }
    let handle = f.table.resolve(&f.chain, "ex:/m", 0).expect("zero is not compared");
    assert!(matches!(f.table.resolve(&f.chain, "ex:/m", 6), Err(CallError::Signature { .. })));
    assert_eq!(f.resolve("ex:/m"), handle);
}

#[test]
fn a_callee_without_a_signature_needs_an_untyped_caller() {
    let (table, chain) = (ZCallTable::new(), chain());
    add(&chain, |_| Ok(Answer::Function(nothing(Implementer::Host, 0, ""))));
    for _ in ["not yet known", "known"] {
        let error = table.resolve(&chain, "ex:/f", 6).expect_err("nothing was compared").to_string();
        assert!(error.contains("none that can be compared"), "{error}");
        assert_eq!(table.resolve(&chain, "ex:/f", 0), Ok(ZCallHandle(1)));
    }
}

#[test]
fn a_wrong_or_unknown_name_is_not_found() {
    let f = fixture();
    for name in ["", "ex:m", "zz:/", "ex:/nobody"] {
        assert!(matches!(f.table.resolve(&f.chain, name, 0), Err(CallError::NotFound { .. })), "{name}");
    }
    assert_eq!(*f.resolved_names.borrow(), ["ex:/nobody"]);
}

#[test]
fn a_resolver_that_resolves_the_same_name_leaves_one_registration() {
    let table = Rc::new(ZCallTable::new());
    let chain = Rc::new(chain());
    let (inner, inner_chain, depth) = (Rc::clone(&table), Rc::clone(&chain), Cell::new(0));
    add(&chain, move |name| {
        depth.set(depth.get() + 1);
        if depth.get() == 1 {
            assert_eq!(inner.resolve(&inner_chain, &name.to_string(), 0), Ok(ZCallHandle(1)));
        }
        Ok(Answer::Function(nothing(Implementer::Host, 0, "")))
    });
    assert_eq!(table.resolve(&chain, "ex:/f", 0), Ok(ZCallHandle(1)));
    assert_eq!(table.len(), 1);
}

fn check_body(
    code: impl Fn(&Rc<ZCallTable>, BufferMut<'_>) -> Result<(), CallError> + 'static,
) -> (ZCallStatus, Result<(), CallError>) {
    let (table, chain) = (Rc::new(ZCallTable::new()), chain());
    let (inner, code) = (Rc::downgrade(&table), Rc::new(code));
    add(&chain, move |_| {
        let (inner, code) = (inner.clone(), Rc::clone(&code));
        let call = move |buffer: BufferMut<'_>| code(&inner.upgrade().expect("the table lives"), buffer);
        Ok(Answer::Function(body(MODULE, 1, "", 0, call)))
    });
    let handle = table.resolve(&chain, "ex:/f", 0).expect("it answers");
    let (status, result, _) = call(&table, handle);
    (status, result)
}

#[test]
fn a_dispatcher_may_call_and_even_end_its_own_generation() {
    let depth = Cell::new(0);
    let (status, _) = check_body(move |table, mut buffer| {
        depth.set(depth.get() + 1);
        if depth.get() < 3 {
            let id = GameThreadId::here();
            let (status, result) = table.dispatch(id.prove().expect("here"), ZCallHandle(-1), buffer);
            assert_eq!(status, ZCallStatus::SUCCESS);
            return result;
        }
        table.end_module(OLD);
        buffer.set(0, 1_u64)
    });
    assert_eq!(status, ZCallStatus::SUCCESS);
}

#[test]
fn a_buffer_error_names_the_call() {
    let (status, result) = check_body(|_, buffer| buffer.expect_len(2));
    assert_eq!(status, ZCallStatus::BUFFER_ERROR);
    let message = "`ex:/f`: the buffer has 1 slots, the call expects 2".to_owned();
    assert_eq!(result, Err(CallError::Buffer { message }));
}

#[test]
fn a_panic_of_host_code_stops_at_the_table() {
    let (status, result) = check_body(|_, _| panic!("oh"));
    assert_eq!(status, ZCallStatus::EXTERNAL_ERROR);
    assert_eq!(result, Err(CallError::Panicked { message: "oh".to_owned(), place: None }));
}

#[test]
fn every_error_has_its_status() {
    let text = || "x".to_owned();
    let handle = ObjectHandle::NONE;
    for (error, status) in [
        (CallError::Panicked { message: text(), place: None }, ZCallStatus::EXTERNAL_ERROR),
        (CallError::Buffer { message: text() }, ZCallStatus::BUFFER_ERROR),
        (CallError::Signature { name: text(), found: text(), expected: text() }, ZCallStatus::BUFFER_ERROR),
        (CallError::Unavailable { what: text() }, ZCallStatus::CONTEXT_UNAVAILABLE),
        (CallError::Stale { handle }, ZCallStatus::DISPATCHER_ERROR),
        (CallError::NotFound { message: text() }, ZCallStatus::DISPATCHER_ERROR),
        (CallError::NoMaster { message: text() }, ZCallStatus::DISPATCHER_ERROR),
        (CallError::DeadHandle { message: text() }, ZCallStatus::DISPATCHER_NOT_FOUND),
        (CallError::WrongThread { action: text() }, ZCallStatus::DISPATCHER_ERROR),
        (CallError::WrongStack { action: text() }, ZCallStatus::DISPATCHER_ERROR),
        (CallError::DuringRebuild { action: text() }, ZCallStatus::DISPATCHER_ERROR),
        (
            CallError::WrongClass { place: text(), handle, found: text(), expected: text() },
            ZCallStatus::DISPATCHER_ERROR,
        ),
        (
            CallError::ReentrantBorrow { object: handle, held: text(), requested_by: text() },
            ZCallStatus::DISPATCHER_ERROR,
        ),
        (CallError::other("x"), ZCallStatus::DISPATCHER_ERROR),
    ] {
        assert_eq!(status_of(&error), status, "{error}");
    }
}
