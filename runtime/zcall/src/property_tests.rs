//! Tests names, buffers and handles with arbitrary input. Checks that no input causes a panic, an out-of-bounds access, a write after an
//! error, or the reuse of a handle for a different function.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use alcedo_abi::handles::ConjugateHandle;
use alcedo_abi::zcall::{Slot, SlotType, SlotValue, ZCallStatus};
use proptest::prelude::{Just, Strategy, any, prop, prop_oneof, proptest};
use proptest::test_runner::Config;

use crate::boundary::CallError;
use crate::buffer::BufferMut;
use crate::call::Implementer;
use crate::chain::tests::nothing;
use crate::chain::{Origin, ResolverChain};
use crate::explicit::{Ex, Explicit};
use crate::game_thread::GameThreadId;
use crate::handles::{ModuleId, Name, ObjectHandle, ZCallHandle};
use crate::module_status::{ModuleStatus, ModuleStatuses};
use crate::name::ZCallName;
use crate::owned::DynBuffer;
use crate::protocol::{PlainProtocol, Protocol};
use crate::reader::{NameError, Reader};
use crate::table::ZCallTable;

/// Protocol that reads an address with a predefined sequence of reader calls.
#[derive(Clone, Debug)]
struct Scripted(Vec<Verb>);

#[derive(Clone, Debug)]
enum Verb {
    Fixed(&'static str),
    Word,
    All,
    Since(usize),
    Error,
}

impl Protocol for Scripted {
    fn word(&self) -> &str {
        "told"
    }

    fn form(&self) -> &str {
        "`told:…`"
    }

