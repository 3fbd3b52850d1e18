//! Resolver of the protocol `ex`. The host and modules register functions under names that they choose. A name has one owner at a time: a
//! second registration of the name fails with an error that states the first owner.

use std::collections::HashMap;
use std::rc::Rc;

use super::call::{Implementer, Resolved};
use super::chain::{Answer, Resolver};
use super::module_status::ModuleStatuses;
use super::name::ZCallName;
use super::protocol::Protocol;
use super::reader::{NameError, NameErrorKind, Reader};
use crate::boundary::CallError;
use crate::cells::RefCell;
use crate::handles::ModuleId;

/// Protocol `ex`: `ex:/name`, where `name` is the registered name.
#[derive(Clone, Copy, Debug)]
pub struct Ex;

impl Protocol for Ex {
    fn word(&self) -> &str {
        "ex"
    }

    fn form(&self) -> &str {
        "`ex:/name`"
    }

    fn help(&self) -> &str {
        "register a function of that name first"
    }

    fn read(&self, address: &mut Reader<'_>) -> Result<String, NameError> {
        address.fixed("/")?;
        // Rejects `ex://name`, which would be a second spelling of `ex:/name`.
        if address.rest().starts_with('/') {
            return Err(address.error(NameErrorKind::Unexpected('/')));
        }
        Ok(format!("/{}", address.all("name")?))
    }
}

/// Functions by registered name, without `ex:/`. Game thread only.
///
/// # Examples
/// ```
/// # use alcedo_zcall::call::{Call, Resolved};
/// # use alcedo_zcall::signature::CallSignature;
/// use alcedo_zcall::explicit::Explicit;
///
/// # let signature = CallSignature::new("-> u64".into(), 0, ());
/// let functions = Explicit::default();
/// functions.register("score", Resolved::new(signature, |call: Call<'_>| call.into_buffer().set(0, 7_u64)))?;
/// assert_eq!(functions.lines(), ["ex score by the host, Running"]);
/// # Ok::<(), alcedo_base::boundary::CallError>(())
/// ```
#[derive(Default, Debug)]
pub struct Explicit {
    /// Functions by name, oldest first. Two functions have the same name only while the module of the first function is suspended.
    functions: RefCell<HashMap<String, Vec<Resolved>>>,
    modules: Rc<ModuleStatuses>,
}

impl Explicit {
    /// Creates a registry without functions. `modules` is the list of module statuses that the resolver chain uses.
    #[must_use]
    pub fn new(modules: Rc<ModuleStatuses>) -> Self {
        Self { modules, ..Self::default() }
    }

    /// Registers `function` under the name `ex:/name`. The registration ends when the function's module ends.
    ///
    /// # Errors
    /// Fails if the string is not a valid name of an `ex` call, if the name is already registered, or if the function's module is suspended
    /// or has ended. The registry is then unchanged.
    ///
    /// # Examples
    /// ```
    /// # use alcedo_zcall::call::{Call, Resolved};
    /// # use alcedo_zcall::signature::CallSignature;
    /// use alcedo_zcall::explicit::Explicit;
    ///
    /// # let signature = CallSignature::new("-> u64".into(), 0, ());
    /// let score = Resolved::new(signature, |call: Call<'_>| call.into_buffer().set(0, 7_u64));
    /// let functions = Explicit::default();
    /// functions.register("score", score.clone())?;
    /// let error = functions.register("score", score).expect_err("taken");
    /// assert_eq!(error.to_string(), "the host cannot register `ex:/score`: the host has it; choose another name");
    /// # Ok::<(), alcedo_base::boundary::CallError>(())
    /// ```
    pub fn register(&self, name: &str, function: Resolved) -> Result<(), CallError> {
        self.check(name, function.side, function.module)?;
        self.functions.borrow_mut().entry(name.to_owned()).or_default().push(function);
        Ok(())
    }

    /// Checks that a function of `side` can be registered under the name `ex:/name`. `module` is the module of the function.
    ///
    /// # Errors
    /// Returns the errors of [`Explicit::register`].
    pub fn check(&self, name: &str, side: Implementer, module: ModuleId) -> Result<(), CallError> {
        ZCallName::read(&format!("ex:/{name}"), &Ex)?;
        let title = |side: Implementer| match side {
            Implementer::Host => side.to_string(),
            Implementer::Module(module) => self.modules.title(module),
        };
        let refuse = |problem: &str| {
            let owner = title(side);
            Err(CallError::other(format!("{owner} cannot register `ex:/{name}`: {problem}")))
        };
        if !self.modules.is_running(module) {
            return refuse("it is set aside or has ended; load it again");
        }
        let taken = |held: Resolved| refuse(&format!("{} has it; choose another name", title(held.side)));
        self.find(name).map_or(Ok(()), taken)
    }

