//! Tests the checker in worlds that differ from `fixture::world`: wider vectors, two types with one name, and existing script packages.

use alcedo_abi::kinds::{PropertyKind as K, function_flags, property_flags};
use alcedo_reflect::World;
use alcedo_reflect::decl::{Batch, ClassDecl, DelegateDecl, FunctionDecl, PropertyDecl, StructDecl};
use alcedo_reflect::origin::Origin;
use alcedo_uc::hir::{ExprKind, StmtKind, Type};
use alcedo_uc::{Checked, Diagnostic, Options, Source, check};

use crate::support::{folder, rendered, sources};

fn vector(package: &str, of: K) -> StructDecl {
    let fields = ["x", "y", "z"].map(|name| PropertyDecl::new(name, of)).to_vec();
    StructDecl { fields, ..StructDecl::new(package, "Vector", Origin::Native) }
}

fn root() -> World {
    let world = World::new();
    for package in ["Engine", "Other", "Test"] {
        world.types.declare_package(package);
    }
    let controller = ClassDecl::new("Engine", "PlayerController", "/Script/Engine.Object", Origin::Native);
    let classes = vec![ClassDecl::new("Engine", "Object", "", Origin::Native), controller];
    declare(&world, Batch { structs: vec![vector("Engine", K::F64)], classes, ..Batch::default() });
    world
}

fn declare(world: &World, batch: Batch) {
    world.types.declare(&world.names, &batch).expect("a right declaration");
}

fn checked(world: &World, text: &str) -> Result<Checked, Vec<Diagnostic>> {
    check("Test", &[Source::new("Program.uc", text)], &world.types, &Options::default())
}

fn check_all(world: &World, sources: &[Source]) -> Result<Checked, Vec<Diagnostic>> {
    check("Test", sources, &world.types, &Options::default())
}

fn first_message(world: &World, text: &str) -> String {
    let messages = checked(world, text).expect_err("an error");
    messages.iter().find(|message| message.is_error()).expect("an error").message.clone()
}

#[test]
fn the_documented_class_compiles_with_vectors_of_either_width() {
    let sources = sources(&folder("programs").join("dllbind_as_written.uc"));
    let found = check("Test", &sources, &root().types, &Options::default());
    let package = found.unwrap_or_else(|messages| panic!("{}", rendered(&messages, &sources))).package;
    let class = &package.classes[0];
    assert_eq!((class.dll_bind.as_deref(), class.flags.is_final), (Some("TestDLL"), true));
    let describe = |function: &alcedo_uc::hir::Function| {
        let param = |param: &alcedo_uc::hir::Param| format!("{}{}", if param.out { "out " } else { "" }, param.ty);
        let result = function.result.as_ref().map_or(String::new(), |result| format!(" -> {result}"));
        format!("{}({}){result}", function.name, function.params.iter().map(param).collect::<Vec<_>>().join(", "))
    };
    let functions: Vec<_> = class.functions.iter().map(describe).collect();
    let expected = [
        "CallDLL1(out string)",
        "CallDLL2(float, float, float) -> Vector",
        "CallDLL3(string, int[2], out float, out Vector) -> bool",
    ];
    assert_eq!(functions, expected);
    let fields: Vec<_> = package.structs[0].fields.iter().map(|field| format!("{} {}", field.ty, field.name)).collect();
    assert_eq!(fields, ["string PlayerName", "string PlayerPassword", "float Health", "float Score"]);
}

#[test]
fn vectors_of_doubles_compute_in_doubles() {
    let text = "class Program extends Object; function vector F(vector v) { return v * 0.1 + vect(0.1, 0, 0); }";
    let package = checked(&root(), text).expect("no error").package;
    let StmtKind::Return(Some(value)) = &package.classes[0].functions[0].body.as_ref().expect("a body")[0].kind else {
        panic!("a result")
    };
    assert_eq!(value.ty, Type::Struct("/Script/Engine.Vector".into()));
    let ExprKind::Binary(_, _, right) = &value.kind else { panic!("a sum") };
    assert_eq!(right.kind, ExprKind::Triple([0.1, 0.0, 0.0]), "as a double has it");
}

