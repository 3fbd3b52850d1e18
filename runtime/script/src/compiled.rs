//! A package's code, linked against the classes that were declared of it.

use std::borrow::Borrow;
use std::collections::BTreeMap;
use std::rc::{Rc, Weak};

use alcedo_reflect::World;
use alcedo_reflect::collect::RootSource;
use alcedo_reflect::thunk::Thunk;

use crate::code::FunctionCode;
use crate::exec::Linked;
use crate::host::Host;
use crate::link::{KnownFunctions, LoadError, link};
use crate::machine::Machine;

/// Why code of a package does not run.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum CompileError {
    /// There is no function that it is the body of.
    #[error("there is no function {function} to give a body to: declare the package's classes first")]
    NoFunction {
        /// Its path.
        function: String,
    },
    /// The bytecode is refused.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The text asks for what bytecode cannot say.
    #[error("{function} cannot be made bytecode of at line {line}: {problem}")]
    Limit {
        /// The path of the function.
        function: String,
        /// The line in its file.
        line: u32,
        /// What, and the way out.
        problem: String,
    },
}

/// The code of a package. It runs as long as this is kept; then calls of it are errors.
#[derive(Debug, Default)]
pub struct Compiled {
    functions: BTreeMap<String, Rc<Linked>>,
    machine: Weak<Machine>,
}

impl Compiled {
    /// What runs the function of that path, `/Script/Package.Class:name`; none for one without a body.
    pub fn thunk(&self, path: &str) -> Option<Thunk> {
        let machine = self.machine.upgrade()?;
        self.functions.get(path).map(|linked| machine.thunk(linked))
    }

    /// The paths of all functions in it.
    pub fn functions(&self) -> impl Iterator<Item = &str> {
        self.functions.keys().map(String::as_str)
    }
}

impl Machine {
    /// What brings objects into the world for `new`.
    pub fn set_host(&self, host: Rc<dyn Host>) {
        *self.host.borrow_mut() = Some(host);
    }

    /// Links code against the functions that are there now, all of it or none: each of its functions has been declared, and is
    /// found by its path. Code that is passed by value is dropped function by function.
    ///
    /// # Errors
    /// All that is refused.
    pub fn load<C: Borrow<FunctionCode>>(
        self: &Rc<Self>,
        world: &World,
        code: impl IntoIterator<Item = C>,
    ) -> Result<Compiled, Vec<CompileError>> {
        self.attach(world);
        // A place in a new text is another one.
        self.warned.forget();
        let known_functions = KnownFunctions::default();
        let (mut functions, mut errors) = (BTreeMap::new(), Vec::new());
        for code in code {
            let code = code.borrow();
            let no_function = || CompileError::NoFunction { function: code.path.clone() };
            let found = world.types.function_by_path(&code.path);
            let linked = found.ok_or_else(no_function).and_then(|function| {
                let class = world.types.class(function.owner).ok_or_else(no_function)?;
                Ok(link(world, &known_functions, code, &function, &class)?)
            });
            match linked {
                Ok(linked) => {
                    functions.insert(code.path.clone(), Rc::new(linked));
                }
                Err(error) => errors.push(error),
            }
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        let mut known = self.code.borrow_mut();
        known.retain(|_, linked| linked.strong_count() != 0);
        for linked in functions.values() {
            known.insert((linked.function.owner, linked.function.name), Rc::downgrade(linked));
        }
        Ok(Compiled { functions, machine: Rc::downgrade(self) })
    }

    /// From now on the collector of the world sees what the frames refer to.
    fn attach(self: &Rc<Self>, world: &World) {
        if !self.is_attached.replace(true) {
            let this: Weak<Self> = Rc::downgrade(self);
            let source: Weak<dyn RootSource> = this;
            world.stack.add_source(source);
        }
    }
}
