//! Implements a minimal host, which fills the cells of this module, stores objects as plain memory, and calls the module's trampolines as
//! the ABI specifies. Unlike a runtime, this host can also pass slots that violate the ABI. Calls of the host functions for values, jobs
//! and constructions are rejected, because tests of the runtime cover these functions.

mod tables;

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use alcedo_abi::abi_stable::std_types::RStr;
use alcedo_abi::call::{Call, Failure, FailureKind, PackedKept, Status};
use alcedo_abi::describe::{Cell, ClassDesc, FunctionDesc, ImportKind};
use alcedo_abi::handles::{ClassId, Name, ObjectHandle, PartPtr, ZCallHandle};
use alcedo_abi::host::{HostRef, ModuleContext};
use alcedo_abi::host_direct::CLOSED;
use alcedo_abi::kinds::{PropertyKind, property_flags};
use alcedo_abi::log::{LogLevel, LogRecord, SpanStep};
use alcedo_abi::stack::StackSpan;
use alcedo_abi::value::{KeepSink, TextRaw, TextSink, TextView};
use alcedo_abi::zcall::{Slot, SlotType, ZCallBuffer, ZCallStatus};
use alcedo_plugin_api::__private::{CLASSES, IMPORTS};

/// Offset of the first property in the memory of an object. Each property has 32 bytes, which are sufficient for every kind.
const FIRST: u64 = 16;
const STEP: u64 = 32;
const WORDS: usize = 64;

struct Object {
    memory: Box<[u128; WORDS]>,
    part: PartPtr,
}

/// Function that a call handle identifies.
#[derive(Clone, Copy)]
enum Target {
    Native(&'static str),
    Module(&'static FunctionDesc),
}

#[derive(Default)]
struct State {
    objects: HashMap<ObjectHandle, Object>,
    names: Vec<String>,
    targets: Vec<Target>,
    by_name: HashMap<String, i64>,
    logs: Vec<String>,
    spans: u64,
}

// SAFETY: plugin parts and memory are accessed only while `ALONE` is held, which serializes the tests.
unsafe impl Send for State {}

static STATE: OnceLock<Mutex<State>> = OnceLock::new();
static ALONE: Mutex<()> = Mutex::new(());
static MODE: AtomicU32 = AtomicU32::new(0);
static DIRECT: AtomicU64 = AtomicU64::new(CLOSED);

fn state() -> MutexGuard<'static, State> {
    STATE.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner)
}

/// Fake host, used by one test at a time.
pub(crate) struct Host {
    _turn: MutexGuard<'static, ()>,
    class: &'static ClassDesc,
}

impl Host {
    /// Returns a host for the class. The first call attaches the module and fills its cells.
    pub(crate) fn with(class: &str) -> Self {
        static ATTACHED: OnceLock<()> = OnceLock::new();
        let turn = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        ATTACHED.get_or_init(attach);
        MODE.store(0, Ordering::Relaxed);
        state().logs.clear();
        let class = CLASSES.iter().find(|desc| desc.name.as_str() == class).expect("a class of this module");
        Self { _turn: turn, class }
    }

