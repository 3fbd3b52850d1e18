//! What a module was built for, where the host has another member: a module says the fingerprint of a type or signature, and
//! no words. One that differs from the host's by one type is found by trying all types that the host knows.

use alcedo_abi::fingerprint::Fingerprint;
use alcedo_abi::kinds::{PropertyKind, property_flags};

use crate::object::function::Function;
use crate::object::types::Types;

/// Tells the parameters from the result.
const RESULT: u64 = 0xfeed;

/// A type as declarations have it.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Candidate {
    kind: PropertyKind,
    path: String,
}

impl Candidate {
    /// As signatures write it.
    fn words(&self) -> String {
        match (self.kind, self.path.as_str()) {
            (PropertyKind::STRUCT, path) => path.to_owned(),
            (kind, "") => kind.text().unwrap_or("?").to_owned(),
            (kind, path) => format!("{}({path})", kind.text().unwrap_or("?")),
        }
    }

    fn add(&self, print: Fingerprint) -> Fingerprint {
        print.value(self.kind, &self.path)
    }
}

/// What a signature is made of.
#[derive(Clone, Debug)]
struct Shape {
    params: Vec<(Candidate, bool)>,
    result: Option<Candidate>,
}

impl Shape {
    fn of(function: &Function) -> Self {
        let of = |property: &crate::object::property::Property| Candidate {
            kind: property.ty.kind(),
            path: property.ty.type_path().to_owned(),
        };
        let params = function.arguments().iter().map(|param| (of(param), param.flags & property_flags::OUT != 0));
        Self { params: params.collect(), result: function.result().map(of) }
    }

    fn fingerprint(&self) -> u64 {
        let add =
            |print: Fingerprint, (ty, is_out): &(Candidate, bool)| ty.add(if *is_out { print.out() } else { print });
        let print = self.params.iter().fold(Fingerprint::START, add);
        self.result.as_ref().map_or(print, |result| result.add(print.number(RESULT))).finish()
    }

    fn words(&self) -> String {
        let param = |(ty, is_out): &(Candidate, bool)| format!("{}{}", if *is_out { "out " } else { "" }, ty.words());
        let params = self.params.iter().map(param).collect::<Vec<_>>().join(", ");
        match &self.result {
            None => params,
            Some(result) if params.is_empty() => format!("-> {}", result.words()),
            Some(result) => format!("{params} -> {}", result.words()),
        }
    }
}

/// The type with that fingerprint, in words, if the host knows it.
pub(super) fn property_type(types: &Types, fingerprint: u64) -> Option<String> {
    let is_it = |ty: &Candidate| ty.add(Fingerprint::START).finish() == fingerprint;
    candidates(types).into_iter().find(is_it).map(|ty| ty.words())
}

/// The signature with that fingerprint, in words, if it differs from the function's by one type, or by one parameter or
/// result more or less, or by whether one comes back.
pub(super) fn signature(types: &Types, function: &Function, fingerprint: u64) -> Option<String> {
    near(&Shape::of(function), &candidates(types), fingerprint)
}

fn near(shape: &Shape, candidates: &[Candidate], fingerprint: u64) -> Option<String> {
    let mut tried = shape.clone();
    let mut is_it = |change: &dyn Fn(&mut Shape)| {
        tried.clone_from(shape);
        change(&mut tried);
        (tried.fingerprint() == fingerprint).then(|| tried.words())
    };
    for at in 0..shape.params.len() {
        let found = is_it(&|tried| tried.params[at].1 = !tried.params[at].1)
            .or_else(|| is_it(&|tried| drop(tried.params.remove(at))));
        if found.is_some() {
            return found;
        }
    }
    if let Some(found) = is_it(&|tried| tried.result = None) {
        return Some(found);
    }
    candidates.iter().find_map(|ty| {
        let end = shape.params.len();
        (0..end)
            .find_map(|at| is_it(&|tried| tried.params[at].0 = ty.clone()))
            .or_else(|| (0..=end).find_map(|at| is_it(&|tried| tried.params.insert(at, (ty.clone(), false)))))
            .or_else(|| is_it(&|tried| tried.result = Some(ty.clone())))
    })
}

