//! Structs that are passed by value. Unsafe code relies on the layout of a struct, so only this file can set the layout.

use std::rc::{Rc, Weak};

use alcedo_abi::fingerprint::Fingerprint;
use alcedo_abi::kinds::PropertyKind;
use alcedo_base::cells::RefCell;

use crate::layout::Placed;
use crate::origin::Origin;
use crate::property::Property;

/// Struct type. Immutable after its declaration.
///
/// # Examples
/// ```
/// use alcedo_reflect::World;
/// use alcedo_reflect::decl::{Batch, StructDecl};
/// use alcedo_reflect::plain_struct;
///
/// plain_struct! {
///     pub struct Tile in "/Script/Game.Tile" { pub row: i32, pub column: i32 }
/// }
/// let world = World::new();
/// world.types.declare_package("Game");
/// let structs = vec![StructDecl::plain::<Tile>().expect("a path")];
/// world.types.declare(&world.names, &Batch { structs, ..Batch::default() }).expect("a new type");
/// let tile = world.types.struct_by_path("/Script/Game.Tile").expect("declared");
/// assert_eq!((tile.size(), tile.field("column").map(|field| field.offset)), (8, Some(4)));
/// ```
#[derive(Debug)]
pub struct StructType {
    /// Path, such as `/Script/Package.Name`.
    pub path: Rc<str>,
    /// Name in the package.
    pub name: Rc<str>,
    /// Name of the package, without the prefix `/Script/`.
    pub package: Rc<str>,
    /// Origin of the declaration.
    pub origin: Origin,
    /// Doc comment of the declaration.
    pub doc: Rc<str>,
    /// Base struct.
    pub(super) base: Option<Rc<StructType>>,
    /// Fields, with the fields of the bases first.
    pub(super) fields: Vec<Property>,
    pub(super) size: usize,
    pub(super) align: usize,
    pub(super) fingerprint: u64,
    pub(super) nature: Nature,
    /// Result of the last successful comparison by [`StructType::is_same`]: the equal struct.
    pub(super) same: RefCell<Weak<StructType>>,
}

/// Characteristics of a struct that follow from its fields. The characteristics are cached, because structs can be nested deeply.
#[derive(Clone, Copy, Debug)]
pub(super) struct Nature {
    pub(super) owns_memory: bool,
    pub(super) holds_objects: bool,
    pub(super) names_objects: bool,
    pub(super) can_be_key: bool,
    /// True if a field has a default. The bytes of a new value are then not all zero.
    pub(super) has_defaults: bool,
    /// Number of structs that are nested in each other, by value or in containers.
    pub(super) depth: u32,
    /// Number of structs without fields that a value contains outside of containers.
    pub(super) empty_structs: u64,
}

impl Nature {
    /// Nature of plain data: values that own no memory and contain no handles.
    pub(super) const PLAIN: Self = Self {
        owns_memory: false,
        holds_objects: false,
        names_objects: false,
        can_be_key: true,
        has_defaults: false,
        depth: 0,
        empty_structs: 0,
    };

    /// Computes the nature of a struct with the fields `fields`.
    pub(super) fn of(fields: &[Property]) -> Self {
        let of_fields = fields.iter().fold(Self::PLAIN, |all, field| all.or(field.ty.nature()));
        let has_defaults = fields.iter().any(|field| field.default.is_some());
        let empty_structs = of_fields.empty_structs + u64::from(fields.is_empty());
        Self { has_defaults, depth: of_fields.depth + 1, empty_structs, ..of_fields }
    }

    /// Combines the natures of two fields.
    pub(super) fn or(self, other: Self) -> Self {
        Self {
            owns_memory: self.owns_memory || other.owns_memory,
            holds_objects: self.holds_objects || other.holds_objects,
            names_objects: self.names_objects || other.names_objects,
            can_be_key: self.can_be_key && other.can_be_key,
            has_defaults: self.has_defaults || other.has_defaults,
            depth: self.depth.max(other.depth),
            empty_structs: self.empty_structs.saturating_add(other.empty_structs),
        }
    }
}

impl StructType {
    /// Returns the base struct.
    #[inline]
    pub fn base(&self) -> Option<&Rc<Self>> {
        self.base.as_ref()
    }