#[test]
fn ambiguous_type_names_need_their_package() {
    let world = root();
    declare(&world, Batch { structs: vec![vector("Other", K::F32)], ..Batch::default() });
    let message = first_message(&world, "class Program extends Object; var vector V;");
    assert_eq!(message, "`vector` is in the packages Engine and Other");
    checked(&world, "class Program extends Object; var Other.vector V; var engine.Vector W;").expect("no error");
}

#[test]
fn earlier_script_types_of_the_package_are_replaced() {
    let world = root();
    let old = ClassDecl {
        properties: vec![PropertyDecl::new("Old", K::I32)],
        ..ClassDecl::new("Test", "Program", "/Script/Engine.Object", Origin::Script)
    };
    let removed = ClassDecl::new("Test", "Gone", "/Script/Engine.Object", Origin::Script);
    declare(&world, Batch { classes: vec![old, removed], ..Batch::default() });
    checked(&world, "class Program extends Object; var string Old; function F() { Old = \"x\"; }").expect("no error");
    let message = first_message(&world, "class Program extends Object; var Gone G;");
    assert!(message.starts_with("unknown type `Gone`"), "{message}");
    let native = ClassDecl::new("Test", "Taken", "/Script/Engine.Object", Origin::Native);
    declare(&world, Batch { classes: vec![native], ..Batch::default() });
    let message = first_message(&world, "class Taken extends Object;");
    assert_eq!(message, "`/Script/Test.Taken` is declared by the host or by a plugin");
}

#[test]
fn a_script_class_of_another_package_is_extended_with_its_delegates() {
    let world = root();
    let flags = property_flags::BLUEPRINT_READ | property_flags::BLUEPRINT_WRITE;
    let delegate = PropertyDecl::new("__OnDone__Delegate", K::DELEGATE).of_type("/Script/Other.Base:OnDone(i32, i32)");
    let step = |flags| FunctionDecl { flags, ..FunctionDecl::without_body("Step") };
    let base = ClassDecl {
        properties: vec![delegate.with_flags(flags), PropertyDecl::new("Count", K::I32)],
        functions: vec![step(function_flags::NATIVE_EVENT), FunctionDecl::without_body("Fixed")],
        ..ClassDecl::new("Other", "Base", "/Script/Engine.Object", Origin::Script)
    };
    let middle = ClassDecl {
        functions: vec![step(function_flags::OVERRIDE)],
        ..ClassDecl::new("Other", "Middle", "/Script/Other.Base", Origin::Script)
    };
    let optional = vec![("optional".to_owned(), "true".to_owned())];
    let times = PropertyDecl { meta: optional, ..PropertyDecl::new("Times", K::I32) };
    let on_done = DelegateDecl {
        class: "/Script/Other.Base".to_owned(),
        params: vec![PropertyDecl::new("How", K::I32), times],
        ..DelegateDecl::new("Other", "OnDone", K::DELEGATE, Origin::Script)
    };
    declare(&world, Batch { classes: vec![base, middle], delegates: vec![on_done], ..Batch::default() });
    let text = "class Program extends Middle; function Step() { Count++; OnDone(Count); OnDone = Done; super.Step(); } \
                function Done(int How, optional int Times) { OnDone = none; Fixed(); } var delegate<OnDone> Kept;";
    let package = checked(&world, text).unwrap_or_else(|messages| panic!("{messages:?}")).package;
    assert_eq!(package.classes[0].functions[0].overrides.as_deref(), Some("/Script/Other.Base:Step"));
    let message = first_message(&world, "class Program extends Base; function Fixed() {}");
    assert_eq!(message, "`Fixed` cannot override the function of `Base`: that function is not an event");
}

