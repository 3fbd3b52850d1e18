//! Compiles delegate declarations. A field or parameter may name a delegate that the batch declares later. A delegate may name a struct
//! that contains the delegate. The text of each delegate type is therefore computed before the types of the parameters.

use std::rc::Rc;

use alcedo_abi::fingerprint::Fingerprint;

use crate::compile::Compiler;
use crate::decl::DelegateDecl;
use crate::delegate_text::format_named;
use crate::delegates::DelegateType;
use crate::function::signature;
use crate::refusal::DeclareError;

impl Compiler<'_> {
    /// Compiles the declaration of a delegate. The structs of the batch must be compiled already.
    pub(super) fn delegate(&self, decl: &DelegateDecl) -> Result<DelegateType, DeclareError> {
        let path: Rc<str> = decl.path().into();
        let (params, _placed) = self.properties(&path, &decl.params, (0, 1))?;
        let words: Rc<str> = format_named(&path, &signature(&params)).into();
        let compiled = DelegateType {
            path: Rc::clone(&path),
            name: decl.name.as_str().into(),
            package: decl.package.as_str().into(),
            class: (!decl.class.is_empty()).then(|| decl.class.as_str().into()),
            origin: decl.origin,
            doc: decl.doc.as_str().into(),
            kind: decl.kind,
            params,
            fingerprint: Fingerprint::START.value(decl.kind, &words).finish(),
            words,
        };
        if decl.fingerprint != 0 && decl.fingerprint != compiled.fingerprint() {
            return Err(DeclareError::Fingerprint { path: path.to_string(), found: compiled.signature().to_owned() });
        }
        Ok(compiled)
    }
}

#[cfg(test)]
mod tests {
    use alcedo_abi::fingerprint::Fingerprint;
    use alcedo_abi::kinds::{PropertyKind, property_flags};

    use crate::World;
    use crate::decl::{Batch, ClassDecl, DelegateDecl, PropertyDecl, StructDecl};
    use crate::origin::Origin;
    use crate::property::PropertyType;
    use crate::testing::{dynamic, world};

    const MULTICAST: PropertyKind = PropertyKind::MULTICAST_DELEGATE;

    fn delegate(name: &str, kind: PropertyKind, params: &[PropertyDecl]) -> DelegateDecl {
        DelegateDecl { params: params.to_vec(), ..DelegateDecl::new("Game", name, kind, Origin::Dynamic) }
    }

    fn points() -> PropertyDecl {
        PropertyDecl::new("points", PropertyKind::I32)
    }

    /// Declares the delegates, and a class `Cube` with a property for each entry of `properties`.
    fn declared(world: &World, delegates: &[DelegateDecl], properties: &[(PropertyKind, &str)]) -> Result<(), String> {
        let property =
            |(at, (kind, path)): (usize, &(_, &str))| PropertyDecl::new(&format!("p{at}"), *kind).of_type(path);
        let properties: Vec<_> = properties.iter().enumerate().map(property).collect();
        let cube: ClassDecl = dynamic("Cube", "/Script/Engine.Object", &properties);
        let hit = PropertyDecl::new("then", MULTICAST).of_type("/Script/Game.OnHit(/Script/Game.Hit)");
        let hit = StructDecl { fields: vec![hit], ..StructDecl::new("Game", "Hit", Origin::Dynamic) };
        let by = PropertyDecl::new("hit", PropertyKind::STRUCT).of_type("/Script/Game.Hit");
        let mut delegates = delegates.to_vec();
        delegates.push(delegate("OnHit", MULTICAST, &[by]));
        let batch = Batch { delegates, structs: vec![hit], classes: vec![cube], ..Batch::default() };
        world.types.declare(&world.names, &batch).map(|_| ()).map_err(|error| error.to_string())
    }

    #[test]
    fn an_unknown_kind_of_a_parameter_is_named_by_its_number() {
        let strange = PropertyDecl::new("by", PropertyKind(238));
        let refused = declared(&world(), &[delegate("OnStrange", MULTICAST, &[strange])], &[]);
        let expected = "/Script/Game.OnStrange:by has the kind 238, which this host does not know: build the module for this host's version";
        assert_eq!(refused, Err(expected.to_owned()));
    }

