//! Type strings computed at compile time; see [`alcedo_abi::type_text`].

pub(crate) use alcedo_abi::type_text::TypeText;
pub(crate) use alcedo_abi::type_text::{CUT, is_delegate_path, is_member_path, is_path_of};

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use crate::{Delegate, MulticastDelegate, Obj, Object, SoftObject, UArray, UMap, UName, UOptional, USet, Value};

    use alcedo_abi::type_text::{is_delegate_path, is_member_path, is_path_of, is_type_path};

    #[test]
    fn a_member_belongs_to_the_very_type() {
        assert!(is_member_path("/Script/Game.Cube:speed", "/Script/Game.Cube"));
        for path in ["/Script/Game.Cube", "/Script/Game.Cube:", "/Script/Game.Cubes:speed", "/Script/Game.Cube:a:b"] {
            assert!(!is_member_path(path, "/Script/Game.Cube"), "{path}");
        }
        assert!(is_path_of("/Script/Game.Cube", "Game", "Cube"));
        assert!(!is_path_of("/Script/Game.Cube", "Game", "Cub") && !is_path_of("/Script/Game.Cube", "Game", "Cubes"));
        assert!(!is_path_of("/Script/Game.Cube:a", "Game", "Cube:a"));
        assert!(is_delegate_path("/Script/Game.OnHit") && is_delegate_path("/Script/Game.Cube:OnHit"));
        assert!(!is_delegate_path("/Script/Game.Cube:OnHit:a") && !is_delegate_path("/Script/Game.Cube:"));
    }

    #[test]
    fn a_path_with_syntax_of_types_in_it_is_none() {
        for path in ["/Script/Game.Cube", "/Script/_a1.B_2", "/Script/Game.Größe"] {
            assert!(is_type_path(path), "{path}");
        }
        for path in [
            "",
            "/Script/",
            "/Script/Game",
            "/Script/Game.",
            "/Script/.Cube",
            "Script/Game.Cube",
            "/Script/Game.Cube.Cube",
            "/Script/Game.9",
            "/Script/9.Cube",
            "/Script/Game.Cube:speed",
            "/Script/Game.Cube)",
            "/Script/Game.Innocent), Delegate(Array(u8",
            "/Script/Ga me.Cube",
            "/Script/Game.Cube\n",
        ] {
            assert!(!is_type_path(path), "{path}");
        }
    }

    fn check<T: Value>(text: &str) {
        assert_eq!(T::TYPE.as_str(), text);
    }

    #[test]
    fn a_type_reads_as_the_host_prints_it() {
        check::<f64>("f64");
        check::<Obj<Object>>("Object(/Script/Core.Object)");
        check::<UArray<f64>>("Array(f64)");
        check::<Vec<f64>>("Array(f64)");
        check::<UOptional<i32>>("Optional(i32)");
        check::<UMap<String, UArray<Obj<Object>>>>("Map(String, Array(Object(/Script/Core.Object)))");
        check::<BTreeMap<UName, BTreeSet<u8>>>("Map(Name, Set(u8))");
        check::<USet<SoftObject<Object>>>("Set(SoftObject(/Script/Core.Object))");
        check::<Delegate<fn(f32, String) -> bool>>("Delegate(f32, String -> bool)");
        check::<Delegate<fn() -> bool>>("Delegate(-> bool)");
        check::<MulticastDelegate<fn()>>("MulticastDelegate()");
        check::<UArray<UArray<UArray<UArray<bool>>>>>("Array(Array(Array(Array(bool))))");
    }
}
