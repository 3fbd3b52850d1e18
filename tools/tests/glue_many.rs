//! Tests glue for a host with thirty native classes of ten properties and ten functions. Two plugins use the host and each other only
//! through glue. All sources are generated, built, run and reloaded. Glue that is generated again has equal bytes.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use alcedo_glue::{Glue, Origin};
use alcedo_runtime::kinds::{PropertyKind, class_flags, function_flags};
use alcedo_runtime::native::{NativeClass, NativeType, Natives};
use alcedo_runtime::{Builder, CallError, Declared, Frame, ManifestInfo, Runtime, Value, World};

use crate::support::Scratch;

const CLASSES: usize = 30;
const MEMBERS: usize = 10;

/// Returns the type of a member. A reference refers to objects of the next class.
fn ty(class: usize, member: usize) -> NativeType {
    match member % 5 {
        0 => (PropertyKind::F64, ""),
        1 => (PropertyKind::U32, ""),
        2 => (PropertyKind::STRING, ""),
        3 => (PropertyKind::OBJECT, Box::leak(format!("/Script/Many.C{}", (class + 1) % CLASSES).into_boxed_str())),
        _ => (PropertyKind::NAME, ""),
    }
}

fn natives() -> Natives {
    let mut natives = Natives::in_package("Many");
    for class in 0..CLASSES {
        let base =
            if class % 3 == 0 { "/Script/Core.Object".to_owned() } else { format!("/Script/Many.C{}", class - 1) };
        let mut made = NativeClass::new("Many", &format!("C{class}"), &base)
            .doc(&format!("The class number {class}.\n\nIt has a second paragraph."))
            .flags(class_flags::BLUEPRINTABLE);
        for member in 0..MEMBERS {
            made = made.property(&format!("p{class}_{member}"), ty(class, member), 0, "");
        }
        for member in 0..MEMBERS - 1 {
            let names = ["a", "b", "c", "d"];
            let params: Vec<_> = (0..member % 5).map(|at| (names[at], ty(class, at))).collect();
            let result = (member % 2 == 0).then_some((PropertyKind::U32, ""));
            made = made.function(&format!("f{class}_{member}"), &params, result, function_flags::CALLABLE, body);
        }
        made = made.event(&format!("e{class}"), &[("by", (PropertyKind::F64, ""))]);
        natives = natives.class(made.member_doc(&format!("e{class}"), "Something happened."));
    }
    natives
}

/// Body of every function of the host. The result is the number of received parameters.
fn body(_world: &World, frame: &mut Frame<'_>) -> Result<(), CallError> {
    let mut params = 0_u32;
    while frame.take_value().is_ok() {
        params += 1;
    }
    frame.finish()?;
    // Every second function has no result.
    let _ = frame.set_result(params);
    Ok(())
}

fn builder() -> Builder {
    Runtime::builder().package("Game").natives(natives())
}

/// Returns the source of the first plugin. This plugin extends classes of the host, overrides their events and uses every member of one
/// class.
fn first(tag: u32) -> String {
    let mut text = "//! Generated.\n#![forbid(unsafe_code)]\nuse alcedo_plugin_api::prelude::*;\n#[allow(missing_docs)]\nmod \
                    host;\nuse host::*;\nmodule! { name: \"lamps\" }\n\n/// What hears of it.\n#[uinterface(package = \
                    \"Game\")]\npub trait Heeds {\n    /// Heeds; gives how often it did.\n    fn hear(&self, by: f64) -> \
                    u32;\n}\n"
        .to_owned();
    for class in [2, 5, CLASSES - 1] {
        let _ = write!(
            text,
            "\n/// Extends it.\n#[uclass(package = \"Game\", base = C{class}, blueprintable)]\n#[derive(Default)]\npub struct \
             A{class} {{\n    /// Who hears.\n    #[uproperty]\n    on_call: Delegate<fn(f64) -> u32>,\n    /// Sum.\n    #[uproperty]\n    \
             sum: f64,\n}}\n\n#[uclass]\nimpl A{class} {{\n    #[overrides(C{class})]\n    fn e{class}(&mut self, this: This<Self>, by: \
             f64) {{\n        this.set_sum(this.sum() + by * {tag}.0);\n    }}\n\n    /// Which build.\n    #[ufunction]\n    fn \
             build(&self) -> u32 {{\n        {tag}\n    }}\n\n    /// An event of its own.\n    #[ufunction(blueprint_native_event)]\n    \
             fn own(&self, by: u32) -> u32;\n    fn own_implementation(&self, by: u32) -> u32 {{\n        by + {tag}\n    }}\n\n    /// \
             Uses every member.\n    #[ufunction]\n    fn all(&mut self, this: This<Self>) -> u32 {{\n        let mut sum = 0;\n"
        );
        for member in 0..MEMBERS {
            let property = format!("p{class}_{member}");
            let value = match member % 5 {
                0 => "1.5",
                1 => "7_u32",
                2 => "\"text\".to_owned()",
                3 => "Obj::none()",
                _ => &format!("this.{property}()"),
            };
            let _ = writeln!(text, "        this.set_{property}({value});\n        let _seen = this.{property}();");
        }
        for member in 0..MEMBERS - 1 {
            let values = ["1.5", "7", "\"text\".to_owned()", "Obj::none()"];
            let arguments = values[..member % 5].join(", ");
            let call = format!("this.f{class}_{member}({arguments})");
            let _ = match member % 2 {
                0 => writeln!(text, "        sum += {call};"),
                _ => writeln!(text, "        {call};"),
            };
        }
        text.push_str("        sum\n    }\n}\n");
    }
    text
}

