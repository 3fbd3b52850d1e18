//! Tests contextual scopes. Covers the rules F5 to F8: see `main.rs`.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread;

use alcedo_runtime::{ContextError, Contexts, LeaseKind};

use super::{figures, gone, number, reports, runtime, slim};

fn current() -> Option<String> {
    Contexts::current().map(|info| info.name)
}

#[test]
fn f5_a_thread_starts_in_no_context_and_has_its_own_scopes() {
    let contexts = runtime().contexts();
    let slim = slim(&contexts, "f5");
    assert_eq!(current(), None);
    let _scope = slim.enter().expect("it is alive");
    assert_eq!(current().as_deref(), Some("f5"));
    assert_eq!(thread::spawn(current).join().expect("it does not panic"), None);
}

#[test]
fn f6_a_scope_and_an_empty_scope_can_be_entered_and_left() {
    let contexts = runtime().contexts();
    let slim = slim(&contexts, "f6");
    let scope = slim.enter().expect("it is alive");
    {
        let _none = Contexts::enter_none();
        assert_eq!(current(), None);
    }
    assert_eq!(current().as_deref(), Some("f6"));
    drop(scope);
    assert_eq!(current(), None);
}

#[test]
fn f7_scopes_nest_and_each_restores_what_was_before_it() {
    let contexts = runtime().contexts();
    let [one, other] = ["one", "other"].map(|name| slim(&contexts, name));
    let outer = one.enter().expect("it is alive");
    let inner = other.enter().expect("it is alive");
    assert_eq!(current().as_deref(), Some("other"));
    drop(inner);
    assert_eq!(current().as_deref(), Some("one"));
    drop(outer);
    assert_eq!(current(), None);
}

#[test]
fn f7_a_scope_left_out_of_order_restores_its_predecessor() {
    let contexts = runtime().contexts();
    let [one, other] = ["one", "other"].map(|name| slim(&contexts, name));
    let outer = one.enter().expect("it is alive");
    let inner = other.enter().expect("it is alive");
    drop(outer);
    assert_eq!(current(), None, "what was before the outer one");
    drop(inner);
    assert_eq!(current().as_deref(), Some("one"), "what was before the inner one");
    gone(&one.begin_unload().expect("its scope is left"));
    let _clean = Contexts::enter_none();
}

#[test]
fn f7_a_scope_is_a_lease() {
    let contexts = runtime().contexts();
    let slim = slim(&contexts, "f7");
    let scope = slim.enter().expect("it is alive");
    let ticket = slim.begin_unload().expect("it is collectible");
    let report = ticket.wait(std::time::Duration::ZERO).expect_err("a scope holds it");
    assert_eq!(report.blockers[0].kind, LeaseKind::Scope);
    assert!(report.blockers[0].place.as_deref().is_some_and(|place| place.contains("scopes.rs:")), "{report}");
    assert_eq!(current().as_deref(), Some("f7"), "the scope is still entered");
    drop(scope);
    gone(&ticket);
    assert!(matches!(slim.enter(), Err(ContextError::ContextUnloading { .. })));
}

/// Future that is ready at the second poll. Records the current context at each poll.
struct Twice(Vec<Option<String>>);

impl Future for Twice {
    type Output = Vec<Option<String>>;

    fn poll(mut self: std::pin::Pin<&mut Self>, _context: &mut Context<'_>) -> Poll<Self::Output> {
        self.0.push(current());
        match self.0.len() {
            2 => Poll::Ready(std::mem::take(&mut self.0)),
            _ => Poll::Pending,
        }
    }
}

struct NoopWake;

impl Wake for NoopWake {
    fn wake(self: Arc<Self>) {}
}

#[test]
fn f7_a_task_has_its_context_on_every_polling_thread() {
    let contexts = runtime().contexts();
    let [one, other] = ["task", "thread"].map(|name| slim(&contexts, name));
    let mut task = Box::pin(one.scope(Twice(Vec::new())).expect("it is alive"));
    let ticket = one.begin_unload().expect("it is collectible");
    let waker = Waker::from(Arc::new(NoopWake));
    let scope = other.enter().expect("it is alive");
    assert!(task.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    assert_eq!(current().as_deref(), Some("thread"), "the thread is where it was");
    drop(scope);
    let report = ticket.wait(std::time::Duration::ZERO).expect_err("the task holds it between polls");
    assert_eq!(report.blockers[0].kind, LeaseKind::Scope);
    let seen = thread::spawn(move || match task.as_mut().poll(&mut Context::from_waker(&waker)) {
        Poll::Ready(seen) => seen,
        Poll::Pending => panic!("it is ready the second time"),
    });
    let seen = seen.join().expect("it does not panic");
    assert_eq!(seen, [Some("task".to_owned()), Some("task".to_owned())]);
    gone(&ticket);
}

#[test]
fn f8_one_scope_resolves_types_and_functions_of_one_generation() {
    let contexts = runtime().contexts();
    let slim = slim(&contexts, "f8");
    let scope = slim.enter().expect("it is alive");
    let before = contexts.function_here("Report", "build_tag", "-> u64").expect("it is offered");
    let entered = slim.id();
    let old = slim.replace(reports(2)).expect("it starts");
    assert_ne!(slim.id(), entered);
    let after = contexts.function_here("Report", "build_tag", "-> u64").expect("it is offered");
    let ty = contexts.resolve_type("Report").expect("it is there");
    assert_eq!(Some(ty.module.context), entered);
    assert_eq!([&before, &after].map(|function| number(function).expect("it answers")), [1, 1]);
    let pointer = after.pointer().expect("it is there");
    assert_eq!(Some(pointer.context()), entered);
    // Outside the scope, the name is looked up in the current modules of the context.
    let elsewhere = after.clone();
    let elsewhere = thread::spawn(move || number(&elsewhere).expect("it answers"));
    assert_eq!(elsewhere.join().expect("it does not panic"), 2);
    drop((scope, pointer));
    gone(&old);
    assert_eq!(number(&after).expect("it answers"), 2);
    // An unload that begins later has no effect on a thread inside a scope.
    let scope = slim.enter().expect("it is alive");
    let ticket = slim.begin_unload().expect("it is collectible");
    assert_eq!(number(&after).expect("it answers"), 2);
    drop(scope);
    assert!(matches!(number(&after), Err(ContextError::ContextUnloading { .. })));
    gone(&ticket);
}

#[test]
fn f8_a_type_lookup_uses_the_scope_or_the_default() {
    let contexts = runtime().contexts();
    contexts.default_context().load_path(figures(1)).expect("it is loaded");
    let slim = contexts.create_slim("f8").expect("the name is free");
    slim.load_path(figures(2)).expect("it is loaded");
    let found = |path| contexts.resolve_type(path).map(|ty| ty.context);
    assert_eq!(found("Sum").expect("it is there"), "Default");
    let scope = slim.enter().expect("it is alive");
    assert_eq!(found("figures::Sum").expect("it is there"), "Slim \"f8\"");
    {
        let _none = Contexts::enter_none();
        assert_eq!(found("Sum").expect("it is there"), "Default");
    }
    drop(scope);
    // The scope of a task has the same effect as the scope of a thread.
    let sum = slim.scope(async { contexts.resolve_type("Sum").map(|ty| ty.context) }).expect("it is alive");
    let waker = Waker::from(Arc::new(NoopWake));
    match pin!(sum).poll(&mut Context::from_waker(&waker)) {
        Poll::Ready(found) => assert_eq!(found.expect("it is there"), "Slim \"f8\""),
        Poll::Pending => panic!("it never waits"),
    }
}
