//! Tests a module with a fake host, which calls the code that the attributes generate in the same way as the runtime.
#![expect(unsafe_code, reason = "calls the trampolines of the module as a host does")]

mod fake_host;

use alcedo_abi::call::{FailureKind, PackedKept};
use alcedo_abi::fingerprint::Fingerprint;
use alcedo_abi::host::mode;
use alcedo_abi::kinds::{PropertyKind, function_flags, property_flags};
use alcedo_abi::zcall::{Slot, SlotType, ZCallBuffer};
use alcedo_plugin_api::__private::{CLASSES, EXPORTS, IMPORTS};
use alcedo_plugin_api::prelude::*;

use fake_host::Host;

/// Struct of two numbers.
#[ustruct(pod, imported, package = "Engine")]
#[derive(Debug, PartialEq)]
pub struct Spot {
    /// First coordinate.
    pub x: f64,
    /// Second coordinate.
    pub y: f64,
}

/// Class of the host.
#[uclass(imported, package = "Engine", base = Object)]
pub struct Thing {
    /// A number.
    #[uproperty]
    count: u32,
    /// A text.
    #[uproperty]
    title: String,
    /// A struct.
    #[uproperty]
    spot: Spot,
    /// A boolean.
    #[uproperty]
    flag: bool,
    /// A reference.
    #[uproperty]
    friend: Obj<Thing>,
    /// A name.
    #[uproperty]
    tag: UName,
}

#[uclass(imported)]
impl Thing {
    /// Adds two numbers.
    #[ufunction]
    fn add(&self, a: i32, b: i32) -> i32;
    /// Returns the string in capital letters.
    #[ufunction]
    fn shout(&self, text: String) -> String;
    /// Exchanges the two coordinates.
    #[ufunction]
    fn mirror(&self, spot: Spot) -> Spot;
    /// Function that the host does not provide.
    #[ufunction]
    fn absent(&self);
    /// Called in each tick.
    #[ufunction(blueprint_native_event)]
    fn receive_tick(&self, delta: f32);
}

/// Class of this module.
#[uclass(package = "Game", base = Thing, blueprintable)]
pub struct Toy {
    /// Speed.
    #[uproperty(edit_anywhere, default = 180.0)]
    speed: f64,
    /// Visible component.
    #[uproperty(default_subobject, root_component)]
    mesh: Obj<Thing>,
    /// Initial position.
    #[uproperty(default = (x = 1.0, y = -2.0))]
    start: Spot,
    /// Motto.
    #[uproperty(transient, default = "hi")]
    motto: String,

    /// Plugin state that reloads keep.
    #[keep]
    greetings: u32,
    /// Plugin state that reloads rebuild.
    log: Vec<String>,
    /// True if dropping the plugin part panics.
    bomb: bool,
}

#[uclass]
impl Toy {
    #[red_constructor]
    fn new(this: This<Self>) -> Self {
        Self { greetings: 0, log: vec![this.name()], bomb: false }
    }

    #[class_constructor]
    fn construct(&mut self, this: This<Self>) {
        this.set_flag(true);
    }

    #[ufunction]
    fn properties(&mut self, this: This<Self>) -> String {
        this.set_count(5);
        this.set_title("a box");
        this.set_spot(Spot { x: 1.5, y: 2.5 });
        this.set_friend(this.as_base().as_obj());
        this.set_tag(UName::of(&this, "red").expect("a host"));
        this.set_speed(2.0);
        format!(
            "{} {} {:?} {} {} {} {}",
            this.count(),
            this.title(),
            this.spot(),
            this.flag(),
            this.get(this.friend()).expect("itself").handle() == this.handle(),
            this.tag().text(&this),
            this.speed()
        )
    }

    #[ufunction]
    fn calls(&self, this: This<Self>) -> String {
        let sum = this.add(2, -5);
        let spot = this.mirror(Spot { x: 1.0, y: 2.0 });
        let by_name: i32 = this.zcall("uf:/Script/Engine.Thing:add", (1, 2)).expect("the host has it");
        let lost = this.zcall::<(), ()>("ex:/nowhere", ()).expect_err("no module exports it");
        format!("{sum} {} {} {by_name} {lost}", this.shout("hey".to_owned()), spot.x)
    }

    /// Adds to the number of greetings.
    #[ufunction(blueprint_callable)]
    fn count_up(&mut self, by: u32) -> u32 {
        self.greetings += by;
        self.greetings
    }

    #[ufunction]
    fn reenter(&mut self, this: This<Self>) {
        this.count_up(1);
    }

