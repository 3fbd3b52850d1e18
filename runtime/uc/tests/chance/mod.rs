//! Tests the compiler with random sources. For any bytes, the compiler must return within 20 seconds and must not panic.

mod programs;

use std::time::{Duration, Instant};

use alcedo_uc::{Parsed, Source, check, complete, outline, parse, snippet};
use proptest::prelude::{ProptestConfig, Strategy, any, prop, prop_oneof, proptest};

use crate::fixture;
use crate::print::print;
use crate::printing::check_printed_again;
use crate::support::{options, programs as files, rendered, sources};

thread_local! {
    /// Checker options and types that all cases of a thread share.
    static WORLD: alcedo_reflect::World = fixture::world();
}

/// Parses, prints and checks a source, and renders its messages. Fails if a case is slow.
fn survives(sources: &[Source]) {
    let start = Instant::now();
    for source in sources {
        let (file, messages) = parse(source);
        let _ = print(&file);
        rendered(&messages, std::slice::from_ref(source));
        check_printed_again("chance", source);
        snippet(source);
    }
    WORLD.with(|world| {
        let typed: String = sources[0].text.chars().take(400).collect();
        complete(&typed, "/Script/Engine.Actor", &world.types, &options());
        let messages = match check("Test", sources, &world.types, &options()) {
            Ok(checked) => checked.warnings,
            Err(messages) => messages,
        };
        rendered(&messages, sources);
    });
    outline("Test", sources, &Parsed::of(sources));
    assert!(start.elapsed() < Duration::from_secs(20), "it takes {:?}", start.elapsed());
}

/// Returns the sources of all test programs.
fn program_texts() -> Vec<String> {
    let folders = ["programs", "errors", "files"];
    let paths = folders.iter().flat_map(|folder| files(folder));
    paths.flat_map(|path| sources(&path)).map(|source| source.text).collect()
}

const TOKENS: &[&str] = &[
    "class",
    "interface",
    "implements(Deep)",
    "within",
    "extends",
    "var",
    "int",
    "string",
    "struct",
    "enum",
    "const",
    "function",
    "event",
    "delegate",
    "state",
    "static",
    "final",
    "native",
    "operator(20)",
    "coerce",
    "`define X a \\\n b {\n",
    "`X",
    "`{Y}",
    "string[4]",
    "#",
    "__D__Delegate",
    "Outer",
    "\r",
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    ";",
    ",",
    ".",
    "=",
    "==",
    "+",
    "-",
    "*",
    "$",
    "@",
    "<",
    ">",
    ">>",
    ">>>",
    "if",
    "else",
    "while",
    "do",
    "until",
    "for",
    "foreach",
    "switch",
    "case",
    "default",
    ":",
    "return",
    "break",
    "new",
    "self",
    "super",
    "none",
    "true",
    "vect",
    "rot",
    "local",
    "array",
    "map",
    "optional",
    "out",
    "A",
    "B",
    "Actor",
    "Health",
    "5",
    "1.5",
    "\"x\"",
    "'n'",
    "class'Actor'",
    "defaultproperties",
    "Begin",
    "Object",
    "End",
    "?",
    "!",
    "~",
    "++",
    "--",
    "+=",
    "\n",
    "#exec x\n",
    "`log",
    "replication",
    "cpptext",
    "goto",
    "dot",
    "cross",
    "/*",
    "*/",
    "//\n",
    "static.",
    "default.",
    "Location",
    "structdefaultproperties",
    "operator",
    "preoperator",
    "0x7F",
    "1e5",
    ".5",
    "12ab",
    "\"open",
    "'open",
    "\u{e9}",
];

