//! The functions plugins may call: shells that prove the thread, stop panics, convert, and hand on to plain functions
//! below. The word a plugin hands back leads to a [`HostWord`], of which foreign threads read only the parts that are
//! meant for every thread.
#![expect(unsafe_code, reason = "the shells turn raw words of the border into references")]

use std::rc::{Rc, Weak};
use std::sync::Arc;

use abi_stable::std_types::RStr;
use alcedo_abi::abi_stable;
use alcedo_abi::call::{Failure, Status};
use alcedo_abi::host::{HostRef, HostTable, HostTableRef};
use alcedo_abi::log::{LogRecord, SpanStep};
use alcedo_abi::task::{Errand, ErrandId, ErrandKind};
use alcedo_abi::value::{TextRaw, TextSink, TextView};
use alcedo_abi::zcall::{ZCallBuffer, ZCallStatus};

use abi_stable::prefix_type::WithMetadata;
use alcedo_sys::panics::{self, At};

use crate::border::{CallError, into_module, trap};
use crate::bridge::core::Core;
use crate::bridge::tasks::{self, Code, Inbox, Standing, waking};
use crate::conjugate::drops::Drops;
use crate::game_thread::GameThreadId;
use crate::handles::{ClassId, ModuleId, Name, ObjectHandle, PartPtr, ZCallHandle};
use crate::logs::Logs;
use crate::object::birth::{BirthArgs, birth};
use crate::object::text_memory;
use crate::zcall::buffer::BufferMut;
use crate::zcall::free::FreeCalls;
use crate::zcall::table::status_of;

/// What a [`HostRef`] points to, as far as every thread may read it. Modules of contexts that belong to no thread get
/// one that stands alone; it lives as long as any of them.
#[repr(C)]
pub(crate) struct SharedWord {
    game_thread: GameThreadId,
    logs: Arc<Logs>,
    inbox: Arc<Inbox>,
    drops: Drops,
    /// What a module without objects reaches by name; none in the words of the Master and of a whole runtime.
    calls: Option<Box<dyn FreeCalls>>,
    /// Whether this is the first part of a [`HostWord`].
    has_core: bool,
}

/// The word of the Master's modules. It lives as long as the runtime, and so longer than any of them.
#[repr(C)]
pub(crate) struct HostWord {
    shared: SharedWord,
    /// Followed on the game thread only.
    core: Weak<Core>,
}

impl HostWord {
    /// The word of a runtime.
    pub(crate) fn new(core: &Rc<Core>) -> Box<Self> {
        let shared = SharedWord {
            game_thread: core.game_thread,
            logs: Arc::clone(&core.logs),
            inbox: Arc::clone(core.tasks.inbox()),
            drops: core.blacks.drops().clone(),
            calls: None,
            has_core: true,
        };
        Box::new(Self { shared, core: Rc::downgrade(core) })
    }

    /// As it crosses the border.
    pub(crate) fn to_ref(&self) -> HostRef {
        HostRef(std::ptr::from_ref(self).cast())
    }
}

impl SharedWord {
    /// The word for modules that have no objects: logs on any thread, and what [`SharedWord::with_calls`] adds. Whatever they
    /// post is refused, since the inbox does not know them.
    pub(crate) fn without_core(core: &Core) -> Arc<Self> {
        let (logs, inbox) = (Arc::clone(&core.logs), Arc::clone(core.tasks.inbox()));
        let drops = core.blacks.drops().clone();
        Arc::new(Self { game_thread: core.game_thread, logs, inbox, drops, calls: None, has_core: false })
    }

    /// The same word for one module, which calls others by name.
    pub(crate) fn with_calls(&self, calls: impl FreeCalls + 'static) -> Arc<Self> {
        let (logs, inbox, drops) = (Arc::clone(&self.logs), Arc::clone(&self.inbox), self.drops.clone());
        let calls: Option<Box<dyn FreeCalls>> = Some(Box::new(calls));
        Arc::new(Self { game_thread: self.game_thread, logs, inbox, drops, calls, has_core: false })
    }

    /// As it crosses the border.
    pub(crate) fn to_ref(&self) -> HostRef {
        HostRef(std::ptr::from_ref(self).cast())
    }
}

/// A word that a module handed back.
#[derive(Clone, Copy)]
pub(crate) struct Word<'a> {
    raw: HostRef,
    shared: &'a SharedWord,
}

impl std::ops::Deref for Word<'_> {
    type Target = SharedWord;

    fn deref(&self) -> &SharedWord {
        self.shared
    }
}