    /// Returns one line for each registered function. The lines are sorted.
    pub fn lines(&self) -> Vec<String> {
        let functions = self.functions.borrow();
        let line = |name: &String, function: &Resolved| {
            let status = self.modules.status(function.module);
            format!("ex {name} by {}, {status:?}", function.side)
        };
        let mut lines: Vec<_> = functions
            .iter()
            .flat_map(|(name, candidates)| candidates.iter().map(move |function| line(name, function)))
            .collect();
        lines.sort_unstable();
        lines
    }

    /// Ends a module in the list of statuses, and removes its functions. If a call table shares the list, end the module in the table
    /// first. The module may be suspended. Has no effect for the host's own module.
    pub fn end_module(&self, module: ModuleId) {
        if module == ModuleId::HOST {
            return;
        }
        self.modules.end(module);
        let mut ended = Vec::new();
        self.functions.borrow_mut().retain(|_, functions| {
            ended.extend(functions.extract_if(.., |function| function.module == module));
            !functions.is_empty()
        });
        // Dropping a dispatcher may run code that calls this registry, so no borrow is held at this point.
        drop(ended);
    }

    fn find(&self, name: &str) -> Option<Resolved> {
        let is_running = |function: &&Resolved| self.modules.is_running(function.module);
        self.functions.borrow().get(name)?.iter().find(is_running).cloned()
    }
}

impl Resolver for Explicit {
    fn resolve(&self, name: &ZCallName) -> Result<Answer, CallError> {
        Ok(self.find(name.rest()).map_or_else(|| Answer::declined(""), Answer::Function))
    }
}

#[cfg(test)]
mod tests {
    use super::{Ex, Explicit};
    use crate::boundary::CallError;
    use crate::call::Implementer;
    use crate::chain::tests::nothing;
    use crate::chain::{Answer, Resolver};
    use crate::handles::ModuleId;
    use crate::name::ZCallName;

    const OLD: ModuleId = ModuleId(1);
    const NEW: ModuleId = ModuleId(2);

    fn register(calls: &Explicit, name: &str, label: u64, module: ModuleId) -> Result<(), CallError> {
        let side = if label == 0 { Implementer::Host } else { Implementer::Module(ModuleId(label)) };
        calls.register(name, nothing(side, module.0, &format!("of {label}")))
    }

    fn check_not_running(calls: &Explicit) {
        let error = register(calls, "g", 1, OLD).expect_err("not running");
        assert_eq!(error.to_string(), "module 1 cannot register `ex:/g`: it is set aside or has ended; load it again");
    }

    fn check(calls: &Explicit, name: &str, owner: Option<&str>) {
        let name = ZCallName::read(&format!("ex:/{name}"), &Ex).expect("a name");
        let found = match calls.resolve(&name).expect("lookups do not fail") {
            Answer::Function(found) => Some(found),
            Answer::Declined(_) => None,
        };
        assert_eq!(found.as_ref().map(|found| found.signature_text()), owner, "{name}");
    }

    #[test]
    fn a_registered_name_answers_until_its_generation_ends() {
        let calls = Explicit::default();
        register(&calls, "math.add", 3, OLD).expect("free");
        register(&calls, "host.time", 0, ModuleId::HOST).expect("free");
        check(&calls, "math.add", Some("of 3"));
        check(&calls, "math", None);
        calls.end_module(OLD);
        calls.end_module(ModuleId::HOST);
        check(&calls, "math.add", None);
        check(&calls, "host.time", Some("of 0"));
    }

    #[test]
    fn an_error_for_a_second_owner_names_the_first() {
        let calls = Explicit::default();
        register(&calls, "f", 0, ModuleId::HOST).expect("free");
        let error = register(&calls, "f", 4, OLD).expect_err("taken");
        assert_eq!(error.to_string(), "module 4 cannot register `ex:/f`: the host has it; choose another name");
        check(&calls, "f", Some("of 0"));
    }

    #[test]
    fn a_name_that_could_not_be_called_is_refused() {
        let calls = Explicit::default();
        for name in ["", "/f", "two words"] {
            assert!(matches!(register(&calls, name, 1, OLD), Err(CallError::NotFound { .. })), "{name:?}");
        }
    }

    #[test]
    fn a_rollback_restores_the_owner_of_a_name() {
        for end_first in [true, false] {
            let calls = Explicit::default();
            register(&calls, "f", 1, OLD).expect("free");
            calls.modules.suspend(OLD);
            check(&calls, "f", None);
            check_not_running(&calls);
            register(&calls, "f", 2, NEW).expect("free while the old one is set aside");
            check(&calls, "f", Some("of 2"));
            if end_first {
                calls.end_module(NEW);
                calls.modules.resume(OLD);
            } else {
                calls.modules.resume(OLD);
                calls.end_module(NEW);
            }
            check(&calls, "f", Some("of 1"));
        }
    }

    #[test]
    fn a_commit_forgets_the_old_owner() {
        let calls = Explicit::default();
        register(&calls, "f", 1, OLD).expect("free");
        calls.modules.suspend(OLD);
        register(&calls, "f", 2, NEW).expect("free");
        calls.end_module(OLD);
        check(&calls, "f", Some("of 2"));
        check_not_running(&calls);
    }
}