    fn read(&self, address: &mut Reader<'_>) -> Result<String, NameError> {
        let mut read = String::new();
        for verb in &self.0 {
            let before = address.at();
            let rest = address.rest().len();
            match verb {
                Verb::Fixed(part) => address.fixed(part)?,
                Verb::Word => read.push_str(address.word("word")?),
                Verb::All => read.push_str(address.all("all")?),
                Verb::Since(at) => read.push_str(address.since(*at)),
                Verb::Error => assert_eq!(address.error(crate::reader::NameErrorKind::Protocol).at, before),
            }
            assert_eq!(address.at() - before, rest - address.rest().len(), "what is read is not left");
        }
        Ok(read)
    }
}

fn verbs() -> impl Strategy<Value = Vec<Verb>> {
    let verb = prop_oneof![
        prop_oneof![Just("/"), Just(":"), Just("é"), Just("")].prop_map(Verb::Fixed),
        Just(Verb::Word),
        Just(Verb::All),
        (0..40_usize).prop_map(Verb::Since),
        Just(Verb::Error),
    ];
    prop::collection::vec(verb, 0..8)
}

fn names() -> impl Strategy<Value = String> {
    prop_oneof!["(ex|db|told)(:|://|:/)?[a-zé/:. \u{202e}\u{0}]{0,12}", "\\PC{0,24}", any::<String>()]
}

fn check_name(text: &str, protocol: &dyn Protocol) {
    match ZCallName::read(text, protocol) {
        Ok(name) => {
            assert_eq!(name.protocol(), protocol.word());
            assert!(name.to_string().ends_with(name.rest()) && name.address().ends_with(name.rest()));
        }
        Err(error) => {
            assert!(text.is_char_boundary(error.at), "{text:?} has no byte {}", error.at);
            let message = error.to_string();
            assert!(!message.contains(char::is_control) && message.len() < 2000, "{message:?}");
        }
    }
}

/// Generates arbitrary slots. Excludes slots with addresses, because safe code cannot create such slots.
fn slots() -> impl Strategy<Value = Slot> {
    (0..=14_u8, any::<u64>()).prop_map(|(kind, bits)| match SlotType(kind) {
        SlotType::POINTER => Slot::EMPTY,
        kind => Slot::from_bits(kind, bits),
    })
}

/// Reads and writes a slot as type `T`. Panics if a write reports success but has no effect.
fn touch<T: SlotValue + PartialEq + std::fmt::Debug>(
    buffer: &mut BufferMut<'_>,
    at: usize,
    bits: u64,
) -> Result<(), CallError> {
    let before = buffer.get::<T>(at);
    let value = T::from_bits(bits);
    buffer.set(at, value)?;
    assert_eq!(buffer.get::<T>(at), Ok(value));
    assert!(before.is_ok() || buffer.slot(at)?.is(T::SLOT));
    Ok(())
}

fn same(one: &[Slot], other: &[Slot]) -> bool {
    let facts = |slot: &Slot| (slot.kind(), slot.bits());
    one.iter().map(facts).eq(other.iter().map(facts))
}

#[derive(Clone, Debug)]
enum Event {
    Register(u8, u64),
    Suspend(u64),
    Resume(u64),
    End(u64),
    Resolve(u8),
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let module = || 1..5_u64;
    let event = prop_oneof![
        3 => (0..4_u8, 0..5_u64).prop_map(|(name, module)| Event::Register(name, module)),
        1 => module().prop_map(Event::Suspend),
        1 => module().prop_map(Event::Resume),
        1 => module().prop_map(Event::End),
        4 => (0..4_u8).prop_map(Event::Resolve),
    ];
    prop::collection::vec(event, 0..60)
}

fn check_life(events: &[Event]) {
    let chain = ResolverChain::new();
    let table = ZCallTable::with_epoch(Rc::default(), Rc::clone(chain.modules()));
    let explicit = Rc::new(Explicit::new(Rc::clone(chain.modules())));
    chain.add_protocol(Rc::new(Ex), Origin::BuiltIn).expect("it is free");
    chain.add("ex", Origin::BuiltIn, 0, "ex", Rc::clone(&explicit) as _).expect("there is the protocol");
    let statuses = ModuleStatuses::default();
    let mut resolved: BTreeMap<i64, (String, ModuleId)> = BTreeMap::new();
    let mut owners: BTreeSet<(u8, u64)> = BTreeSet::new();
    for event in events {
        let before = table.epoch().count();
        match *event {
            Event::Register(name, module) => {
                let side = if module == 0 { Implementer::Host } else { Implementer::Module(ModuleId(module)) };
                let is_free = !owners
                    .iter()
                    .any(|(of, owner)| *of == name && statuses.status(ModuleId(*owner)) == ModuleStatus::Running);
                let runs = statuses.status(ModuleId(module)) == ModuleStatus::Running;
                let done = explicit.register(&format!("f{name}"), nothing(side, module, &format!("of {module}")));
                assert_eq!(done.is_ok(), is_free && runs, "{done:?}");
                if done.is_ok() {
                    owners.insert((name, module));
                }
            }
            Event::Suspend(module) => {
                statuses.suspend(ModuleId(module));
                table.suspend(ModuleId(module));
            }
            Event::Resume(module) => {
                // Resumes a module only after the modules that now own its names have ended, which is the order of a rollback.
                let used: Vec<_> = owners.iter().filter(|(_, owner)| *owner == module).map(|(name, _)| *name).collect();
                let is_in_use = |(name, owner): &(u8, u64)| {
                    *owner != module
                        && used.contains(name)
                        && statuses.status(ModuleId(*owner)) == ModuleStatus::Running
                };
                if owners.iter().any(is_in_use) {
                    continue;
                }
                statuses.resume(ModuleId(module));
                table.resume(ModuleId(module));
            }
            Event::End(module) => {
                statuses.end(ModuleId(module));
                table.end_module(ModuleId(module));
                explicit.end_module(ModuleId(module));
                owners.retain(|(_, owner)| *owner != module);
            }
            Event::Resolve(name) => {
                let owner = owners
                    .iter()
                    .find(|(of, owner)| *of == name && statuses.status(ModuleId(*owner)) == ModuleStatus::Running);
                let text = format!("ex:/f{name}");
                let found = table.resolve(&chain, &text, 0);
                assert_eq!(found.is_ok(), owner.is_some(), "{found:?}");
                if let (Ok(handle), Some((_, owner))) = (found, owner) {
                    assert_eq!(handle.0 < 0, *owner != 0, "the sign identifies the implementer");
                    let known = resolved.insert(handle.0, (text.clone(), ModuleId(*owner)));
                    assert!(
                        known.is_none_or(|known| known == (text, ModuleId(*owner))),
                        "a number is never used again"
                    );
                }
            }
        }
        assert!(table.epoch().count() >= before);
        let id = GameThreadId::here();
        let gt = id.prove().expect("this thread");
        for (handle, (_, module)) in &resolved {
            let expected = match statuses.status(*module) {
                ModuleStatus::Running => ZCallStatus::SUCCESS,
                ModuleStatus::Suspended => ZCallStatus::CONTEXT_UNAVAILABLE,
                ModuleStatus::Ended => ZCallStatus::DISPATCHER_NOT_FOUND,
            };
            let (status, _) = table.dispatch(gt, ZCallHandle(*handle), DynBuffer::with_len(0).as_buffer_mut());
            assert_eq!(status, expected, "{handle} of {module:?}");
        }
    }
}

proptest! {
    #![proptest_config(Config { failure_persistence: None, ..Config::with_cases(512) })]

    #[test]
    fn no_name_makes_a_protocol_panic_and_errors_point_into_it(text in names(), verbs in verbs()) {
        for protocol in [&Ex as &dyn Protocol, &PlainProtocol::new("db"), &Scripted(verbs)] {
            check_name(&text, protocol);
        }
        let chain = crate::chain::tests::chain();
        if let Ok(name) = chain.read(&text) {
            assert_eq!(chain.read(&name.to_string()), Ok(name), "a name of these reads back as itself");
        }
    }

    #[test]
    fn buffer_accesses_are_limited_to_slots_and_types(
        initial in prop::collection::vec(slots(), 0..6),
        ops in prop::collection::vec((0..16_u8, 0..8_usize, any::<u64>()), 0..24),
    ) {
        let mut slots = initial.clone();
        for (op, at, bits) in ops {
            let before = slots.clone();
            let mut buffer = BufferMut::over(&mut slots);
            let done = match op {
                0 => touch::<u8>(&mut buffer, at, bits),
                1 => touch::<u16>(&mut buffer, at, bits),
                2 => touch::<u32>(&mut buffer, at, bits),
                3 => touch::<u64>(&mut buffer, at, bits),
                4 => touch::<i8>(&mut buffer, at, bits),
                5 => touch::<i16>(&mut buffer, at, bits),
                6 => touch::<i32>(&mut buffer, at, bits),
                7 => touch::<i64>(&mut buffer, at, bits),
                8 => touch::<bool>(&mut buffer, at, bits),
                9 => touch::<Name>(&mut buffer, at, bits),
                10 => touch::<ObjectHandle>(&mut buffer, at, bits),
                11 => touch::<ConjugateHandle>(&mut buffer, at, bits),
                12 => buffer.put(at, Slot::from_bits(SlotType((bits % 11) as u8), bits)),
                13 => buffer.expect_len(at),
                14 => buffer.slot(at).map(drop),
                _ => buffer.pointer(at).map(drop),
            };
            assert_eq!((buffer.len(), buffer.raw().len), (before.len(), before.len()));
            assert!(done.is_ok() || same(&slots, &before), "nothing is written where there is an error");
            assert!(done.is_err() || at < before.len() || op == 13);
            let others = |row: &[Slot]| row.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, slot)| *slot).collect::<Vec<_>>();
            assert!(same(&others(&slots), &others(&before)), "only that slot is written");
        }
        let mut buffer = BufferMut::over(&mut slots);
        if Slot::EMPTY.kind().is_some() && !buffer.is_empty() {
            assert!(buffer.put(0, Slot::from_bits(SlotType::POINTER, 8)).is_err(), "addresses cannot be put");
            assert!(buffer.pointer(0).is_err(), "and there is none");
        }
    }

    #[test]
    fn a_handle_becomes_invalid_with_its_module_and_is_not_reused(events in events()) {
        check_life(&events);
    }
}