    #[ufunction]
    fn reenter_borrowed(&mut self, this: This<Self>) -> u32 {
        self.greetings = 40;
        this.lend(self, |this| this.count_up(1));
        self.greetings += 1;
        self.greetings
    }

    #[ufunction]
    fn reborrow_another(&mut self, this: This<Self>) {
        let mut other = Self { greetings: 0, log: Vec::new(), bomb: false };
        this.lend(&mut other, |_this| ());
    }

    #[ufunction]
    fn remember(&mut self, this: This<Self>, friend: Obj<Thing>) -> u32 {
        this.set_friend(friend);
        u32::from(friend.is_expired(&this))
    }

    #[ufunction]
    fn use_friend(&self, this: This<Self>) {
        let friend = this.get(this.friend());
        friend.unwrap_or_else(|error| alcedo_plugin_api::__private::fail(error)).set_count(1);
    }

    #[ufunction]
    fn write_twice(&mut self, this: This<Self>) -> u32 {
        let refused = this.try_set_count(1).expect_err("the host is rebuilding");
        assert_eq!(refused.kind(), FailureKind::DURING_REBUILD);
        this.set_count(2);
        0
    }

    #[ufunction]
    fn written_without_host(&self, this: This<Self>) -> String {
        let friend = this.as_base().as_obj();
        let writes = [
            ("a number", this.try_set_count(7).is_err()),
            ("a text", this.try_set_title("a box").is_err()),
            ("a flag", this.try_set_flag(false).is_err()),
            ("a name", this.try_set_tag(UName::default()).is_err()),
            ("a reference", this.try_set_friend(friend).is_err()),
            ("a struct", this.try_set_spot(Spot { x: 1.5, y: 2.5 }).is_err()),
        ];
        let accepted: Vec<_> = writes.iter().filter(|(_, is_refused)| !is_refused).map(|(what, _)| *what).collect();
        accepted.join(", ")
    }

    #[ufunction]
    fn panics(&self) {
        panic!("no {}", "wheels");
    }

    #[ufunction]
    fn fails_below(&self, this: This<Self>) {
        this.absent();
    }

    #[ufunction]
    fn arm(&mut self) {
        self.bomb = true;
    }

    #[ufunction]
    fn logs(&self, this: This<Self>) {
        let span = tracing::info_span!("work", step = 1);
        let _inside = span.clone().entered();
        tracing::debug!(object = %this.name(), size = 3, "spins");
        tracing::trace!("below the level");
        log::warn!("old {}", "style");
    }

    /// Greets.
    #[ufunction(blueprint_native_event, blueprint_callable)]
    fn greet(&self, guest: String, times: u32) -> String;
    fn greet_implementation(&mut self, _this: This<Self>, guest: String, times: u32) -> String {
        format!("hello {guest}").repeat(times as usize)
    }

    #[ufunction]
    fn greets(&mut self, this: This<Self>) -> String {
        this.lend(self, |this| this.greet("you".to_owned(), 2))
    }

    #[overrides(Thing)]
    fn receive_tick(&mut self, this: This<Self>, delta: f32) {
        self.log.push(format!("tick {delta}"));
        this.base_receive_tick(delta);
    }

    #[zmethod]
    fn half(of: u64) -> u64 {
        of / 2
    }

    /// Excluded from this build, together with all code generated for it.
    #[cfg(not(test))]
    #[ufunction]
    fn conditional(&self) {}

    /// Excluded from every build, because its conditions contradict each other.
    #[cfg(test)]
    #[cfg(not(test))]
    #[ufunction]
    fn conditional_twice(&self) {}

    /// Excluded from builds of the tests.
    #[cfg(not(test))]
    #[zmethod]
    fn conditional_export() {}

    /// Excluded from builds of the tests.
    #[cfg(not(test))]
    #[ufunction(blueprint_native_event)]
    fn conditional_event(&self);
    #[cfg(not(test))]
    fn conditional_event_implementation(&self) {}

    /// Excluded from builds of the tests.
    #[cfg(not(test))]
    #[post_init_properties]
    fn conditional_hook(&mut self) {}

    #[cfg(test)]
    #[ufunction]
    fn in_tests(&self) -> u32 {
        1
    }

    #[zmethod]
    fn boom() {
        panic!("static");
    }
}

impl Drop for Toy {
    fn drop(&mut self) {
        assert!(!self.bomb, "it went off");
    }
}

/// Class without specifiers.
#[uclass(package = "Game")]
pub struct Plain {
    /// A number.
    #[uproperty]
    number: i64,
    /// State.
    pub state: Vec<u8>,
}