    #[test]
    fn delegates_are_found_by_path_and_usable_as_property_types() {
        let world = world();
        let may_turn = DelegateDecl {
            class: "/Script/Game.Cube".to_owned(),
            ..delegate("MayTurn", PropertyKind::DELEGATE, &[points(), PropertyDecl::result(PropertyKind::BOOL)])
        };
        let properties = [
            (MULTICAST, "/Script/Game.OnScored(i32)"),
            (PropertyKind::ARRAY, "Delegate(/Script/Game.Cube:MayTurn(i32 -> bool))"),
            (PropertyKind::DELEGATE, "MulticastDelegate(/Script/Game.OnHit(/Script/Game.Hit))"),
        ];
        declared(&world, &[may_turn, delegate("OnScored", MULTICAST, &[points()])], &properties).unwrap();
        let cube = world.types.class_by_path("/Script/Game.Cube").unwrap();
        let ty = &cube.find_property("p0").unwrap().ty;
        assert_eq!((ty.signature(), ty.delegate_path()), (Some("i32"), Some("/Script/Game.OnScored")));
        let type_text = "MulticastDelegate(/Script/Game.OnScored(i32))";
        assert_eq!(ty.to_string(), type_text);
        assert_eq!(PropertyType::parse(type_text, &world.types).as_ref(), Ok(ty));
        assert_ne!(PropertyType::parse("MulticastDelegate(i32)", &world.types).as_ref(), Ok(ty), "it has a name");
        let found = world.types.delegate_by_path("/Script/Game.Cube:MayTurn").unwrap();
        assert_eq!((&*found.name, &*found.package, found.class.as_deref()), ("MayTurn", "Game", Some(&*cube.path)));
        assert_eq!((found.signature(), found.arguments().len()), ("i32 -> bool", 1));
        assert_eq!((&*found.arguments()[0].text, found.result().is_some()), ("points", true));
        let print = Fingerprint::START.value(PropertyKind::DELEGATE, "/Script/Game.Cube:MayTurn(i32 -> bool)").finish();
        assert_eq!(found.fingerprint(), print);
        let all: Vec<_> = world.types.delegates().iter().map(|found| found.path.to_string()).collect();
        assert_eq!(all, ["/Script/Game.Cube:MayTurn", "/Script/Game.OnHit", "/Script/Game.OnScored"]);
        world.types.begin_shadow();
        world.types.hide_in_shadow(["/Script/Game.Cube", "/Script/Game.Hit", "/Script/Game.OnHit", &*found.path]);
        assert!(world.types.delegate_by_path(&found.path).is_none());
        assert!(world.types.delegate_by_path("/Script/Game.OnScored").is_some());
        world.types.drop_shadow();
        assert!(world.types.delegate_by_path(&found.path).is_some());
    }

    #[test]
    fn invalid_delegates_are_refused_with_a_reason() {
        let check = |delegates: &[DelegateDecl], properties: &[(PropertyKind, &str)], expected: &str| {
            let error = declared(&world(), delegates, properties).unwrap_err();
            assert!(error.contains(expected), "{error}");
        };
        let on_scored = || delegate("OnScored", MULTICAST, &[points()]);
        check(&[], &[(MULTICAST, "/Script/Game.OnScored(i32)")], "unknown delegate /Script/Game.OnScored");
        let other = [(PropertyKind::ARRAY, "MulticastDelegate(/Script/Game.OnScored(u64))")];
        check(&[on_scored()], &other, "declared as MulticastDelegate(/Script/Game.OnScored(i32))");
        let other = [(PropertyKind::SPARSE_DELEGATE, "/Script/Game.OnScored(i32)")];
        check(&[on_scored()], &other, "rebuild the code that uses SparseDelegate(/Script/Game.OnScored(i32))");
        check(&[on_scored(), on_scored()], &[], "/Script/Game.OnScored is declared already");
        check(&[delegate("Cube", MULTICAST, &[])], &[], "/Script/Game.Cube is declared already");
        let result = [PropertyDecl::result(PropertyKind::BOOL)];
        check(&[delegate("D", MULTICAST, &result)], &[], "has no result: remove the result");
        check(&[delegate("D", PropertyKind::U8, &[])], &[], "it is a u8: use a single");
        let twice = [PropertyDecl::result(PropertyKind::BOOL), points()];
        check(&[delegate("D", PropertyKind::DELEGATE, &twice)], &[], "has a result that is not its last parameter");
        check(&[delegate("D", MULTICAST, &[points(), points()])], &[], "two members of the name points");
        let out = [points().with_flags(property_flags::OUT)];
        check(&[delegate("D", MULTICAST, &out)], &[], "`points` is an out parameter");
        let of = |class: &str, name: &str| DelegateDecl { class: class.to_owned(), ..delegate(name, MULTICAST, &[]) };
        check(&[of("/Script/Engine.Object", "D")], &[], "declare both together");
        check(&[of("/Script/Game.Cube", "p0")], &[(PropertyKind::U8, "")], "two members of the name p0");
        let stale = DelegateDecl { fingerprint: 7, ..on_scored() };
        check(
            &[stale],
            &[],
            "/Script/Game.OnScored is (i32) here, but its module was compiled for another declaration",
        );
    }
}