    pub(crate) fn class(&self) -> &'static ClassDesc {
        self.class
    }

    /// Sets the host's mode word.
    pub(crate) fn mode(&self, mode: u32) {
        MODE.store(mode, Ordering::Relaxed);
    }

    /// Returns the records logged since the last call.
    pub(crate) fn logs(&self) -> Vec<String> {
        std::mem::take(&mut state().logs)
    }

    /// Creates an object and its plugin part.
    pub(crate) fn construct(&self) -> ObjectHandle {
        self.construct_with(None)
    }

    /// Creates an object and its plugin part. Passes packed kept fields to the red constructor.
    pub(crate) fn construct_with(&self, kept: Option<&mut PackedKept>) -> ObjectHandle {
        static NEXT: AtomicU32 = AtomicU32::new(1);
        let object = ObjectHandle::new(NEXT.fetch_add(1, Ordering::Relaxed), 1);
        state().objects.insert(object, Object { memory: Box::new([0; WORDS]), part: PartPtr::NONE });
        let mut failure = Failure::none();
        let mut part = PartPtr::NONE;
        let mut call = Call {
            object,
            memory: memory(object).expect("just made"),
            part: std::ptr::null_mut(),
            params: kept.map_or(std::ptr::null_mut::<PackedKept>(), std::ptr::from_mut).cast(),
            failure: &mut failure,
        };
        // SAFETY: the object, its memory and the kept fields are alive, and its plugin part is created here.
        let status = unsafe { (self.class.hooks.red_constructor)(&mut call, &mut part) };
        assert_eq!(status, Status::OK, "{failure:?}");
        state().objects.get_mut(&object).expect("just made").part = part;
        object
    }

    /// Destroys an object: calls the finalizer, then frees the object's memory.
    pub(crate) fn end(&self, object: ObjectHandle) -> Result<(), Failure> {
        let part = state().objects.remove(&object).expect("a living object").part;
        let mut failure = Failure::none();
        // SAFETY: the part was created by this class's red constructor and is not used afterwards.
        let status = unsafe { (self.class.hooks.finalize)(part, &mut failure) };
        if status == Status::OK { Ok(()) } else { Err(failure) }
    }

    pub(crate) fn class_constructor(&self, object: ObjectHandle) -> Result<(), Failure> {
        let hook = self.class.hooks.class_constructor.into_option().expect("the class has one");
        let mut failure = Failure::none();
        let mut call = Call {
            object,
            memory: memory(object).expect("a living object"),
            part: part(object).0,
            params: std::ptr::null_mut(),
            failure: &mut failure,
        };
        // SAFETY: object, memory and part belong to a living object.
        let status = unsafe { (hook.0)(&mut call) };
        if status == Status::OK { Ok(()) } else { Err(failure) }
    }

    /// Calls a function of the class by name, through slots.
    pub(crate) fn call(&self, object: ObjectHandle, name: &str, args: &mut [Slot]) -> Result<(), Failure> {
        let mut function = self.class.functions.as_slice().iter();
        let function = function.find(|function| function.name.as_str() == name).expect("a function of the class");
        let mut failure = Failure::none();
        match invoke(function, object, args, &mut failure) {
            Status::OK => Ok(()),
            _ => Err(failure),
        }
    }

    /// Calls a function without parameters that returns a string.
    pub(crate) fn query(&self, object: ObjectHandle, name: &str) -> Result<String, Failure> {
        let mut text = String::new();
        let sink = TextSink { context: (&raw mut text).cast(), put };
        let slot = Slot::from_bits(SlotType::POINTER, (&raw const sink).expose_provenance() as u64);
        self.call(object, name, &mut [slot])?;
        Ok(text)
    }

    /// Returns the kept fields as pairs of a name and CBOR.
    pub(crate) fn save_kept(&self, object: ObjectHandle) -> Vec<(String, Vec<u8>)> {
        kept_by(self.class.hooks.save_kept, object)
    }

    /// Returns the kept fields as bytes.
    pub(crate) fn pack_kept(&self, object: ObjectHandle) -> Vec<u8> {
        let kept = kept_by(self.class.hooks.pack_kept, object);
        assert!(kept.iter().all(|(name, _)| name.is_empty()), "pieces have no name");
        kept.into_iter().flat_map(|(_, data)| data).collect()
    }

    /// Restores the kept fields from bytes.
    pub(crate) fn unpack_kept(&self, object: ObjectHandle, data: &[u8]) -> Result<(), Failure> {
        let mut failure = Failure::none();
        let unpack = self.class.hooks.unpack_kept;
        // SAFETY: the part belongs to a living object; the data is live during the call.
        let status = unsafe { unpack(part(object), data.as_ptr(), data.len(), &mut failure) };
        if status == Status::OK { Ok(()) } else { Err(failure) }
    }

    /// Restores one kept field.
    pub(crate) fn load_kept(&self, object: ObjectHandle, name: &str, data: &[u8]) -> Result<(), Failure> {
        let mut failure = Failure::none();
        let (name, load) = (TextView::of(name), self.class.hooks.load_kept);
        // SAFETY: the part belongs to a living object; name and data are live during the call.
        let status = unsafe { load(part(object), name, data.as_ptr(), data.len(), &mut failure) };
        if status == Status::OK { Ok(()) } else { Err(failure) }
    }
}

