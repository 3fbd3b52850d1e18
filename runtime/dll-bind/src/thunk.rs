//! Reflected functions whose bodies are C functions. Each body is bound to its C function after the class was declared, because the
//! parameter types of a reflected function are resolved only then.

use std::cell::OnceCell;
use std::fmt;
use std::rc::Rc;

use alcedo_abi::describe::c_keys;
use alcedo_abi::kinds::{function_flags, property_flags};
use alcedo_base::boundary::CallError;
use alcedo_reflect::function::Function;
use alcedo_reflect::meta::value_of;
use alcedo_reflect::property::PropertyType;
use alcedo_reflect::thunk::{Frame, Thunk, function_of};

use crate::breach::Broken;
use crate::function::{BoolWidth, Import, Imported};
use crate::library::Library;
use crate::shape::{BindError, Layouts};

/// Body of a reflected function: a C function of the library, bound by name. Game thread only.
pub struct Body {
    library: Library,
    /// `true` if a script declares the function. In a struct of the host or of a plugin, an `f64` field may then be `float` or `double` in
    /// C.
    of_script: bool,
    bound: OnceCell<Imported>,
}

impl Body {
    /// Creates a body that is not bound yet.
    #[must_use]
    pub fn new(library: &Library, of_script: bool) -> Rc<Self> {
        Rc::new(Self { library: library.clone(), of_script, bound: OnceCell::new() })
    }

    /// Binds the body to the C function that the declaration of `function` names. The thunk of `function` must be the thunk of this body.
    ///
    /// # Errors
    /// Fails if C has no representation for a type.
    pub fn bind(&self, function: &Function) -> Result<(), BindError> {
        let imported = import(function, self.of_script).bind(&self.library)?;
        // If the body is already bound, keeps the first binding, because both bindings are equal.
        _ = self.bound.set(imported);
        Ok(())
    }

    /// Returns the thunk of the reflected function. The thunk keeps the library open.
    #[must_use]
    pub fn thunk(self: &Rc<Self>) -> Thunk {
        let body = Rc::clone(self);
        Rc::new(move |_context, frame| {
            let function = function_of(frame);
            let unbound = || CallError::other(format!("{} is not bound yet", function.path));
            let imported = body.bound.get().ok_or_else(unbound)?;
            let params = function.arguments();
            if params.len() <= MOST_WORDS && imported.is_plain() {
                return call_plain(imported, frame);
            }
            let arguments = params.iter().map(|_| frame.take_value()).collect::<Result<Vec<_>, _>>()?;
            frame.finish()?;
            let outcome = imported.call(&arguments).map_err(|broken| CallError::other(broken.to_string()))?;
            let out_parameters = params.iter().enumerate().filter(|(_, param)| param.flags & property_flags::OUT != 0);
            out_parameters.zip(&outcome.out_parameters).try_for_each(|((at, _), value)| frame.set_out(at, value))?;
            outcome.result.iter().try_for_each(|result| frame.set_result_value(result))
        })
    }
}

/// Calls a function whose parameters, at most [`MOST_WORDS`], and result are plain numbers. The call needs no buffers.
fn call_plain(imported: &Imported, frame: &mut Frame<'_>) -> Result<(), CallError> {
    let mut words = [0; MOST_WORDS];
    let mut count = 0;
    for (slot, number) in words.iter_mut().zip(imported.numbers()) {
        (*slot, count) = (number.take(frame)?, count + 1);
    }
    frame.finish()?;
    let to_error = |broken: Broken| CallError::other(broken.to_string());
    let word = imported.call_plain(&words[..count]).map_err(to_error)?;
    match (imported.number_of_result(), imported.read_bool(word).map_err(to_error)?) {
        (None, _) => Ok(()),
        (_, Some(value)) => frame.set_result(value),
        (Some(number), None) => number.set_result(frame, word),
    }
}

/// Maximum number of parameters of a call without buffers.
const MOST_WORDS: usize = 32;

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "body in {:?}", self.library)
    }
}

/// Checks that C can represent the types of a script function. The library need not exist.
///
/// # Errors
/// Fails if C has no representation for a type.
pub fn check(function: &Function, layouts: &Layouts) -> Result<(), BindError> {
    import(function, true).check(layouts)
}

/// Creates the declaration of the C function from the types, flags and metadata of the reflected function.
fn import(function: &Function, of_script: bool) -> Import {
    let is = |flag| function.flags & flag != 0;
    let mut import = Import::new(value_of(&function.meta, c_keys::SYMBOL).unwrap_or(&function.text));
    for param in function.arguments() {
        let is_out = param.flags & property_flags::OUT != 0;
        let len = value_of(&param.meta, c_keys::LEN).and_then(|len| len.parse().ok());
        import = import.declared(&param.text, param.ty.clone(), is_out, len);
    }
    import = match function.result() {
        Some(result) if matches!(result.ty, PropertyType::Bool) => {
            import.returns_bool(match (is(function_flags::BOOL8), is(function_flags::BOOL32)) {
                (true, _) => BoolWidth::One,
                (false, true) => BoolWidth::Four,
                (false, false) => BoolWidth::Unstated,
            })
        }
        Some(result) => import.returns(result.ty.clone()),
        None => import,
    };
    import.of_script = of_script;
    if is(function_flags::NO_CWD) { import.no_cwd() } else { import }
}
