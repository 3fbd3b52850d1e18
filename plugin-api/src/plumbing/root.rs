//! What `module!` takes of an author: the hooks of a module, in the shapes they may have.

use core::fmt::Display;

use alcedo_abi::describe::EntryTables;
use alcedo_rt::{CallError, words_of};

/// What an author gives to `module!`.
pub trait ModuleHooks: 'static {
    /// The main of the module.
    fn main(args: &[&str]);
    /// The exit hook.
    fn exit();
    /// The tables of the entry method.
    const TABLES: EntryTables;
    /// Calls the entry method.
    ///
    /// # Errors
    /// When an entry of its table of the host cannot be bound.
    fn entry() -> Result<(), CallError>;
    /// Whether it has the two that follow.
    const SUSPENDS: bool;
    /// Gives up what the next generation needs.
    ///
    /// # Errors
    /// What the author's own says.
    fn suspend() -> Result<(), CallError>;
    /// Takes it again.
    ///
    /// # Errors
    /// What the author's own says.
    fn resume() -> Result<(), CallError>;
}

/// What a `suspend` or a `resume` may give back: nothing, or a result with an error that has words.
#[diagnostic::on_unimplemented(
    message = "`suspend` and `resume` of a module are `fn()` or `fn() -> Result<(), E>`, where `E` is `Display`",
    label = "this gives back something else"
)]
pub trait Outcome {
    /// The same in the words of the border.
    ///
    /// # Errors
    /// The author's error, as text.
    fn told(self) -> Result<(), CallError>;
}

impl Outcome for () {
    fn told(self) -> Result<(), CallError> {
        Ok(())
    }
}

impl<E: Display> Outcome for Result<(), E> {
    fn told(self) -> Result<(), CallError> {
        self.map_err(|error| words_of(error).map_or_else(|panic| panic, CallError::other))
    }
}

/// Calls a `suspend` or a `resume`.
///
/// # Errors
/// Its own.
pub fn run_hook<R: Outcome>(hook: impl FnOnce() -> R) -> Result<(), CallError> {
    hook().told()
}

/// A function that can be the main of a module: `fn(&[&str])` or `fn()`.
#[diagnostic::on_unimplemented(message = "the main of a module is `fn(&[&str])` or `fn()`", label = "this is neither")]
pub trait MainFn<Shape> {
    /// Calls it.
    fn run(self, args: &[&str]);
}

/// `fn(&[&str])`.
#[derive(Debug)]
pub enum WithArgs {}

/// `fn()`.
#[derive(Debug)]
pub enum Bare {}

impl<F: FnOnce(&[&str])> MainFn<WithArgs> for F {
    fn run(self, args: &[&str]) {
        self(args);
    }
}

impl<F: FnOnce()> MainFn<Bare> for F {
    fn run(self, _args: &[&str]) {
        self();
    }
}

/// Calls a main of either shape.
pub fn run_main<Shape>(main: impl MainFn<Shape>, args: &[&str]) {
    main.run(args);
}
