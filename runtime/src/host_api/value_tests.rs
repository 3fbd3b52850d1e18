//! Tests the trampolines with the host context of a runtime. Calls the functions of the table as a module does.
#![expect(unsafe_code, reason = "calls the trampolines as a module does")]

use std::rc::Rc;

use alcedo_abi::call::{Failure, FailureKind, Status};
use alcedo_abi::handles::TypeNumber;
use alcedo_abi::host::{HostRef, mode};
use alcedo_abi::kinds::PropertyKind;
use alcedo_abi::value::{ArrayRaw, MapRaw, TextSink, TextView};
use alcedo_abi::values::{RawLocation, ValueTableRef};

use crate::boundary::CallError;
use crate::bridge::conjugates;
use crate::bridge::core::Core;
use crate::handles::{ModuleId, ObjectHandle};
use crate::host_api::HostContext;
use crate::object::decl::{Batch, ClassDecl, PropertyDecl, StructDecl};
use crate::object::fixed::ARRAY_DIM;
use crate::object::origin::Origin;
use crate::object::owned::OwnedValue;
use crate::object::property::PropertyType;
use crate::object::value::Value;

/// A host, and the table of functions that a module calls.
struct Module {
    core: Rc<Core>,
    host_context: Box<HostContext>,
    table: ValueTableRef,
}

/// A host value whose location the module has received.
struct Held {
    own: OwnedValue,
    number: TypeNumber,
}

const MODULE: u64 = 7;

/// # Safety
/// `context` must come from `Module::print`, and the bytes must be borrowed for the call.
unsafe extern "C" fn put(context: *mut (), data: *const u8, len: usize) {
    // SAFETY: the only caller passes a pointer to its own string as the context.
    let text = unsafe { &mut *context.cast::<String>() };
    // SAFETY: the host provides `len` UTF-8 bytes.
    let bytes = unsafe { std::slice::from_raw_parts(data, len) };
    text.push_str(std::str::from_utf8(bytes).expect("it is UTF-8"));
}

impl Module {
    fn new() -> Self {
        let core = Core::new().expect("a finalizer thread");
        // SAFETY: no module is attached with this host context.
        let host_context = unsafe { HostContext::new(&core) };
        Self { core, host_context, table: crate::host_api::values() }
    }

    fn host(&self) -> HostRef {
        self.host_context.to_ref()
    }

    /// Returns the error message of a call. Returns `None` if the call succeeded.
    fn outcome(call: impl FnOnce(&mut Failure) -> Status) -> Option<String> {
        let mut failure = Failure::none();
        let status = call(&mut failure);
        assert_eq!(status == Status::OK, failure.kind == FailureKind::NONE, "{}", failure.message);
        (status != Status::OK).then(|| failure.message.to_string())
    }

    fn number(&self, words: &str) -> Result<TypeNumber, String> {
        let mut number = TypeNumber::NONE;
        // SAFETY: a runtime created the host context, and the string is borrowed for the call.
        let call_host = |failure: &mut Failure| unsafe {
            self.table.type_resolve()(self.host(), MODULE, TextView::of(words), &mut number, failure)
        };
        Self::outcome(call_host).map_or(Ok(()), Err)?;
        Ok(number)
    }

    fn hold(&self, words: &str, text: &str) -> Held {
        let number = self.number(words).unwrap_or_else(|error| panic!("{error}"));
        let ty = PropertyType::parse(words, &self.core.world.types).expect("it is a type");
        let held = Held { own: OwnedValue::zero(ty), number };
        assert_eq!(self.parse(&held, ObjectHandle::NONE, text), None);
        held
    }

    fn parse(&self, held: &Held, owner: ObjectHandle, text: &str) -> Option<String> {
        let location = held.location(owner);
        // SAFETY: the location refers to a value of the type, and the string is borrowed for the call.
        Self::outcome(|failure| unsafe { self.table.parse()(self.host(), &location, TextView::of(text), failure) })
    }

    fn print(&self, held: &Held) -> String {
        let mut text = String::new();
        let sink = TextSink { context: (&raw mut text).cast(), put };
        // SAFETY: the address is of a value of the type, and the sink is valid.
        let print = |failure: &mut Failure| unsafe {
            self.table.print()(self.host(), held.number, held.own.at(), &sink, failure)
        };
        assert_eq!(Self::outcome(print), None);
        text
    }