/// Returns the source of the second plugin. This plugin extends a class of the first plugin, overrides events of that class and of the
/// host, binds the delegate of the first plugin and implements its interface.
fn second(tag: u32) -> String {
    format!(
        "//! Generated.\n#![forbid(unsafe_code)]\nuse alcedo_plugin_api::prelude::*;\n#[allow(missing_docs, dead_code)]\nmod \
         host;\n#[allow(missing_docs, dead_code)]\nmod first;\nuse first::{{A2, Heeds}};\nuse host::C2;\nmodule! {{ name: \
         \"lamps_plus\", dependencies: [(\"lamps\", \"^0.1\")] }}\n\n/// Extends both.\n#[uclass(package = \"Game\", base = A2, \
         implements(Heeds))]\n#[derive(Default)]\npub struct B {{\n    /// Heard.\n    #[uproperty]\n    received: \
         u32,\n}}\n\n#[uclass]\nimpl B {{\n    #[overrides(A2)]\n    fn own(&mut self, this: This<Self>, by: u32) -> u32 {{\n        \
         this.base_own(by) * {tag}\n    }}\n\n    #[overrides(C2)]\n    fn e2(&mut self, this: This<Self>, by: f64) {{\n        \
         this.base_e2(by);\n        this.set_sum(this.sum() + 0.5);\n    }}\n\n    /// Binds another one's delegate to \
         this.\n    #[ufunction]\n    fn listen_to(&self, this: This<Self>, other: Obj<A2>) -> Result<(), CallError> {{\n        \
         this.get(other)?.on_call().bind(this.as_obj(), \"hear\");\n        Ok(())\n    }}\n}}\n\n#[uclass]\nimpl Heeds for B {{\n    fn \
         hear(&mut self, this: This<Self>, by: f64) -> u32 {{\n        this.set_received(this.received() + by as u32 + {tag});\n        \
         this.received()\n    }}\n}}\n"
    )
}

/// Workspace of the two plugins. These plugins replace two example plugins.
struct Two(Scratch);

impl Two {
    fn source(&self, plugin: &str, file: &str) -> PathBuf {
        self.0.other(plugin).join("src").join(file)
    }

    /// Builds the library. Copies it to a file with the name of this build.
    fn built(&self, plugin: &str, tag: u32) -> PathBuf {
        let kept = self.0.other(plugin).join(format!("build-{tag}.so"));
        fs::copy(self.0.build(plugin), &kept).unwrap();
        kept
    }
}

fn of_host(declared: &Declared) -> String {
    Glue::default().for_plugins(&Origin::host("many"), declared).unwrap()
}

fn of_library(library: &Path) -> String {
    let (manifest, declared) = ManifestInfo::peek_declared(library).unwrap();
    let glue = Glue::default().package("Many=super::host".parse().unwrap());
    glue.for_plugins(&Origin::module(&manifest.name, &manifest.version.to_string()), &declared).unwrap()
}