fn memory(object: ObjectHandle) -> Option<*mut u8> {
    state().objects.get_mut(&object).map(|object| object.memory.as_mut_ptr().cast())
}

/// Returns the data that a hook of the object's class passes to the sink.
fn kept_by(
    hook: unsafe extern "C" fn(part: PartPtr, sink: &KeepSink, failure: &mut Failure) -> Status,
    object: ObjectHandle,
) -> Vec<(String, Vec<u8>)> {
    let mut kept: Vec<(String, Vec<u8>)> = Vec::new();
    let sink = KeepSink { context: (&raw mut kept).cast(), put: keep };
    let mut failure = Failure::none();
    // SAFETY: the part belongs to a living object, and the sink is live during the call.
    let status = unsafe { hook(part(object), &sink, &mut failure) };
    assert_eq!(status, Status::OK, "{failure:?}");
    kept
}

fn part(object: ObjectHandle) -> PartPtr {
    state().objects.get(&object).map_or(PartPtr::NONE, |object| object.part)
}

/// Fills a cell.
fn fill(cell: &Cell, number: u64) {
    // SAFETY: `attach` assigns each property a separate memory range of every object, and each function a unique number.
    unsafe { cell.fill(number) };
}

fn attach() {
    let mut offset = FIRST;
    let mut place = || {
        offset += STEP;
        offset - STEP
    };
    for import in IMPORTS {
        match import.kind {
            ImportKind::PROPERTY => fill(import.cell, place()),
            ImportKind::CLASS => fill(import.cell, 1),
            ImportKind::FUNCTION | ImportKind::FUNCTION_FINAL => {
                fill(import.cell, target(import.path.as_str(), Target::Native(import.path.as_str())).cast_unsigned());
            }
            _ => fill(import.cell, 0),
        }
    }
    for class in CLASSES {
        fill(class.cell, 2);
        for property in class.properties.as_slice() {
            fill(property.cell.into_option().expect("class properties have cells"), place());
        }
        for function in class.functions.as_slice() {
            fill(function.cell, target(function.name.as_str(), Target::Module(function)).cast_unsigned());
        }
    }
    assert!(offset as usize <= WORDS * 16, "objects of the fake host are too small");

    let context = ModuleContext {
        host: HostRef(std::ptr::null()),
        table: tables::table::of::<Toys>(),
        values: tables::values::of::<Toys>(),
        module: 7,
        generation: 1,
        mode: &raw const MODE,
        // Because the directory is null, the module calls the host to look up each object, like a module in a Slim.
        directory: std::ptr::null(),
        slices: std::ptr::null(),
        owned_values: std::ptr::null(),
        direct: &raw const DIRECT,
        stack: StackSpan::ANY,
        level: LogLevel::DEBUG,
    };
    let mut failure = Failure::none();
    assert_eq!(alcedo_rt::attach(&context, false, &mut failure), Status::OK, "{failure:?}");
    assert_eq!(alcedo_rt::attach(&context, false, &mut failure), Status::FAILED, "a second host is refused");
}

fn target(name: &str, target: Target) -> i64 {
    let mut state = state();
    state.targets.push(target);
    let handle = i64::try_from(state.targets.len()).expect("few targets");
    state.by_name.insert(name.to_owned(), handle);
    handle
}

/// Calls a function as a runtime does: copies the slots to a parameter block, calls the function, and copies the result back.
fn invoke(function: &FunctionDesc, object: ObjectHandle, slots: &mut [Slot], failure: &mut Failure) -> Status {
    let mut block = [0_u128; 16];
    assert!(function.params_size as usize <= 256 && function.params_align <= 16);
    let block: *mut u8 = block.as_mut_ptr().cast();
    let params = function.params.as_slice();
    assert_eq!(params.len(), slots.len(), "{}", function.name);
    for (param, slot) in params.iter().zip(&*slots).filter(|(param, _)| param.flags & property_flags::RETURN == 0) {
        // SAFETY: the block is large enough for the described layout.
        let at = unsafe { block.add(param.offset as usize) };
        put_param(param.kind, at, *slot);
    }
    let mut call =
        Call { object, memory: memory(object).expect("a living object"), part: part(object).0, params: block, failure };
    // SAFETY: object, memory and part belong to a living object, and the block has the described layout.
    let status = unsafe { (function.invoke.0)(&mut call) };
    if status == Status::OK
        && let Some(result) = params.last().filter(|param| param.flags & property_flags::RETURN != 0)
    {
        // SAFETY: the block is large enough for the described layout.
        let at = unsafe { block.add(result.offset as usize) };
        take_result(result.kind, at, slots.last_mut().expect("one slot per value"));
    }
    status
}

