//! Runs the test programs of the language. The first lines of each program state its results. Also runs random expressions and compares
//! their results with the results of the tree-walking interpreter.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use alcedo_reflect::testing::Dice;
use alcedo_script::code::{Ins, Reg, Register};
use alcedo_script::compile;
use alcedo_uc::hir::{Local, Package, Type};
use alcedo_uc::{Options, Source, check};

use crate::interpreter::Interpreter;
use crate::package::Scripts;

fn programs() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../uc/tests/programs");
    let entries = std::fs::read_dir(folder).expect("the folder is there");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|end| end == "uc"));
    paths.sort();
    paths
}

/// Splits a program into its files.
fn files(text: &str) -> Vec<(String, String)> {
    let class = text.lines().find_map(|line| line.strip_prefix("class ")?.split([' ', ';']).next());
    let mut files = vec![(format!("{}.uc", class.unwrap_or("Program")), String::new())];
    for line in text.split_inclusive('\n') {
        match (line.strip_prefix("// file: "), files.last_mut()) {
            (Some(name), _) => files.push((name.trim().to_owned(), String::new())),
            (None, Some((_, text))) => text.push_str(line),
            (None, None) => {}
        }
    }
    files
}

#[test]
fn each_program_returns_its_stated_results() {
    let (mut wrong, mut ran) = (Vec::new(), 0);
    for path in programs() {
        let text = std::fs::read_to_string(&path).expect("a text");
        if text.lines().any(|line| line == "// compile-only") {
            continue;
        }
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        let files = files(&text);
        let files: Vec<_> = files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
        let scripts = Scripts::new();
        let classes = match scripts.try_load("Test", &files) {
            Ok(classes) => classes,
            Err(problem) => {
                wrong.push(format!("{name}: {problem}"));
                continue;
            }
        };
        let mut objects = std::collections::HashMap::new();
        for line in text.lines().filter_map(|line| line.strip_prefix("// expect: ")) {
            let (function, expected) = line.split_once(" = ").unwrap_or((line.trim_end_matches(" ="), ""));
            let class =
                classes.iter().rfind(|class| class.find_function(function).is_some()).expect("a class that has it");
            let object = *objects.entry(class.id).or_insert_with(|| scripts.object(class));
            let found = scripts.result_text(object, function);
            if found != expected {
                wrong.push(format!("{name}: {function} gives {found}, not {expected}"));
            }
            ran += 1;
        }
    }
    assert!(wrong.is_empty(), "{} of {ran}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(ran > 100, "{ran}");
}

/// Checks a package `Test` that consists of one file. The package is not compiled or loaded.
fn checked(scripts: &Scripts, text: &str) -> Package {
    scripts.world.types.declare_package("Test");
    let sources = [Source::new("Program.uc", text)];
    let options = Options { ignore_flags: true, ..Options::default() };
    let checked = check("Test", &sources, &scripts.world.types, &options);
    checked.unwrap_or_else(|messages| panic!("{}", messages[0].render(&sources))).package
}

#[test]
fn a_function_with_more_variables_than_registers_is_refused() {
    let scripts = Scripts::new();
    let mut package = checked(&scripts, "class Program extends Object;\nfunction int Own(int a) { return a; }\n");
    let locals = (0..=u16::MAX).map(|at| Local { name: format!("v{at}"), ty: Type::INT });
    package.classes[0].functions[0].locals.extend(locals);
    let errors = compile(&mut package).expect_err("it has 65,538 variables");
    assert!(errors[0].to_string().contains("more variables and steps than registers"), "{}", errors[0]);
}

#[test]
fn an_out_variable_is_copied_only_if_later_arguments_change_it() {
    let text = "class Program extends Object;
        function int Next(out int N) { return N + 1; }
        function int Fill(out array<int> Row, int N) { return Row.Length + N; }
        function int TestCall() { local array<int> All; local int I; return Fill(All, Next(I)); }
        function int TestChange() { local array<int> All; return Fill(All, All.AddItem(3)); }";
    let made = compile(&mut checked(&Scripts::new(), text)).expect("within the limits");
    let copies = |function: &str| {
        let code = made.iter().find(|code| code.path.ends_with(function)).expect("a function of the class");
        let is_all = |register: &Register| matches!(register, Register::Value { name, .. } if name == "All");
        let all = code.registers.iter().position(is_all).expect("a variable") as Reg;
        code.code.iter().filter(|ins| matches!(ins, Ins::Copy { to, from } if *to == all || *from == all)).count()
    };
    assert_eq!([copies(":TestCall"), copies(":TestChange")], [0, 2]);
}

/// Writes random expressions of the language.
struct Writer(Dice);

impl Writer {
    fn pick<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.0.roll(of.len())]
    }

    fn whole(&mut self, depth: usize) -> String {
        if depth == 0 || self.0.roll(5) == 0 {
            return match self.0.roll(5) {
                0 => self.pick(&["i", "j", "k"]).to_owned(),
                1 => self.pick(&["1", "0", "7", "-3", "2147483647", "65536"]).to_owned(),
                2 => "int(b)".to_owned(),
                3 => "Own".to_owned(),
                _ => format!("{}", self.0.roll(100)),
            };
        }
        let depth = depth - 1;
        match self.0.roll(13) {
            0 => format!("({} {} {})", self.whole(depth), self.pick(&["+", "-", "*", "/", "%"]), self.whole(depth)),
            1 => format!("({} {} {})", self.whole(depth), self.pick(&["&", "|", "^"]), self.whole(depth)),
            2 => format!("({} {} {})", self.whole(depth), self.pick(&["<<", ">>", ">>>"]), self.whole(0)),
            3 => format!("(-{})", self.whole(0).trim_start_matches('-')),
            4 => format!("(~{})", self.whole(depth)),
            5 => format!("({} ? {} : {})", self.truth(depth), self.whole(depth), self.whole(depth)),
            6 => format!("int({})", self.real(depth)),
            7 => self.pick(&["(i++)", "(++j)", "(k--)", "(--i)", "(Own++)", "(row[1]++)"]).to_owned(),
            8 => format!("Twice({})", self.whole(depth)),
            9 => format!("Both({}, {})", self.whole(depth), self.whole(depth)),
            10 => format!("row[{} & 3]", self.whole(depth)),
            11 => format!("Change({}, {})", self.pick(&["i", "j", "Own", "row[1]"]), self.whole(depth)),
            _ => format!("({} {} {})", self.whole(depth), self.pick(&["+", "-"]), self.whole(depth)),
        }
    }

    fn real(&mut self, depth: usize) -> String {
        if depth == 0 || self.0.roll(4) == 0 {
            return self.pick(&["x", "y", "0.5", "1.25", "-2.0", "100.0"]).to_owned();
        }
        let depth = depth - 1;
        match self.0.roll(5) {
            0 => format!("({} / {})", self.real(depth), self.real(depth)),
            1 => format!("float({})", self.whole(depth)),
            2 => format!("({} ? {} : {})", self.truth(depth), self.real(depth), self.real(depth)),
            _ => format!("({} {} {})", self.real(depth), self.pick(&["+", "-", "*"]), self.real(depth)),
        }
    }

    fn truth(&mut self, depth: usize) -> String {
        if depth == 0 || self.0.roll(5) == 0 {
            return self.pick(&["t", "true", "false", "(i > 2)"]).to_owned();
        }
        let depth = depth - 1;
        match self.0.roll(7) {
            0 => format!(
                "({} {} {})",
                self.whole(depth),
                self.pick(&["<", "<=", ">", ">=", "==", "!="]),
                self.whole(depth)
            ),
            1 => format!(
                "({} {} {})",
                self.real(depth),
                self.pick(&["<", "<=", ">", ">=", "==", "!="]),
                self.real(depth)
            ),
            2 => format!("({} && {})", self.truth(depth), self.truth(depth)),
            3 => format!("({} || {})", self.truth(depth), self.truth(depth)),
            4 => format!("(!{})", self.truth(depth)),
            5 => format!("({} ^^ {})", self.truth(depth), self.truth(depth)),
            _ => format!("({} {} {})", self.text(depth), self.pick(&["<", "==", "!=", "~="]), self.text(depth)),
        }
    }

    fn text(&mut self, depth: usize) -> String {
        if depth == 0 || self.0.roll(4) == 0 {
            return self.pick(&["s", "\"a\"", "\"B c\"", "\"\""]).to_owned();
        }
        let depth = depth - 1;
        match self.0.roll(4) {
            0 => format!("string({})", self.whole(depth)),
            1 => format!("string({})", self.truth(depth)),
            _ => format!("({} {} {})", self.text(depth), self.pick(&["$", "@"]), self.text(depth)),
        }
    }

    fn any(&mut self) -> String {
        match self.0.roll(4) {
            0 => format!("string({})", self.truth(4)),
            1 => format!("string({})", self.real(4)),
            2 => self.text(4),
            _ => format!("string({})", self.whole(5)),
        }
    }
}