impl Word<'_> {
    /// Where foreign threads leave what they have dropped.
    pub(crate) fn drops(&self) -> &Drops {
        &self.drops
    }

    /// Proves the thread, then runs `code` on the stores. A panic of it stops here.
    pub(crate) fn enter<T>(
        &self,
        action: &str,
        code: impl FnOnce(&Rc<Core>) -> Result<T, CallError>,
    ) -> Result<T, CallError> {
        if self.game_thread.prove().is_none() {
            return Err(CallError::WrongThread { action: action.to_owned() });
        }
        if !self.has_core {
            return Err(CallError::other(format!("{action} is for modules of the Master: a Slim has no objects")));
        }
        // SAFETY: only `HostWord::new` says so of its first part, which `repr(C)` puts at the address of the whole; the
        // runtime owns that, and this is its thread.
        let whole = unsafe { &*self.raw.0.cast::<HostWord>() };
        let core = whole.core.upgrade().ok_or_else(|| CallError::Unavailable { what: "the runtime".into() })?;
        trap(|| code(&core))
    }
}

/// The table every module is attached with.
pub(crate) fn table() -> HostTableRef {
    const TABLE: WithMetadata<HostTable> = WithMetadata::new(HostTable {
        log_event,
        span_open,
        span_step,
        zcall_resolve,
        zcall,
        object_resolve,
        object_part,
        may_write,
        object_name,
        object_class,
        spawn,
        destroy,
        text_assign,
        name_intern,
        name_text,
        errand_take,
        errand_cancel,
        errand_lives,
        game_time,
        waker_clone,
        waker_wake,
        waker_drop,
        panicked,
    });
    static STATIC: &WithMetadata<HostTable> = &TABLE;
    HostTableRef(STATIC.static_as_prefix())
}

/// Follows the word.
///
/// # Safety
/// `host` is the word of a runtime that lives: a module is detached before its runtime goes.
pub(crate) unsafe fn word<'a>(host: HostRef) -> Word<'a> {
    // SAFETY: promised by the caller; both kinds of words begin with what all threads may read.
    let shared = unsafe { &*host.0.cast::<SharedWord>() };
    Word { raw: host, shared }
}

unsafe extern "C" fn log_event(host: HostRef, module: u64, record: &LogRecord<'_>) {
    // SAFETY: the module hands back its own word.
    let host = unsafe { word(host) };
    // A subscriber that panics must not unwind into the module; a lost line is the lesser evil.
    let _lost = trap(|| {
        host.logs.event(module, record);
        Ok(())
    });
}

unsafe extern "C" fn span_open(host: HostRef, module: u64, record: &LogRecord<'_>) -> u64 {
    // SAFETY: the module hands back its own word.
    let host = unsafe { word(host) };
    trap(|| Ok(host.logs.open(module, record))).unwrap_or(0)
}

unsafe extern "C" fn span_step(host: HostRef, span: u64, step: SpanStep) {
    // SAFETY: the module hands back its own word.
    let host = unsafe { word(host) };
    let _lost = trap(|| {
        host.logs.step(span, step);
        Ok(())
    });
}

unsafe extern "C" fn zcall_resolve(
    host: HostRef,
    name: RStr<'_>,
    fingerprint: u64,
    out: &mut ZCallHandle,
    failure: &mut Failure,
) -> ZCallStatus {
    // SAFETY: the module hands back its own word.
    let host = unsafe { word(host) };
    let resolved = match &host.calls {
        Some(calls) => trap(|| calls.resolve(name.as_str(), fingerprint)),
        None => host.enter("resolving a ZCall", |core| core.zcalls.resolve(&core.chain, name.as_str(), fingerprint)),
    };
    match resolved {
        Ok(handle) => {
            *out = handle;
            ZCallStatus::SUCCESS
        }
        Err(error) => {
            *failure = error.to_failure();
            status_of(&error)
        }
    }
}

unsafe extern "C" fn zcall(
    host: HostRef,
    handle: ZCallHandle,
    buffer: &mut ZCallBuffer,
    failure: &mut Failure,
) -> ZCallStatus {
    // SAFETY: the module hands back its own word.
    let host = unsafe { word(host) };
    // SAFETY: `HostTable::zcall` lends the buffer, live and unshared, until this shell returns.
    let buffer = unsafe { BufferMut::from_raw(buffer) };
    let called = match &host.calls {
        Some(calls) => trap(|| calls.call(handle, buffer)).map(|()| (ZCallStatus::SUCCESS, Ok(()))),
        None => host.enter("a ZCall", |core| Ok(core.zcalls.dispatch(core.here(), handle, buffer))),
    };
    let (status, result) = called.unwrap_or_else(|error| (status_of(&error), Err(error)));
    if let Err(error) = result {
        *failure = error.to_failure();
    }
    status
}

unsafe extern "C" fn object_resolve(
    host: HostRef,
    object: ObjectHandle,
    class: ClassId,
    out: &mut *mut u8,
    failure: &mut Failure,
) -> Status {
    // SAFETY: the module hands back its own word.
    let host = unsafe { word(host) };
    into_module(failure, || {
        *out = host.enter("following an object", |core| resolve(core, object, class))?;
        Ok(())
    })
}

