//! Runs a Lua state with a Rust function. The state is dropped when the module ends. In the row `mlua-leaked`, the state is left in a
//! thread-local. Lua is a C library, and its errors are `longjmp`s.

use std::cell::RefCell;

use crate::local::report;

use mlua::{Error, Lua};

thread_local! {
    static STATE: RefCell<Option<Lua>> = const { RefCell::new(None) };
}

fn state() -> Result<Lua, Error> {
    let lua = Lua::new();
    let double = lua.create_function(|_, number: i64| Ok(number * 2))?;
    let refuse = lua.create_function(|_, ()| Err::<(), _>(Error::runtime("it is refused")))?;
    lua.globals().set("double", double)?;
    lua.globals().set("refuse", refuse)?;
    Ok(lua)
}

pub(crate) fn begin() {
    match state() {
        // Keeps the value alive after the destruction of the thread-local.
        Ok(lua) if cfg!(feature = "mlua-leaked") => {
            std::mem::forget(lua.clone());
            STATE.set(Some(lua));
        }
        Ok(lua) => STATE.set(Some(lua)),
        Err(error) => eprintln!("{error}"),
    }
}

pub(crate) fn work() -> String {
    STATE.with_borrow(|lua| {
        let Some(lua) = lua else { return "no state".to_owned() };
        let doubled = lua.load("local t = {} for i = 1, 100 do t[i] = double(i) end return t[50]").eval::<i64>();
        let refused = lua.load("local is_done, why = pcall(refuse) return is_done").eval::<bool>();
        report(doubled.and_then(|doubled| Ok(doubled == 100 && !refused?)))
    })
}

pub(crate) fn end() {
    if cfg!(not(feature = "mlua-leaked")) {
        STATE.set(None);
    }
}
