//! Compiles one class, after its base. The result contains the members, overrides and subobjects.

use std::cell::Cell;
use std::collections::HashSet;
use std::rc::Rc;

use alcedo_abi::kinds::{class_flags, function_flags, property_flags};
use alcedo_base::cells::RefCell;
use alcedo_base::handles::{ClassId, ObjectHandle};

use crate::class::{Class, Members, Subobject};
use crate::compile::{Compiler, declares_subobject};
use crate::decl::{ClassDecl, FunctionDecl};
use crate::function::{self, Function};
use crate::interface::Interface;
use crate::layout::place_closely;
use crate::origin::Origin;
use crate::property::{Property, PropertyType};
use crate::refusal::{DeclareError, check_member};
use crate::storage::Schema;

impl Compiler<'_> {
    /// Compiles the declaration of a class whose base is compiled.
    pub(super) fn class(&self, decl: &ClassDecl, id: ClassId) -> Result<Class, DeclareError> {
        let path: Rc<str> = decl.path().into();
        let base = self.base(decl, &path)?;
        self.check_members(decl, &path, base.as_deref())?;

        let start = base.as_ref().map_or((0, 1), |base| (base.end(), base.align()));
        let place = |things: &[(usize, usize)]| place_closely(start.0, start.1, things);
        let (own_properties, placed) = self.placed_properties(&path, &decl.properties, place)?;
        let own_properties: Vec<_> = own_properties.into_iter().map(Rc::new).collect();
        let mut properties = base.as_ref().map_or_else(Vec::new, |base| base.properties.clone());
        properties.extend(own_properties.iter().cloned());

        let mut vtable = base.as_ref().map_or_else(Vec::new, |base| base.vtable.clone());
        let mut functions = base.as_ref().map_or_else(Default::default, |base| base.members.functions.clone());
        let mut own_functions = Vec::with_capacity(decl.functions.len());
        let origin = decl.origin;
        for decl in &decl.functions {
            let function = Rc::new(self.function(decl, (&path, id, origin), base.as_deref(), vtable.len())?);
            match function.vslot.map(|slot| slot as usize) {
                Some(slot) if slot < vtable.len() => vtable[slot] = function.clone(),
                Some(_) => vtable.push(function.clone()),
                None => {}
            }
            functions.insert(function.text.clone(), function.clone());
            own_functions.push(function);
        }

        let interfaces = self.interfaces(decl, &path)?;
        interfaces.iter().try_for_each(|interface| self.check_implements(&path, &functions, interface))?;
        let (subobjects, subobject_overrides) = self.subobjects(decl, &path, &own_properties, base.as_deref())?;
        // A class that extends a contextual class is also contextual.
        let inherited_flags = base.as_ref().map_or(0, |base| base.flags & class_flags::CONTEXTUAL);
        let fields = properties.iter().map(|property| (property.offset, property.ty.clone()));
        let schema = Schema::new(placed.size, placed.align, fields);
        // Shares the memory pool of the class that the active shadow hides. If both classes have equal layouts, a reload can keep the
        // bodies of the objects at their addresses.
        let schema = match self.known.hidden_class(&path) {
            Some(hidden) => schema.with_pool_of(hidden.schema()),
            None => schema,
        };
        let members = Members {
            schema: Rc::new(schema),
            end: placed.end,
            chain: base.iter().flat_map(|base| base.chain_ids()).copied().chain([id]).collect(),
            bases: base.iter().flat_map(|base| base.lineage()).cloned().collect(),
            has_plugin_part: decl.origin == Origin::Dynamic || base.as_ref().is_some_and(|base| base.has_plugin_part()),
            is_rebuilt_lazily: match decl.origin {
                Origin::Dynamic => decl.flags & class_flags::LAZY_REBUILD != 0,
                _ => base.as_ref().is_some_and(|base| base.is_rebuilt_lazily()),
            },
            needs_module: decl.origin != Origin::Native || base.as_ref().is_some_and(|base| base.needs_module()),
            has_subobjects: !subobjects.is_empty() || base.as_ref().is_some_and(|base| base.members.has_subobjects),
            properties: properties.iter().map(|property| (property.text.clone(), property.clone())).collect(),
            functions,
            construction: Cell::new(None),
            parts: RefCell::default(),
            cdo_in_making: Cell::new(false),
        };
        Ok(Class {
            id,
            path,
            name: decl.name.as_str().into(),
            package: decl.package.as_str().into(),
            base,
            origin: decl.origin,
            flags: decl.flags | inherited_flags,
            doc: decl.doc.as_str().into(),
            own_properties,
            properties,
            own_functions,
            vtable,
            subobjects,
            subobject_overrides,
            default_overrides: shared_pairs(&decl.default_overrides),
            script_defaults: decl.script_defaults.clone(),
            interfaces,
            native_constructor: decl.native_constructor.clone(),
            native_post_init: decl.native_post_init.clone(),
            begin_destroy: decl.begin_destroy.clone(),
            add_references: decl.add_references.clone(),
            tag: decl.tag,
            cdo: Cell::new(ObjectHandle::NONE),
            members,
        })
    }

    /// Checks that members have unique names in the class. Records members that hide inherited members. A function that is declared as an
    /// override may replace an inherited function.
    fn check_members(&self, decl: &ClassDecl, path: &str, base: Option<&Class>) -> Result<(), DeclareError> {
        let mut seen = HashSet::new();
        let properties = decl.properties.iter().map(|property| (&property.name, false));
        let functions = decl.functions.iter().map(|function| {
            let is_override = function.flags & function_flags::OVERRIDE != 0 || !function.overrides.is_empty();
            // Static functions of a script may hide inherited static functions, because scripts name the class in a static call.
            let is_static = |flags: u64| decl.origin == Origin::Script && flags & function_flags::STATIC != 0;
            let hidden = base.and_then(|base| base.find_function(&function.name)).map_or(0, |found| found.flags);
            (&function.name, is_override || (is_static(function.flags) && is_static(hidden)))
        });
        for (name, is_override) in properties.chain(functions) {
            check_member(&mut seen, name, path)?;
            let property = base.and_then(|base| base.find_property(name)).map(|hidden| hidden.path());
            let function = base.and_then(|base| base.find_function(name)).filter(|_| !is_override);
            let hidden = property.or_else(|| Some(function?.path.to_string()));
            self.hides.borrow_mut().extend(hidden.map(|hidden| format!("{path}:{name} would hide {hidden}")));
        }
        Ok(())
    }

    fn base(&self, decl: &ClassDecl, path: &str) -> Result<Option<Rc<Class>>, DeclareError> {
        let (class, base) = (path.to_owned(), decl.base.clone());
        match (self.find::<Class>(&base), decl.origin) {
            (_, Origin::Native) if base.is_empty() => Ok(None),
            _ if base.is_empty() => Err(DeclareError::NoBase { class }),
            (None, _) => Err(DeclareError::UnknownBase { class, base }),
            (Some(found), _) if found.flags & class_flags::FINAL != 0 => Err(DeclareError::FinalBase { class, base }),
            (Some(found), origin) => match extended(origin, &found) {
                Ok(()) => Ok(Some(found)),
                Err(problem) => Err(DeclareError::NotExtended { class, base, problem }),
            },
        }
    }

    /// Returns the paths of the interfaces that the class itself implements, after redirects.
    fn interfaces(&self, decl: &ClassDecl, class: &str) -> Result<Vec<Rc<str>>, DeclareError> {
        let found = |path: &String| match self.find::<Interface>(path) {
            Some(interface) => Ok(interface.path.clone()),
            None => Err(DeclareError::UnknownInterface { class: class.to_owned(), interface: path.clone() }),
        };
        decl.interfaces.iter().map(found).collect()
    }

    pub(super) fn function(
        &self,
        decl: &FunctionDecl,
        (class, owner, origin): (&str, ClassId, Origin),
        base: Option<&Class>,
        next_slot: usize,
    ) -> Result<Function, DeclareError> {
        let path: Rc<str> = format!("{class}:{}", decl.name).into();
        let (params, placed) = self.properties(&path, &decl.params, (0, 1))?;
        let result = params.iter().position(|param| param.flags & property_flags::RETURN != 0);
        if result.is_some_and(|at| at + 1 != params.len()) {
            return Err(DeclareError::ResultNotLast { function: path.to_string() });
        }
        let is_override = decl.flags & function_flags::OVERRIDE != 0 || !decl.overrides.is_empty();
        let event = if is_override { Some(self.event(decl, &path, origin, base)?) } else { None };
        if let Some(event) = event.as_ref().filter(|event| event.fingerprint != function::fingerprint(&params)) {
            return Err(DeclareError::OverrideSignature {
                function: path.to_string(),
                found: function::signature(&params),
                event: event.path.to_string(),
                expected: event.signature(),
            });
        }
        let (flags, vslot, overrides) = match &event {
            Some(event) => {
                let introduced = event.overrides.as_ref().unwrap_or(&event.path).clone();
                (decl.flags | function_flags::OVERRIDE, event.vslot, Some(introduced))
            }
            None if decl.flags & EVENTS != 0 => (decl.flags, Some(next_slot as u32), None),
            None => (decl.flags, None, None),
        };
        let fields: Vec<_> = params.iter().map(|param| (param.offset, param.ty.clone())).collect();
        let function = Function {
            name: self.names.intern(&decl.name),
            text: decl.name.as_str().into(),
            path,
            owner,
            interface: None,
            flags,
            fingerprint: function::fingerprint(&params),
            schema: Rc::new(Schema::new(placed.size, placed.align, fields)),
            words: function::signature(&params).into(),
            params,
            vslot,
            overrides,
            doc: decl.doc.as_str().into(),
            meta: decl.meta.clone(),
            thunk: decl.thunk.clone(),
            black_code: decl.black_code.clone(),
            tag: decl.tag,
        };
        if decl.fingerprint != 0 && decl.fingerprint != function.fingerprint {
            return Err(DeclareError::Fingerprint { path: function.path.to_string(), found: function.signature() });
        }
        Ok(function)
    }

    /// Returns the event that a function overrides. Searches the class that the function's declaration names. If the declaration names no
    /// class, searches the base.
    fn event(
        &self,
        decl: &FunctionDecl,
        path: &str,
        origin: Origin,
        base: Option<&Class>,
    ) -> Result<Rc<Function>, DeclareError> {
        let named = if decl.overrides.is_empty() { base.map(|base| &*base.path) } else { Some(&*decl.overrides) };
        let refuse = |problem| {
            let expected = format!("{}:{}", named.unwrap_or("the base"), decl.name);
            Err(DeclareError::NoEvent { function: path.to_owned(), expected, problem })
        };
        let Some(start) = named.and_then(|named| self.find::<Class>(named)) else {
            return refuse("the class is unknown; name the base class that declares the event");
        };
        if !base.is_some_and(|base| base.is_a(&start)) {
            return refuse("that class is not one of its bases; name the base class that declares the event");
        }
        match start.find_function(&decl.name) {
            None => refuse("the base has no function with this name; check its spelling there"),
            Some(event) if event.flags & function_flags::IMPLEMENTABLE_EVENT != 0 && origin != Origin::Script => {
                refuse("it is an implementable event; only scripts can implement it")
            }
            Some(event) if event.vslot.is_none() => {
                refuse("it is a plain function; only a native event can be overridden")
            }
            Some(event) => Ok(event.clone()),
        }
    }

    #[expect(clippy::type_complexity, reason = "the two lists become two fields of the class")]
    fn subobjects(
        &self,
        decl: &ClassDecl,
        path: &str,
        own: &[Rc<Property>],
        base: Option<&Class>,
    ) -> Result<(Vec<Subobject>, Vec<(Rc<str>, Rc<str>)>), DeclareError> {
        let mut subobjects = Vec::new();
        let mut overrides = Vec::new();
        for property in own {
            let is_declared = declares_subobject(property);
            let instead = decl.subobjects.iter().find(|(name, _)| !is_declared && **name == *property.text);
            if is_declared || instead.is_some() {
                subobjects.push(self.subobject(property, instead.map(|(_, path)| path.as_str()))?);
            }
        }
        for (name, class_path) in &decl.subobjects {
            if own.iter().any(|property| *property.text == **name) {
                continue;
            }
            let bases = std::iter::successors(base, |class| class.base.as_deref());
            let Some(known) = bases.flat_map(|class| &class.subobjects).find(|known| *known.name == **name) else {
                let problem = "neither the class nor a base has such a subobject; declare the property".to_owned();
                return Err(DeclareError::BadSubobject { member: format!("{path}:{name}"), problem });
            };
            overrides.push((known.name.clone(), class_path.as_str().into()));
        }
        Ok((subobjects, overrides))
    }

    fn subobject(&self, property: &Rc<Property>, instead: Option<&str>) -> Result<Subobject, DeclareError> {
        let PropertyType::Object { class } = &property.ty else {
            return Err(DeclareError::BadSubobject {
                member: property.path(),
                problem: format!("the property is a {}; it must be a reference to an object", property.ty),
            });
        };
        Ok(Subobject {
            property: property.clone(),
            name: property.text.clone(),
            class_path: instead.map_or_else(|| class.clone(), |path| path.into()),
            is_root: property.flags & property_flags::ROOT_COMPONENT != 0,
        })
    }
}