fn resolve(core: &Core, object: ObjectHandle, class: ClassId) -> Result<*mut u8, CallError> {
    let stale = CallError::Stale { handle: object };
    let memory = core.world.objects.memory(object).ok_or_else(|| stale.clone())?;
    if class == ClassId::NONE {
        return Ok(memory);
    }
    if core.world.objects.class_id(object) == Some(class) {
        return Ok(memory);
    }
    let found = core.world.objects.class(object).ok_or(stale)?;
    let wanted = core.world.types.class(class);
    if wanted.as_ref().is_some_and(|wanted| found.is_a(wanted)) {
        return Ok(memory);
    }
    Err(CallError::WrongClass {
        place: String::new(),
        handle: object,
        found: found.path.to_string(),
        wanted: wanted.map_or_else(|| "class that is gone".to_owned(), |wanted| wanted.path.to_string()),
    })
}

unsafe extern "C" fn object_part(
    host: HostRef,
    module: u64,
    object: ObjectHandle,
    class: ClassId,
    out: &mut PartPtr,
    failure: &mut Failure,
) -> Status {
    // SAFETY: the module hands back its own word.
    let host = unsafe { word(host) };
    into_module(failure, || {
        *out = host.enter("reaching a plugin half", |core| {
            if !core.world.objects.is_alive(object) {
                return Err(CallError::Stale { handle: object });
            }
            let part = core.pairs.part_of(&core.world.objects, object, class);
            Ok(part.filter(|part| part.gate.tag().id == ModuleId(module)).map_or(PartPtr::NONE, |part| part.ptr))
        })?;
        Ok(())
    })
}

unsafe extern "C" fn may_write(host: HostRef, object: ObjectHandle, failure: &mut Failure) -> Status {
    // SAFETY: the module hands back its own word.
    let host = unsafe { word(host) };
    into_module(failure, || host.enter("writing a property", |core| core.world.objects.may_write(object)))
}

unsafe extern "C" fn object_name(host: HostRef, object: ObjectHandle, sink: &TextSink) -> Status {
    // SAFETY: the module hands back its own word.
    let host = unsafe { word(host) };
    let text = host.enter("asking an object's name", |core| {
        let name = core.world.objects.name(object).ok_or(CallError::Stale { handle: object })?;
        Ok(core.world.names.text(name))
    });
    give_text(sink, text.as_deref())
}

unsafe extern "C" fn object_class(host: HostRef, object: ObjectHandle, sink: &TextSink) -> Status {
    // SAFETY: the module hands back its own word.
    let host = unsafe { word(host) };
    let class = host.enter("asking an object's class", |core| {
        core.world.objects.class(object).ok_or(CallError::Stale { handle: object })
    });
    give_text(sink, class.as_ref().map(|class| &*class.path))
}

unsafe extern "C" fn spawn(
    host: HostRef,
    class: ClassId,
    outer: ObjectHandle,
    out: &mut ObjectHandle,
    failure: &mut Failure,
) -> Status {
    // SAFETY: the module hands back its own word.
    let host = unsafe { word(host) };
    into_module(failure, || {
        *out = host.enter("spawning an object", |core| spawn_object(core, class, outer))?;
        Ok(())
    })
}

fn spawn_object(core: &Core, class: ClassId, outer: ObjectHandle) -> Result<ObjectHandle, CallError> {
    core.world.mode.may_act("spawning an object")?;
    if class == ClassId::NONE {
        return Err(CallError::other("`Object` itself cannot be spawned: name a class that extends it"));
    }
    if !outer.is_none() && !core.world.objects.is_alive(outer) {
        return Err(CallError::Stale { handle: outer });
    }
    let class =
        core.world.types.class(class).ok_or_else(|| CallError::NotFound {
            message: "the class to spawn is gone: its generation is over".into(),
        })?;
    // Without an owner nothing would keep it, so an object of no owner is a root until it is destroyed.
    let args = BirthArgs { outer, root: outer.is_none(), ..BirthArgs::default() };
    birth(&core.world, &core.plugins(), &class, args).map_err(|error| CallError::other(error.to_string()))
}

unsafe extern "C" fn destroy(host: HostRef, object: ObjectHandle, failure: &mut Failure) -> Status {
    // SAFETY: the module hands back its own word.
    let host = unsafe { word(host) };
    into_module(failure, || {
        host.enter("destroying an object", |core| {
            core.world.mode.may_act("destroying an object")?;
            core.end_object(object)
        })
    })
}

