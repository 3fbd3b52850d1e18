//! Checks syntax trees and builds the checked tree. Resolves names against the package and the types that are currently registered in
//! reflection, infers and compares types, and inserts conversions. Reports each mistake once, without follow-up errors.

mod bodies;
mod body;
mod built_in;
mod calls;
mod complete;
mod consts;
mod containers;
mod convert;
mod declare;
mod default_words;
mod defaults;
mod expressions;
mod functions;
mod gathered;
mod interfaces;
mod literals;
mod lookup;
mod members;
mod operators;
mod outside;
mod places;
mod reflected;
mod statements;
mod structs;
mod subobjects;
mod symbols;
mod totals;
mod types;
mod wildcards;

use std::cell::{Cell, RefCell};

use std::rc::Rc;

use alcedo_reflect::types::Types;

use crate::ast;
use crate::diagnostic::Diagnostic;
use crate::hash::{HashMap, HashSet};
use crate::hir;
use crate::parse::Parsed;
use crate::source::Source;
pub(crate) use complete::complete_in;
use interfaces::InterfaceSym;
pub use symbols::squash;
use symbols::{At, ClassSym, Enums, StructSym};

/// Maximum number of stored messages of a package.
const MAX_MESSAGES: usize = 10_000;

/// Options of a check.
///
/// # Examples
/// ```
/// use alcedo_uc::Options;
///
/// let refused = [("key".to_owned(), "the package `Keys`".to_owned())].into();
/// let options = Options { refused, ..Options::default() };
/// assert!(options.refused.contains_key("key"));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Paths of host libraries: classes whose static functions can be called without the class name.
    pub libraries: Vec<String>,
    /// If true, ignores the flags of reflected types that restrict scripts. Scripts can then use every property and function, and extend
    /// every class.
    pub ignore_flags: bool,
    /// Types and enum entries that a module with errors declares, by name in lower case. The value of each entry describes the module, such
    /// as "the package `Tale`". If a script uses such a name, the message names the module instead of reporting an unknown type.
    pub refused: std::collections::HashMap<String, String>,
}

/// A package without errors.
///
/// # Examples
/// ```
/// # use alcedo_reflect::World;
/// # use alcedo_reflect::decl::{Batch, ClassDecl};
/// # use alcedo_reflect::origin::Origin;
/// # let world = World::new();
/// # world.types.declare_package("Engine");
/// # world.types.declare_package("Game");
/// # let classes = vec![ClassDecl::new("Engine", "Object", "", Origin::Native)];
/// # world.types.declare(&world.names, &Batch { classes, ..Batch::default() }).expect("a root");
/// use alcedo_uc::{Options, Source, check};
///
/// let source = Source::new("Door.uc", "class Door extends Object;\nvar int Health;\n");
/// let checked = check("Game", &[source], &world.types, &Options::default()).expect("no errors");
/// assert_eq!((checked.package.name.as_str(), checked.package.classes.len()), ("Game", 1));
/// ```
#[derive(Clone, Debug)]
pub struct Checked {
    /// Checked tree of the package.
    pub package: hir::Package,
    /// Warnings.
    pub warnings: Vec<Diagnostic>,
}

/// Parses the files of a package and checks them as [`check_parsed`] does.
///
/// # Errors
/// Returns the errors of [`check_parsed`].
///
/// # Examples
/// ```
/// # use alcedo_reflect::World;
/// # use alcedo_reflect::decl::{Batch, ClassDecl};
/// # use alcedo_reflect::origin::Origin;
/// # let world = World::new();
/// # world.types.declare_package("Engine");
/// # world.types.declare_package("Game");
/// # let classes = vec![ClassDecl::new("Engine", "Object", "", Origin::Native)];
/// # world.types.declare(&world.names, &Batch { classes, ..Batch::default() }).expect("a root");
/// use alcedo_uc::{Options, Source, check};
///
/// let sources = [Source::new("Door.uc", "class Door extends Gate;")];
/// let messages = check("Game", &sources, &world.types, &Options::default()).expect_err("no such class");
/// assert!(messages[0].render(&sources).contains("Door.uc:1:"));
/// ```
pub fn check(package: &str, sources: &[Source], types: &Types, options: &Options) -> Result<Checked, Vec<Diagnostic>> {
    check_parsed(package, sources, Parsed::of(sources), types, options)
}

