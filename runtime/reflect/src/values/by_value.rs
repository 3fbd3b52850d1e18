//! Operations on values: kind names, text, contained objects, equality and hashes. Each kind implements these operations for its values.

use std::hash::{Hash, Hasher};

use alcedo_abi::kinds::PropertyKind;
use alcedo_base::handles::ObjectHandle;

use super::{Content as _, Kind as _, Offer};
use crate::convert::Conversion;
use crate::kind_list::of_value;
use crate::names::Names;
use crate::value::Value;

impl Value {
    /// Returns the kind of the property types to which the value belongs.
    ///
    /// # Examples
    /// ```
    /// use alcedo_abi::kinds::PropertyKind;
    /// use alcedo_reflect::value::Value;
    ///
    /// assert_eq!(Value::Bool(true).kind(), PropertyKind::BOOL);
    /// assert_eq!(Value::Text("open".into()).kind(), PropertyKind::STRING);
    /// ```
    pub fn kind(&self) -> PropertyKind {
        of_value!(self, K, _value => K::KIND)
    }

    /// Returns the name of the value's kind.
    #[doc(hidden)]
    pub fn kind_name(&self) -> &'static str {
        of_value!(self, K, _value => K::NAME)
    }

    /// Calls `visit` with every object to which the value refers by handle. The second argument of `visit` is `true` if the value keeps the
    /// object alive.
    ///
    /// # Examples
    /// ```
    /// use alcedo_base::handles::ObjectHandle;
    /// use alcedo_reflect::value::Value;
    ///
    /// let lamp = ObjectHandle::new(3, 1);
    /// let mut found = Vec::new();
    /// for value in [Value::Object(lamp), Value::WeakObject(lamp)] {
    ///     value.visit_objects(&mut |object, keeps_alive| found.push((object, keeps_alive)));
    /// }
    /// assert_eq!(found, [(lamp, true), (lamp, false)]);
    /// ```
    pub fn visit_objects(&self, visit: &mut dyn FnMut(ObjectHandle, bool)) {
        of_value!(self, K, value => K::each_object(value, visit));
    }

    /// Returns a copy of the value in which each object handle is replaced with the result of `map`.
    pub(crate) fn map_objects(&self, map: &mut dyn FnMut(ObjectHandle) -> ObjectHandle) -> Self {
        of_value!(self, K, value => K::wrap(K::with_objects(value, map)))
    }

    /// Prints the value as text for [`Value::parse`]. Numbers and booleans are plain. Strings are quoted. Localizable strings also have
    /// namespace and key: `("Open", "menu", "open")`. An object is `none` or `#index.serial`. A class, soft reference or property is `none`
    /// or its path. A lazy reference has 32 hexadecimal digits. A delegate is `#1.2:function`. Structs have the form `(x=1, y=2)`, lists
    /// `(1, 2)`, and maps `((a, 1), (b, 2))`. Optional values are `none` or `some(1)`.
    /// Every NaN is printed as `NaN`, so [`Value::parse`] rejects the text of a set or map with several keys that are NaN.
    ///
    /// # Examples
    /// ```
    /// use alcedo_reflect::names::Names;
    /// use alcedo_reflect::value::Value;
    ///
    /// let names = Names::default();
    /// assert_eq!(Value::Text("Open".into()).print(&names), "\"Open\"");
    /// assert_eq!(Value::Name(names.intern("door")).print(&names), "door");
    /// ```
    pub fn print(&self, names: &Names) -> String {
        of_value!(self, K, value => K::print(value, names))
    }
}

impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        of_value!(self, K, one => K::get(other).is_some_and(|two| K::same(one, two)))
    }
}

/// Equal values have equal hashes. For sets and maps, only the length is hashed, because their order is irrelevant.
impl Hash for Value {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.kind().hash(state);
        of_value!(self, K, value => K::feed(value, state));
    }
}

impl Eq for Value {}

impl Conversion<'_> {
    /// Returns the content of a value in a form that other kinds can convert.
    pub(crate) fn offer<'v>(&self, value: &'v Value) -> Option<Offer<'v>> {
        of_value!(value, K, content => K::offer(content, self))
    }
}