    /// Checks if the struct is `other`, or has `other` as a direct or indirect base. A value of the struct then starts with a value of
    /// `other`.
    pub fn is_a(&self, other: &Self) -> bool {
        self.same_layout(other) || self.base.as_ref().is_some_and(|base| base.is_a(other))
    }

    /// Returns the fields that the struct itself declares.
    #[inline]
    pub fn own_fields(&self) -> &[Property] {
        &self.fields[self.base.as_ref().map_or(0, |base| base.fields.len())..]
    }

    /// Returns the fields in order, with their offsets. The fields of the bases are first.
    #[inline]
    pub fn fields(&self) -> &[Property] {
        &self.fields
    }

    /// Returns the field with that name.
    #[inline]
    pub fn field(&self, name: &str) -> Option<&Property> {
        self.fields.iter().find(|field| &*field.text == name)
    }

    /// Returns the field with that display name. If no display name matches, returns the field with that name.
    #[doc(hidden)]
    pub fn displayed_field(&self, name: &str) -> Option<&Property> {
        self.fields.iter().find(|field| &*field.display == name).or_else(|| self.field(name))
    }

    /// Returns the size in bytes.
    #[inline]
    pub fn size(&self) -> usize {
        self.size
    }

    /// Returns the alignment in bytes.
    #[inline]
    pub fn align(&self) -> usize {
        self.align
    }

    /// Returns the fingerprint of size, alignment and fields. A module computes an equal fingerprint at compile time.
    #[inline]
    pub fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    pub(super) fn nature(&self) -> Nature {
        self.nature
    }

    /// Checks if both types are one struct or have equal layouts. Caches the most recent equal struct. Otherwise, a comparison would
    /// visit a nested struct once for each field path to it.
    pub(super) fn is_same(one: &Rc<Self>, two: &Rc<Self>) -> bool {
        if Rc::ptr_eq(one, two) || one.same.borrow().as_ptr() == Rc::as_ptr(two) {
            return true;
        }
        let is_same = one.same_layout(two);
        if is_same {
            one.same.replace(Rc::downgrade(two));
        }
        is_same
    }

    /// Checks if both structs have equal paths and memory layouts, including base structs and nested structs. A comparison of
    /// fingerprints is not sufficient, because a fingerprint contains only the path of the base.
    fn same_layout(&self, other: &Self) -> bool {
        let same_base = match (&self.base, &other.base) {
            (None, None) => true,
            (Some(one), Some(two)) => one.same_layout(two),
            _ => false,
        };
        same_base
            && self.path == other.path
            && self.fingerprint == other.fingerprint
            && self.fields.len() == other.fields.len()
            && self.fields.iter().zip(&other.fields).all(|(one, two)| one.offset == two.offset && one.ty == two.ty)
    }

    /// Iterates over the struct and its direct and indirect bases. Returns the path and fingerprint of each struct.
    pub(crate) fn chain(&self) -> impl Iterator<Item = (&Rc<str>, u64)> {
        std::iter::successors(Some(self), |of| of.base.as_deref()).map(|of| (&of.path, of.fingerprint))
    }
}