#[test]
fn an_override_is_callable_if_its_event_is_callable() {
    let world = root();
    let function = |name: &str, flags| FunctionDecl { flags, ..FunctionDecl::without_body(name) };
    let event = function_flags::NATIVE_EVENT;
    let base = ClassDecl {
        functions: vec![function("step", event | function_flags::CALLABLE), function("rest", event)],
        ..ClassDecl::new("Other", "Base", "/Script/Engine.Object", Origin::Native)
    };
    let lamp = ClassDecl {
        functions: ["step", "rest"].map(|name| function(name, function_flags::OVERRIDE)).to_vec(),
        ..ClassDecl::new("Other", "Lamp", "/Script/Other.Base", Origin::Dynamic)
    };
    declare(&world, Batch { classes: vec![base, lamp], ..Batch::default() });
    checked(&world, "class Program extends Object; function F(Lamp L) { L.Step(); }").expect("no error");
    let message = first_message(&world, "class Program extends Object; function F(Lamp L) { L.Rest(); }");
    assert!(message.starts_with("scripts cannot call `rest`"), "{message}");
}

#[test]
fn types_of_an_active_shadow_take_precedence() {
    let world = root();
    world.types.begin_shadow();
    let fresh = ClassDecl::new("Other", "Fresh", "/Script/Engine.Object", Origin::Dynamic);
    let fresh = ClassDecl { flags: alcedo_abi::kinds::class_flags::BLUEPRINTABLE, ..fresh };
    declare(&world, Batch { classes: vec![fresh], ..Batch::default() });
    checked(&world, "class Program extends Fresh;").expect("no error");
    world.types.drop_shadow();
    let message = first_message(&world, "class Program extends Fresh;");
    assert!(message.starts_with("unknown class `Fresh`"), "{message}");
}

#[test]
fn inheritance_cycles_through_reflection_are_reported() {
    let world = root();
    let class = |package: &str, name: &str, base: &str, origin| ClassDecl {
        flags: alcedo_abi::kinds::class_flags::BLUEPRINTABLE,
        ..ClassDecl::new(package, name, base, origin)
    };
    let structure = |package: &str, name: &str, base: &str, origin| StructDecl {
        base: base.to_owned(),
        ..StructDecl::new(package, name, origin)
    };
    let classes = vec![
        class("Test", "Pawn", "/Script/Engine.Object", Origin::Native),
        class("Test", "Bird", "/Script/Test.Pawn", Origin::Native),
        class("Test", "Foo", "/Script/Engine.Object", Origin::Script),
        class("Other", "Foo", "/Script/Test.Foo", Origin::Script),
    ];
    let structs = vec![
        structure("Test", "Low", "", Origin::Native),
        structure("Test", "High", "/Script/Test.Low", Origin::Native),
        structure("Test", "Part", "", Origin::Script),
        structure("Other", "Whole", "/Script/Test.Part", Origin::Script),
    ];
    declare(&world, Batch { classes, structs, ..Batch::default() });
    let all = |text: &str| {
        let messages = checked(&world, text).expect_err("an error");
        let errors = messages.iter().filter(|message| message.is_error());
        errors.map(|message| message.message.clone()).collect::<Vec<_>>().join("; ")
    };
    // The host has declared the classes `Test.Pawn` and `Test.Bird`.
    let reported = all("class Pawn extends Bird; function F() { Missing(); }");
    assert_eq!(reported, "`/Script/Test.Pawn` is declared by the host or by a plugin");
    // The script class `Other.Foo` extends the previous version of `Test.Foo`.
    let reported = all("class Foo extends Other.Foo; function F() { Missing(); }");
    assert_eq!(reported, "these classes extend one another: Foo → Other.Foo → Foo");
    let use_of =
        |structs: &str| format!("class Program extends Object; {structs} function vector F(Part P) {{ return P; }}");
    let reported = all(&use_of("struct Part extends Whole { var int X; };"));
    assert!(reported.starts_with("these structs hold one another or themselves: `Part`"), "{reported}");
    let reported = all(&use_of("struct Low extends High { var int X; }; struct Part extends Low { };"));
    assert!(reported.starts_with("`/Script/Test.Low` is declared by the host or by a plugin"), "{reported}");
}

#[test]
fn types_of_missing_packages_do_not_match_other_packages() {
    let message = first_message(&root(), "class Program extends Gone.Program;");
    assert_eq!(message, "unknown class `Gone.Program`: declared neither in this package nor in reflection");
}