/// All plain types, references to what there is, and containers of these.
fn candidates(types: &Types) -> Vec<Candidate> {
    const PLAIN: [PropertyKind; 18] = [
        PropertyKind::U8,
        PropertyKind::U16,
        PropertyKind::U32,
        PropertyKind::U64,
        PropertyKind::I8,
        PropertyKind::I16,
        PropertyKind::I32,
        PropertyKind::I64,
        PropertyKind::F32,
        PropertyKind::F64,
        PropertyKind::BOOL,
        PropertyKind::STRING,
        PropertyKind::NAME,
        PropertyKind::UTF8_STRING,
        PropertyKind::ANSI_STRING,
        PropertyKind::TEXT,
        PropertyKind::LAZY_OBJECT,
        PropertyKind::FIELD_PATH,
    ];
    const OF_CLASSES: [PropertyKind; 6] = [
        PropertyKind::OBJECT,
        PropertyKind::SUBCLASS_OF,
        PropertyKind::SOFT_CLASS,
        PropertyKind::SOFT_OBJECT,
        PropertyKind::LAZY_OBJECT,
        PropertyKind::WEAK_OBJECT,
    ];
    const CONTAINERS: [PropertyKind; 3] = [PropertyKind::ARRAY, PropertyKind::SET, PropertyKind::OPTIONAL];
    let of = |kind: PropertyKind, path: &str| Candidate { kind, path: path.to_owned() };
    let mut all: Vec<_> = PLAIN.iter().map(|kind| of(*kind, "")).collect();
    for class in types.classes() {
        all.extend(OF_CLASSES.iter().map(|kind| of(*kind, &class.path)));
    }
    all.extend(types.structs().iter().map(|found| of(PropertyKind::STRUCT, &found.path)));
    all.extend(types.interfaces().iter().map(|found| of(PropertyKind::SCRIPT_INTERFACE, &found.path)));
    let held: Vec<_> = all.iter().map(Candidate::words).collect();
    all.extend(held.iter().flat_map(|words| CONTAINERS.iter().map(|kind| of(*kind, words))));
    all
}

#[cfg(test)]
mod tests {
    use alcedo_abi::kinds::PropertyKind;

    use super::{Candidate, Shape, near};

    fn ty(kind: PropertyKind, path: &str) -> Candidate {
        Candidate { kind, path: path.to_owned() }
    }

    fn shape(params: &[(PropertyKind, bool)], result: Option<PropertyKind>) -> Shape {
        let params = params.iter().map(|(kind, is_out)| (ty(*kind, ""), *is_out)).collect();
        Shape { params, result: result.map(|kind| ty(kind, "")) }
    }

    #[test]
    fn a_signature_that_differs_by_one_thing_is_found() {
        use PropertyKind as P;
        let known = [ty(P::F32, ""), ty(P::BOOL, ""), ty(P::ARRAY, "f64")];
        let here = shape(&[(P::F64, false), (P::U8, true)], Some(P::I32));
        let check = |module: &Shape, expected: Option<&str>| {
            assert_eq!(near(&here, &known, module.fingerprint()).as_deref(), expected);
        };
        check(&shape(&[(P::F32, false), (P::U8, true)], Some(P::I32)), Some("f32, out u8 -> i32"));
        check(&shape(&[(P::F64, false), (P::U8, false)], Some(P::I32)), Some("f64, u8 -> i32"));
        check(&shape(&[(P::F64, false)], Some(P::I32)), Some("f64 -> i32"));
        check(&shape(&[(P::F64, false), (P::U8, true)], None), Some("f64, out u8"));
        check(&shape(&[(P::F64, false), (P::U8, true)], Some(P::BOOL)), Some("f64, out u8 -> bool"));
        check(
            &shape(&[(P::BOOL, false), (P::F64, false), (P::U8, true)], Some(P::I32)),
            Some("bool, f64, out u8 -> i32"),
        );
        check(&shape(&[(P::F32, false), (P::U8, false)], Some(P::I32)), None);
    }
}
