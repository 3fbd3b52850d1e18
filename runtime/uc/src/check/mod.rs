//! From syntax trees to the checked tree: names are looked up in the package and in live reflection, types are found and
//! compared, conversions written out. A mistake is told once; what comes of it is not told.

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
use symbols::{At, ClassSym, Enums, FuncSym, Named, StructSym};

/// The most messages of a package that are kept.
const MOST_MESSAGES: usize = 10_000;

/// What a check may be told beside the sources.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Paths of classes whose static functions are called without naming the class: libraries of the host.
    pub libraries: Vec<String>,
    /// Whether scripts may use every property and function of reflection, and extend every class, whatever its flags say.
    pub ignore_flags: bool,
    /// Types and entries of enums that a module with errors declares, in lower case, with a description of that module such as
    /// "the package `Tale`". Messages name the module and do not deny the type.
    pub refused: std::collections::HashMap<String, String>,
}

/// A package without errors.
#[derive(Clone, Debug)]
pub struct Checked {
    /// The package.
    pub package: hir::Package,
    /// What in it means less than it says.
    pub warnings: Vec<Diagnostic>,
}

/// Parses the files of a package and checks them as [`check_parsed`] does.
///
/// # Errors
/// Returns the errors of [`check_parsed`].
pub fn check(package: &str, sources: &[Source], types: &Types, options: &Options) -> Result<Checked, Vec<Diagnostic>> {
    check_parsed(package, sources, Parsed::of(sources), types, options)
}

/// Checks the files of a package against the types that are found now. Types that scripts declared in a package of that name
/// before are left out of account: they are what is being replaced. Game thread only, as everything of reflection.
///
/// # Errors
/// All messages, warnings too, in order of file and place, when one of them is an error.
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

/// Ids of messages that name what is outside of the language, or means less than it says, whatever types there are.
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

/// What the files of a package have that is outside of the language, beside the messages of their syntax, in order of file and
/// place: all that can be told of them without knowing any type.
pub fn outside(package: &str, sources: &[Source], parsed: Parsed) -> Vec<Diagnostic> {
    let Parsed { files, mut messages } = parsed;
    let world = alcedo_reflect::World::new();
    let options = Options::default();
    let checker = Checker::new(package, sources, &files, &world.types, &options, Vec::new());
    checker.package();
    let told = checker.messages.into_inner();
    messages.extend(told.into_iter().filter(|message| OUTSIDE.contains(&message.id)));
    in_order(messages, sources)
}

/// Messages with their lines, in order of file and place, each once.
fn in_order(messages: Vec<Diagnostic>, sources: &[Source]) -> Vec<Diagnostic> {
    let mut messages: Vec<_> = messages.into_iter().map(|message| message.placed(sources)).collect();
    messages.sort_by_key(|message| (message.file, message.span.start, message.span.end));
    messages.dedup();
    gathered::gathered(messages)
}

/// What could not be made was told already.
#[derive(Debug)]
pub(crate) struct Told;

pub(crate) type Found<T> = Result<T, Told>;

/// What a name of a type stands for.
#[derive(Clone, Debug)]
pub(crate) enum TypeSym {
    Class(hir::Path),
    Struct(hir::Path),
    Enum(hir::Path, hir::Num),
    Interface(hir::Path),
}

/// A check that runs.
pub(crate) struct Checker<'a> {
    package: &'a str,
    sources: &'a [Source],
    files: &'a [ast::File],
    types: &'a Types,
    options: &'a Options,
    messages: RefCell<Vec<Diagnostic>>,
    /// Where the syntax of each file has errors.
    misread: HashMap<usize, Vec<u32>>,
    /// Names that are unknown and were told, by file.
    told: RefCell<HashSet<(usize, String)>>,
    /// What names of types stand for, in lower case; those of the package first.
    type_names: RefCell<HashMap<String, Vec<TypeSym>>>,
    classes: RefCell<HashMap<hir::Path, Option<Rc<ClassSym>>>>,
    structs: RefCell<HashMap<hir::Path, Option<Rc<StructSym>>>>,
    enums: RefCell<Enums>,
    interfaces: RefCell<HashMap<hir::Path, Named<Rc<FuncSym>>>>,
    /// Those of the package, with their functions in order.
    own_interfaces: RefCell<HashMap<hir::Path, interfaces::InterfaceSym>>,
    /// Signs of operators that classes of the package declare, which is outside.
    own_operators: RefCell<HashSet<String>>,
    /// Constants that are being evaluated, so that a circle of them is noticed.
    open_consts: RefCell<Vec<At>>,
    /// Constants that have no value, which was told.
    wrong_consts: RefCell<HashSet<At>>,
    /// Values of constants, by the place and the class that they were asked for in, for each type that was wanted.
    known_consts: RefCell<HashMap<(At, String), consts::Known>>,
    /// Whether a constant was told to be made of too many others.
    deep_consts: Cell<bool>,
    /// For how many names one like it is still looked for.
    hints: Cell<u32>,
    /// Fields of the structs so far, with those of their bases.
    fields: Cell<usize>,
    /// Values that the classes and structs so far start with.
    starts: Cell<u64>,
    /// The place of an error among the messages; beyond them if none is an error.
    first_error: Cell<usize>,
    /// Messages beyond [`MOST_MESSAGES`].
    unlisted: Cell<u64>,
    /// Limits of totals that are passed, each reported once.
    passed: RefCell<HashSet<&'static str>>,
    /// How many elements of arrays that nobody wrote defaults may still have.
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
        let mut misread: HashMap<usize, Vec<u32>> = HashMap::default();
        for message in messages.iter().filter(|message| message.is_error()) {
            misread.entry(message.file).or_default().push(message.span.start);
        }
        let first_error = messages.iter().position(Diagnostic::is_error).unwrap_or(usize::MAX);
        let checker = Self {
            package,
            sources,
            files,
            types,
            options,
            messages: RefCell::new(messages),
            misread,
            told: RefCell::default(),
            type_names: RefCell::default(),
            classes: RefCell::default(),
            structs: RefCell::default(),
            enums: RefCell::default(),
            own_operators: RefCell::default(),
            interfaces: RefCell::default(),
            own_interfaces: RefCell::default(),
            open_consts: RefCell::default(),
            wrong_consts: RefCell::default(),
            known_consts: RefCell::default(),
            deep_consts: Cell::new(false),
            hints: Cell::new(200),
            fields: Cell::default(),
            starts: Cell::default(),
            passed: RefCell::default(),
            first_error: Cell::new(first_error),
            unlisted: Cell::default(),
            unwritten: Cell::new(defaults::MOST_UNWRITTEN),
        };
        checker.read_reflection();
        checker
    }

    pub(crate) fn report(&self, diagnostic: Diagnostic) -> Told {
        let mut messages = self.messages.borrow_mut();
        let has_error = self.first_error.get() < messages.len();
        if messages.len() >= MOST_MESSAGES && (has_error || !diagnostic.is_error()) {
            self.unlisted.set(self.unlisted.get() + 1);
            return Told;
        }
        if diagnostic.is_error() && !has_error {
            self.first_error.set(messages.len());
        }
        messages.push(diagnostic);
        Told
    }

    /// Removes the messages behind the first ones.
    pub(crate) fn take_back(&self, messages: usize) {
        self.messages.borrow_mut().truncate(messages);
        if self.first_error.get() >= messages {
            self.first_error.set(usize::MAX);
        }
    }

    /// All messages in order, and how many are not listed.
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

    /// The line of a place.
    pub(crate) fn line(&self, at: At) -> u32 {
        self.sources.get(at.0).map_or(1, |source| source.line(at.1.start))
    }
}