fn put_param(kind: PropertyKind, at: *mut u8, slot: Slot) {
    match kind {
        PropertyKind::STRING => {
            let view: *const TextView = std::ptr::with_exposed_provenance(slot.bits() as usize);
            // SAFETY: the slot of a string points to a live view.
            let view = unsafe { view.read() };
            let raw = TextRaw { data: view.data.cast_mut(), len: view.len, capacity: 0 };
            // SAFETY: the block contains a string at this offset.
            unsafe { at.cast::<TextRaw>().write(raw) };
        }
        PropertyKind::STRUCT => {
            let source: *const [f64; 2] = std::ptr::with_exposed_provenance(slot.bits() as usize);
            // SAFETY: the only struct of these tests consists of two doubles, and the slot points to a live struct.
            let value = unsafe { source.read() };
            // SAFETY: the block contains a struct at this offset.
            unsafe { at.cast::<[f64; 2]>().write(value) };
        }
        // SAFETY: no plain kind is wider than its slot, and the block has sixteen bytes for each value.
        _ => unsafe { at.cast::<u64>().write_unaligned(slot.bits()) },
    }
}

fn take_result(kind: PropertyKind, at: *mut u8, slot: &mut Slot) {
    let (ty, len) = match kind {
        PropertyKind::STRING => {
            // SAFETY: the block contains a string at this offset, which the module wrote through `text_assign`.
            let raw = unsafe { at.cast::<TextRaw>().read() };
            let sink: *const TextSink = std::ptr::with_exposed_provenance(slot.bits() as usize);
            // SAFETY: the slot of a string result points to a live sink.
            let sink = unsafe { sink.read() };
            // SAFETY: the sink copies the string that it receives.
            unsafe { (sink.put)(sink.context, raw.data, raw.len) };
            return;
        }
        PropertyKind::STRUCT => {
            let target: *mut [f64; 2] = std::ptr::with_exposed_provenance_mut(slot.bits() as usize);
            // SAFETY: the only struct of these tests consists of two doubles, and the block contains a struct at this offset.
            let value = unsafe { at.cast::<[f64; 2]>().read() };
            // SAFETY: the slot of a struct result points to memory for a struct.
            unsafe { target.write(value) };
            return;
        }
        PropertyKind::I32 => (SlotType::I32, 4),
        PropertyKind::U32 => (SlotType::U32, 4),
        PropertyKind::F64 => (SlotType::F64, 8),
        other => panic!("no test returns a {other:?}"),
    };
    let mut bytes = [0_u8; 8];
    // SAFETY: the block contains a value of `len` bytes at this offset.
    unsafe { std::ptr::copy_nonoverlapping(at, bytes.as_mut_ptr(), len) };
    *slot = Slot::from_bits(ty, u64::from_le_bytes(bytes));
}