/// Returns a configuration with `PROPTEST_CASES` cases, or with a small default number.
fn config() -> ProptestConfig {
    let has_cases = std::env::var_os("PROPTEST_CASES").is_some();
    let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::default() };
    if has_cases { config } else { ProptestConfig { cases: 300, ..config } }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn random_bytes_are_handled(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
        survives(&[Source::decode("Chance.uc", &bytes)]);
    }

    #[test]
    fn random_tokens_are_handled(tokens in prop::collection::vec(prop::sample::select(TOKENS), 0..150)) {
        let text = format!("class Chance extends Actor;\n{}", tokens.join(" "));
        survives(&[Source::new("Chance.uc", text)]);
    }

    #[test]
    fn random_statements_are_handled(tokens in prop::collection::vec(prop::sample::select(TOKENS), 0..100)) {
        let text = format!("class Chance extends Actor;\nfunction Test() {{ {} }}", tokens.join(" "));
        survives(&[Source::new("Chance.uc", text)]);
    }

    #[test]
    fn random_defaults_are_handled(tokens in prop::collection::vec(prop::sample::select(TOKENS), 0..100)) {
        let text = format!("class Chance extends Actor;\ndefaultproperties\n{{ {} }}", tokens.join(" "));
        survives(&[Source::new("Chance.uc", text)]);
    }

    #[test]
    fn mutated_programs_are_handled(
        which in any::<prop::sample::Index>(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), change()), 1..6),
    ) {
        let program_texts = program_texts();
        let mut bytes = program_texts[which.index(program_texts.len())].clone().into_bytes();
        for (at, change) in changes {
            let at = at.index(bytes.len() + 1);
            match change {
                Change::Remove(len) => {
                    let end = (at + len).min(bytes.len());
                    bytes.drain(at..end);
                }
                Change::Insert(word) => {
                    bytes.splice(at..at, word.bytes());
                }
                Change::Flip(byte) => {
                    if let Some(old) = bytes.get_mut(at) {
                        *old = byte;
                    }
                }
                Change::Twice(len) => {
                    let part = bytes[at..(at + len).min(bytes.len())].to_vec();
                    bytes.splice(at..at, part);
                }
            }
        }
        survives(&[Source::decode("Chance.uc", &bytes)]);
    }
}

#[derive(Clone, Debug)]
enum Change {
    Remove(usize),
    Insert(&'static str),
    Flip(u8),
    Twice(usize),
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        (1_usize..40).prop_map(Change::Remove),
        prop::sample::select(TOKENS).prop_map(Change::Insert),
        any::<u8>().prop_map(Change::Flip),
        (1_usize..200).prop_map(Change::Twice),
    ]
}

#[test]
fn deep_sources_are_handled() {
    let deep = 100_000;
    for (open, close) in [
        ("(", ")"),
        ("{", "}"),
        ("[", "]"),
        ("-", ""),
        ("!", ""),
        ("a.", "b"),
        ("a[", "]"),
        ("f(", ")"),
        ("1 + ", "1"),
        ("1 ? ", ""),
        ("if (true) ", ";"),
        ("if (true) { } else ", ";"),
        ("while (true) ", ";"),
        ("do ", ";"),
        ("switch (1) { case 1: ", "}"),
        ("new ", "x"),
        ("x = ", "1"),
        ("a++", ""),
        ("a $ ", "b"),
        ("default.", "x"),
        ("class<A>(", ")"),
        ("/*", "*/"),
    ] {
        let statements = format!("{}{}", open.repeat(deep), close.repeat(deep));
        survives(&[Source::new("Deep.uc", format!("class Deep extends Actor;\nfunction F() {{ {statements}; }}"))]);
    }
    for (open, close) in [("array<", ">"), ("struct S { var ", "}"), ("map<int, ", ">"), ("class<", ">"), ("A.", "B")] {
        let declared = format!("class Deep extends Actor;\nvar {}{} x;", open.repeat(deep), close.repeat(deep));
        survives(&[Source::new("Deep.uc", declared)]);
    }
    for (open, close) in [("(", ")"), ("(A=", ")"), ("Begin Object Name=A\n", "End Object\n"), ("x=(", ")")] {
        let declared = format!(
            "class Deep extends Actor;\ndefaultproperties\n{{\nx={}{}\n}}",
            open.repeat(deep),
            close.repeat(deep)
        );
        survives(&[Source::new("Deep.uc", declared)]);
    }
}

