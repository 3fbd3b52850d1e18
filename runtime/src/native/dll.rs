//! Native classes that are bound to a C library.

use alcedo_abi::describe::c_keys::{LEN, LIBRARY};
use alcedo_abi::kinds::{PropertyKind, class_flags, function_flags, property_flags};
use alcedo_dll_bind::Library;

use super::{NativeClass, NativeType, Natives, property};
use crate::emit::c_bodies::CBody;
use crate::object::decl::{FunctionDecl, PropertyDecl, RESULT_NAME};

/// Declaration of a native class that is bound to a C library. The class is final.
pub struct DllClass {
    class: NativeClass,
    library: Library,
    bodies: Vec<CBody>,
}

/// Declaration of a function of a [`DllClass`]. The symbol in the C library and the function have equal names.
#[derive(Clone, Debug)]
pub struct DllImport {
    name: String,
    params: Vec<PropertyDecl>,
    result: Option<PropertyDecl>,
    flags: u64,
}

impl NativeClass {
    /// Binds the class to a C library, and makes the class final. The library stays open while the class exists.
    #[must_use]
    pub fn dll_bind(self, library: &Library) -> DllClass {
        DllClass { class: self.flags(class_flags::FINAL), library: library.clone(), bodies: Vec::new() }
    }
}

impl DllClass {
    /// Adds a function of the library. Building the runtime fails if C cannot read a type of the function. If the library lacks the
    /// function, building the runtime only logs a warning.
    #[must_use]
    pub fn import(mut self, import: DllImport) -> Self {
        let DllImport { name, params, result, flags } = import;
        let params = params.into_iter().chain(result).collect();
        let meta = vec![(LIBRARY.to_owned(), self.library.name().to_owned())];
        let flags = flags | function_flags::DLL_IMPORT;
        let mut function = FunctionDecl { params, flags, meta, ..FunctionDecl::without_body(&name) };
        let decl = &mut self.class.0;
        self.bodies.push(CBody::attach(&decl.path(), &self.library, &mut function, false));
        decl.functions.push(function);
        self
    }
}

impl DllImport {
    /// Declares the function with the symbol `name`. The declaration has no parameters and no result yet.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self { name: name.to_owned(), params: Vec::new(), result: None, flags: 0 }
    }

    /// Adds an input parameter.
    #[must_use]
    pub fn param(self, name: &str, ty: NativeType) -> Self {
        self.with(name, ty, 0)
    }

    /// Adds a parameter that the function may write.
    #[must_use]
    pub fn out(self, name: &str, ty: NativeType) -> Self {
        self.with(name, ty, property_flags::OUT)
    }

    /// Adds an array parameter with `len` elements. `of` is the type string of an element.
    #[must_use]
    pub fn array(self, name: &str, of: &'static str, len: usize) -> Self {
        self.with(name, (PropertyKind::ARRAY, of), 0).of_len(name, len)
    }

    /// Adds an array parameter with `len` elements, which the function may write.
    #[must_use]
    pub fn out_array(self, name: &str, of: &'static str, len: usize) -> Self {
        self.with(name, (PropertyKind::ARRAY, of), property_flags::OUT).of_len(name, len)
    }

    /// Sets the type of the result. For `bool`, this method does not specify the width of the C type. A call therefore fails if one byte
    /// and four bytes of the result register contain different truth values.
    #[must_use]
    pub fn returns(self, (kind, path): NativeType) -> Self {
        Self { result: Some(property(RESULT_NAME, kind, path, property_flags::RETURN, "")), ..self }
    }

    /// Sets the result type to a `bool` of one byte, as in C++.
    #[must_use]
    pub fn returns_bool8(self) -> Self {
        self.returns_bool(function_flags::BOOL8)
    }

    /// Sets the result type to a `bool` of four bytes: a `uint32_t` in which every nonzero value is true.
    #[must_use]
    pub fn returns_bool32(self) -> Self {
        self.returns_bool(function_flags::BOOL32)
    }

    fn returns_bool(self, width: u64) -> Self {
        let mut import = self.returns((PropertyKind::BOOL, ""));
        import.flags |= width;
        import
    }

    /// Declares that the function does not depend on the working directory. The function then runs on the game thread. Without this
    /// declaration, the function runs on a thread whose working directory is the folder of the library.
    #[must_use]
    pub fn no_cwd(mut self) -> Self {
        self.flags |= function_flags::NO_CWD;
        self
    }

    fn with(mut self, name: &str, (kind, path): NativeType, flags: u64) -> Self {
        self.params.push(property(name, kind, path, flags, ""));
        self
    }

    fn of_len(mut self, name: &str, len: usize) -> Self {
        let params = self.params.iter_mut().filter(|param| param.name == name);
        params.for_each(|param| param.meta.push((LEN.to_owned(), len.to_string())));
        self
    }
}

impl Natives {
    /// Adds a class that is bound to a C library.
    #[must_use]
    pub fn dll_class(mut self, class: DllClass) -> Self {
        self.c_bodies.extend(class.bodies);
        self.class(class.class)
    }
}
