//! The fake host's functions for values: real memory, of plain values, texts, arrays, sets, maps and optionals. Enough to
//! see what the faces do with a host; references and delegates are refused by name.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use alcedo_abi::abi_stable::prefix_type::PrefixTypeTrait;
use alcedo_abi::call::{Failure, FailureKind, Status};
use alcedo_abi::handles::{BlackHandle, ClassId, ConjugateHandle, Name, ObjectHandle, TypeNumber, ZCallHandle};
use alcedo_abi::host::HostRef;
use alcedo_abi::kinds::PropertyKind;
use alcedo_abi::value::{ArrayRaw, MapRaw, TextRaw, TextSink, TextView};
use alcedo_abi::values::{ConjugateState, Place, Site, ValueTable, ValueTableRef};
use alcedo_abi::zcall::{ZCallBuffer, ZCallStatus};

/// A type as the fake host knows it.
#[derive(Clone, PartialEq, Debug)]
enum Type {
    Plain(String, usize),
    Text,
    Array(Box<Type>),
    Set(Box<Type>),
    Map(Box<Type>, Box<Type>),
    Optional(Box<Type>),
}

#[derive(Default)]
struct Values {
    types: Vec<Type>,
    blacks: BTreeMap<u64, (usize, Type)>,
    made: u64,
}

static VALUES: Mutex<Values> = Mutex::new(Values { types: Vec::new(), blacks: BTreeMap::new(), made: 0 });

fn values() -> MutexGuard<'static, Values> {
    VALUES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How many values plugin code owns.
pub(crate) fn blacks() -> usize {
    values().blacks.len()
}

impl Type {
    fn parse(text: &str) -> Option<Self> {
        let plain = |size| Some(Self::Plain(text.to_owned(), size));
        let inside = |name: &str| text.strip_prefix(name)?.strip_prefix('(')?.strip_suffix(')');
        match text {
            "u8" | "i8" | "bool" => plain(1),
            "u16" | "i16" => plain(2),
            "u32" | "i32" | "f32" | "Name" => plain(4),
            "u64" | "i64" | "f64" => plain(8),
            "String" | "Utf8String" | "AnsiString" => Some(Self::Text),
            _ if text.starts_with("Object(") => plain(8),
            _ => {
                let nested = |text| Self::parse(text).map(Box::new);
                if let Some(element) = inside("Array") {
                    return Some(Self::Array(nested(element)?));
                }
                if let Some(element) = inside("Set") {
                    return Some(Self::Set(nested(element)?));
                }
                if let Some(element) = inside("Optional") {
                    return Some(Self::Optional(nested(element)?));
                }
                let (key, value) = inside("Map")?.split_once(", ")?;
                Some(Self::Map(nested(key)?, nested(value)?))
            }
        }
    }

    fn layout(&self) -> Layout {
        let (size, align) = match self {
            Self::Plain(_, size) => (*size, *size),
            Self::Text => (24, 8),
            Self::Array(_) => (size_of::<ArrayRaw>(), 8),
            Self::Set(_) | Self::Map(..) => (size_of::<MapRaw>(), 8),
            Self::Optional(of) => return Layout::new::<u8>().extend(of.layout()).expect("small").0.pad_to_align(),
        };
        Layout::from_size_align(size, align).expect("small")
    }

    /// An entry of its row, and where the value stands in it.
    fn entry(&self) -> (Layout, usize) {
        match self {
            Self::Array(of) | Self::Set(of) => (of.layout(), 0),
            Self::Map(key, value) => {
                let (entry, offset) = key.layout().extend(value.layout()).expect("small");
                (entry.pad_to_align(), offset)
            }
            other => panic!("{other:?} has no row"),
        }
    }

    fn optional(of: &Self) -> usize {
        Layout::new::<u8>().extend(of.layout()).expect("small").1
    }
}

/// A live value.
#[derive(Clone)]
struct At<'t>(*mut u8, &'t Type);

