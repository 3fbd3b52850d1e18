//! Tests class files in the style of existing code, with many unsupported constructs. `NAME.stderr` lists each construct
//! with its location in the short form, and `NAME.print` contains the parsed tree.

use expect_test::expect_file;

use crate::print::print;
use crate::support::{checked, listed, programs};

#[test]
fn unsupported_constructs_are_reported_in_each_file() {
    for path in programs("files") {
        let bytes = std::fs::read(&path).expect("a file");
        let name = path.file_name().and_then(|name| name.to_str()).expect("a name");
        let sources = [alcedo_uc::Source::decode(name, &bytes)];
        let messages = match checked(&sources) {
            Ok(checked) => checked.warnings,
            Err(messages) => messages,
        };
        expect_file![path.with_extension("stderr")].assert_eq(&listed(&messages, &sources));
        // Compares the tree of a file without errors. The golden file was checked by hand.
        let (file, messages) = alcedo_uc::parse(&sources[0]);
        if !messages.iter().any(alcedo_uc::Diagnostic::is_error) {
            expect_file![path.with_extension("print")].assert_eq(&print(&file));
        }
    }
}

#[test]
fn unsupported_constructs_are_reported_next_to_syntax_errors() {
    let text = "class Tower extends Building;\n\nvar Bricks B;\nfunction Rise( {\n}\nfunction Up()\n{\n\tlocal Actor A;\n\
                \tforeach AllActors(class'Actor', A) A.Rise();\n\tforeach Floors(A) A.Rise();\n\tTop: Unknown = 3;\n\
                \t`log(\"up\");\n}\nnative function Down();\nstate Falling { }\n";
    let sources = [alcedo_uc::Source::new("Tower.uc", text)];
    let found: Vec<_> = alcedo_uc::outside("Test", &sources, alcedo_uc::Parsed::of(&sources))
        .iter()
        .map(|found| format!("{} {}", found.line, found.id))
        .collect();
    let expected = ["4 uc-syntax", "9 uc-iterator", "11 uc-goto", "12 uc-macro", "14 uc-native", "15 uc-state"];
    assert_eq!(found, expected);
}

#[test]
fn files_of_a_large_package_keep_their_order_and_messages() {
    let broken = [3, 40, 69];
    let source = |at: usize| {
        let end = if broken.contains(&at) { "var int ;\n" } else { "var int Last;\n" };
        alcedo_uc::Source::new(
            &format!("C{at}.uc"),
            format!("class C{at} extends Base;\n// {}\n{end}", "long ".repeat(1_000)),
        )
    };
    let sources: Vec<_> = (0..70).map(source).collect();
    let parsed = alcedo_uc::Parsed::of(&sources);
    assert_eq!(parsed.messages.iter().map(|message| message.file).collect::<Vec<_>>(), broken);
    let alone: Vec<_> = sources.iter().map(|source| alcedo_uc::parse(source).0).collect();
    assert!(parsed.files == alone, "trees of several threads differ from those of one");
}