unsafe extern "C" fn text_assign(host: HostRef, target: *mut TextRaw, text: TextView) -> Status {
    // SAFETY: the module hands back its own word.
    let host = unsafe { word(host) };
    // SAFETY: the view's bytes are lent for the call.
    let text = unsafe { text_of(text) };
    let done = host.enter("assigning a text", |_core| {
        // SAFETY: `target` is a text property of a living object, or a result in a parameter block of the host.
        unsafe { text_memory::text_assign(target, &text) };
        Ok(())
    });
    status(&done)
}

unsafe extern "C" fn name_intern(host: HostRef, text: TextView, out: &mut Name) -> Status {
    // SAFETY: the module hands back its own word.
    let host = unsafe { word(host) };
    // SAFETY: the view's bytes are lent for the call.
    let text = unsafe { text_of(text) };
    let name = host.enter("interning a name", |core| Ok(core.world.names.intern(&text)));
    if let Ok(name) = &name {
        *out = *name;
    }
    status(&name)
}

unsafe extern "C" fn name_text(host: HostRef, name: Name, sink: &TextSink) -> Status {
    // SAFETY: the module hands back its own word.
    let host = unsafe { word(host) };
    let text = host.enter("reading a name", |core| Ok(core.world.names.text(name)));
    give_text(sink, text.as_deref())
}

unsafe extern "C" fn errand_take(
    host: HostRef,
    module: u64,
    errand: &Errand<'_>,
    out: &mut ErrandId,
    failure: &mut Failure,
) -> Status {
    // SAFETY: the module hands back its own word.
    let host = unsafe { word(host) };
    // SAFETY: `HostTable::errand_take` makes the errand the host's unless this fails; when it does, the code is not used.
    let code = unsafe { Code::of(errand) };
    into_module(failure, || {
        let module = ModuleId(module);
        if errand.kind == ErrandKind::POSTED {
            // Only the game thread works on what may be taken back.
            let standing = host.enter("posting", |core| Ok(tasks::standing(core))).unwrap_or(Standing::Certain);
            return host.inbox.post(module, errand, code, standing);
        }
        *out = host.enter("starting a task or a timer", |core| core.tasks.take(core, module, errand, code))?;
        Ok(())
    })
}

unsafe extern "C" fn errand_cancel(host: HostRef, errand: ErrandId) {
    // SAFETY: the module hands back its own word.
    let host = unsafe { word(host) };
    let ended = host.enter("cancelling an errand", |core| {
        core.tasks.cancel(core, errand);
        Ok(())
    });
    if let Err(CallError::WrongThread { .. }) = ended {
        host.inbox.cancel(errand);
    }
}

unsafe extern "C" fn errand_lives(host: HostRef, errand: ErrandId) -> u8 {
    // SAFETY: the module hands back its own word.
    let host = unsafe { word(host) };
    host.enter("asking for an errand", |core| Ok(core.tasks.lives(errand))).map_or(0, u8::from)
}

unsafe extern "C" fn game_time(host: HostRef) -> u64 {
    // SAFETY: the module hands back its own word.
    let host = unsafe { word(host) };
    let now = host.enter("asking for the game time", |core| Ok(core.tasks.now()));
    now.map_or(0, |now| u64::try_from(now.as_nanos()).unwrap_or(u64::MAX))
}

unsafe extern "C" fn waker_clone(waker: *const ()) -> *const () {
    // SAFETY: the module clones a waker that it was lent or holds.
    unsafe { waking::clone_raw(waker) }
}

unsafe extern "C" fn waker_wake(waker: *const ()) {
    // SAFETY: the module wakes by a waker that it was lent or holds.
    unsafe { waking::wake_raw(waker) };
}

unsafe extern "C" fn waker_drop(waker: *const ()) {
    // SAFETY: the module drops a waker that it holds.
    unsafe { waking::drop_raw(waker) };
}

// Called inside a panic hook: nothing of the host is borrowed, and no subscriber is called.
unsafe extern "C" fn panicked(_host: HostRef, file: RStr<'_>, line: u32, column: u32) {
    panics::tell(&At { file: file.as_str(), line, column });
}

/// Copies a text that was lent.
///
/// # Safety
/// The view's bytes are readable.
pub(crate) unsafe fn text_of(view: TextView) -> String {
    if view.len == 0 {
        return String::new();
    }
    // SAFETY: promised by the caller.
    let bytes = unsafe { std::slice::from_raw_parts(view.data, view.len) };
    String::from_utf8_lossy(bytes).into_owned()
}

/// Gives a text, where there is one.
pub(crate) fn give_text(sink: &TextSink, text: Result<&str, &CallError>) -> Status {
    match text {
        Ok(text) => {
            // SAFETY: the sink's maker promised that `put` copies what it is lent and does not unwind.
            unsafe { (sink.put)(sink.context, text.as_ptr(), text.len()) };
            Status::OK
        }
        Err(_) => Status::FAILED,
    }
}

fn status<T>(result: &Result<T, CallError>) -> Status {
    if result.is_ok() { Status::OK } else { Status::FAILED }
}