    fn splice(&self, held: &Held, owner: ObjectHandle, (at, remove, insert): (u32, u32, u32)) -> Option<String> {
        let location = held.location(owner);
        // SAFETY: the location refers to a value of the type.
        Self::outcome(|failure| unsafe {
            self.table.array_splice()(self.host(), &location, at, remove, insert, failure)
        })
    }
}

impl Held {
    fn location(&self, owner: ObjectHandle) -> RawLocation {
        RawLocation { owner, at: self.own.at(), ty: self.number }
    }
}

#[test]
fn a_module_prints_reads_copies_compares_and_hashes() {
    let module = Module::new();
    let words = "Map(String, Array(f64))";
    let (one, two) = (module.hold(words, "((a, (1, 2)), (b, ()))"), module.hold(words, "()"));
    assert_eq!(one.number, two.number, "one type has one number in a module");
    assert_eq!(module.print(&one), "((\"a\", (1, 2)), (\"b\", ()))");
    let equal = |one: &Held, two: &Held| {
        let mut is_equal = 9;
        // SAFETY: both addresses are of values of the type.
        let call_host = |failure: &mut Failure| unsafe {
            module.table.equal()(module.host(), one.number, one.own.at(), two.own.at(), &mut is_equal, failure)
        };
        assert_eq!(Module::outcome(call_host), None);
        is_equal
    };
    assert_eq!(equal(&one, &two), 0);
    let location = two.location(ObjectHandle::NONE);
    // SAFETY: the location and the address are of values of the type.
    let copied =
        Module::outcome(|failure| unsafe { module.table.copy()(module.host(), &location, one.own.at(), failure) });
    assert_eq!((copied, equal(&one, &two)), (None, 1));
    let hash = |held: &Held| {
        let mut hash = 0;
        // SAFETY: the address is of a value of the type.
        let call_host = |failure: &mut Failure| unsafe {
            module.table.hash()(module.host(), held.number, held.own.at(), &mut hash, failure)
        };
        assert_eq!(Module::outcome(call_host), None);
        hash
    };
    assert_eq!(hash(&one), hash(&two));
    // SAFETY: the location refers to a value of the type.
    let cleared = Module::outcome(|failure| unsafe { module.table.clear()(module.host(), &location, failure) });
    assert_eq!((cleared, module.print(&two)), (None, "()".to_owned()));
    assert!(module.parse(&two, ObjectHandle::NONE, "(a)").is_some_and(|error| error.contains("(key, value)")));
}

#[test]
fn an_array_is_spliced_and_reserved() {
    let module = Module::new();
    let array = module.hold("Array(u16)", "(1, 2, 3)");
    assert_eq!(module.splice(&array, ObjectHandle::NONE, (1, 1, 2)), None);
    assert_eq!(module.print(&array), "(1, 0, 0, 3)");
    let refused = module.splice(&array, ObjectHandle::NONE, (4, 1, 0)).expect("there are four");
    assert!(refused.contains("exceed the length 4"), "{refused}");
    let location = array.location(ObjectHandle::NONE);
    // SAFETY: the location refers to a value of the type.
    let reserved =
        Module::outcome(|failure| unsafe { module.table.array_reserve()(module.host(), &location, 100, failure) });
    // SAFETY: the address is of an array.
    let raw = unsafe { array.own.at().cast::<ArrayRaw>().read() };
    assert_eq!((reserved, raw.capacity >= 104), (None, true));
    let text = module.hold("String", "a");
    assert!(module.splice(&text, ObjectHandle::NONE, (0, 0, 1)).is_some(), "a string is not an array");
}

/// Declares a fixed array with 3 elements.
fn cells() -> PropertyDecl {
    let cells = PropertyDecl::new("cells", PropertyKind::ARRAY).of_type("u16");
    PropertyDecl { meta: vec![(ARRAY_DIM.to_owned(), "3".to_owned())], ..cells }
}