#[test]
fn types_of_modules_with_errors_are_reported_as_such() {
    let world = root();
    let refused = [("hero", "the package `Tale`"), ("mood_calm", "the package `Tale`")];
    let refused = refused.map(|(name, of)| (name.to_owned(), of.to_owned())).into();
    let options = Options { refused, ..Options::default() };
    let text = "class Program extends Hero; var Hero Friend;\nfunction F() { Other(MOOD_Calm); }";
    let other = "class Below extends Object; function byte F() { return MOOD_Calm; }";
    let sources = [Source::new("Program.uc", text), Source::new("Below.uc", other)];
    let messages = check("Test", &sources, &world.types, &options).expect_err("errors");
    let found: Vec<_> = messages.iter().map(|message| &*message.message).collect();
    assert_eq!(
        found,
        [
            "the class `Hero` is declared by the package `Tale`, which has errors",
            "`MOOD_Calm` is declared by the package `Tale`, which has errors",
        ]
    );
}

#[test]
fn other_files_are_checked_despite_an_unparsable_file() {
    let world = root();
    let file = |name: &str, text: &str| Source::new(name, text);
    let sources = [
        file("Broken.uc", "clas Broken extends Object;\nvar int X;"),
        file("Half.uc", "class Half extends Object;\nvar ;\nvar int Y;"),
        file(
            "Whole.uc",
            "class Whole extends Broken;\nvar Broken B;\nvar Half H;\nfunction F() { H.Z = 1; H.Y = Nothing; }",
        ),
    ];
    let messages = check_all(&world, &sources).expect_err("errors");
    let found: Vec<_> = messages.iter().map(|message| (message.file, message.id)).collect();
    assert!(found.contains(&(0, "uc-syntax")) && found.contains(&(1, "uc-syntax")), "{found:?}");
    let of_whole = |message: &&Diagnostic| message.file == 2;
    let of_whole: Vec<_> = messages.iter().filter(of_whole).map(|message| &*message.message).collect();
    assert_eq!(of_whole, [""; 0], "{found:?}");
    let sources = [sources[0].clone(), file("Whole.uc", "class Whole extends Object;\nfunction F() { Nothing = 1; }")];
    let messages = check_all(&world, &sources).expect_err("errors");
    assert_eq!(messages.last().map(|message| (message.file, message.id)), Some((1, "uc-unknown-name")));
}

#[test]
fn messages_of_a_package_have_a_limit_and_a_count() {
    let world = root();
    let statements: String = (0..12_000).map(|at| format!("X = \"{at}\";\n")).collect();
    let messages =
        checked(&world, &format!("class Program extends Object; var int X; function F() {{ {statements} }}"));
    let messages = messages.expect_err("errors");
    assert_eq!(messages.len(), 10_001);
    let last = &messages[10_000];
    assert_eq!((last.id, &*last.message), ("uc-too-many-errors", "2000 more messages of the package are not listed"));
}

#[test]
fn warnings_of_the_parser_about_a_file_have_a_limit() {
    let escapes = "\\q".repeat(1_200);
    let text = format!("class Program extends Object; var string X; function F() {{ X = \"{escapes}\"; }}");
    let found = checked(&root(), &text).unwrap_or_else(|errors| panic!("{errors:?}"));
    assert_eq!(found.warnings.len(), 1_000);
}