/// Number of functions per class, with one expression each.
const FUNCTIONS: usize = 250;

#[test]
fn random_expressions_match_the_tree_interpreter() {
    let rounds = std::env::var("ALCEDO_FUZZ_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(40);
    for round in 0..rounds {
        let mut writer = Writer(Dice(0x9e37_79b9_7f4a_7c15 ^ (round as u64 * 2 + 1)));
        let mut text = String::from(
            "class Program extends Object;\nvar int Own;\n\
             function int Twice(int n) { Own += n & 3; return n * 2; }\n\
             function int Both(int a, int b) { return a - b; }\n\
             function int Change(out int a, int b) { local int was; was = a; a = b & 7; return was - b; }\n",
        );
        for at in 0..FUNCTIONS {
            let expression = writer.any();
            writeln!(
                text,
                "function string Test{at}() {{ local int i, j, k; local float x, y; local bool t; local byte b; local string s; local int row[4];\n\
                 i = {}; j = {}; k = -2; x = 1.5; y = {}.25; t = {}; b = 200; s = \"txt\"; row[2] = 5;\n\
                 return {expression} $ \" \" $ i $ j $ k $ Own $ row[1]; }}",
                writer.0.roll(50),
                writer.0.roll(1000),
                writer.0.roll(9),
                writer.pick(&["true", "false"]),
            )
            .expect("a text takes more");
        }
        let scripts = Scripts::new();
        let package = checked(&scripts, &text);
        let class = scripts.load("Test", &[("Program.uc", &text)]).remove(0);
        let object = scripts.object(&class);
        let interpreter = Interpreter::new(&package);
        let other = interpreter.create("/Script/Test.Program");
        for at in 0..FUNCTIONS {
            let name = format!("Test{at}");
            let (found, expected) = (scripts.result_text(object, &name), interpreter.test(other, &name));
            let line = text.lines().filter(|line| line.contains("return")).nth(at + 3).unwrap_or_default();
            assert_eq!(found, expected, "round {round}, {name}: {line}");
        }
    }
}
