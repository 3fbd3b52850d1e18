//! Tests the printer. Printed code parses without errors, and printing the parsed code again returns equal code.

use alcedo_uc::{Source, parse};

use crate::print::print;
use crate::support::{programs, sources};

pub(crate) fn check_printed_again(name: &str, source: &Source) {
    let (file, messages) = parse(source);
    if messages.iter().any(alcedo_uc::Diagnostic::is_error) {
        return;
    }
    let once = print(&file);
    let again = Source::new(name, once.as_str());
    let (file, messages) = parse(&again);
    let rendered: Vec<_> = messages.iter().map(|message| message.render(std::slice::from_ref(&again))).collect();
    assert!(!messages.iter().any(alcedo_uc::Diagnostic::is_error), "{name}\n{once}\n{}", rendered.join("\n"));
    assert_eq!(once, print(&file), "{name}");
}

#[test]
fn every_program_is_printed_the_same_twice() {
    for folder in ["programs", "errors", "files"] {
        for path in programs(folder) {
            for source in sources(&path) {
                check_printed_again(&path.display().to_string(), &source);
            }
        }
    }
}

#[test]
fn spaces_of_a_declaration_are_normalized() {
    let (file, _) = parse(&Source::new("Door.uc", "class   Door extends  Actor;"));
    assert!(print(&file).starts_with("class Door extends Actor;"));
}