#[test]
#[ignore = "builds for minutes: `cargo test --test commands glue_many:: -- --ignored`, as .ci/run does"]
fn thirty_native_classes_and_two_plugins_use_glue_over_all_reloads() {
    let declared = builder().declared().unwrap();
    assert_eq!(declared.classes.len(), CLASSES);
    let host_glue = of_host(&declared);
    assert_eq!(of_host(&builder().declared().unwrap()), host_glue, "the same declarations give the same bytes");
    assert_eq!(host_glue.matches("#[ufunction").count(), CLASSES * MEMBERS);
    assert_eq!(host_glue.matches("#[uproperty]").count(), CLASSES * MEMBERS);

    let two = Two(Scratch::of_test_plugins());
    for plugin in ["lamps", "lamps-plus"] {
        fs::remove_dir_all(two.0.other(plugin).join("src")).unwrap();
        fs::create_dir(two.0.other(plugin).join("src")).unwrap();
        fs::write(two.source(plugin, "host.rs"), &host_glue).unwrap();
        // Writes an empty library first, because cargo needs the sources of all packages of the workspace.
        fs::write(two.source(plugin, "lib.rs"), "").unwrap();
    }
    let (mut lamps, mut plus) = (Vec::new(), Vec::new());
    for tag in 1..=2 {
        fs::write(two.source("lamps", "lib.rs"), first(tag)).unwrap();
        lamps.push(two.built("lamps", tag));
    }
    let glue = of_library(&lamps[0]);
    assert_eq!(of_library(&lamps[1]), glue, "another build of the same declarations");
    fs::write(two.source("lamps-plus", "first.rs"), &glue).unwrap();
    for tag in 1..=2 {
        fs::write(two.source("lamps-plus", "lib.rs"), second(tag)).unwrap();
        plus.push(two.built("lamps-plus", tag));
    }

    let runtime = builder().build().unwrap();
    let again = runtime.types().declared_natives();
    assert_eq!(again, declared, "a running host declares the same");
    runtime.create_master(&[&lamps[0], &plus[0]]).unwrap();
    let objects = runtime.objects();
    let (a, b) = (objects.spawn("/Script/Game.A2").unwrap(), objects.spawn("/Script/Game.B").unwrap());
    let call = |object, function: &str, arguments: &[Value]| {
        objects.call(object, function, arguments).unwrap_or_else(|error| panic!("{function}: {error}"))
    };
    call(b, "listen_to", &[Value::Object(a)]);
    let (mut sum, mut expected_sum) = (0.0, 0);
    let mut check = |first: u32, second: u32| {
        // Sum of the parameter counts that the functions return: 0 + 2 + 4 + 1 + 3.
        assert_eq!(call(a, "all", &[]), Some(Value::U32(10)));
        assert_eq!(call(b, "all", &[]), Some(Value::U32(10)));
        assert_eq!(call(a, "own", &[Value::U32(3)]), Some(Value::U32(3 + first)));
        assert_eq!(call(b, "own", &[Value::U32(3)]), Some(Value::U32((3 + first) * second)));
        call(b, "e2", &[Value::F64(2.0)]);
        sum += 2.0 * f64::from(first) + 0.5;
        assert_eq!(objects.get(b, "sum").unwrap(), Value::F64(sum));
        expected_sum += 4 + second;
        let result = runtime.links().broadcast(a, "on_call", &[Value::F64(4.0)]).unwrap();
        assert_eq!(result, Some(Value::U32(expected_sum)));
        assert_eq!(call(a, "build", &[]), Some(Value::U32(first)));
    };
    check(1, 1);
    for (first, second) in [(1, 2), (2, 2), (2, 1), (1, 2)] {
        let libraries = [&lamps[first - 1], &plus[second - 1]];
        let report = runtime.reload_changed(&libraries).unwrap();
        assert!(report.is_committed(), "{report}");
        check(first as u32, second as u32);
    }
    runtime.shutdown().into_result().unwrap();

    // Creates a host with an additional class.
    let changed = natives().class(NativeClass::new("Many", "Late", "/Script/Core.Object"));
    let runtime = Runtime::builder().package("Game").natives(changed).build().unwrap();
    runtime.create_master(&[&lamps[0], &plus[0]]).expect("additions are compatible");
    runtime.shutdown().into_result().unwrap();
}