/// Function exported by name.
#[zcall(ex = "math.add")]
fn add(a: i32, b: i32) -> i32 {
    a + b
}

#[test]
fn properties_live_in_host_memory() {
    let host = Host::with("Toy");
    let toy = host.construct();
    host.class_constructor(toy).expect("it only sets a flag");
    assert_eq!(host.query(toy, "properties").expect("clean"), "5 a box Spot { x: 1.5, y: 2.5 } true true red 2");
}

#[test]
fn a_write_is_refused_while_the_host_rebuilds() {
    let host = Host::with("Toy");
    let toy = host.construct();
    host.mode(mode::REBUILDING);
    let failure = host.call(toy, "write_twice", &mut [Slot::EMPTY]).expect_err("the second write has no way out");
    assert_eq!(failure.kind, FailureKind::DURING_REBUILD);
}

#[test]
fn a_mark_observes_writes_that_could_be_references() {
    let host = Host::with("Toy");
    let toy = host.construct();
    for (mode, accepted) in [
        (mode::NORMAL, "a number, a text, a flag, a name, a reference, a struct"),
        (mode::MARKING, "a number, a text, a flag, a name"),
        (mode::REBUILDING, ""),
        (mode::STAGING, ""),
    ] {
        host.mode(mode);
        assert_eq!(host.query(toy, "written_without_host").expect("clean"), accepted, "mode {mode}");
    }
}

#[test]
fn calls_carry_numbers_texts_and_structs() {
    let host = Host::with("Toy");
    let toy = host.construct();
    assert_eq!(host.query(toy, "calls").expect("clean"), "-3 HEY 2 3 ex:/nowhere does not resolve");
}

#[test]
fn an_event_runs_its_default_body_through_the_host() {
    let host = Host::with("Toy");
    let toy = host.construct();
    assert_eq!(host.query(toy, "greets").expect("clean"), "hello youhello you");
}

#[test]
fn a_reentrant_borrow_names_object_and_methods() {
    let host = Host::with("Toy");
    let toy = host.construct();
    let failure = host.call(toy, "reenter", &mut []).expect_err("its half is held");
    assert_eq!((failure.kind, failure.object), (FailureKind::REENTRANT_BORROW, toy));
    assert_eq!((failure.held.as_str(), failure.expected.as_str()), ("reenter", "count_up"));
    let mut result = [Slot::EMPTY];
    host.call(toy, "reenter_borrowed", &mut result).expect("its half is lent");
    assert_eq!((result[0].kind(), result[0].bits()), (Some(SlotType::U32), 42));
    let failure = host.call(toy, "reborrow_another", &mut []).expect_err("another half");
    assert!(failure.message.as_str().contains("another plugin part"), "{failure:?}");
}

#[test]
fn a_panic_is_reported_with_message_and_location() {
    let host = Host::with("Toy");
    let toy = host.construct();
    let failure = host.call(toy, "panics", &mut []).expect_err("it panics");
    assert_eq!((failure.kind, failure.message.as_str()), (FailureKind::PANIC, "no wheels"));
    assert!(failure.file.as_str().ends_with("shells.rs") && failure.line > 100, "{failure:?}");
    assert!(host.logs().is_empty(), "a trapped panic is the host's to report");
}

#[test]
fn an_error_from_below_remains_the_same_error() {
    let host = Host::with("Toy");
    let toy = host.construct();
    let failure = host.call(toy, "fails_below", &mut []).expect_err("the host does not have it");
    assert_eq!(failure.kind, FailureKind::NOT_FOUND);
    assert_eq!(failure.message.as_str(), "the fake host has no /Script/Engine.Thing:absent");
}

#[test]
fn kept_fields_go_by_name_and_others_do_not() {
    let host = Host::with("Toy");
    let (old, new) = (host.construct(), host.construct());
    host.call(old, "count_up", &mut [Slot::from_bits(SlotType::U32, 9), Slot::EMPTY]).expect("clean");
    let kept = host.save_kept(old);
    assert_eq!(kept.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["greetings"]);
    host.load_kept(new, "greetings", &kept[0].1).expect("the same field");
    let mut result = [Slot::from_bits(SlotType::U32, 1), Slot::EMPTY];
    host.call(new, "count_up", &mut result).expect("clean");
    assert_eq!(result[1].bits(), 10);
    assert_eq!(host.load_kept(new, "gone", &kept[0].1).expect_err("no such field").kind, FailureKind::NOT_FOUND);
    assert!(host.load_kept(new, "greetings", &[0x61, b'x']).is_err(), "a string is not a number");
}