#[test]
fn a_module_cannot_change_the_length_of_a_fixed_array_of_an_object() {
    let module = Module::new();
    let world = &module.core.world;
    world.types.declare_package("Game");
    let properties = vec![PropertyDecl::new("number", PropertyKind::U64), cells()];
    let board = ClassDecl { properties, ..ClassDecl::new("Game", "Board", "", Origin::Native) };
    let batch = Batch { classes: vec![board], ..Batch::default() };
    let declared = world.types.declare(&world.names, &batch).expect("a right declaration");
    let object = world.objects.allocate(&declared.classes[0], None, ObjectHandle::NONE, 0);
    let row = |values: &[u16]| Value::Array(values.iter().copied().map(Value::U16).collect());
    world.objects.write_unasked(object, "cells", &row(&[1, 2, 3])).expect("it has it");
    let property = declared.classes[0].find_property("cells").expect("it is declared");
    let memory = world.objects.memory(object).expect("it is alive");
    let at = memory.wrapping_add(property.offset as usize);
    let (other, text) = (module.hold("Array(u16)", "(7, 8)"), "(1, 2, 3, 4)");
    let location = RawLocation { owner: object, at, ty: other.number };
    let splice = |at, remove, insert| {
        // SAFETY: the location refers to a value of the type.
        Module::outcome(|failure| unsafe {
            module.table.array_splice()(module.host(), &location, at, remove, insert, failure)
        })
    };
    // SAFETY: the location and the address are of values of the type.
    let copied =
        Module::outcome(|failure| unsafe { module.table.copy()(module.host(), &location, other.own.at(), failure) });
    // SAFETY: the location refers to a value of the type, and the string is borrowed for the call.
    let parsed = Module::outcome(|failure| unsafe {
        module.table.parse()(module.host(), &location, TextView::of(text), failure)
    });
    // SAFETY: the location refers to a value of the type.
    let cleared = Module::outcome(|failure| unsafe { module.table.clear()(module.host(), &location, failure) });
    // A host borrows the array during a call of a module, and overwrites the array.
    let written = module.core.red.enter("m", &"a call".into(), || {
        let array = conjugates::borrow_property(&module.core, object, "cells")?;
        conjugates::write(&module.core, array, &row(&[4, 5, 6]))?;
        conjugates::write(&module.core, array, &row(&[1, 2, 3]))?;
        conjugates::write(&module.core, array, &row(&[7]))
    });
    let written = written.err().map(|error: CallError| error.to_string());
    let rows = [(splice(3, 0, 1), 4), (splice(0, 1, 0), 2), (copied, 2), (parsed, 4), (cleared, 0), (written, 1)];
    for (refused, len) in rows {
        let refused = refused.expect("the length would change");
        assert!(refused.contains(&format!("cells is a fixed array of 3 elements and cannot have {len}")), "{refused}");
    }
    assert_eq!(world.objects.read_value(object, "cells"), Ok(row(&[1, 2, 3])));
    assert_eq!(splice(1, 1, 1), None);
    assert_eq!(world.objects.read_value(object, "cells"), Ok(row(&[1, 0, 3])));
}

#[test]
fn fixed_arrays_in_a_struct_that_a_module_copies_have_their_lengths() {
    let module = Module::new();
    let world = &module.core.world;
    world.types.declare_package("Game");
    let row = StructDecl { fields: vec![cells()], ..StructDecl::new("Game", "Row", Origin::Native) };
    let first = PropertyDecl::new("first", PropertyKind::STRUCT).of_type("/Script/Game.Row");
    let table = StructDecl { fields: vec![first], ..StructDecl::new("Game", "Table", Origin::Native) };
    let batch = Batch { structs: vec![row, table], ..Batch::default() };
    world.types.declare(&world.names, &batch).expect("a right declaration");
    let [from, to] =
        ["(1, 2, 3)", "(7, 8, 9)"].map(|cells| module.hold("/Script/Game.Table", &format!("(first=(cells={cells}))")));
    // The array is at the start of both structs.
    let ty = module.number("Array(u16)").expect("it is a type");
    let array = RawLocation { ty, ..from.location(ObjectHandle::NONE) };
    // SAFETY: the location refers to a value of the type.
    let spliced =
        Module::outcome(|failure| unsafe { module.table.array_splice()(module.host(), &array, 0, 0, 2, failure) });
    assert_eq!((spliced, &*module.print(&from)), (None, "(first=(cells=(0, 0, 1, 2, 3)))"));
    let location = to.location(ObjectHandle::NONE);
    // SAFETY: the location and the address are of values of the type.
    let copied =
        Module::outcome(|failure| unsafe { module.table.copy()(module.host(), &location, from.own.at(), failure) });
    assert_eq!((copied, &*module.print(&to)), (None, "(first=(cells=(0, 0, 1)))"));
}

