//! Loads the code of a package and links it against the declared classes.

use std::borrow::Borrow;
use std::collections::BTreeMap;
use std::rc::{Rc, Weak};

use alcedo_reflect::World;
use alcedo_reflect::thunk::Thunk;

use crate::code::FunctionCode;
use crate::exec::Linked;
use crate::host::Host;
use crate::link::{KnownFunctions, LoadError, link};
use crate::machine::Machine;

/// Errors of compiling and linking a package.
///
/// # Examples
/// ```
/// use alcedo_script::CompileError;
///
/// let error = CompileError::NoFunction { function: "/Script/Game.Door:Hit".into() };
/// assert!(error.to_string().ends_with("declare the package's classes first"));
/// ```
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum CompileError {
    /// The code contains a body, but no function with its path is declared.
    #[error("function {function} of a body is not declared: declare the package's classes first")]
    NoFunction {
        /// Path of the missing function.
        function: String,
    },
    /// The loader rejects the bytecode.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The function exceeds a limit of the bytecode format.
    #[error("{function} cannot be compiled to bytecode at line {line}: {problem}")]
    Limit {
        /// Path of the function.
        function: String,
        /// Line in the file.
        line: u32,
        /// Exceeded limit, with help.
        problem: String,
    },
}

/// Owner of the linked code of a package. After this value is dropped, calls of the package's functions return errors.
#[derive(Debug, Default)]
pub struct Compiled {
    functions: BTreeMap<String, Rc<Linked>>,
    machine: Weak<Machine>,
}

impl Compiled {
    /// Returns the thunk of the function with the path `/Script/Package.Class:name`. Returns `None` if the package has no function body for
    /// this path.
    pub fn thunk(&self, path: &str) -> Option<Thunk> {
        let machine = self.machine.upgrade()?;
        self.functions.get(path).map(|linked| machine.thunk(linked))
    }
}

impl Machine {
    /// Sets the host, which creates the objects for `new` expressions in scripts.
    pub fn set_host(&self, host: Rc<dyn Host>) {
        *self.host.borrow_mut() = Some(host);
    }

    /// Links each code body to the declared function with the same path. If one function is rejected, no function is linked. If `code` is
    /// passed by value, each body is dropped as soon as it is linked.
    ///
    /// # Errors
    /// Returns the errors of all rejected functions.
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
    /// # let source = alcedo_uc::Source::new(
    /// #     "Door.uc",
    /// #     "class Door extends Object;\nvar int Health;\nfunction Hit(int Damage) { Health = Health - Damage; }\n",
    /// # );
    /// # let checked = alcedo_uc::check("Game", &[source], &world.types, &alcedo_uc::Options::default());
    /// # let mut package = checked.expect("no errors").package;
    /// use alcedo_script::{CompileError, Limits, Machine, compile};
    ///
    /// let machine = Machine::new(Limits::default());
    /// let code = compile(&mut package).expect("within the limits");
    /// // The class `Door` was checked, but not declared.
    /// let errors = machine.load(&world, code).expect_err("nothing to link to");
    /// assert!(matches!(errors[..], [CompileError::NoFunction { .. }]));
    /// ```
    pub fn load<C: Borrow<FunctionCode>>(
        self: &Rc<Self>,
        world: &World,
        code: impl IntoIterator<Item = C>,
    ) -> Result<Compiled, Vec<CompileError>> {
        // Registers the machine with the world's collector, so that objects in script frames stay alive.
        if !self.is_attached.replace(true) {
            let source: Weak<Self> = Rc::downgrade(self);
            world.stack.add_source(source);
        }
        // Resets the counts of log messages, because locations in the new code are unrelated to locations in earlier code.
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
}