#[test]
fn kept_fields_of_standard_types_go_as_bytes() {
    let host = Host::with("Toy");
    let (old, new) = (host.construct(), host.construct());
    host.call(old, "count_up", &mut [Slot::from_bits(SlotType::U32, 9), Slot::EMPTY]).expect("clean");
    let hooks = &host.class().hooks;
    assert_eq!((hooks.kept_print != 0, hooks.kept_count), (true, 1));
    let kept = host.pack_kept(old);
    assert_eq!(kept, [9, 0, 0, 0]);
    host.unpack_kept(new, &kept).expect("the same fields");
    for wrong in [&kept[1..], &[9, 0, 0, 0, 0], &[]] {
        let failure = host.unpack_kept(new, wrong).expect_err("other fields");
        assert!(failure.message.as_str().contains("/Script/Game.Toy cannot be read"), "{failure:?}");
    }
    let mut result = [Slot::from_bits(SlotType::U32, 1), Slot::EMPTY];
    host.call(new, "count_up", &mut result).expect("clean");
    assert_eq!(result[1].bits(), 10);
}

#[test]
fn a_red_constructor_restores_kept_fields_that_it_can_read() {
    let host = Host::with("Toy");
    for (bytes, restored, count) in [(&[9_u8, 0, 0, 0][..], 1, 10), (&[9, 0, 0][..], 0, 1)] {
        let mut kept = PackedKept::new(bytes);
        let toy = host.construct_with(Some(&mut kept));
        let mut result = [Slot::from_bits(SlotType::U32, 1), Slot::EMPTY];
        host.call(toy, "count_up", &mut result).expect("clean");
        assert_eq!((kept.restored, result[1].bits()), (restored, count));
    }
}

#[test]
fn a_finalizer_that_panics_is_trapped() {
    let host = Host::with("Toy");
    let (good, bad) = (host.construct(), host.construct());
    host.call(bad, "arm", &mut []).expect("clean");
    assert!(host.end(good).is_ok());
    let failure = host.end(bad).expect_err("it went off");
    assert_eq!((failure.kind, failure.message.as_str()), (FailureKind::PANIC, "it went off"));
}

#[test]
fn an_override_can_run_the_body_below_it() {
    let host = Host::with("Toy");
    let toy = host.construct();
    let mut delta = [Slot::from_bits(SlotType::F32, u64::from(0.5_f32.to_bits()))];
    host.call(toy, "receive_tick", &mut delta).expect("clean");
    assert_eq!(host.logs(), ["base tick"]);
}

#[test]
fn events_and_spans_reach_the_host() {
    let host = Host::with("Toy");
    let toy = host.construct();
    host.call(toy, "logs", &mut []).expect("clean");
    let name = format!("Toy_{}", toy.index());
    assert_eq!(
        host.logs(),
        [
            "open shells work step=1".to_owned(),
            "step 1".to_owned(),
            format!("shells spins object={name} size=3"),
            "shells old style".to_owned(),
            "step 2".to_owned(),
            "step 3".to_owned(),
        ]
    );
}

#[test]
fn a_panic_of_a_thread_of_the_modules_own_is_logged() {
    let host = Host::with("Toy");
    let panicked = std::thread::spawn(|| panic!("alone")).join();
    assert!(panicked.is_err());
    assert_eq!(host.logs(), ["alcedo::panic alone"]);
}

#[test]
fn a_handle_outlives_its_object_without_harm() {
    let host = Host::with("Toy");
    let (toy, friend) = (host.construct(), host.construct());
    let mut slots = [Slot::from_bits(SlotType::CONJUGATE, friend.0), Slot::EMPTY];
    host.call(toy, "remember", &mut slots).expect("clean");
    assert_eq!(slots[1].bits(), 0, "it lives");
    host.end(friend).expect("clean");
    host.call(toy, "remember", &mut slots).expect("asking is allowed");
    assert_eq!(slots[1].bits(), 1, "it is gone");
    let failure = host.call(toy, "use_friend", &mut []).expect_err("it is gone");
    assert_eq!((failure.kind, failure.object), (FailureKind::STALE, friend));
    assert_eq!((size_of::<Obj<Toy>>(), format!("{:?}", Obj::<Toy>::none())), (8, "none".to_owned()));
}

#[test]
fn a_class_without_an_impl_block_is_built_by_default() {
    let host = Host::with("Plain");
    let plain = host.construct();
    assert!(host.class().hooks.class_constructor.is_none() && host.class().functions.is_empty());
    assert!(host.end(plain).is_ok());
}

