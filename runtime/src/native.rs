//! Classes, structs and enums declared in the host's own Rust. They go through the same declarations as those that modules
//! emit, so that reflection treats both alike.

mod c_functions;
mod class_macros;
mod declared;
mod delegates;
mod direct;
#[cfg(feature = "dll-bind")]
pub(crate) mod dll;
mod failing;
mod functions;
mod handles;
mod interfaces;
mod member_function;
mod method;
pub(crate) mod net;
mod part_cell;
mod part_row;
mod parts;
#[doc(hidden)]
pub mod plumbing;
mod property;
mod this;
mod type_macros;
pub(crate) mod wildcards;

pub use alcedo_abi::net::{NetArchive, NetMap, NetNumber, NetObject};
#[doc(hidden)]
pub use alcedo_macros::{
    add_references, begin_destroy, class_constructor, dll_import, overrides, post_init_properties, red_constructor,
    ufunction,
};
pub use alcedo_macros::{
    native_uclass as uclass, native_udelegate as udelegate, native_uenum as uenum, native_uinterface as uinterface,
    native_ustruct as ustruct,
};
pub use declared::Declared;
pub use delegates::{Delegate, DelegateRef, MulticastDelegate, MulticastRef, Signature, SparseDelegate};
pub(crate) use failing::failing;
pub use handles::{AnyPropertyHandle, FunctionHandle, PropertyHandle};
pub use interfaces::Interface;
pub use method::Part;
pub(crate) use method::run_for;
pub use this::{Class, Obj, Object, ObjectView, This, View};

use std::cell::Cell;
use std::rc::Rc;

use alcedo_abi::kinds::{PropertyKind, function_flags, property_flags};

use crate::border::CallError;
use crate::callback::{Guarded, Registered, Site};
use crate::handles::ObjectHandle;
use crate::object;
use crate::object::decl::{
    Batch, ClassDecl, DelegateDecl, EnumDecl, FunctionDecl, InterfaceDecl, PropertyDecl, RESULT_NAME, StructDecl,
};
use crate::object::enums::EnumEntry;
use crate::object::natives::World;
use crate::object::origin::Origin;
use crate::object::path::TypePath;
use crate::object::thunk::{Frame, Thunk, idle};
use crate::object::typed::PlainStruct;
use crate::runtime::Runtime;

/// Called once in every tick, with the seconds since the last; empty during the call.
pub(crate) type Ticker = Rc<Cell<Option<Box<dyn FnMut(&Runtime, f32)>>>>;

/// Called before the host destroys an object.
pub(crate) type DestroyHook = Rc<dyn Fn(&Runtime, ObjectHandle)>;

/// What a crate of native classes gives to a host.
#[derive(Default)]
pub struct Natives {
    pub(crate) packages: Vec<String>,
    pub(crate) batch: Batch,
    pub(crate) tickers: Vec<Registered<Ticker>>,
    pub(crate) before_destroy: Vec<Registered<DestroyHook>>,
    pub(crate) net_structs: net::NetStructs,
    /// Structs whose `f64` fields are `float` in C.
    pub(crate) c_floats: Vec<String>,
    /// By the path of their class, with the name of the function.
    #[cfg(feature = "dll-bind")]
    pub(crate) c_bodies: Vec<crate::emit::c_bodies::CBody>,
}

impl Natives {
    /// Nothing yet, in one package.
    pub fn in_package(name: &str) -> Self {
        Self { packages: vec![name.to_owned()], ..Self::default() }
    }

    pub(crate) fn append(&mut self, other: Self) {
        self.packages.extend(other.packages);
        self.batch.append(other.batch);
        self.tickers.extend(other.tickers);
        self.before_destroy.extend(other.before_destroy);
        self.net_structs.extend(other.net_structs);
        self.c_floats.extend(other.c_floats);
        #[cfg(feature = "dll-bind")]
        self.c_bodies.extend(other.c_bodies);
    }

    /// Adds a class.
    #[must_use]
    pub fn class(mut self, class: NativeClass) -> Self {
        self.batch.classes.push(class.0);
        self
    }

    /// States that the `f64` fields of the struct with that path are `float` in C: calls of C libraries convert them in both
    /// directions. Scripts may pass a native struct with such fields to C only if its C layout is stated.
    #[must_use]
    pub fn c_floats(mut self, path: &str) -> Self {
        self.c_floats.push(path.to_owned());
        self
    }

    /// Adds an enum.
    #[must_use]
    pub fn enumeration(mut self, enumeration: NativeEnum) -> Self {
        self.batch.enums.push(enumeration.0);
        self
    }

