//! Reflected functions whose bodies are C functions. A class is declared before its types are known, so what is declared of a
//! function is kept beside it, and bound when the class is there.

use std::cell::OnceCell;
use std::fmt;
use std::rc::Rc;

use alcedo_abi::kinds::property_flags;
use alcedo_base::border::CallError;
use alcedo_reflect::function::Function;
use alcedo_reflect::thunk::{Thunk, function_of};

use crate::function::{Import, Imported};
use crate::library::Library;
use crate::shape::BindError;

/// What C has to be told of a function beside its reflected signature.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Manner {
    /// Arrays among the parameters, and how many values each has.
    pub lens: Vec<(String, usize)>,
    /// Its `bool` fills one byte only.
    pub is_bool8: bool,
    /// It runs on the calling thread, in no folder of its own.
    pub no_cwd: bool,
}

/// A function of a class that is bound to a library, and is looked up there by its own name. Game thread only.
pub struct Body {
    library: Library,
    manner: Manner,
    bound: OnceCell<Imported>,
}

impl Body {
    /// The body of a function that is not there yet.
    #[must_use]
    pub fn new(library: &Library, manner: Manner) -> Rc<Self> {
        Rc::new(Self { library: library.clone(), manner, bound: OnceCell::new() })
    }

    /// Binds it to the function of that name, which has this body as its thunk.
    ///
    /// # Errors
    /// When C could not read a type of it.
    pub fn bind(&self, function: &Function) -> Result<(), BindError> {
        let imported = import(function, &self.manner).bind(&self.library)?;
        // A function is bound once; a second time would change nothing.
        _ = self.bound.set(imported);
        Ok(())
    }

    /// What runs the reflected function. It keeps the library open.
    #[must_use]
    pub fn thunk(self: &Rc<Self>) -> Thunk {
        let body = Rc::clone(self);
        Rc::new(move |_context, frame| {
            let function = function_of(frame);
            let unbound = || CallError::other(format!("{} is not bound yet", function.path));
            let imported = body.bound.get().ok_or_else(unbound)?;
            let params = function.arguments();
            let arguments = params.iter().map(|_| frame.take_value()).collect::<Result<Vec<_>, _>>()?;
            frame.finish()?;
            let outcome = imported.call(&arguments).map_err(|broken| CallError::other(broken.to_string()))?;
            let outs = params.iter().enumerate().filter(|(_, param)| param.flags & property_flags::OUT != 0);
            outs.zip(&outcome.outs).try_for_each(|((at, _), value)| frame.give_out(at, value))?;
            outcome.result.iter().try_for_each(|result| frame.give_value(result))
        })
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "body in {:?}", self.library)
    }
}

/// What is declared of a reflected function.
fn import(function: &Function, manner: &Manner) -> Import {
    let mut import = Import::new(&function.text);
    for param in function.arguments() {
        let is_out = param.flags & property_flags::OUT != 0;
        let len = manner.lens.iter().find(|(name, _)| **name == *param.text).map(|(_, len)| *len);
        import = import.declared(&param.text, param.ty.clone(), is_out, len);
    }
    import = match function.result() {
        Some(_) if manner.is_bool8 => import.returns_bool8(),
        Some(result) => import.returns(result.ty.clone()),
        None => import,
    };
    if manner.no_cwd { import.no_cwd() } else { import }
}
