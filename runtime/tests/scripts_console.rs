//! Tests the console, which evaluates script text in a running host, and the lists and checks of declarations in script packages.

use crate::support;

use std::cell::Cell;
use std::rc::Rc;

use alcedo_runtime::native::Natives;
use alcedo_runtime::{Runtime, Value};

use crate::scripts::{HERO, Package, get, host, host_of, spawn};

#[test]
fn console_evaluation_works_with_any_class_names_in_packages() {
    let object = "class Object extends Core.Object;\n\nvar int N;\n";
    let package =
        Package::new("Eval", &[("Object.uc", object), ("Evaluated.uc", "class Evaluated extends Core.Object;\n")]);
    let host = host_of(support::builder().package("Eval"), &package);
    assert_eq!(host.console("eval 1 + 1"), "2");
}

#[test]
fn hooks_run_before_the_object_of_an_evaluation_is_destroyed() {
    let ended = Rc::new(Cell::new(0));
    let count = Rc::clone(&ended);
    let natives = Natives::default().before_destroy(move |host, object| {
        assert!(host.objects().is_alive(object));
        count.set(count.get() + 1);
    });
    let host = support::builder().natives(natives).build().expect("a host");
    assert_eq!(host.console("eval 1 + 1"), "2");
    assert_eq!((ended.get(), host.objects().iter().len()), (1, 0));
}

#[test]
fn the_console_evaluates_expressions_and_statements_and_completes_names() {
    let package = Package::tale();
    let host = host(&package);
    let hero = spawn(&host, HERO);
    let name = host.objects().name_of(hero).expect("it has a name");
    let classes = host.types().dynamic_classes();
    for (text, answer) in [
        ("1 + 2 * 3", "7"),
        ("1 + 2 // a sum", "3"),
        ("Max(2, 3)", "3"),
        (&*format!("Hero'{name}'.Health"), "100"),
        (&format!("Hero'{name}'.Hurt(30)"), "70"),
        (&format!("Hero'{name}'.Title = \"Queen\";"), "done"),
        (&format!("Hero'{name}'.Title = \"Queen\" // a title;"), "done"),
        (&format!("if (Hero'{name}'.Health > 0) {{ Hero'{name}'.Title = \"Queen\"; }}"), "done"),
        (&format!("Hero'{name}'.Title"), "Queen"),
        (&format!("local string S; S = Hero'{name}'.Title; return S;"), "Queen"),
    ] {
        assert_eq!(host.console(&format!("eval {text}")), answer, "{text}");
    }
    assert_eq!(get(&host, hero, "Title"), Value::Text("Queen".into()));
    let wrong = host.console(&format!("eval Hero'{name}'.Healht"));
    assert!(wrong.contains(&format!("1 | Hero'{name}'.Healht")), "only the input is shown: {wrong}");
    let wrong = host.console("eval Hero'Hero_1'.Hurt(");
    assert!(wrong.contains("eval:1:") && !wrong.contains("return"), "{wrong}");
    assert_eq!(host.types().dynamic_classes(), classes, "evaluation leaves no class");
    assert_eq!(host.complete(&format!("eval Hero'{name}'.Heal")), [format!("eval Hero'{name}'.Health")]);
    assert!(host.complete("eval Hero'Her").contains(&format!("eval Hero'{name}")));
    let completed = host.complete("eval Mi");
    assert!(
        completed.iter().any(|line| line.eq_ignore_ascii_case("eval min")),
        "a function of a library: {completed:?}"
    );
    assert!(host.complete("eval Fancy").contains(&"eval FancyCube".to_owned()));
}

#[test]
fn declarations_of_a_package_are_listed_like_a_modules() {
    let package = Package::tale();
    let host = host(&package);
    let declared = host.types().declared_by("Tale").expect("it is loaded");
    let hero = declared.classes.iter().find(|class| class.path == HERO).expect("declared");
    assert_eq!(hero.base, "/Script/Engine.Actor");
    let ticks = hero.functions.iter().find(|function| function.name == "receive_tick").expect("declared");
    assert_eq!(ticks.overrides, "/Script/Engine.Actor:receive_tick");
    let modules = host.modules();
    let module = modules.iter().find(|module| module.name == "Tale").expect("a module");
    assert_eq!(module.generation, 1);
    let checked = support::builder().check_scripts(&[&package.folder]).expect("natives");
    let error = checked[0].declared.as_ref().expect_err("the plugin is not there").clone();
    assert!(error.contains("MagicCube"), "{error}");
    package.remove("FancyCube.uc");
    let checked = support::builder().check_scripts(&[&package.folder]).expect("natives");
    assert_eq!((checked[0].files, checked[0].declared.as_ref().map(|found| found.classes.len())), (1, Ok(1)));
}

#[test]
fn a_check_without_a_vector_struct_helps_to_declare_one() {
    let hero =
        "class Hero extends Object;\nvar vector Home;\nfunction string Zero() { return string(vect(0, 0, 0)); }\n";
    let tale = Package::new("Tale", &[("Hero.uc", hero)]);
    let checked = Runtime::builder().check_scripts(&[&tale.folder]).expect("natives");
    let error = checked[0].declared.as_ref().expect_err("the struct is not there").clone();
    assert_eq!(error.matches("struct Vector { var float X, Y, Z; };").count(), 2, "{error}");
}

#[test]
fn a_check_reports_errors_of_all_files_in_a_broken_package() {
    let tale = Package::new(
        "Tale",
        &[("Hero.uc", "class Hero extends Actor;\nvar ;\n"), ("Foe.uc", "class Foe extends Nowhere;")],
    );
    let song = Package::new("Song", &[("Bard.uc", "class Bard extends Hero;"), ("Lute.uc", &lines_with_errors(300))]);
    let checked = support::builder().check_scripts(&[&tale.folder, &song.folder]).expect("natives");
    let errors: Vec<_> = checked.iter().map(|found| found.declared.clone().expect_err("errors")).collect();
    assert!(errors[0].contains("Tale/Hero.uc:2") && errors[0].contains("class `Nowhere`"), "{}", errors[0]);
    let named = "the class `Hero` is declared by the package `Tale`, which has errors";
    assert!(errors[1].contains(named), "{}", errors[1]);
    assert!(
        errors[1].ends_with("101 more messages in 1 files, 101 of them errors: correct those above first"),
        "{}",
        errors[1]
    );
}

#[test]
fn a_check_lists_the_other_modules_for_a_missing_dependency() {
    let saga = Package::new("Saga", &[("Elder.uc", "class Elder extends Actor;\n")]);
    saga.write("package.toml", "[dependencies]\nTale = \"^1\"\n");
    let checked = support::builder().check_scripts(&[&saga.folder]).expect("natives");
    let error = checked[0].declared.as_ref().expect_err("a package is missing");
    assert_eq!(error, "`Saga` needs `Tale` ^1, and no other library was passed: add its library");
}

fn lines_with_errors(count: usize) -> String {
    let lines = (0..count).map(|at| format!("\tUnknown{at} = 1;\n"));
    format!("class Lute extends Actor;\nfunction F()\n{{\n{}}}\n", lines.collect::<String>())
}