/// Calls a function that the fake host implements itself.
fn native(path: &str, slots: &mut [Slot], failure: &mut Failure) -> ZCallStatus {
    let last = slots.len() - 1;
    match path {
        "/Script/Engine.Thing:add" => {
            let sum = (slots[1].bits() as i32).wrapping_add(slots[2].bits() as i32);
            slots[last] = Slot::from_bits(SlotType::I32, u64::from(sum.cast_unsigned()));
        }
        "/Script/Engine.Thing:shout" => {
            let view: *const TextView = std::ptr::with_exposed_provenance(slots[1].bits() as usize);
            // SAFETY: the slot of a string points to a live view.
            let view = unsafe { view.read() };
            // SAFETY: a view's bytes are live during the call.
            let text = unsafe { std::slice::from_raw_parts(view.data, view.len) }.to_ascii_uppercase();
            let sink: *const TextSink = std::ptr::with_exposed_provenance(slots[last].bits() as usize);
            // SAFETY: the slot of a string result points to a live sink.
            let sink = unsafe { sink.read() };
            // SAFETY: the sink copies the string that it receives.
            unsafe { (sink.put)(sink.context, text.as_ptr(), text.len()) };
        }
        "/Script/Engine.Thing:mirror" => {
            let source: *const [f64; 2] = std::ptr::with_exposed_provenance(slots[1].bits() as usize);
            // SAFETY: the slot of a struct points to a live struct.
            let [x, y] = unsafe { source.read() };
            let target: *mut [f64; 2] = std::ptr::with_exposed_provenance_mut(slots[last].bits() as usize);
            // SAFETY: the slot of a struct result points to memory for a struct.
            unsafe { target.write([y, x]) };
        }
        "/Script/Engine.Thing:receive_tick" => state().logs.push("base tick".to_owned()),
        other => {
            *failure = Failure::new(FailureKind::NOT_FOUND, format!("the fake host has no {other}"));
            return ZCallStatus::DISPATCHER_ERROR;
        }
    }
    ZCallStatus::SUCCESS
}

/// # Safety
/// `context` is the string that the creator of the sink passed, and the data is live during the call.
unsafe extern "C" fn put(context: *mut (), data: *const u8, len: usize) {
    // SAFETY: the module lends the data for the call, as the ABI specifies.
    let bytes = if len == 0 { &[][..] } else { unsafe { std::slice::from_raw_parts(data, len) } };
    // SAFETY: the module lends the context for the call, as the ABI specifies.
    unsafe { *context.cast::<String>() = String::from_utf8_lossy(bytes).into_owned() };
}

/// # Safety
/// `context` is the list that the creator of the sink passed, and name and data are live during the call.
unsafe extern "C" fn keep(context: *mut (), name: TextView, data: *const u8, len: usize) {
    // SAFETY: the module lends the name for the call, as the ABI specifies.
    let name = unsafe { std::slice::from_raw_parts(name.data, name.len) };
    // SAFETY: the module lends the data for the call, as the ABI specifies.
    let data = unsafe { std::slice::from_raw_parts(data, len) };
    // SAFETY: the module lends the context for the call, as the ABI specifies.
    let kept = unsafe { &mut *context.cast::<Vec<(String, Vec<u8>)>>() };
    kept.push((String::from_utf8_lossy(name).into_owned(), data.to_vec()));
}

fn line(record: &LogRecord<'_>) -> String {
    let fields: String =
        record.fields.as_slice().iter().map(|field| format!(" {}={}", field.name, field.value)).collect();
    format!("{} {}{fields}", record.target, record.message)
}

fn put_text(sink: &TextSink, text: &str) -> Status {
    // SAFETY: the module's sink copies the string that it receives.
    unsafe { (sink.put)(sink.context, text.as_ptr(), text.len()) };
    Status::OK
}

/// Overwrites a string.
///
/// # Safety
/// `target` is a live string, which is empty or was assigned by this function.
unsafe fn assign(target: *mut TextRaw, bytes: &[u8]) {
    // SAFETY: the caller upholds the contract of this function.
    let old = unsafe { target.read() };
    if old.capacity > 0 {
        // SAFETY: the buffer was created below, as a vector of exactly this length.
        drop(unsafe { Vec::from_raw_parts(old.data, old.len, old.capacity) });
    }
    let text = bytes.to_vec().into_boxed_slice();
    let len = text.len();
    let data = if len == 0 { std::ptr::null_mut() } else { Box::leak(text).as_mut_ptr() };
    // SAFETY: the caller promises a live string, and the old value no longer owns memory.
    unsafe { target.write(TextRaw { data, len, capacity: len }) };
}

/// Implements the host functions that these tests need. Calls of all other host functions are rejected.
struct Toys;

impl tables::values::Functions for Toys {}

impl tables::table::Functions for Toys {
    unsafe fn log_event(module: u64, record: &LogRecord<'_>) {
        assert_eq!(module, 7);
        state().logs.push(line(record));
    }