impl<'t> At<'t> {
    #[expect(clippy::mut_from_ref, reason = "it points into memory that no reference owns")]
    fn row(&self) -> &mut ArrayRaw {
        // SAFETY: arrays, sets and maps begin with their row; the tests use one thread at a time.
        unsafe { &mut *self.0.cast::<ArrayRaw>() }
    }

    fn entry(&self, index: usize) -> *mut u8 {
        assert!(index < self.row().len as usize);
        // SAFETY: the row has it.
        unsafe { self.row().data.add(index * self.1.entry().0.size()) }
    }

    fn key(&self, index: usize) -> At<'t> {
        match self.1 {
            Type::Array(of) | Type::Set(of) | Type::Map(of, _) => At(self.entry(index), of),
            other => panic!("{other:?} has no row"),
        }
    }

    fn value(&self, index: usize) -> Option<At<'t>> {
        let Type::Map(_, value) = self.1 else { return None };
        // SAFETY: the entry has it there.
        Some(At(unsafe { self.entry(index).add(self.1.entry().1) }, value))
    }

    fn inner(&self) -> Option<At<'t>> {
        let Type::Optional(of) = self.1 else { panic!("no optional") };
        // SAFETY: an optional begins with its byte.
        let is_set = unsafe { self.0.read() } != 0;
        // SAFETY: the value stands behind it.
        is_set.then(|| At(unsafe { self.0.add(Type::optional(of)) }, of))
    }

    /// Another length: entries from `at` on make room or go.
    fn splice(&self, at: usize, remove: usize, insert: usize) {
        let (entry, row) = (self.1.entry().0, self.row());
        for index in at..at + remove {
            self.key(index).clear();
            if let Some(value) = self.value(index) {
                value.clear();
            }
        }
        let len = row.len as usize - remove + insert;
        let block = |count: usize| Layout::from_size_align(entry.size() * count.max(1), entry.align()).expect("small");
        // SAFETY: the block is not empty.
        let data = unsafe { alloc_zeroed(block(len)) };
        let tail = row.len as usize - at - remove;
        if row.capacity > 0 {
            // SAFETY: the old row has `at` entries, and the new one room for them.
            unsafe { std::ptr::copy_nonoverlapping(row.data, data, at * entry.size()) };
            // SAFETY: the entries behind those that went.
            let from = unsafe { row.data.add((at + remove) * entry.size()) };
            // SAFETY: the room behind those that are new.
            let to = unsafe { data.add((at + insert) * entry.size()) };
            // SAFETY: the same number on both sides.
            unsafe { std::ptr::copy_nonoverlapping(from, to, tail * entry.size()) };
            // SAFETY: it was made with this layout.
            unsafe { dealloc(row.data, block(row.capacity as usize)) };
        }
        let count = u32::try_from(len).expect("few");
        *row = ArrayRaw { data, len: count, capacity: count.max(1), epoch: row.epoch.wrapping_add(1), reserved: 0 };
    }

    fn clear(&self) {
        match self.1 {
            Type::Plain(..) => {}
            Type::Text => {
                // SAFETY: a text stands here.
                let text = unsafe { self.0.cast::<TextRaw>().read() };
                if text.capacity > 0 {
                    // SAFETY: it was made as a vector of just this length.
                    drop(unsafe { Vec::from_raw_parts(text.data, text.len, text.capacity) });
                }
            }
            Type::Optional(_) => {
                if let Some(inner) = self.inner() {
                    inner.clear();
                }
            }
            Type::Array(_) | Type::Set(_) | Type::Map(..) => {
                let (len, epoch) = (self.row().len as usize, self.row().epoch);
                self.splice(0, len, 0);
                let entry = self.1.entry().0;
                let block = Layout::from_size_align(entry.size(), entry.align()).expect("small");
                // SAFETY: a row without entries has room for one.
                unsafe { dealloc(self.row().data, block) };
                *self.row() = ArrayRaw { epoch: epoch.wrapping_add(1), ..ArrayRaw::EMPTY };
                return;
            }
        }
        // SAFETY: the value has this size, and owns nothing any more.
        unsafe { self.0.write_bytes(0, self.1.layout().size()) };
    }

    fn copy_from(&self, from: &At<'_>) {
        self.clear();
        match self.1 {
            // SAFETY: both have this size.
            Type::Plain(_, size) => unsafe { std::ptr::copy_nonoverlapping(from.0, self.0, *size) },
            Type::Text => self.put_text(&from.text()),
            Type::Optional(of) => {
                if let Some(inner) = from.inner() {
                    // SAFETY: an optional begins with its byte.
                    unsafe { self.0.write(1) };
                    // SAFETY: the value stands behind it.
                    At(unsafe { self.0.add(Type::optional(of)) }, of).copy_from(&inner);
                }
            }
            Type::Array(_) | Type::Set(_) | Type::Map(..) => {
                self.splice(0, 0, from.row().len as usize);
                for index in 0..from.row().len as usize {
                    self.key(index).copy_from(&from.key(index));
                    if let (Some(to), Some(from)) = (self.value(index), from.value(index)) {
                        to.copy_from(&from);
                    }
                }
            }
        }
    }

    fn text(&self) -> Vec<u8> {
        // SAFETY: a text stands here.
        let TextRaw { data, len, .. } = unsafe { self.0.cast::<TextRaw>().read() };
        // SAFETY: it has as many bytes.
        if len == 0 { Vec::new() } else { unsafe { std::slice::from_raw_parts(data, len) }.to_vec() }
    }

    fn put_text(&self, text: &[u8]) {
        let text = text.to_vec().into_boxed_slice();
        let len = text.len();
        let data = if len == 0 { std::ptr::null_mut() } else { Box::leak(text).as_mut_ptr() };
        // SAFETY: a text stands here, which owns nothing now.
        unsafe { self.0.cast::<TextRaw>().write(TextRaw { data, len, capacity: len }) };
    }

    fn print(&self) -> String {
        match self.1 {
            Type::Plain(name, size) => {
                let mut bits = [0; 8];
                // SAFETY: the value has this size.
                unsafe { std::ptr::copy_nonoverlapping(self.0, bits.as_mut_ptr(), *size) };
                let bits = u64::from_le_bytes(bits);
                if name == "f64" { f64::from_bits(bits).to_string() } else { bits.to_string() }
            }
            Type::Text => String::from_utf8_lossy(&self.text()).into_owned(),
            Type::Optional(_) => self.inner().map_or("none".to_owned(), |inner| inner.print()),
            Type::Array(_) | Type::Set(_) | Type::Map(..) => {
                let one = |index| match self.value(index) {
                    Some(value) => format!("({}, {})", self.key(index).print(), value.print()),
                    None => self.key(index).print(),
                };
                let all: Vec<_> = (0..self.row().len as usize).map(one).collect();
                format!("({})", all.join(", "))
            }
        }
    }

    fn find(&self, key: *const u8) -> Option<usize> {
        let (Type::Set(of) | Type::Map(of, _)) = self.1 else { panic!("no keys") };
        let wanted = At(key.cast_mut(), of).print();
        (0..self.row().len as usize).find(|index| self.key(*index).print() == wanted)
    }
}

