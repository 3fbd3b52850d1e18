//! What running calls refer to: a call is made by host code, and the objects it is about stay until it returns, even where
//! the body requests a collection.

use alcedo_base::cells::RefCell;
use alcedo_base::handles::ObjectHandle;

/// The objects of running calls of reflected functions, outermost first.
#[derive(Debug, Default)]
pub struct CallStack {
    held: RefCell<Vec<ObjectHandle>>,
}

/// Holds the objects of one call until it is dropped.
#[derive(Debug)]
#[must_use = "the objects are held until this is dropped"]
pub struct Held<'a> {
    stack: &'a CallStack,
    /// How many were held before.
    before: usize,
}

impl CallStack {
    /// A call begins that is about these objects.
    #[inline]
    pub fn hold(&self, objects: impl IntoIterator<Item = ObjectHandle>) -> Held<'_> {
        let mut held = self.held.borrow_mut();
        let before = held.len();
        held.extend(objects);
        Held { stack: self, before }
    }

    /// Shows `visit` all that are held.
    pub(super) fn each_object(&self, visit: &mut dyn FnMut(ObjectHandle)) {
        self.held.borrow().iter().copied().for_each(visit);
    }
}

impl Drop for Held<'_> {
    #[inline]
    fn drop(&mut self) {
        self.stack.held.borrow_mut().truncate(self.before);
    }
}

#[cfg(test)]
mod tests {
    use alcedo_base::handles::ObjectHandle;

    use super::CallStack;

    #[test]
    fn what_a_call_holds_is_let_go_when_it_returns() {
        let (stack, object) = (CallStack::default(), |index| ObjectHandle::new(index, 1));
        let held = || {
            let mut held = Vec::new();
            stack.each_object(&mut |object| held.push(object.index()));
            held
        };
        let outer = stack.hold([object(1)]);
        {
            let _inner = stack.hold([object(2), object(3)]);
            assert_eq!(held(), [1, 2, 3]);
        }
        assert_eq!(held(), [1]);
        drop(outer);
        assert_eq!(held(), Vec::<u32>::new());
    }
}