    /// Adds a delegate with a name. One that belongs to a class comes with the class.
    #[must_use]
    pub fn delegate(mut self, delegate: NativeDelegate) -> Self {
        self.batch.delegates.push(delegate.0);
        self
    }

    /// Adds a struct.
    #[must_use]
    pub fn structure(mut self, structure: NativeStruct) -> Self {
        self.batch.structs.push(structure.0);
        self
    }

    /// Adds an interface of `package`: for one that no native class implements. Those that one does need no word here.
    #[must_use]
    pub fn interface(mut self, package: &str, name: &str, doc: &str) -> Self {
        let doc = doc.to_owned();
        self.batch.interfaces.push(InterfaceDecl { doc, ..InterfaceDecl::new(package, name, Origin::Native) });
        self
    }

    /// Adds an interface with functions. Classes that implement it have to have them all, under the same names.
    #[must_use]
    pub fn interface_with_functions(mut self, interface: NativeInterface) -> Self {
        self.batch.interfaces.push(interface.0);
        self
    }

    /// Is called once in every tick, with the seconds since the last.
    #[must_use]
    #[track_caller]
    pub fn ticker(mut self, ticker: impl FnMut(&Runtime, f32) + 'static) -> Self {
        let site = Site::new("ticker", &ticker);
        self.tickers.push(Registered { site, code: Rc::new(Cell::new(Some(Box::new(ticker)))) });
        self
    }

    /// Is called before an object is destroyed by the host, while it is whole.
    #[must_use]
    #[track_caller]
    pub fn before_destroy(mut self, hook: impl Fn(&Runtime, ObjectHandle) + 'static) -> Self {
        self.before_destroy.push(Registered { site: Site::new("hook before a destroy", &hook), code: Rc::new(hook) });
        self
    }

    /// Names the callback that was added last, as [`Builder::named`](crate::Builder::named) does.
    #[must_use]
    pub fn named(mut self, name: &'static str) -> Self {
        let tickers = self.tickers.iter_mut().map(|ticker| &mut ticker.site);
        Site::name_newest(tickers.chain(self.before_destroy.iter_mut().map(|hook| &mut hook.site)), name);
        self
    }
}

/// The declaration of a native enum in the making.
pub struct NativeEnum(EnumDecl);

impl NativeEnum {
    /// An enum of `package` whose numbers are of the kind `underlying`: one of the eight kinds of whole numbers.
    pub fn new(package: &str, name: &str, underlying: PropertyKind) -> Self {
        Self(EnumDecl::new(package, name, underlying, Origin::Native))
    }

    /// With one more entry. An enum that is no set of flags has one of the number 0.
    #[must_use]
    pub fn entry(mut self, name: &str, number: i128) -> Self {
        let (display, doc) = (std::sync::Arc::from(""), std::sync::Arc::from(""));
        self.0.entries.push(EnumEntry { name: name.into(), number, display, is_hidden: false, doc });
        self
    }

    /// A value is a set of entries, each a bit.
    #[must_use]
    pub fn flags(mut self) -> Self {
        self.0.is_flags = true;
        self
    }

    /// Its doc comment.
    #[must_use]
    pub fn doc(mut self, doc: &str) -> Self {
        doc.clone_into(&mut self.0.doc);
        self
    }
}

/// The declaration of a native delegate in the making: of what has a name, and is the type of properties and parameters.
pub struct NativeDelegate(DelegateDecl);

impl NativeDelegate {
    /// A delegate of `package` that calls one function.
    pub fn single(package: &str, name: &str) -> Self {
        Self(DelegateDecl::new(package, name, PropertyKind::DELEGATE, Origin::Native))
    }

    /// A delegate of `package` that calls any number of functions.
    pub fn multicast(package: &str, name: &str) -> Self {
        Self(DelegateDecl::new(package, name, PropertyKind::MULTICAST_DELEGATE, Origin::Native))
    }

    /// The same, for where there mostly is none.
    pub fn sparse(package: &str, name: &str) -> Self {
        Self(DelegateDecl::new(package, name, PropertyKind::SPARSE_DELEGATE, Origin::Native))
    }

    /// It belongs to a native class of its package, by the class's name there: its path is `/Script/<Package>.<Class>:<Name>`.
    #[must_use]
    pub fn of_class(mut self, class: &str) -> Self {
        self.0.class = TypePath::new(&self.0.package, class).to_string();
        self
    }