/// Overwrites a text.
///
/// # Safety
/// `target` is a live one.
pub(super) unsafe fn assign(target: *mut TextRaw, text: &[u8]) {
    let at = At(target.cast(), &Type::Text);
    at.clear();
    at.put_text(text);
}

fn ty(number: TypeNumber) -> Type {
    values().types[number.0 as usize - 1].clone()
}

fn with<R>(place: &Place, code: impl FnOnce(At<'_>) -> R) -> R {
    let ty = ty(place.ty);
    code(At(place.at, &ty))
}

fn text_of(view: TextView) -> String {
    // SAFETY: the module lends this for the call, as the border prescribes.
    let bytes = if view.len == 0 { &[][..] } else { unsafe { std::slice::from_raw_parts(view.data, view.len) } };
    String::from_utf8_lossy(bytes).into_owned()
}

unsafe extern "C" fn type_resolve(
    _host: HostRef,
    _module: u64,
    text: TextView,
    out: &mut TypeNumber,
    failure: &mut Failure,
) -> Status {
    let text = text_of(text);
    let Some(ty) = Type::parse(&text) else { return refuse(failure, &text) };
    let mut values = values();
    values.types.push(ty);
    *out = TypeNumber(u32::try_from(values.types.len()).expect("few types"));
    Status::OK
}

fn refuse(failure: &mut Failure, what: &str) -> Status {
    *failure = Failure::new(FailureKind::NOT_FOUND, format!("the fake host has no {what}"));
    Status::FAILED
}

unsafe extern "C" fn black_new(
    _host: HostRef,
    module: u64,
    number: TypeNumber,
    from: *const u8,
    site: &Site,
    out: &mut BlackHandle,
    _failure: &mut Failure,
) -> Status {
    assert_eq!(module, 7);
    assert!(text_of(site.file).ends_with(".rs") && site.line > 0, "a value says where it was made");
    *out = make(ty(number), from);
    Status::OK
}

/// A value of a module's: a copy of that at `from`, or the one that zero bytes mean.
fn make(ty: Type, from: *const u8) -> BlackHandle {
    // SAFETY: no type is of no size.
    let at = unsafe { alloc_zeroed(ty.layout()) };
    if !from.is_null() {
        At(at, &ty).copy_from(&At(from.cast_mut(), &ty));
    }
    let mut values = values();
    values.made += 1;
    let handle = values.made;
    values.blacks.insert(handle, (at.expose_provenance(), ty));
    BlackHandle(handle)
}

unsafe extern "C" fn black_drop(_host: HostRef, black: BlackHandle) {
    let (at, ty) = values().blacks.remove(&black.0).expect("a value is given back once");
    let at = std::ptr::with_exposed_provenance_mut(at);
    At(at, &ty).clear();
    // SAFETY: it was made with this layout.
    unsafe { dealloc(at, ty.layout()) };
}

unsafe extern "C" fn copy(_host: HostRef, to: &Place, from: *const u8, _failure: &mut Failure) -> Status {
    with(to, |to| to.copy_from(&At(from.cast_mut(), to.1)));
    Status::OK
}

unsafe extern "C" fn equal(
    _host: HostRef,
    number: TypeNumber,
    one: *const u8,
    two: *const u8,
    out: &mut u8,
    _failure: &mut Failure,
) -> Status {
    let ty = ty(number);
    *out = u8::from(At(one.cast_mut(), &ty).print() == At(two.cast_mut(), &ty).print());
    Status::OK
}

unsafe extern "C" fn hash(
    _host: HostRef,
    number: TypeNumber,
    at: *const u8,
    out: &mut u64,
    _failure: &mut Failure,
) -> Status {
    *out = At(at.cast_mut(), &ty(number)).print().len() as u64;
    Status::OK
}

unsafe extern "C" fn print(
    _host: HostRef,
    number: TypeNumber,
    at: *const u8,
    sink: &TextSink,
    _failure: &mut Failure,
) -> Status {
    super::give(sink, &At(at.cast_mut(), &ty(number)).print())
}

unsafe extern "C" fn parse(_host: HostRef, place: &Place, text: TextView, failure: &mut Failure) -> Status {
    let text = text_of(text);
    with(place, |at| match at.1 {
        Type::Text => {
            at.clear();
            at.put_text(text.as_bytes());
            Status::OK
        }
        _ => refuse(failure, &format!("way to read {text:?}")),
    })
}

unsafe extern "C" fn clear(_host: HostRef, place: &Place, _failure: &mut Failure) -> Status {
    with(place, |at| {
        at.clear();
        // SAFETY: the value has this size, and owns nothing any more.
        unsafe { at.0.write_bytes(0, at.1.layout().size()) };
    });
    Status::OK
}

unsafe extern "C" fn ansi_assign(
    _host: HostRef,
    place: &Place,
    data: *const u8,
    len: usize,
    _failure: &mut Failure,
) -> Status {
    // SAFETY: the module lends this for the call, as the border prescribes.
    let bytes = if len == 0 { &[][..] } else { unsafe { std::slice::from_raw_parts(data, len) } };
    with(place, |at| {
        at.clear();
        at.put_text(bytes);
    });
    Status::OK
}

unsafe extern "C" fn array_splice(
    _host: HostRef,
    array: &Place,
    at: u32,
    remove: u32,
    insert: u32,
    failure: &mut Failure,
) -> Status {
    with(array, |array| {
        if at.checked_add(remove).is_none_or(|end| end > array.row().len) {
            return refuse(failure, "so many values");
        }
        array.splice(at as usize, remove as usize, insert as usize);
        Status::OK
    })
}

unsafe extern "C" fn array_reserve(_host: HostRef, array: &Place, _more: u32, _failure: &mut Failure) -> Status {
    with(array, |array| array.row().epoch = array.row().epoch.wrapping_add(1));
    Status::OK
}

unsafe extern "C" fn map_find(
    _host: HostRef,
    map: &Place,
    key: *const u8,
    out: &mut u32,
    _failure: &mut Failure,
) -> Status {
    let found = with(map, |map| map.find(key));
    *out = found.map_or(u32::MAX, |at| u32::try_from(at).expect("few"));
    Status::OK
}

unsafe extern "C" fn map_insert(
    _host: HostRef,
    map: &Place,
    key: *const u8,
    out: &mut u32,
    is_new: &mut u8,
    _failure: &mut Failure,
) -> Status {
    with(map, |map| {
        let found = map.find(key);
        let at = found.unwrap_or_else(|| {
            let len = map.row().len as usize;
            map.splice(len, 0, 1);
            let new = map.key(len);
            new.copy_from(&At(key.cast_mut(), new.1));
            len
        });
        (*out, *is_new) = (u32::try_from(at).expect("few"), u8::from(found.is_none()));
    });
    Status::OK
}

unsafe extern "C" fn map_remove(_host: HostRef, map: &Place, at: u32, _failure: &mut Failure) -> Status {
    with(map, |map| map.splice(at as usize, 1, 0));
    Status::OK
}

unsafe extern "C" fn reference_assign(
    _host: HostRef,
    _place: &Place,
    _object: ObjectHandle,
    failure: &mut Failure,
) -> Status {
    refuse(failure, "references")
}

unsafe extern "C" fn reference_resolve(
    _host: HostRef,
    _ty: TypeNumber,
    _at: *const u8,
    _out: &mut ObjectHandle,
    failure: &mut Failure,
) -> Status {
    refuse(failure, "references")
}

unsafe extern "C" fn class_assign(_host: HostRef, _place: &Place, _path: Name, failure: &mut Failure) -> Status {
    refuse(failure, "references")
}

unsafe extern "C" fn class_resolve(
    _host: HostRef,
    _ty: TypeNumber,
    _at: *const u8,
    _out: &mut ClassId,
    failure: &mut Failure,
) -> Status {
    refuse(failure, "references")
}

unsafe extern "C" fn object_path(_host: HostRef, object: ObjectHandle, sink: &TextSink) -> Status {
    super::give(sink, &format!("/World/Toy_{}", object.index()))
}

unsafe extern "C" fn delegate_bind(
    _host: HostRef,
    _delegate: &Place,
    _object: ObjectHandle,
    _function: TextView,
    failure: &mut Failure,
) -> Status {
    refuse(failure, "delegates")
}

unsafe extern "C" fn delegate_unbind(
    _host: HostRef,
    _delegate: &Place,
    _object: ObjectHandle,
    _function: TextView,
    _out: &mut u32,
    failure: &mut Failure,
) -> Status {
    refuse(failure, "delegates")
}

unsafe extern "C" fn delegate_call(
    _host: HostRef,
    _delegate: &Place,
    _buffer: &mut ZCallBuffer,
    _failure: &mut Failure,
) -> ZCallStatus {
    ZCallStatus::DISPATCHER_ERROR
}

unsafe extern "C" fn field_assign(_host: HostRef, _place: &Place, _path: TextView, failure: &mut Failure) -> Status {
    refuse(failure, "field paths")
}

unsafe extern "C" fn field_type(_host: HostRef, _at: *const u8, _sink: &TextSink, failure: &mut Failure) -> Status {
    refuse(failure, "field paths")
}

unsafe extern "C" fn object_rename(
    _host: HostRef,
    _object: ObjectHandle,
    _name: TextView,
    _outer: ObjectHandle,
    failure: &mut Failure,
) -> Status {
    refuse(failure, "world")
}

unsafe extern "C" fn collect(_host: HostRef, failure: &mut Failure) -> Status {
    *failure = Failure::new(FailureKind::UNAVAILABLE, "a collection inside a call");
    Status::FAILED
}

unsafe extern "C" fn conjugate_state(
    _host: HostRef,
    conjugate: ConjugateHandle,
    out: &mut ConjugateState,
    _failure: &mut Failure,
) -> Status {
    out.expired = u8::from(!values().blacks.contains_key(&conjugate.0));
    Status::OK
}

unsafe extern "C" fn conjugate_lend(
    _host: HostRef,
    _place: &Place,
    _out: &mut ConjugateHandle,
    failure: &mut Failure,
) -> Status {
    refuse(failure, "dynamic calls")
}

unsafe extern "C" fn conjugate_open(
    _host: HostRef,
    _conjugate: ConjugateHandle,
    _out: &mut Place,
    failure: &mut Failure,
) -> Status {
    refuse(failure, "dynamic calls")
}

unsafe extern "C" fn conjugate_clone(
    _host: HostRef,
    _module: u64,
    conjugate: ConjugateHandle,
    _site: &Site,
    out: &mut BlackHandle,
    failure: &mut Failure,
) -> Status {
    let known = values().blacks.get(&conjugate.0).cloned();
    let Some((at, ty)) = known else { return refuse(failure, "dynamic calls") };
    *out = make(ty, std::ptr::with_exposed_provenance(at));
    Status::OK
}

unsafe extern "C" fn conjugate_type(
    _host: HostRef,
    _conjugate: ConjugateHandle,
    _sink: &TextSink,
    failure: &mut Failure,
) -> Status {
    refuse(failure, "dynamic calls")
}

unsafe extern "C" fn conjugate_zcall(
    _host: HostRef,
    _module: u64,
    _handle: ZCallHandle,
    _buffer: &mut ZCallBuffer,
    _failure: &mut Failure,
) -> ZCallStatus {
    ZCallStatus::DISPATCHER_ERROR
}

unsafe extern "C" fn conjugate_open_as(
    _host: HostRef,
    conjugate: ConjugateHandle,
    ty: TypeNumber,
    out: &mut Place,
    failure: &mut Failure,
) -> Status {
    let known = values().blacks.get(&conjugate.0).map(|(at, _)| *at);
    let Some(at) = known else { return refuse(failure, "dynamic calls") };
    *out = Place { owner: ObjectHandle::NONE, at: std::ptr::with_exposed_provenance_mut(at), ty };
    Status::OK
}

unsafe extern "C" fn zcall_result(
    _host: HostRef,
    _handle: ZCallHandle,
    _out: &mut PropertyKind,
    failure: &mut Failure,
) -> Status {
    refuse(failure, "dynamic calls")
}

/// The table of these functions.
pub(crate) fn table() -> ValueTableRef {
    ValueTable {
        type_resolve,
        black_new,
        black_drop,
        copy,
        equal,
        hash,
        print,
        parse,
        clear,
        ansi_assign,
        array_splice,
        array_reserve,
        map_find,
        map_insert,
        map_remove,
        reference_assign,
        reference_resolve,
        class_assign,
        class_resolve,
        object_path,
        delegate_bind,
        delegate_unbind,
        delegate_call,
        field_assign,
        field_type,
        object_rename,
        collect,
        conjugate_state,
        conjugate_lend,
        conjugate_open,
        conjugate_clone,
        conjugate_type,
        conjugate_zcall,
        conjugate_open_as,
        zcall_result,
    }
    .leak_into_prefix()
}