    unsafe fn span_open(_module: u64, record: &LogRecord<'_>) -> u64 {
        let mut state = state();
        state.spans += 1;
        state.logs.push(format!("open {}", line(record)));
        state.spans
    }

    unsafe fn span_step(_span: u64, step: SpanStep) {
        state().logs.push(format!("step {}", step.0));
    }

    unsafe fn zcall_resolve(
        name: RStr<'_>,
        _fingerprint: u64,
        out: &mut ZCallHandle,
        failure: &mut Failure,
    ) -> ZCallStatus {
        let path = name.as_str().split_once(":/").map_or("", |(_protocol, path)| path);
        match state().by_name.iter().find(|(known, _)| known.trim_start_matches('/') == path) {
            Some((_, handle)) => {
                *out = ZCallHandle(*handle);
                ZCallStatus::SUCCESS
            }
            None => {
                *failure = Failure::new(FailureKind::NOT_FOUND, format!("{name} does not resolve"));
                ZCallStatus::DISPATCHER_NOT_FOUND
            }
        }
    }

    unsafe fn zcall(handle: ZCallHandle, buffer: &mut ZCallBuffer, failure: &mut Failure) -> ZCallStatus {
        // SAFETY: the module lends the slots for the call, as the ABI specifies.
        let slots = unsafe { std::slice::from_raw_parts_mut(buffer.slots, buffer.len) };
        let target = state().targets[usize::try_from(handle.0 - 1).expect("a handle that was given out")];
        match target {
            Target::Native(path) => native(path, slots, failure),
            Target::Module(function) => {
                let object = ObjectHandle(slots[0].bits());
                match invoke(function, object, &mut slots[1..], failure) {
                    Status::OK => ZCallStatus::SUCCESS,
                    _ => ZCallStatus::DISPATCHER_ERROR,
                }
            }
        }
    }

    unsafe fn object_resolve(
        object: ObjectHandle,
        _class: ClassId,
        out: &mut *mut u8,
        failure: &mut Failure,
    ) -> Status {
        match memory(object) {
            Some(memory) => {
                *out = memory;
                Status::OK
            }
            None => {
                *failure = Failure { object, ..Failure::new(FailureKind::STALE, "gone") };
                Status::FAILED
            }
        }
    }

    unsafe fn object_part(
        _module: u64,
        object: ObjectHandle,
        _class: ClassId,
        out: &mut PartPtr,
        _failure: &mut Failure,
    ) -> Status {
        *out = part(object);
        Status::OK
    }

    unsafe fn may_write(object: ObjectHandle, failure: &mut Failure) -> Status {
        *failure = Failure::new(FailureKind::DURING_REBUILD, format!("a write to {object}"));
        Status::FAILED
    }

    unsafe fn object_name(object: ObjectHandle, sink: &TextSink) -> Status {
        put_text(sink, &format!("Toy_{}", object.index()))
    }

    unsafe fn object_class(_object: ObjectHandle, sink: &TextSink) -> Status {
        put_text(sink, "/Script/Game.Toy")
    }

    unsafe fn text_assign(target: *mut TextRaw, text: TextView) -> Status {
        // SAFETY: the module lends the string for the call, as the ABI specifies.
        let bytes = if text.len == 0 { &[][..] } else { unsafe { std::slice::from_raw_parts(text.data, text.len) } };
        // SAFETY: the module lends the target for the call, as the ABI specifies.
        unsafe { assign(target, bytes) };
        Status::OK
    }

    unsafe fn name_intern(text: TextView, out: &mut Name) -> Status {
        // SAFETY: the module lends the string for the call, as the ABI specifies.
        let bytes = unsafe { std::slice::from_raw_parts(text.data, text.len) };
        let text = String::from_utf8_lossy(bytes).into_owned();
        let mut state = state();
        let at = state.names.iter().position(|name| *name == text).unwrap_or_else(|| {
            state.names.push(text);
            state.names.len() - 1
        });
        *out = Name(u32::try_from(at + 1).expect("few names"));
        Status::OK
    }

    unsafe fn name_text(name: Name, sink: &TextSink) -> Status {
        let text = state().names[name.0 as usize - 1].clone();
        put_text(sink, &text)
    }
}