#[test]
fn keys_are_inserted_found_and_removed() {
    let module = Module::new();
    let map = module.hold("Map(String, u8)", "((a, 1))");
    let (key, other) = (module.hold("String", "b"), module.hold("String", "c"));
    let location = map.location(ObjectHandle::NONE);
    let insert = || {
        let (mut at, mut is_new) = (0, 9);
        // SAFETY: the location refers to a map, and the address is of a key.
        let call_host = |failure: &mut Failure| unsafe {
            module.table.map_insert()(module.host(), &location, key.own.at(), &mut at, &mut is_new, failure)
        };
        assert_eq!(Module::outcome(call_host), None);
        (at, is_new)
    };
    let find = |key: &Held| {
        let mut at = 0;
        // SAFETY: the location refers to a map, and the address is of a key.
        let call_host = |failure: &mut Failure| unsafe {
            module.table.map_find()(module.host(), &location, key.own.at(), &mut at, failure)
        };
        assert_eq!(Module::outcome(call_host), None);
        at
    };
    assert_eq!((insert(), insert()), ((1, 1), (1, 0)));
    assert_eq!((find(&key), find(&other)), (1, u32::MAX));
    assert_eq!(module.print(&map), "((\"a\", 1), (\"b\", 0))");
    // SAFETY: the address is of a map.
    let raw = || unsafe { map.own.at().cast::<MapRaw>().read() };
    let before = raw().entries.epoch;
    // SAFETY: the location refers to a map.
    let remove =
        |at| Module::outcome(|failure| unsafe { module.table.map_remove()(module.host(), &location, at, failure) });
    assert_eq!((remove(0), module.print(&map)), (None, "((\"b\", 0))".to_owned()));
    assert!(remove(1).is_some());
    assert_eq!((raw().entries.len, raw().entries.epoch), (1, before + 1));
}

#[test]
fn an_ascii_string_accepts_bytes() {
    let module = Module::new();
    let text = module.hold("AnsiString", "a");
    let location = text.location(ObjectHandle::NONE);
    let bytes = [0xfc, 0x21];
    // SAFETY: the location refers to a byte string, and the bytes are borrowed for the call.
    let assigned = Module::outcome(|failure| unsafe {
        module.table.ansi_assign()(module.host(), &location, bytes.as_ptr(), bytes.len(), failure)
    });
    assert_eq!((assigned, text.own.read()), (None, Value::Ansi("ü!".to_owned())));
}

#[test]
fn writes_to_read_only_values_are_refused_without_effect() {
    let module = Module::new();
    let array = module.hold("Array(u16)", "(1, 2)");
    let owner = ObjectHandle::new(5, 5);
    {
        let _rebuilding = module.core.world.mode.enter(mode::REBUILDING);
        assert!(module.splice(&array, owner, (0, 2, 0)).is_some());
        assert!(module.parse(&array, owner, "(9)").is_some());
        assert_eq!(module.print(&array), "(1, 2)", "reading is always allowed");
        assert_eq!(
            module.splice(&array, ObjectHandle::NONE, (0, 1, 0)),
            None,
            "arrays without an owner may be written"
        );
    }
    assert_eq!(module.print(&array), "(2)");
}

#[test]
fn numbers_of_a_module_that_is_over_are_refused() {
    let module = Module::new();
    let array = module.hold("Array(u16)", "(1)");
    module.core.set_aside([ModuleId(MODULE)]);
    let refused = module.splice(&array, ObjectHandle::NONE, (0, 1, 0)).expect("the module is set aside");
    assert!(refused.contains("not one of a running module"), "{refused}");
    module.core.take_back([ModuleId(MODULE)]);
    assert_eq!(module.splice(&array, ObjectHandle::NONE, (0, 1, 0)), None);
    module.core.value_types.end_module(ModuleId(MODULE));
    assert!(module.splice(&array, ObjectHandle::NONE, (0, 0, 1)).is_some());
    assert!(module.number("u8").is_err());
}