/// Returns the fingerprint of a struct. A module computes an equal fingerprint at compile time.
pub(super) fn fingerprint(base: Option<&StructType>, own: &[Property], placed: &Placed) -> u64 {
    let start = Fingerprint::START.number(placed.size as u64).number(placed.align as u64);
    // The base struct is hashed as the first field, as in the Rust declaration of the module.
    let start = match base {
        Some(base) => start.text("base").value(PropertyKind::STRUCT, &base.path).number(0),
        None => start,
    };
    let add = |print: Fingerprint, field: &Property| {
        print.text(&field.text).value(field.ty.kind(), field.ty.type_path()).number(u64::from(field.offset))
    };
    own.iter().fold(start, add).finish()
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use alcedo_abi::kinds::PropertyKind;

    use super::StructType;
    use crate::compile::MAX_STRUCT_DEPTH;
    use crate::decl::{Batch, PropertyDecl, StructDecl};
    use crate::origin::Origin;
    use crate::property::PropertyType;
    use crate::refusal::DeclareError;
    use crate::testing::world;

    /// Declares structs from a list of names and fields. Each struct extends the previous struct. Returns the last struct.
    fn last(row: &[(&str, &[(&str, PropertyKind)])]) -> Rc<StructType> {
        let world = world();
        let mut base = String::new();
        let structs = row.iter().map(|(name, fields)| {
            let fields = fields.iter().map(|(name, kind)| PropertyDecl::new(name, *kind)).collect();
            let decl = StructDecl { base: base.clone(), fields, ..StructDecl::new("Test", name, Origin::Native) };
            base = format!("/Script/Test.{name}");
            decl
        });
        let batch = Batch { structs: structs.collect(), ..Batch::default() };
        let declared = world.types.declare(&world.names, &batch).expect("a right declaration");
        declared.structs.into_iter().find(|found| *found.path == *base).expect("the last one")
    }

    fn differ(one: &[(&str, &[(&str, PropertyKind)])], two: &[(&str, &[(&str, PropertyKind)])]) {
        let (one, two) = (last(one), last(two));
        assert!(!one.same_layout(&two), "{} {}", one.path, two.path);
        let layout = |of| PropertyType::Struct(of).layout();
        assert_ne!(layout(one), layout(two));
    }

    /// Declares nested structs. Each struct contains the previous struct in two fields of kind `kind`. Returns the result for the last
    /// struct.
    fn nested(depth: u32, kind: PropertyKind) -> Result<Rc<StructType>, DeclareError> {
        let world = world();
        let structs = (0..depth).map(|at| {
            let inner = match at {
                0 => return StructDecl::new("Test", "S0", Origin::Native),
                _ => PropertyDecl::new("a", kind).of_type(&format!("/Script/Test.S{}", at - 1)),
            };
            let fields = vec![inner.clone(), PropertyDecl { name: "b".to_owned(), ..inner }];
            StructDecl { fields, ..StructDecl::new("Test", &format!("S{at}"), Origin::Native) }
        });
        let batch = Batch { structs: structs.collect(), ..Batch::default() };
        let declared = world.types.declare(&world.names, &batch)?;
        let last = format!("/Script/Test.S{}", depth - 1);
        Ok(declared.structs.into_iter().find(|found| *found.path == *last).expect("the last one"))
    }

    #[test]
    fn comparisons_take_linear_time_for_nested_structs() {
        let [one, two] = [(), ()].map(|()| {
            PropertyType::Struct(nested(MAX_STRUCT_DEPTH, PropertyKind::ARRAY).expect("a right declaration"))
        });
        assert!(one == two && one.layout() == two.layout());
    }

    #[test]
    fn structs_are_nested_to_a_limited_depth() {
        let error = nested(MAX_STRUCT_DEPTH + 1, PropertyKind::ARRAY).expect_err("too deep");
        assert!(matches!(&error, DeclareError::TooDeep { path, .. } if path == "/Script/Test.S32"), "{error}");
        // A struct without fields has no size, so the size of these structs is not limited.
        let error = nested(MAX_STRUCT_DEPTH, PropertyKind::STRUCT).expect_err("too many structs");
        assert!(
            matches!(&error, DeclareError::TooManyEmptyStructs { path, .. } if path == "/Script/Test.S11"),
            "{error}"
        );
    }

    #[test]
    fn changes_of_a_base_struct_change_derived_structs() {
        use PropertyKind as K;
        let pin: (&str, &[_]) = ("Pin", &[("n", K::U8)]);
        let same = || last(&[("Spot", &[("x", K::F64), ("y", K::F64)]), pin]);
        assert!(same().same_layout(&same()));
        differ(&[("Spot", &[("x", K::F64), ("y", K::F64)]), pin], &[("Spot", &[("y", K::F64), ("x", K::F64)]), pin]);
        differ(&[("Spot", &[("x", K::F64)]), pin], &[("Spot", &[("x", K::U64)]), pin]);
        let (b, d): (_, (&str, &[_])) = (("a", K::U64), ("D", &[("d", K::U64)]));
        // The two structs have equal sizes and field types, but different offsets.
        differ(
            &[("B", &[b, ("b", K::U8)]), ("M", &[("c", K::U8), ("e", K::U8)]), d],
            &[("B", &[b, ("b", K::U8), ("c", K::U8)]), ("M", &[("e", K::U8)]), d],
        );
    }
}
