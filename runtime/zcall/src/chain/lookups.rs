//! Running lookups of a chain. A resolver may look up further names, so lookups nest. A lookup fails if it is nested in a lookup of its
//! own name, or nested too deeply. A resolver may also suspend its coroutine. Lookups of suspended coroutines count only for [`MOST`].

use std::cell::OnceCell;

use alcedo_abi::stack::StackSpan;
use alcedo_base::nesting::{CallPosition, DEEPEST, Limit, MOST, exceeded_limit, outer_calls};

use crate::boundary::CallError;
use crate::cells::{Entered, InProgress};
use crate::name::ZCallName;

/// Running lookups, oldest first.
#[derive(Default)]
pub(super) struct Lookups {
    running: InProgress<Lookup>,
    /// Stack of the game thread.
    stack: OnceCell<StackSpan>,
}

/// Running lookup.
#[derive(Clone)]
pub(super) struct Lookup {
    name: ZCallName,
    position: CallPosition,
}

impl Lookups {
    /// Sets the stack of the game thread. Has no effect if a stack was set before.
    pub(super) fn set_stack(&self, stack: StackSpan) {
        let _first = self.stack.set(stack);
    }

    /// Adds a lookup of `name`. Dropping the returned guard removes the lookup.
    pub(super) fn enter(&self, name: &ZCallName) -> Result<Entered<'_, Lookup>, CallError> {
        let position = CallPosition::here(self.stack.get().copied().unwrap_or(StackSpan::ANY));
        let new = Lookup { name: name.clone(), position };
        let running: Vec<_> = self.running.with_all(|lookups| lookups.map(|lookup| lookup.clone()).collect());
        let count = running.len();
        let outer = outer_calls(running, |lookup| lookup.position, position);
        if let Some(first) = outer.iter().position(|lookup| lookup.name == *name) {
            let cycle: Vec<_> = outer[first..].iter().chain([&new]).map(|lookup| lookup.name.to_string()).collect();
            let cycle = cycle.join(" → ");
            return Err(CallError::other(format!(
                "the resolution of a name requires itself: {cycle}; answer without these names"
            )));
        }
        match exceeded_limit(outer.len(), count) {
            Some(Limit::Depth) => Err(CallError::other(format!(
                "`{name}` is resolved inside of {DEEPEST} other lookups: answer without a further lookup"
            ))),
            Some(Limit::Count) => Err(CallError::other(format!(
                "`{name}` is resolved during {MOST} other lookups: complete lookups of suspended coroutines first"
            ))),
            None => Ok(self.running.enter(new)),
        }
    }
}