    /// With one more parameter.
    #[must_use]
    pub fn param(mut self, name: &str, (kind, type_path): NativeType) -> Self {
        let at = self.0.params.iter().take_while(|param| param.flags & property_flags::RETURN == 0).count();
        self.0.params.insert(at, property(name, kind, type_path, 0, ""));
        self
    }

    /// With a result, which a single one alone may have.
    #[must_use]
    pub fn result(mut self, (kind, type_path): NativeType) -> Self {
        self.0.params.push(property(RESULT_NAME, kind, type_path, property_flags::RETURN, ""));
        self
    }

    /// Its doc comment.
    #[must_use]
    pub fn doc(mut self, doc: &str) -> Self {
        doc.clone_into(&mut self.0.doc);
        self
    }
}

/// The declaration of a native class in the making.
pub struct NativeClass(ClassDecl);

/// The type of a native property or parameter: its kind, and the path of its struct or class.
pub type NativeType = (PropertyKind, &'static str);

impl NativeClass {
    /// A class of `package` that extends the class of path `base`.
    pub fn new(package: &str, name: &str, base: &str) -> Self {
        Self(ClassDecl::new(package, name, base, Origin::Native))
    }

    /// Its doc comment.
    #[must_use]
    pub fn doc(mut self, doc: &str) -> Self {
        doc.clone_into(&mut self.0.doc);
        self
    }

    /// Bits of `class_flags`.
    #[must_use]
    pub fn flags(mut self, flags: u64) -> Self {
        self.0.flags |= flags;
        self
    }

    /// The doc comment of the property or the function of that name, which was added before: editors show it, and glue has it.
    /// There may be none of that name.
    #[must_use]
    pub fn member_doc(mut self, name: &str, doc: &str) -> Self {
        let Self(ClassDecl { properties, functions, .. }) = &mut self;
        let properties = properties.iter_mut().map(|found| (&found.name, &mut found.doc));
        let all = properties.chain(functions.iter_mut().map(|found| (&found.name, &mut found.doc)));
        all.filter(|(found, _)| *found == name).for_each(|(_, text)| doc.clone_into(text));
        self
    }

    /// The doc comments of several members: see [`NativeClass::member_doc`].
    #[must_use]
    pub fn member_docs(self, docs: &[(&str, &str)]) -> Self {
        docs.iter().fold(self, |class, (name, doc)| class.member_doc(name, doc))
    }

    /// Adds a property; `default` as its kind parses it, empty for zero. Where bodies of the class read or write it, use
    /// [`NativeClass::add_property`], which gives them a handle.
    #[must_use]
    pub fn property(mut self, name: &str, (kind, type_path): NativeType, flags: u64, default: &str) -> Self {
        self.0.properties.push(property(name, kind, type_path, flags, default));
        self
    }

    /// Adds a function with a native body, which takes its parameters off the frame.
    #[must_use]
    pub fn function(
        self,
        name: &str,
        params: &[(&str, NativeType)],
        result: Option<NativeType>,
        flags: u64,
        body: impl Fn(&World, &mut Frame<'_>) -> Result<(), CallError> + 'static,
    ) -> Self {
        let body = Guarded::new(body);
        self.with_function(
            name,
            params,
            result,
            flags,
            Rc::new(move |context, frame| body(object::World::of(context), frame)),
        )
    }

    /// Adds an event that subclasses may override; without an override nothing happens.
    #[must_use]
    pub fn event(self, name: &str, params: &[(&str, NativeType)]) -> Self {
        self.with_function(name, params, None, function_flags::NATIVE_EVENT, idle())
    }

    /// Says that it implements the interface of that path: references to the interface may lead to its objects. Where
    /// the interface is not declared elsewhere, this declares it.
    #[must_use]
    pub fn implements(mut self, interface: &str) -> Self {
        self.0.interfaces.push(interface.to_owned());
        self
    }

    /// Runs for every object of the class, once, after its bases'.
    #[must_use]
    pub fn constructor(mut self, hook: impl Fn(&World, ObjectHandle) -> Result<(), String> + 'static) -> Self {
        let hook = Guarded::new(hook);
        self.0.native_constructor = Some(Rc::new(move |context, object| hook(object::World::of(context), object)));
        self
    }

    /// Runs for every object of the class after the defaults and the plugin's own hook.
    #[must_use]
    pub fn post_init_properties(mut self, hook: impl Fn(&World, ObjectHandle) -> Result<(), String> + 'static) -> Self {
        let hook = Guarded::new(hook);
        self.0.native_post_init = Some(Rc::new(move |context, object| hook(object::World::of(context), object)));
        self
    }

    /// Runs when the end of an object of the class begins, before that of its bases; nothing of it has ended then.
    #[must_use]
    pub fn begin_destroy(mut self, hook: impl Fn(&World, ObjectHandle) + 'static) -> Self {
        let hook = Guarded::new(hook);
        self.0.begin_destroy = Some(Rc::new(move |context, object| hook(object::World::of(context), object)));
        self
    }

    /// Sets a hook by which the collection finds what else an object of the class refers to: what its properties do not
    /// say. The hook reads the world and changes nothing. A collection in slices calls it when it comes to the object,
    /// and again at its end.
    #[must_use]
    pub fn add_references(
        mut self,
        hook: impl Fn(&World, ObjectHandle, &mut dyn FnMut(ObjectHandle)) + 'static,
    ) -> Self {
        let hook = Guarded::new(hook);
        self.0.add_references =
            Some(Rc::new(move |context, object, visit| hook(object::World::of(context), object, visit)));
        self
    }

    fn with_function(
        mut self,
        name: &str,
        params: &[(&str, NativeType)],
        result: Option<NativeType>,
        flags: u64,
        thunk: Thunk,
    ) -> Self {
        let params = parameters(params, result);
        self.0.functions.push(FunctionDecl { flags, params, ..FunctionDecl::new(name, thunk) });
        self
    }
}

/// The declaration of an interface in the making.
pub struct NativeInterface(InterfaceDecl);

impl NativeInterface {
    /// An interface of `package`.
    pub fn new(package: &str, name: &str) -> Self {
        Self(InterfaceDecl::new(package, name, Origin::Native))
    }

    /// Its doc comment.
    #[must_use]
    pub fn doc(mut self, doc: &str) -> Self {
        doc.clone_into(&mut self.0.doc);
        self
    }

    /// Adds a function. It has no body here: each class that implements the interface has one.
    #[must_use]
    pub fn function(mut self, name: &str, params: &[(&str, NativeType)], result: Option<NativeType>) -> Self {
        let params = parameters(params, result);
        self.0.functions.push(FunctionDecl { params, ..FunctionDecl::without_body(name) });
        self
    }

    /// The doc comment of the function of that name, which was added before.
    #[must_use]
    pub fn function_doc(mut self, name: &str, doc: &str) -> Self {
        let functions = self.0.functions.iter_mut().filter(|found| found.name == name);
        functions.for_each(|found| doc.clone_into(&mut found.doc));
        self
    }
}

/// The declaration of a native struct in the making.
pub struct NativeStruct(StructDecl);

impl NativeStruct {
    /// A struct of `package`.
    pub fn new(package: &str, name: &str) -> Self {
        Self(StructDecl::new(package, name, Origin::Native))
    }

    /// The declaration of a struct that host code declares as [`plain_struct!`](crate::plain_struct).
    pub fn plain<T: PlainStruct>() -> Self {
        // The path is a literal of the macro's caller; a wrong one is found when the struct is declared.
        Self(StructDecl::plain::<T>().unwrap_or_else(|_| StructDecl::new("", T::PATH, Origin::Native)))
    }

    /// Its doc comment.
    #[must_use]
    pub fn doc(mut self, doc: &str) -> Self {
        doc.clone_into(&mut self.0.doc);
        self
    }

    /// It extends the struct of path `base`: it has the fields of the other first.
    #[must_use]
    pub fn extends(mut self, base: &str) -> Self {
        base.clone_into(&mut self.0.base);
        self
    }

    /// Adds a field, which begins as zero.
    #[must_use]
    pub fn field(self, name: &str, ty: NativeType) -> Self {
        self.field_with_default(name, ty, "")
    }

    /// Adds a field that begins as `default`, as its kind parses it; empty for zero.
    #[must_use]
    pub fn field_with_default(mut self, name: &str, (kind, type_path): NativeType, default: &str) -> Self {
        self.0.fields.push(property(name, kind, type_path, 0, default));
        self
    }
}

fn parameters(params: &[(&str, NativeType)], result: Option<NativeType>) -> Vec<PropertyDecl> {
    let params = params.iter().map(|(name, (kind, path))| property(name, *kind, path, 0, ""));
    params.chain(result.map(|(kind, path)| property(RESULT_NAME, kind, path, property_flags::RETURN, ""))).collect()
}

fn property(name: &str, kind: PropertyKind, type_path: &str, flags: u64, default: &str) -> PropertyDecl {
    PropertyDecl::new(name, kind).of_type(type_path).with_flags(flags).with_default(default)
}
