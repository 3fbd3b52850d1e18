//! Tests programs without errors. The checker checks each program. If the first lines of the file list results, the test interpreter also
//! runs the functions `Test…`.

use alcedo_uc::Source;
use alcedo_uc::hir::Const;

use crate::interpreter::Interpreter;
use crate::support::{checked, programs, rendered, sources};

#[test]
fn each_program_returns_the_results_of_its_head() {
    let all = programs("programs");
    assert!(all.len() >= 100, "{} programs", all.len());
    let mut wrong = Vec::new();
    for path in all {
        let text = std::fs::read_to_string(&path).expect("a text");
        let sources = sources(&path);
        let package = match checked(&sources) {
            Ok(checked) => checked.package,
            Err(messages) => {
                wrong.push(format!("{}\n{}", path.display(), rendered(&messages, &sources)));
                continue;
            }
        };
        let expected: Vec<_> = text.lines().filter_map(|line| line.strip_prefix("// expect: ")).collect();
        let only_checked = text.lines().any(|line| line == "// compile-only");
        assert!(only_checked == expected.is_empty(), "{} expects something or is compile-only", path.display());
        let tests =
            package.classes.iter().flat_map(|class| &class.functions).filter(|found| found.name.starts_with("Test"));
        let run = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let mut found = Vec::new();
            if only_checked {
                return found;
            }
            let interpreter = Interpreter::new(&package);
            let class = package.classes.iter().find(|class| class.file == 0).expect("the class of the first file");
            let object = interpreter.create(&class.path);
            for line in &expected {
                let (name, value) = line.split_once(" = ").unwrap_or((line.trim_end_matches(" ="), ""));
                let actual = interpreter.test(object, name);
                if actual != value {
                    found.push(format!("{}: {name} gives {actual}, not {value}", path.display()));
                }
            }
            found
        }));
        assert!(only_checked || tests.count() >= expected.len(), "{}", path.display());
        match run {
            Ok(found) => wrong.extend(found),
            Err(_) => wrong.push(format!("{} panics", path.display())),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_singular_function_runs_after_a_test_that_panicked() {
    let text = "class Program extends Object;\nvar int Calls;\n\
                singular function int Test() { Calls++; assert(Calls > 1); return Calls; }\n";
    let sources = [Source::new("Program.uc", text)];
    let package = checked(&sources).unwrap_or_else(|messages| panic!("{}", rendered(&messages, &sources))).package;
    let interpreter = Interpreter::new(&package);
    let object = interpreter.create(&package.classes[0].path);
    let run = || std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| interpreter.test(object, "Test"))).ok();
    assert_eq!([run(), run()], [None, Some("2".to_owned())]);
}

#[test]
fn an_object_literal_named_none_is_none() {
    let text = "class Program extends Object;\nconst UPPER = Object'NONE';\nconst LOWER = Object'none';\nconst EMPTY = Object'';\n\
                const THING = Object'Thing';\n";
    let sources = [Source::new("Program.uc", text)];
    let package = checked(&sources).unwrap_or_else(|messages| panic!("{}", rendered(&messages, &sources))).package;
    let is_none: Vec<_> = package.classes[0].consts.iter().map(|found| matches!(found.value, Const::None)).collect();
    assert_eq!(is_none, [true, true, true, false]);
}

#[test]
fn defaults_of_imported_functions_are_constants() {
    let text = "class Program extends Object DLLBind(Lib);\n\
                dllimport final function F(optional vector V = vect(1, 2, 3), optional class<Object> K = class'Program');\n";
    let sources = [Source::new("Program.uc", text)];
    let package = checked(&sources).unwrap_or_else(|messages| panic!("{}", rendered(&messages, &sources))).package;
    let defaults = package.classes[0].functions[0].params.iter().filter_map(|param| param.default.as_ref());
    let values: Vec<_> = defaults.map(|default| format!("{:?}", default.kind)).collect();
    let vector = r#"Const(Struct([("x", Float(1.0)), ("y", Float(2.0)), ("z", Float(3.0))]))"#;
    assert_eq!(values, [vector, r#"Const(Class("/Script/Test.Program"))"#]);
}