/// Checks the files of a package against the types that are currently registered in reflection. Ignores types that an earlier version of
/// the package declared, because the new types replace them. Like all of reflection, this function must be called on the game thread.
///
/// # Errors
/// Returns all messages if at least one message is an error. The messages include the warnings, and are ordered by file and offset.
pub fn check_parsed(
    package: &str,
    sources: &[Source],
    Parsed { files, messages }: Parsed,
    types: &Types,
    options: &Options,
) -> Result<Checked, Vec<Diagnostic>> {
    let checker = Checker::new(package, sources, &files, types, options, messages);
    let checked = checker.package();
    let messages = checker.into_messages();
    if messages.iter().any(Diagnostic::is_error) {
        return Err(messages);
    }
    Ok(Checked { package: checked, warnings: messages })
}

/// Ids of messages about unsupported or partly ignored constructs. The check for these constructs uses no type information.
const OUTSIDE: &[&str] = &[
    "uc-cpptext",
    "uc-delegate-out",
    "uc-directive",
    "uc-exec",
    "uc-function-word",
    "uc-goto",
    "uc-interface",
    "uc-iterator",
    "uc-macro",
    "uc-native",
    "uc-native-class",
    "uc-native-var",
    "uc-new",
    "uc-operator",
    "uc-pointer",
    "uc-range",
    "uc-remote",
    "uc-replication",
    "uc-skip",
    "uc-state",
    "uc-unknown-word",
    "uc-within",
];

/// Returns the messages that need no type information: the syntax messages, and the messages about unsupported constructs. The messages are
/// ordered by file and offset.
pub fn outside(package: &str, sources: &[Source], parsed: Parsed) -> Vec<Diagnostic> {
    let Parsed { files, mut messages } = parsed;
    let world = alcedo_reflect::World::new();
    let options = Options::default();
    let checker = Checker::new(package, sources, &files, &world.types, &options, Vec::new());
    checker.package();
    let reported = checker.messages.into_inner();
    messages.extend(reported.into_iter().filter(|message| OUTSIDE.contains(&message.id)));
    in_order(messages, sources)
}

/// Sets line and column of each message, sorts by file and offset, and removes duplicates.
fn in_order(messages: Vec<Diagnostic>, sources: &[Source]) -> Vec<Diagnostic> {
    let mut messages: Vec<_> = messages.into_iter().map(|message| message.placed(sources)).collect();
    messages.sort_by_key(|message| (message.file, message.span.start, message.span.end));
    messages.dedup();
    gathered::gathered(messages)
}

/// Marks a failure whose error is already reported.
#[derive(Debug)]
pub(crate) struct Reported;

pub(crate) type Found<T> = Result<T, Reported>;

pub(crate) struct Checker<'a> {
    package: &'a str,
    sources: &'a [Source],
    files: &'a [ast::File],
    types: &'a Types,
    options: &'a Options,
    messages: RefCell<Vec<Diagnostic>>,
    /// Offsets of syntax errors by index of the file.
    syntax_errors: HashMap<usize, Vec<u32>>,
    /// Unknown names that were already reported, by index of the file.
    reported: RefCell<HashSet<(usize, String)>>,
    /// Classes (as object types), structs, enums and interfaces by name in lower case. In each list, types of this package are first.
    type_names: RefCell<HashMap<String, Vec<hir::Type>>>,
    classes: RefCell<HashMap<hir::Path, Option<Rc<ClassSym>>>>,
    structs: RefCell<HashMap<hir::Path, Option<Rc<StructSym>>>>,
    enums: RefCell<Enums>,
    interfaces: RefCell<HashMap<hir::Path, Rc<InterfaceSym>>>,
    /// Symbols of the operators that classes of the package declare. The language does not support declared operators.
    own_operators: RefCell<HashSet<String>>,
    /// Constants under evaluation, to detect cycles.
    open_consts: RefCell<Vec<At>>,
    /// Constants whose definition has an error. The error is already reported.
    invalid_consts: RefCell<HashSet<At>>,
    /// Values of constants. The key is the location of the constant, and the class that uses the constant.
    const_values: RefCell<HashMap<(At, String), consts::ConstValues>>,
    /// True after the first constant that exceeds the nesting limit was reported.
    depth_reported: Cell<bool>,
    /// Remaining number of searches for similar names.
    hints: Cell<u32>,
    /// Number of fields of all structs so far, including inherited fields.
    fields: Cell<usize>,
    /// Number of initial values that all classes and structs have so far.
    starts: Cell<u64>,
    /// Index of the first error in `messages`. If no error was reported, larger than every index.
    first_error: Cell<usize>,
    /// Number of messages beyond [`MAX_MESSAGES`]. These messages are not stored.
    unlisted: Cell<u64>,
    /// Limits on the totals of a package that were exceeded and already reported.
    passed: RefCell<HashSet<&'static str>>,
    /// Remaining number of array elements that defaults may create without an entry in the source.
    unwritten: Cell<u64>,
}

