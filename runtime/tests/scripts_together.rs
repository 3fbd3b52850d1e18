//! Tests script packages that are loaded in one transaction with their dependencies. Covers missing modules, unsuitable versions, and
//! packages that refer to each other.

use crate::support;

use alcedo_runtime::{Outcome, ReloadReport, Runtime, Value};

use crate::scripts::{FANCY, HERO_TEXT, Package, builder, call, get, host, modules, spawn};

fn refused(report: ReloadReport) -> String {
    assert!(matches!(report.outcome, Outcome::RolledBack { .. }), "{report}");
    report.to_string()
}

fn two_of(host: &Runtime, modules: &[&Package]) -> Result<(), String> {
    let folders: Vec<_> = modules.iter().map(|package| package.folder.clone()).collect();
    host.create_master(&folders).map_err(|error| error.to_string())
}

#[test]
fn a_library_extended_by_a_package_cannot_be_removed() {
    let package = Package::tale();
    let host = host(&package);
    let fancy = spawn(&host, FANCY);
    call(&host, fancy, "say_hello", &[]);
    let before = host.worlds().digest();
    let message = refused(host.reload(std::slice::from_ref(&package.folder)).expect("a Master"));
    assert!(message.contains("MagicCube") && message.contains("Tale/FancyCube.uc:2"), "{message}");
    assert_eq!(before.differences(&host.worlds().digest()), Vec::<String>::new());
    call(&host, fancy, "say_hello", &[]);
    assert_eq!(get(&host, fancy, "Hellos"), Value::I32(2), "both go on");
    // If the derived class is removed, the module of its base may be unloaded. The object of the derived class is then dormant.
    package.remove("FancyCube.uc");
    let report = host.reload(std::slice::from_ref(&package.folder)).expect("a Master");
    report.into_result().unwrap_or_else(|report| panic!("{report}"));
    assert!(host.objects().is_alive(fancy) && host.objects().call(fancy, "Greeted", &[]).is_err());
    package.write("FancyCube.uc", crate::scripts::FANCY_TEXT);
    host.reload(&modules(&package)).expect("a Master").into_result().unwrap_or_else(|report| panic!("{report}"));
    assert_eq!(get(&host, fancy, "Hellos"), Value::I32(2), "it wakes with its values");
    call(&host, fancy, "say_hello", &[]);
    assert_eq!(get(&host, fancy, "Hellos"), Value::I32(3));
}

#[test]
fn a_package_needed_by_a_library_cannot_be_removed() {
    let package = Package::new("Ballad", &[]);
    let source = support::folder("scripts").join("Ballad/Singer.uc");
    std::fs::copy(source, package.folder.join("Singer.uc")).expect("the example is there");
    let listener = support::plugin("listener", &[]);
    let host = support::builder().package("Ballad").build().expect("a host");
    let both = [listener.clone(), package.folder.clone()];
    host.create_master(&both).unwrap_or_else(|error| panic!("{error}"));
    let singer = spawn(&host, "/Script/Ballad.Singer");
    let message = refused(host.reload(&[listener]).expect("a Master"));
    assert!(message.contains("`Ballad`") && message.contains("`listener` needs"), "{message}");
    assert_eq!(call(&host, singer, "sing", &[Value::I32(2)]), Some(Value::I32(2)));
    // The plugin does not accept this version of the package, so the load is refused.
    package.write("package.toml", "version = \"1.0.0-beta\"\n");
    let message = refused(host.reload(&both).expect("a Master"));
    assert!(message.contains("listener") && message.contains("Ballad") && message.contains("1.0.0-beta"), "{message}");
    package.write("package.toml", "version = \"1.0.0\"\n");
    host.reload(&both).expect("a Master").into_result().unwrap_or_else(|report| panic!("{report}"));
    assert_eq!(call(&host, singer, "sing", &[Value::I32(2)]), Some(Value::I32(4)));
}

#[test]
fn package_versions_and_dependencies_come_from_the_manifest() {
    let tale = Package::new("Tale", &[("Hero.uc", HERO_TEXT), ("package.toml", "version = \"1.2.0\"\n")]);
    let elder = "class Elder extends Hero;\n";
    let saga = |needs: &str| {
        let manifest = format!("version = \"0.1.0\"\n[dependencies]\n{needs}\n");
        Package::new("Saga", &[("Elder.uc", elder), ("package.toml", &manifest)])
    };
    let made = |saga: &Package| {
        let host = builder().package("Saga").build().expect("a host");
        two_of(&host, &[saga, &tale]).map(|()| host)
    };
    let host = made(&saga("Tale = \"^1.1\"")).unwrap_or_else(|error| panic!("{error}"));
    let modules = host.modules();
    let version =
        |name: &str| modules.iter().find(|module| module.name == name).map(|module| module.version.to_string());
    assert_eq!((version("Tale").as_deref(), version("Saga").as_deref()), (Some("1.2.0"), Some("0.1.0")));
    let message = made(&saga("Tale = \"^2\"")).err().expect("it is refused");
    assert!(message.contains("`Saga` needs `Tale` ^2") && message.contains("1.2.0"), "{message}");
    let message = made(&saga("Fable = \"*\"")).err().expect("it is refused");
    assert!(message.contains("no module `Fable`") && message.contains("`Saga` needs"), "{message}");
    let message = made(&saga("Tale = 1")).err().expect("it is refused");
    assert!(message.contains("Saga/package.toml:3"), "{message}");
}

