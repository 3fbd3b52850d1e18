//! Tests that the sources of a host and its glue are parsed.

use super::Host;

const GLUE: &str = r#"
/// A mood.
#[uenum(imported, package = "Zoo")]
#[repr(u8)]
pub enum Mood {
    Calm = 0,
}

#[uclass(imported, package = "Zoo", base = Object)]
pub struct Keeper {}

#[uclass(imported)]
impl Keeper {
    #[ufunction(blueprint_native_event)]
    fn on_shift(&self);
}

/// Has a mood.
#[uclass(imported, package = "Zoo", base = Object)]
pub struct Animal {
    #[uproperty]
    factor: f64,
}

#[uclass(imported)]
impl Animal {
    #[ufunction]
    fn name_it(&self, name: String);
    /// Returns true if it eats; no `fn`, no `;`.
    #[ufunction(blueprint_native_event)]
    fn on_feed(&self, food: UMap<UName, f64>, by: Obj<Keeper>, mood: Mood) -> Result<bool, CallError>;
    #[ufunction(blueprint_native_event)]
    fn friend(&self) -> Obj<Animal>;
    #[ufunction(blueprint_native_event)]
    fn on_wake(&self) -> Result<(), CallError>;
    #[ufunction(blueprint_implementable_event)]
    fn on_tick(
        &self,
        seconds: f32,
        count: u32,
    );
}

#[uclass(imported, package = "Zoo", base = Animal)]
pub struct Bird {}
"#;

#[test]
fn the_first_blueprintable_class_of_the_host_is_extended_with_its_events() {
    let host = "#[uclass(package = \"Zoo\")]\npub struct Keeper {}\n#[uclass(package = \"Zoo\", blueprintable)]\n#[derive(Debug)]\n\
                pub struct Animal {}\nconst MODS: &str = \"Mods\";\nfn f() { Runtime::builder().package(MODS) }";
    let found = Host::of(GLUE, host, true);
    assert_eq!((found.base.as_deref(), found.package.as_str()), (Some("Animal"), "Mods"));
    assert_eq!(found.imports().into_iter().collect::<Vec<_>>(), ["Animal", "Keeper", "Mood"]);
    assert_eq!(found.call().as_deref(), Some("call::<()>(object, \"on_wake\", ())"));
    assert_eq!((found.free("factor"), found.free("other")), ("own_factor".to_owned(), "other".to_owned()));
    assert_eq!((found.free_class("Big"), found.free_class("")), ("BigAnimal".to_owned(), "OwnAnimal".to_owned()));
    let events: String = found.events.iter().map(super::Event::source).collect();
    for line in [
        "fn on_feed(&mut self, this: This<Self>, _food: UMap<UName, f64>, _by: Obj<Keeper>, _mood: Mood) -> bool {",
        "fn on_tick(&mut self, this: This<Self>, _seconds: f32, _count: u32) {",
        "fn on_wake(&mut self, this: This<Self>) {",
    ] {
        assert!(events.contains(line), "{events}");
    }
    assert!(!events.contains("friend"), "no value of its result is known: {events}");
    let derived = Host::of(GLUE, "#[uclass(blueprintable)]\nstruct Bird;\n.package(\"Mods\")", false);
    assert_eq!(derived.base.as_deref(), Some("Bird"));
    assert!(derived.events[0].source().contains("#[overrides(Animal)]"), "{derived:?}");
}

#[test]
fn glue_without_the_classes_of_the_host_is_old() {
    let has_old_glue = |host| Host::of(GLUE, host, true).has_old_glue;
    assert!(has_old_glue("#[uclass(package = \"Zoo\", blueprintable)]\npub struct Visitor {}"));
    assert!(!has_old_glue("#[uclass(package = \"Zoo\", blueprintable)]\npub struct Animal {}"));
    assert!(!has_old_glue("#[uclass(package = \"Zoo\")]\npub struct Visitor {}"));
}

#[test]
fn a_cycle_of_bases_in_edited_glue_ends() {
    let glue = "#[uclass(imported, base = B)]\npub struct A {}\n#[uclass(imported, base = A)]\npub struct B {}\n";
    let host = Host::of(glue, "", false);
    assert_eq!((host.base.as_deref(), host.events.len()), (Some("A"), 0));
}

#[test]
fn a_host_without_classes_has_no_base() {
    let found = Host::of("", "", false);
    // A class with the name of the plugin alone would hide the type `This`.
    assert_eq!(found.free_class("This"), "ThisObject");
    assert_eq!((found.base, found.events.len(), found.package.as_str()), (None, 0, "Game"));
}

#[test]
fn an_event_and_its_parameters_may_be_named_by_keywords() {
    let glue = "#[uclass(imported, base = Object)]\npub struct A {}\n#[uclass(imported)]\nimpl A {\n    \
                #[ufunction(blueprint_native_event)]\n    fn r#move(&self, r#type: f64);\n}\n";
    let host = Host::of(glue, "", true);
    assert_eq!(host.call().as_deref(), Some("call::<()>(object, \"move\", (1.0_f64,))"));
    let source = host.events[0].source();
    assert!(source.contains("fn r#move(&mut self, this: This<Self>, _type: f64) {"), "{source}");
    assert!(source.contains("{}: first move\""), "{source}");
}