impl<'a> Checker<'a> {
    fn new(
        package: &'a str,
        sources: &'a [Source],
        files: &'a [ast::File],
        types: &'a Types,
        options: &'a Options,
        messages: Vec<Diagnostic>,
    ) -> Self {
        let mut syntax_errors: HashMap<usize, Vec<u32>> = HashMap::default();
        for message in messages.iter().filter(|message| message.is_error()) {
            syntax_errors.entry(message.file).or_default().push(message.span.start);
        }
        let first_error = messages.iter().position(Diagnostic::is_error).unwrap_or(usize::MAX);
        let checker = Self {
            package,
            sources,
            files,
            types,
            options,
            messages: RefCell::new(messages),
            syntax_errors,
            reported: RefCell::default(),
            type_names: RefCell::default(),
            classes: RefCell::default(),
            structs: RefCell::default(),
            enums: RefCell::default(),
            own_operators: RefCell::default(),
            interfaces: RefCell::default(),
            open_consts: RefCell::default(),
            invalid_consts: RefCell::default(),
            const_values: RefCell::default(),
            depth_reported: Cell::new(false),
            hints: Cell::new(200),
            fields: Cell::default(),
            starts: Cell::default(),
            passed: RefCell::default(),
            first_error: Cell::new(first_error),
            unlisted: Cell::default(),
            unwritten: Cell::new(defaults::MAX_UNWRITTEN),
        };
        checker.read_reflection();
        checker
    }

    /// Records that the name is reported for the file. Returns true if this name was not reported for this file before.
    fn is_first(&self, file: usize, name: String) -> bool {
        self.reported.borrow_mut().insert((file, name))
    }

    pub(crate) fn report(&self, diagnostic: Diagnostic) -> Reported {
        let mut messages = self.messages.borrow_mut();
        let has_error = self.first_error.get() < messages.len();
        if messages.len() >= MAX_MESSAGES && (has_error || !diagnostic.is_error()) {
            self.unlisted.set(self.unlisted.get() + 1);
            return Reported;
        }
        if diagnostic.is_error() && !has_error {
            self.first_error.set(messages.len());
        }
        messages.push(diagnostic);
        Reported
    }

    /// Reports an error, and returns `Err`.
    fn refuse<T>(&self, id: &'static str, at: At, message: impl Into<String>) -> Found<T> {
        Err(self.report(Diagnostic::error(id, at, message)))
    }

    /// Keeps the first `messages` messages, and removes all later messages.
    pub(crate) fn take_back(&self, messages: usize) {
        self.messages.borrow_mut().truncate(messages);
        if self.first_error.get() >= messages {
            self.first_error.set(usize::MAX);
        }
    }

    /// Returns all messages in order. If some messages were not stored, adds a final message with their number.
    fn into_messages(self) -> Vec<Diagnostic> {
        let (sources, unlisted) = (self.sources, self.unlisted.get());
        let mut messages = in_order(self.messages.into_inner(), sources);
        if let Some(last) = messages.last().filter(|_| unlisted > 0) {
            let message = format!("{unlisted} more messages of the package are not listed");
            let at = (last.file, last.span);
            let count = Diagnostic::error("uc-too-many-errors", at, message).placed(sources);
            messages.push(if last.is_error() { count } else { count.warning() });
        }
        messages
    }

    pub(crate) fn line(&self, at: At) -> u32 {
        self.sources.get(at.0).map_or(1, |source| source.line(at.1.start))
    }
}