#[test]
fn descriptions_match_the_declarations() {
    let host = Host::with("Toy");
    let class = host.class();
    assert_eq!((class.package.as_str(), class.base.as_str()), ("Game", "/Script/Engine.Thing"));
    assert_eq!(class.doc.as_str(), "Class of this module.");
    let properties: Vec<_> = class
        .properties
        .as_slice()
        .iter()
        .map(|property| format!("{} {:?} {} {}", property.name, property.kind.text(), property.default, property.flags))
        .collect();
    let mesh = property_flags::DEFAULT_SUBOBJECT | property_flags::ROOT_COMPONENT;
    assert_eq!(
        properties,
        [
            format!("speed Some(\"f64\") 180.0 {}", property_flags::EDIT_ANYWHERE),
            format!("mesh Some(\"Object\")  {mesh}"),
            "start Some(\"Struct\") (x=1.0, y=-2.0) 0".to_owned(),
            format!("motto Some(\"String\") \"hi\" {}", property_flags::TRANSIENT),
        ]
    );
    let find = |name: &str| class.functions.as_slice().iter().find(|function| function.name.as_str() == name);
    let greet = find("greet").expect("declared");
    assert_eq!(greet.flags, function_flags::NATIVE_EVENT | function_flags::CALLABLE);
    let names: Vec<_> = greet.params.as_slice().iter().map(|param| (param.name.as_str(), param.offset)).collect();
    assert_eq!(names, [("guest", 0), ("times", 24), ("return_value", 32)]);
    let host_side = Fingerprint::START.value(PropertyKind::STRING, "").value(PropertyKind::U32, "");
    assert_eq!(greet.fingerprint, host_side.number(0xfeed).value(PropertyKind::STRING, "").finish());
    let tick = find("receive_tick").expect("declared");
    assert_eq!((tick.flags, tick.overrides.as_str()), (function_flags::OVERRIDE, "/Script/Engine.Thing"));
    assert_eq!(find("greet_implementation").map(|function| function.name), None);
    assert!(IMPORTS.iter().any(|import| import.path.as_str() == "/Script/Engine.Thing:receive_tick"));
    assert_eq!(CLASSES.len(), 2);
}

#[test]
fn a_member_with_a_condition_is_there_when_the_condition_holds() {
    let host = Host::with("Toy");
    let class = host.class();
    let names: Vec<_> = class.functions.as_slice().iter().map(|function| function.name.as_str()).collect();
    assert!(names.contains(&"in_tests") && !names.iter().any(|name| name.starts_with("conditional")), "{names:?}");
    assert!(EXPORTS.iter().all(|export| export.name.as_str() != "conditional_export"));
    assert!(class.hooks.post_init_properties.is_none());
}

#[test]
fn static_functions_are_offered_and_check_their_slots() {
    let _host = Host::with("Toy");
    let call = |name: &str, slots: &mut [Slot]| {
        let export = EXPORTS.iter().find(|export| export.name.as_str() == name).expect("offered");
        let mut failure = alcedo_abi::call::Failure::none();
        let mut buffer = ZCallBuffer { slots: slots.as_mut_ptr(), len: slots.len() };
        // SAFETY: the buffer lends its slots for the call, and these signatures have no pointers.
        let status = unsafe { (export.invoke.0)(&mut buffer, &mut failure) };
        (status.0, failure.kind)
    };
    let int = |number: i32| Slot::from_bits(SlotType::I32, u64::from(number.cast_unsigned()));
    let mut slots = [int(2), int(40), Slot::EMPTY];
    assert_eq!(call("math.add", &mut slots), (0, FailureKind::NONE));
    assert_eq!(slots[2].bits(), 42);
    let mut slots = [Slot::from_bits(SlotType::U64, 10), Slot::EMPTY];
    assert_eq!(call("half", &mut slots), (0, FailureKind::NONE));
    assert_eq!(slots[1].bits(), 5);
    assert_eq!(call("half", &mut [int(1), Slot::EMPTY]).1, FailureKind::BUFFER);
    assert_eq!(call("half", &mut [Slot::EMPTY]).1, FailureKind::BUFFER);
    assert_eq!(call("boom", &mut []).1, FailureKind::PANIC);
    let half = EXPORTS.iter().find(|export| export.name.as_str() == "half").expect("offered");
    assert_eq!((half.type_path.as_str(), half.signature.as_str()), ("/Script/Game.Toy", "u64 -> u64"));
}
