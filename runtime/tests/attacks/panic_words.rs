//! A panic of a plugin whose words panic: the standard library ends the process for that, unless the words are never formatted
//! within the panic hook.

use alcedo_runtime::{CallError, Error, Value};

use crate::support;
use crate::support::alone;

const CHILD: &str = "ALCEDO_TEST_PANIC_WORDS";

#[test]
fn a_panic_whose_words_panic_is_a_panic_of_its_function() {
    if std::env::var_os(CHILD).is_some() {
        let host = support::host(&[support::plugin("siege", &[])]);
        let failed = host.calls().call("uf:/Script/Game.Foe:loud", &[Value::U32(6)]).expect_err("it panics");
        assert!(matches!(failed, Error::Call(CallError::Panicked { .. })), "{failed}");
        return drop(host.shutdown());
    }
    let name = "a_panic_whose_words_panic_is_a_panic_of_its_function";
    let output = alone::only(module_path!(), name).env(CHILD, "1").output().expect("this program starts");
    assert!(output.status.success(), "{}", alone::said(&output));
}
