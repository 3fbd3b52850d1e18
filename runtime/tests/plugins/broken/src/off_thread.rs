//! Plugin code that bypasses the type system and calls host functions from its own new thread. Each host function must refuse the call.
#![expect(unsafe_code, reason = "bypasses the safe API")]

use std::ptr::null_mut;

use alcedo_abi::abi_stable::std_types::RStr;
use alcedo_abi::call::{Failure, Status};
use alcedo_abi::handles::{ClassId, Name, ObjectHandle, PartPtr, ZCallHandle};
use alcedo_abi::value::{TextRaw, TextSink, TextView};
use alcedo_abi::zcall::{ZCallBuffer, ZCallStatus};
use alcedo_plugin_api::FailureKind;

/// Calls every function that is permitted only on the game thread, from another thread. Returns each function with its reply, one per line.
pub(crate) fn call() -> String {
    let thread = std::thread::Builder::new().name("broken".to_owned());
    let thread = thread.spawn(results).expect("a thread can be started");
    thread.join().expect("refused calls do not panic")
}

fn results() -> String {
    let context = alcedo_rt::context().expect("the module is attached during calls");
    let (host, table) = (context.host, context.table);
    let (object, class) = (ObjectHandle::new(1, 1), ClassId::NONE);
    let mut lines = Vec::new();
    let mut check = |function: &str, call: &mut dyn FnMut(&mut Failure) -> bool| {
        let mut failure = Failure::none();
        let done = call(&mut failure);
        let why = match failure.kind {
            FailureKind::WRONG_THREAD => format!("wrong thread for {}", failure.message),
            FailureKind::NONE => "no reason".to_owned(),
            other => format!("{other:?} {}", failure.message),
        };
        lines.push(format!("{function}: {}", if done { "done".to_owned() } else { format!("refused, {why}") }));
    };
    macro_rules! call_host {
        ($function:ident($($argument:expr),*) is $ok:expr) => {{
            // SAFETY: `host` is the pointer that this module received, and all references are live during the call. The host must detect
            // the wrong thread.
            unsafe { table.$function()(host, $($argument),*) == $ok }
        }};
    }
    let (mut handle, mut memory, mut part) = (ZCallHandle::NONE, null_mut(), PartPtr::NONE);
    let (mut spawned, mut name, mut target) = (ObjectHandle::NONE, Name::default(), TextRaw::EMPTY);
    let mut buffer = ZCallBuffer { slots: null_mut(), len: 0 };
    let sink = TextSink { context: null_mut(), put: ignore };
    let (call, text) = (RStr::from_str("ex:/anything"), TextView::of("anything"));

    check(
        "zcall_resolve",
        &mut |failure| call_host!(zcall_resolve(call, 0, &mut handle, failure) is ZCallStatus::SUCCESS),
    );
    check("zcall", &mut |failure| call_host!(zcall(ZCallHandle(1), &mut buffer, failure) is ZCallStatus::SUCCESS));
    check(
        "object_resolve",
        &mut |failure| call_host!(object_resolve(object, class, &mut memory, failure) is Status::OK),
    );
    check(
        "object_part",
        &mut |failure| call_host!(object_part(context.module, object, class, &mut part, failure) is Status::OK),
    );
    check("may_write", &mut |failure| call_host!(may_write(object, failure) is Status::OK));
    check(
        "spawn",
        &mut |failure| call_host!(spawn(ClassId(1), ObjectHandle::NONE, &mut spawned, failure) is Status::OK),
    );
    check("destroy", &mut |failure| call_host!(destroy(object, failure) is Status::OK));
    check("object_name", &mut |_failure| call_host!(object_name(object, &sink) is Status::OK));
    check("object_class", &mut |_failure| call_host!(object_class(object, &sink) is Status::OK));
    check("text_assign", &mut |_failure| call_host!(text_assign(&raw mut target, text) is Status::OK));
    check("name_intern", &mut |_failure| call_host!(name_intern(text, &mut name) is Status::OK));
    check("name_text", &mut |_failure| call_host!(name_text(Name(1), &sink) is Status::OK));
    lines.join("\n")
}

unsafe extern "C" fn ignore(_context: *mut (), _data: *const u8, _len: usize) {}