fn shared_pairs(pairs: &[(String, String)]) -> Vec<(Rc<str>, Rc<str>)> {
    pairs.iter().map(|(path, text)| (path.as_str().into(), text.as_str().into())).collect()
}

/// Flags of functions that a subclass may override. These functions have a slot in the table of virtual functions.
const EVENTS: u64 = function_flags::NATIVE_EVENT | function_flags::IMPLEMENTABLE_EVENT;

/// Checks that a class of the origin `origin` may extend `base`. The error describes `base` and the reason.
fn extended(origin: Origin, base: &Class) -> Result<(), &'static str> {
    let is = |flag| base.flags & flag != 0;
    let only_named = base.origin == Origin::Dynamic || is(class_flags::BLUEPRINT_TYPE);
    match (origin, base.origin) {
        (Origin::Dynamic, Origin::Script) => Err(
            "a class of a script. An object has a plugin part for each plugin class in its inheritance chain, and calls between \
             these parts cannot pass through a script class; extend a class of the host or of a plugin",
        ),
        (Origin::Native, Origin::Script | Origin::Dynamic) => Err(
            "a class of a module, which is unloaded with its module; a class of the host must extend a class of the host",
        ),
        (Origin::Script, _) if only_named && !is(class_flags::BLUEPRINTABLE) && base.origin != Origin::Script => {
            Err("a class that scripts may use but not extend; declare it `blueprintable`")
        }
        _ => Ok(()),
    }
}