#[test]
fn totals_of_a_package_are_limited_and_each_limit_is_reported_once() {
    let world = root();
    let program = |items: String| format!("class Program extends Object; {items}");
    let check = |text: String, expected: &str| {
        let messages = checked(&world, &program(text)).expect_err("too much");
        let errors: Vec<_> = messages.iter().filter(|message| message.is_error()).collect();
        let [only] = &errors[..] else { panic!("{} errors: {:?}", errors.len(), &errors[..2]) };
        assert_eq!((only.id, &*only.message), ("uc-too-much", &*format!("the package has more than {expected}")));
    };
    let structs = |most: usize, one: &dyn Fn(usize) -> String| (0..most).map(one).collect::<String>();
    let row = |at: usize| match at.checked_sub(1) {
        None => "struct S0 { var int A0; };".to_owned(),
        Some(below) => format!("struct S{at} extends S{below} {{ var int A{at}; }};"),
    };
    assert!(checked(&world, &program(structs(257, &row))).is_ok());
    check(structs(5_000, &row), "256 structs that extend one another in a row");
    check(structs(20_000, &|at| format!("struct S{at} {{}};")), "16384 types");
    let wide = |at| match at {
        0 => format!("struct S0 {{ {} }};", structs(1_000, &|at| format!("var int A{at};"))),
        at => format!("struct S{at} extends S0 {{}};"),
    };
    check(structs(1_000, &wide), "262144 fields of structs, including inherited fields");
    check(structs(300_000, &|at| format!("var int V{at};")), "262144 members of types");
    let long = |at| format!("struct S{at} {{ var int A[65536]; }};");
    check(structs(200, &long), "8388608 initial values of classes and structs");
    let classes: Vec<_> = (0..5_000)
        .map(|at| match at {
            0 => Source::new("C0.uc", "class C0 extends Object;"),
            at => Source::new(&format!("C{at}.uc"), format!("class C{at} extends C{};", at - 1)),
        })
        .collect();
    let found = check_all(&world, &classes[..257]);
    assert!(found.is_ok());
    let messages = check_all(&world, &classes).expect_err("too deep");
    assert_eq!(messages.iter().map(|message| message.id).collect::<Vec<_>>(), ["uc-too-much"]);
}

#[test]
fn a_delegate_may_take_delegates_that_later_lines_declare() {
    let text = "class Program extends Object;
        delegate First(delegate<Second> f);
        delegate Second(array<delegate<Third> > f);
        delegate Third(int i);";
    let found = checked(&root(), text).unwrap_or_else(|errors| panic!("{errors:?}"));
    let names: Vec<_> = found.package.delegates.iter().map(|found| &*found.name).collect();
    assert_eq!(names, ["Third", "Second", "First"]);
}

#[test]
fn a_long_chain_of_constants_is_reported_once() {
    let world = root();
    let program = |consts: String| format!("class Program extends Object; {consts}");
    let errors = |text: &str| {
        let messages = checked(&world, text).expect_err("an error");
        let errors = messages.iter().filter(|message| message.is_error());
        errors.map(|message| format!("{}: {}", message.id, message.message)).collect::<Vec<_>>().join("; ")
    };
    // Each constant uses the previous constant. The length of such a chain is not limited.
    let behind: String = (1..5_000).map(|at| format!("const C{at} = C{}; ", at - 1)).collect();
    let found = checked(&world, &program(format!("const C0 = 7; {behind}"))).expect("no error");
    let consts = &found.package.classes[0].consts;
    assert_eq!((consts.len(), &consts[4_999].value), (5_000, &alcedo_uc::hir::Const::Int(7)));
    // Each constant uses the next constant. The length of such a chain is limited. The error is reported once.
    let ahead: String = (0..5_000).map(|at| format!("const C{at} = C{}; ", at + 1)).collect();
    let reported = errors(&program(format!("{ahead} const C5000 = 7;")));
    assert_eq!(
        reported,
        "uc-too-deep: the constant `C64` ends a chain of more than 64 constants, each of which uses the next"
    );
    // A cycle of any length is reported.
    for most in [3, 100, 5_000] {
        let ahead: String = (0..most).map(|at| format!("const C{at} = C{}; ", at + 1)).collect();
        let reported = errors(&program(format!("{ahead} const C{most} = C0;")));
        assert!(reported.starts_with("uc-const-circle: the constant `C") && !reported.contains(';'), "{reported}");
    }
}

#[test]
fn branches_of_all_ifs_around_a_statement_are_limited() {
    let world = root();
    let check = |body: &str| {
        checked(&world, &format!("class Program extends Object; function B() {{}} function T(bool a) {{ {body} }}"))
    };
    let branches = |count: usize| format!("if (a) B(); {}", "else if (a) B(); ".repeat(count));
    // The last branch of each `if` contains the next `if`.
    let nested = |ifs: usize, count: usize| format!("{}else if (a) ", branches(count)).repeat(ifs) + "B();";
    let messages = check(&nested(2, 158)).expect_err("too deep");
    assert!(messages.iter().any(|message| message.id == "uc-too-deep"), "{messages:?}");
    assert!(check(&nested(50, 1)).is_ok());
    assert!(check(&branches(160).repeat(20)).is_ok(), "consecutive `if` are not limited together");
}