#[test]
fn nested_constructs_do_not_take_exponential_time() {
    let wild = format!(
        "class Deep extends Actor; var array<int> L; function F() {{ Health = {}L{}; }}",
        "array_last(".repeat(50),
        ")".repeat(50)
    );
    let quiet = format!(
        "class Deep extends Actor; var array<int> L; function F() {{ {}L{}.Length = 5; }}",
        "array_last(".repeat(50),
        ")".repeat(50)
    );
    let unknown =
        format!("class Deep extends Actor; function F() {{ {}L{}; }}", "array_last(".repeat(50), ")".repeat(50));
    let members = |head: &str, tail: &str| {
        let (open, close) = ("Unknown(".repeat(29), ").a".repeat(29));
        format!("class Deep extends Nowhere; function F() {{ local array<int> L; {head}{open}L{close}{tail} }}")
    };
    let compounds =
        format!("class Deep extends Actor; function F() {{ {}Health; }}", "Health += Health ? Health : ".repeat(30));
    let consts: String = (0..5_000).map(|at| format!("const C{at} = C{}; ", at + 1)).collect();
    let triples: String = (0..60).map(|at| format!("const C{at} = vect(C{0}, C{0}, C{0}); ", at + 1)).collect();
    let chosen: String = (0..60).map(|at| format!("const C{at} = C{0} ? C{0} : C{0}; ", at + 1)).collect();
    let delegates: String =
        (0..60).map(|at| format!("delegate D{}(delegate<D{at}> a, delegate<D{at}> b); ", at + 1)).collect();
    let programs = [
        wild,
        quiet,
        unknown,
        members("", ";"),
        members("Unknown = ", ";"),
        members("foreach ", ".Each(class'Actor', L) { }"),
        members("Health = ", ";").replace("Nowhere", "Actor"),
        compounds,
        format!("class Deep extends Actor; {consts} var int A[C0];"),
        format!("class Deep extends Actor; {triples} function F() {{ Location = C0; }}"),
        format!("class Deep extends Actor; {chosen} function F() {{ Health = C0; }}"),
        format!("class Deep extends Actor; delegate D0(int i); {delegates}"),
    ];
    for text in programs {
        survives(&[Source::new("Deep.uc", text)]);
    }
    let chain: Vec<_> = (0..200)
        .map(|at| {
            Source::new(
                &format!("C{at}.uc"),
                format!("class C{at} extends C{}; function F{at}() {{ Missing(); }}", at + 1),
            )
        })
        .collect();
    survives(&chain);
}

#[test]
fn long_sources_are_handled() {
    let many = |part: &str, of: usize| part.repeat(of);
    for text in [
        format!("class Long extends Actor; function F() {{ {} }}", many("Health = Health + 1; ", 20_000)),
        format!("class Long extends Actor; {}", (0..5_000).map(|at| format!("var int V{at}; ")).collect::<String>()),
        format!(
            "class Long extends Actor; {}",
            (0..2_000).map(|at| format!("function F{at}() {{ Missing{at}(); }} ")).collect::<String>()
        ),
        format!(
            "class Long extends Actor; function F() {{ switch (Health) {{ {} }} }}",
            (0..50_000).map(|at| format!("case {at}: Health = {at}; break; ")).collect::<String>()
        ),
        format!(
            "class Long extends Actor; {}",
            (0..20_000).map(|at| format!("const C{at} = C{}; ", at + 1)).collect::<String>()
        ),
        format!("class Long extends Actor; function F() {{ Label = \"{}\"; }}", many("x", 1_000_000)),
        format!("class {} extends Actor;", many("L", 100_000)),
        format!("class Long extends Actor;{}{}", many(" ", 200_000), many("# ", 200_000)),
        format!("class Long extends Actor;\n{}", many("#\n", 200_000)),
        format!("class Long extends Actor;\n{}", many("`define X(a) a \\\n", 200_000)),
        format!("class Long extends Actor;\ndefaultproperties {{\n{}", many("A=(B=(\n", 100_000)),
        many("\r", 4_000_000),
        format!(
            "class Long extends Actor; var set<int> X; defaultproperties {{ X=({}0) }}",
            (1..200_000).map(|at| format!("{at},")).collect::<String>()
        ),
        format!(
            "class Long extends Actor; enum E {{ {} }}",
            (0..50_000).map(|at| format!("E{at}, ")).collect::<String>()
        ),
        format!(
            "class Long extends Actor; function F({}) {{}}",
            (0..5_000).map(|at| format!("int P{at}, ")).collect::<String>() + "int Q"
        ),
    ] {
        survives(&[Source::new("Long.uc", text)]);
    }
}
