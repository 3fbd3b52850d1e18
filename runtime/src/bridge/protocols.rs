//! Built-in protocols and their resolvers. Each protocol has a separate file, and implements the same traits of `alcedo-zcall` as a
//! protocol that a host adds.

use std::io;
use std::rc::{Rc, Weak};

use crate::boundary::CallError;
use crate::bridge::calls::Dispatch;
use crate::bridge::core::Core;
use crate::bridge::nd::{self, ND};
use crate::bridge::nm::{self, NM};
use crate::bridge::uf::{self, UF, UF_FINAL};
use crate::bridge::up::{self, UP};
use crate::zcall::chain::{Answer, Origin, Resolver, ResolverChain};
use crate::zcall::explicit::Ex;
use crate::zcall::name::ZCallName;
use crate::zcall::protocol::Protocol;

type Resolve = fn(&Weak<Core>, &ZCallName) -> Result<Answer, CallError>;

pub(crate) fn built_in() -> ResolverChain {
    let chain = ResolverChain::new();
    let protocols: [Rc<dyn Protocol>; 6] =
        [Rc::new(Ex), Rc::new(UF), Rc::new(UF_FINAL), Rc::new(UP), Rc::new(NM), Rc::new(ND)];
    for protocol in protocols {
        chain.add_protocol(protocol, Origin::BuiltIn).expect("each has a word of its own");
    }
    chain
}

impl Core {
    /// Creates empty stores, with a resolver for each protocol. The calling thread becomes the game thread. Returns an error if the
    /// finalizer thread cannot be started, or if the caller runs on the stack of a coroutine.
    pub(crate) fn new() -> io::Result<Rc<Self>> {
        let core = Self::with_chain(built_in())?;
        let resolver = |resolve: Resolve| -> Rc<dyn Resolver> {
            let core = Rc::downgrade(&core);
            Rc::new(move |name: &ZCallName| resolve(&core, name))
        };
        let resolvers: [(&str, Rc<dyn Resolver>); 6] = [
            ("ex", Rc::clone(&core.explicit) as _),
            ("uf", resolver(|core, name| uf::resolve(core, name, Dispatch::Virtual))),
            ("uf!", resolver(|core, name| uf::resolve(core, name, Dispatch::Final))),
            ("up", resolver(up::resolve)),
            ("nm", resolver(nm::resolve)),
            ("nd", resolver(nd::resolve)),
        ];
        for (word, resolver) in resolvers {
            core.chain.add(word, Origin::BuiltIn, 0, word, resolver).expect("it is the only one");
        }
        Ok(core)
    }
}

#[cfg(test)]
mod tests {
    use super::built_in;
    use crate::bridge::nm::Method;

    /// Checks that a name and its canonical form parse to the same name.
    fn check(text: &str, canonical: &str) {
        let protocols = built_in();
        let name = protocols.read(text).expect(text);
        assert_eq!(name.to_string(), canonical);
        assert_eq!(protocols.read(canonical), Ok(name), "a name reads back as itself");
    }

    fn check_refused(text: &str, at: usize, reason: &str) {
        let error = built_in().read(text).expect_err(text).to_string();
        let location = format!("is not a ZCall name: {reason} at byte {at}; write ");
        assert!(error.contains(&location) && error.contains(&*text.escape_debug().to_string()), "{error}");
    }

    #[test]
    fn each_protocol_reads_its_form() {
        check("ex:/math.add", "ex:/math.add");
        check("ex:/a/b::c", "ex:/a/b::c");
        check("uf:/Script/Engine.Actor:ReceiveTick", "uf:/Script/Engine.Actor:ReceiveTick");
        check("uf://Script/Engine.Actor:ReceiveTick", "uf:/Script/Engine.Actor:ReceiveTick");
        check("uf!:/Script/Engine.Actor:ReceiveTick", "uf!:/Script/Engine.Actor:ReceiveTick");
        check("uf!://Script/Engine.Actor:ReceiveTick", "uf!:/Script/Engine.Actor:ReceiveTick");
        check("up:/Script/Engine.Actor:Seed", "up:/Script/Engine.Actor:Seed");
        check("nm:/reports:/Script/Game.Report:render", "nm:/reports:/Script/Game.Report:render");
        check("nm:/reports:Game.Report:render", "nm:/reports:Game.Report:render");
        check("nm:/reports:Report:render", "nm:/reports:Report:render");
        check("nd:/", "nd:/");
    }

    #[test]
    fn a_method_name_contains_module_type_and_method() {
        for type_path in ["/Script/Game.Report", "Game.Report", "Report"] {
            let name = built_in().read(&format!("nm:/reports:{type_path}:render")).expect("a name");
            assert_eq!(Method::of(&name), Some(Method { module: "reports", type_path, method: "render" }));
        }
        assert_eq!(Method::of(&built_in().read("ex:/a:b:c").expect("a name")), None);
    }

    #[test]
    fn an_invalid_name_is_reported_with_position_and_reason() {
        check_refused("", 0, "no known protocol");
        check_refused("render", 0, "no known protocol");
        check_refused("fn:/render", 0, "no known protocol");
        check_refused("UF:/Script/Engine.Actor:Tick", 0, "no known protocol");
        check_refused("ex:render", 3, "`/` is missing");
        check_refused("ex:/", 4, "the name is missing");
        check_refused("ex://render", 4, "'/' is unexpected");
        check_refused("ex:/two words", 7, "' ' is unexpected");
        check_refused("uf:/Engine.Actor:Tick", 3, "`/Script/` is missing");
        check_refused("uf:///Script/Engine.Actor:Tick", 4, "`/Script/` is missing");
        check_refused("uf:/Script/.Actor:Tick", 11, "the package is missing");
        check_refused("uf:/Script/Engine:Tick", 17, "`.` is missing");
        check_refused("uf:/Script/Engine.:Tick", 18, "the type is missing");
        check_refused("uf:/Script/Engine.Actor", 23, "`:` is missing");
        check_refused("uf!:/Script/Engine.Actor:", 25, "the function is missing");
        check_refused("uf:/Script/Engine.Actor:Tick:x", 28, "':' is unexpected");
        check_refused("up:/Script/Engine.Actor:", 24, "the property is missing");
        check_refused("nm:reports:Report:render", 3, "`/` is missing");
        check_refused("nm:/:Report:render", 4, "the module is missing");
        check_refused("nm:/reports::render", 12, "the type path is missing");
        check_refused("nm:/reports:render", 18, "`:` is missing");
        check_refused("nm:/reports:Report:", 19, "the method is missing");
        check_refused("nm:/reports:A.B.C:render", 15, "`:` is missing");
        check_refused("nd:/x", 4, "'x' is unexpected");
        check_refused("uf:/Script/Énginé.Actör:Tick\u{202e}", 31, r"'\u{202e}' is unexpected");
    }

    #[test]
    fn an_error_shows_the_right_form() {
        let error = built_in().read("uf:/Script/Engine.Actor").expect_err("no member").to_string();
        let expected = "`uf:/Script/Engine.Actor` is not a ZCall name: `:` is missing at byte 23; \
                        write `uf:/Script/Package.Type:Function`";
        assert_eq!(error, expected);
    }
}