#[test]
fn packages_with_cyclic_uses_are_refused_and_comments_do_not_count() {
    let tale = Package::new("Tale", &[("Hero.uc", &format!("// See Elder.\n{HERO_TEXT}"))]);
    let saga = Package::new("Saga", &[("Elder.uc", "class Elder extends Hero;\n")]);
    let host = || builder().package("Saga").build().expect("a host");
    two_of(&host(), &[&saga, &tale]).unwrap_or_else(|error| panic!("{error}"));
    tale.edit("Hero.uc", "var int Ticks;", "var int Ticks;\nvar Elder Master;");
    let message = two_of(&host(), &[&saga, &tale]).expect_err("a cycle");
    assert!(
        message.contains("modules need each other") && message.contains("Saga") && message.contains("Tale"),
        "{message}"
    );
}

#[test]
fn a_declared_order_prevents_false_dependencies_by_equal_names() {
    // `Elder` is a variable in this package, and a class in the other package.
    let tale =
        Package::new("Tale", &[("Hero.uc", &HERO_TEXT.replace("var int Ticks;", "var int Ticks;\nvar int Elder;"))]);
    let saga = Package::new("Saga", &[("Elder.uc", "class Elder extends Hero;\n")]);
    saga.write("package.toml", "[dependencies]\nTale = \"*\"\n");
    let host = builder().package("Saga").build().expect("a host");
    two_of(&host, &[&saga, &tale]).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(get(&host, spawn(&host, "/Script/Saga.Elder"), "Health"), Value::I32(100));
}

#[test]
fn a_packages_own_type_adds_no_dependency_on_equal_names() {
    let tale =
        Package::new("Tale", &[("Foo.uc", "class Foo extends Actor;\n"), ("Bar.uc", "class Bar extends Actor;\n")]);
    let saga = Package::new("Saga", &[("Foo.uc", "class Foo extends Actor;\nvar Bar B;\n")]);
    let host = || builder().package("Saga").build().expect("a host");
    for order in [[&tale, &saga], [&saga, &tale]] {
        two_of(&host(), &order).unwrap_or_else(|error| panic!("{error}"));
    }
    // The class `Foo` of this package extends the class `Foo` of the other package.
    saga.write("Foo.uc", "class Foo extends Tale.Foo;\nvar Bar B;\n");
    for order in [[&tale, &saga], [&saga, &tale]] {
        let host = host();
        two_of(&host, &order).unwrap_or_else(|error| panic!("{error}"));
        let foo = spawn(&host, "/Script/Saga.Foo");
        assert!(host.objects().is_a(foo, "/Script/Tale.Foo"));
    }
}

#[test]
fn a_package_using_only_an_enum_entry_is_reloaded_with_it() {
    let tale = Package::new("Tale", &[("Mood.uc", "class Mood extends Actor;\nenum EMood { M_A, M_B };\n")]);
    let text = "class User extends Actor;\nfunction int By() { local byte b; b = M_B; return b; }\n\
                function int Most() { local byte b; b = M_MAX; return b; }\n";
    let saga = Package::new("Saga", &[("User.uc", text)]);
    for order in [[&tale, &saga], [&saga, &tale]] {
        let host = builder().package("Saga").build().expect("a host");
        two_of(&host, &order).unwrap_or_else(|error| panic!("{error}"));
        let user = spawn(&host, "/Script/Saga.User");
        assert_eq!(call(&host, user, "By", &[]), Some(Value::I32(1)));
        tale.edit("Mood.uc", "{ M_A", "{ M_Z, M_A");
        let report = host.reload(&order.map(|package| package.folder.clone())).expect("a Master");
        report.into_result().unwrap_or_else(|report| panic!("{report}"));
        assert_eq!(call(&host, user, "By", &[]), Some(Value::I32(2)));
        assert_eq!(call(&host, user, "Most", &[]), Some(Value::I32(3)));
        tale.edit("Mood.uc", "{ M_Z, M_A", "{ M_A");
    }
}
