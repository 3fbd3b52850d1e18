//! Tests packages of scripts that are checked, declared, linked and run as a host does it.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use alcedo_abi::kinds::{PropertyKind, function_flags, property_flags};
use alcedo_base::boundary::CallError;
use alcedo_base::handles::{Name, ObjectHandle};
use alcedo_reflect::World;
use alcedo_reflect::class::Class;
use alcedo_reflect::construction::{ConstructionArgs, ConstructionHooks, StepError, construct, make_cdo};
use alcedo_reflect::decl::{
    Batch, ClassDecl, DelegateDecl, EnumDecl, FunctionDecl, InterfaceDecl, PropertyDecl, RESULT_NAME, StructDecl,
};
use alcedo_reflect::enums::EnumEntry;
use alcedo_reflect::fixed::ARRAY_DIM;
use alcedo_reflect::origin::Origin;
use alcedo_reflect::property::PropertyType;
use alcedo_reflect::testing::world;
use alcedo_reflect::thunk::{ParamBlock, Thunk};
use alcedo_reflect::value::{Binding, Value};
use alcedo_script::host::Host;
use alcedo_script::{Compiled, Limits, Machine, compile, library};
use alcedo_uc::hir::{self, Const, DefaultAction, Type};
use alcedo_uc::{Options, Parsed, Source, check_parsed, outline};

use crate::support::{Cells, late};

/// Hooks of a host without modules.
pub(crate) struct NoModules;

impl ConstructionHooks for NoModules {
    fn build_conjugate(&self, _object: ObjectHandle, _class: &Rc<Class>) -> Result<(), StepError> {
        Ok(())
    }

    fn class_constructor(&self, _object: ObjectHandle, _class: &Rc<Class>) -> Result<(), StepError> {
        Ok(())
    }

    fn has_class_constructor(&self, _class: &Rc<Class>) -> bool {
        false
    }

    fn has_post_init(&self, _class: &Rc<Class>) -> bool {
        false
    }

    fn plugin_post_init(&self, _object: ObjectHandle, _class: &Rc<Class>) -> Result<(), StepError> {
        Ok(())
    }

    fn end_conjugate(&self, _object: ObjectHandle) {}
}

impl Host for NoModules {
    fn construct(&self, world: &World, class: &Rc<Class>, args: ConstructionArgs) -> Result<ObjectHandle, CallError> {
        construct(world, self, class, args).map_err(|error| CallError::other(error.to_string()))
    }
}

/// World that loads packages of scripts.
pub(crate) struct Scripts {
    pub(crate) world: World,
    pub(crate) machine: Rc<Machine>,
    kept: RefCell<Vec<Compiled>>,
    cells: RefCell<Cells>,
    /// Delegate properties that are initially bound to a function of their own object. Each entry has the class, the property and the
    /// function.
    bound: RefCell<Vec<(String, String, Name)>>,
}

impl Scripts {
    /// Creates a world with the library, `Vector` and `Rotator`, the structs `Score`, `Panel`, `Grid` and `Slab` of the host, and native
    /// functions.
    pub(crate) fn new() -> Self {
        Self::with_limits(Limits::default())
    }

    pub(crate) fn with_limits(limits: Limits) -> Self {
        let world = world();
        world.types.declare_package(library::PACKAGE);
        world.types.declare_package("Scripts");
        let declare = |batch: Batch| {
            world.types.declare(&world.names, &batch).unwrap_or_else(|error| panic!("{error}"));
        };
        declare(library::batch("/Script/Engine.Object"));
        let triple = |name: &str, fields: [&str; 3], kind| StructDecl {
            fields: fields.iter().map(|field| PropertyDecl::new(field, kind)).collect(),
            ..StructDecl::new("Engine", name, Origin::Native)
        };
        let score = StructDecl {
            fields: vec![
                PropertyDecl::new("player_name", PropertyKind::STRING),
                PropertyDecl::new("points", PropertyKind::I32),
                PropertyDecl::new("weight", PropertyKind::F32),
            ],
            ..StructDecl::new("Engine", "Score", Origin::Native)
        };
        let panel = StructDecl {
            fields: vec![PropertyDecl::new("on_press", PropertyKind::MULTICAST_DELEGATE).of_type("i32")],
            ..StructDecl::new("Engine", "Panel", Origin::Native)
        };
        let cells = PropertyDecl {
            meta: vec![(ARRAY_DIM.to_owned(), "3".to_owned())],
            ..PropertyDecl::new("cells", PropertyKind::ARRAY).of_type("i32")
        };
        let grid = StructDecl { fields: vec![cells], ..StructDecl::new("Engine", "Grid", Origin::Native) };
        let slab = StructDecl {
            fields: (0..512).map(|at| PropertyDecl::new(&format!("n{at}"), PropertyKind::I64)).collect(),
            ..StructDecl::new("Engine", "Slab", Origin::Native)
        };
        let structs = vec![
            triple("Vector", ["x", "y", "z"], PropertyKind::F32),
            triple("Rotator", ["pitch", "yaw", "roll"], PropertyKind::I32),
            score,
            panel,
            grid,
            slab,
        ];
        let interfaces = vec![crate::natives::interface()];
        let (delegates, classes) = (vec![crate::natives::delegate()], vec![crate::natives::class()]);
        declare(Batch { structs, interfaces, delegates, classes, ..Batch::default() });
        let machine = Machine::new(limits);
        machine.set_host(Rc::new(NoModules));
        Self { world, machine, kept: RefCell::default(), cells: RefCell::default(), bound: RefCell::default() }
    }

    /// Checks, declares and links a package. Returns its classes, each after its base.
    pub(crate) fn load(&self, package: &str, files: &[(&str, &str)]) -> Vec<Rc<Class>> {
        self.try_load(package, files).unwrap_or_else(|problem| panic!("{problem}"))
    }

    /// Loads a package like [`Self::load`], or returns its errors.
    pub(crate) fn try_load(&self, package: &str, files: &[(&str, &str)]) -> Result<Vec<Rc<Class>>, String> {
        let sources: Vec<_> = files.iter().map(|(name, text)| Source::decode(name, text.as_bytes())).collect();
        self.load_sources(package, &sources)
    }

    /// Returns the classes whose functions scripts call without the class name.
    pub(crate) fn libraries() -> Vec<String> {
        library::PATHS.iter().map(|path| (*path).to_owned()).collect()
    }

    /// Loads a package in the order in which hosts do: outline, check, compile, declare, link.
    pub(crate) fn load_sources(&self, package: &str, sources: &[Source]) -> Result<Vec<Rc<Class>>, String> {
        self.world.types.declare_package(package);
        let parsed = Parsed::of(sources);
        let outline = outline(package, sources, &parsed);
        let options = Options { libraries: Self::libraries(), ignore_flags: true, ..Options::default() };
        let mut checked = check_parsed(package, sources, parsed, &self.world.types, &options).map_err(|messages| {
            messages.iter().map(|message| message.render(sources)).collect::<Vec<_>>().join("\n")
        })?;
        drop(outline);
        let code = compile(&mut checked.package).map_err(|errors| format!("{errors:?}"))?;
        let batch = batch_of(&checked.package, &mut self.cells.borrow_mut());
        let declared = self.world.types.declare(&self.world.names, &batch).map_err(|error| error.to_string())?;
        let compiled = self
            .machine
            .load(&self.world, code)
            .map_err(|errors| errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))?;
        for (path, cell) in self.cells.borrow().iter() {
            if let Some(thunk) = compiled.thunk(path) {
                *cell.borrow_mut() = Some(thunk);
            }
        }
        self.kept.borrow_mut().push(compiled);
        let paths = checked.package.classes.iter().map(|class| &class.path);
        let classes: Vec<_> =
            paths.filter_map(|path| declared.classes.iter().find(|found| found.path == *path)).cloned().collect();
        for (class, of) in classes.iter().zip(&checked.package.classes) {
            let cdo = make_cdo(&self.world, &NoModules, class).map_err(|error| error.to_string())?;
            for default in &of.defaults {
                self.set_default(cdo, class, default)?;
            }
        }
        Ok(classes)
    }

    /// Applies a line of `defaultproperties`.
    fn set_default(&self, cdo: ObjectHandle, class: &Rc<Class>, default: &hir::Default) -> Result<(), String> {
        let property = class.find_property(&default.property).ok_or("no such property")?;
        let parse = |value: &Const, ty: &PropertyType| {
            Value::parse(&const_text(value), ty, &self.world.names).map_err(|error| error.to_string())
        };
        let of = match &property.ty {
            PropertyType::Array(of) => of.ty().clone(),
            other => other.clone(),
        };
        let before = self.world.read(cdo, &*default.property).map_err(|error| error.to_string())?;
        let mut row = match before {
            Value::Array(row) => row,
            _ => Vec::new(),
        };
        let value = match &default.action {
            // Delegates of new objects are bound to a function of the object itself.
            DefaultAction::Set(Const::Function(name)) => {
                let name = self.world.names.intern(name);
                self.bound.borrow_mut().push((class.path.to_string(), default.property.clone(), name));
                return Ok(());
            }
            DefaultAction::Set(Const::Array(values)) if matches!(property.ty, PropertyType::Array(_)) => {
                let len = row.len();
                row = values.iter().map(|value| parse(value, &of)).collect::<Result<_, _>>()?;
                while row.len() < len && property.meta.iter().any(|(key, _)| key == "array_dim") {
                    row.push(Value::initial(&of));
                }
                Value::Array(row)
            }
            DefaultAction::Set(value) => parse(value, &property.ty)?,
            DefaultAction::SetElement(at, value) => {
                while row.len() <= *at as usize {
                    row.push(Value::initial(&of));
                }
                row[*at as usize] = parse(value, &of)?;
                Value::Array(row)
            }
            DefaultAction::Add(value) => {
                row.push(parse(value, &of)?);
                Value::Array(row)
            }
            DefaultAction::Remove(value) => {
                let value = parse(value, &of)?;
                row.retain(|known| *known != value);
                Value::Array(row)
            }
            DefaultAction::RemoveIndex(at) => {
                row.remove(*at as usize);
                Value::Array(row)
            }
            DefaultAction::Empty => Value::Array(Vec::new()),
        };
        self.world.write(cdo, &*default.property, &value).map_err(|error| error.to_string())
    }

    /// Replaces the thunk of a function.
    pub(crate) fn swap(&self, path: &str, thunk: Thunk) {
        *self.cells.borrow()[path].borrow_mut() = Some(thunk);
    }

    /// Replaces the code that this world keeps alive.
    pub(crate) fn keep(&self, compiled: Compiled) {
        *self.kept.borrow_mut() = vec![compiled];
    }

    pub(crate) fn object(&self, class: &Rc<Class>) -> ObjectHandle {
        let made = construct(&self.world, &NoModules, class, ConstructionArgs::default());
        let object = made.unwrap_or_else(|error| panic!("{error}"));
        for (path, property, function) in self.bound.borrow().iter() {
            if class.lineage().any(|class| *class.path == **path) {
                let binding = Value::Delegate(Binding { object, function: *function });
                self.world.write(object, property.as_str(), &binding).unwrap_or_else(|error| panic!("{error}"));
            }
        }
        object
    }

    /// Calls a function without parameters. Returns the result, converted to a string by the rules of the language.
    pub(crate) fn result_text(&self, object: ObjectHandle, name: &str) -> String {
        let class = self.world.objects.class(object).expect("it is there");
        let ty = class.find_function(name).and_then(|function| function.result()).map(|result| result.ty.clone());
        let value = match self.call(object, name, &[]) {
            Ok(value) => value.unwrap_or_else(|| panic!("{name} returns nothing")),
            Err(error) => return error.to_string(),
        };
        match value {
            Value::Text(text) => text,
            Value::Bool(it) => (if it { "True" } else { "False" }).to_owned(),
            Value::F32(it) => format!("{it:.4}"),
            Value::F64(it) => format!("{it:.4}"),
            Value::Name(name) if name == Name::default() => "None".to_owned(),
            Value::Name(name) => self.world.text(name),
            Value::Enum(it) => it.text.to_string(),
            Value::Struct(fields) if fields.len() == 3 => {
                let one = |value: &Value| match value {
                    Value::F32(it) => format!("{it:.2}"),
                    value => value.print(&self.world.names),
                };
                fields.iter().map(|(_, value)| one(value)).collect::<Vec<_>>().join(",")
            }
            value => match ty {
                Some(_) => value.print(&self.world.names),
                None => String::new(),
            },
        }
    }

    pub(crate) fn call(&self, object: ObjectHandle, name: &str, args: &[Value]) -> Result<Option<Value>, CallError> {
        let class = self.world.objects.class(object).expect("it is there");
        let found = class.find_function(name).unwrap_or_else(|| panic!("{} has no {name}", class.path));
        let function = class.dispatch(found);
        let mut block = ParamBlock::new(function);
        for (at, value) in args.iter().enumerate() {
            block.set(at, value)?;
        }
        function.invoke(&self.world, object, &mut block)?;
        Ok(block.result())
    }

    /// Calls a function without parameters. Returns the result, or the error, as a string.
    pub(crate) fn outcome(&self, object: ObjectHandle, name: &str) -> String {
        let running = self.machine.is_running();
        let outcome = match self.call(object, name, &[]) {
            Ok(Some(Value::Text(text))) => text,
            Ok(Some(value)) => value.print(&self.world.names),
            Ok(None) => String::new(),
            Err(error) => error.to_string(),
        };
        assert_eq!(self.machine.is_running(), running, "every frame that was begun has ended");
        outcome
    }
}

impl Drop for Scripts {
    fn drop(&mut self) {
        self.cells.borrow().values().for_each(|cell| drop(cell.borrow_mut().take()));
    }
}

/// Formats a constant in the syntax that reflection parses.
fn const_text(value: &Const) -> String {
    match value {
        Const::Bool(it) => it.to_string(),
        Const::Int(it) => it.to_string(),
        Const::Float(it) => it.to_string(),
        Const::Text(it) | Const::Name(it) => format!("{it:?}"),
        Const::Enum(_, entry, _) => entry.clone(),
        Const::Class(path) => path.to_string(),
        Const::Struct(fields) => {
            let fields: Vec<_> = fields.iter().map(|(name, value)| format!("{name}={}", const_text(value))).collect();
            format!("({})", fields.join(", "))
        }
        Const::Array(values) | Const::Elements(values, _) => {
            format!("({})", values.iter().map(const_text).collect::<Vec<_>>().join(", "))
        }
        other => panic!("{other:?} is not a default of these tests"),
    }
}

fn property(name: &str, ty: &Type, flags: u64) -> PropertyDecl {
    let text = ty.type_text().expect("a type that has a place");
    let mut decl = PropertyDecl::new(name, text.kind()).of_type(&text.path()).with_flags(flags);
    if let Type::Fixed(of, count) = ty {
        let zero = match **of {
            Type::Bool => "false",
            Type::Text | Type::Name => "\"\"",
            _ => "0",
        };
        decl.default = format!("({})", vec![zero; *count as usize].join(", "));
        decl.meta.push(("array_dim".to_owned(), count.to_string()));
    }
    decl
}

fn params(of: &[hir::Param], result: Option<&Type>) -> Vec<PropertyDecl> {
    let one = |param: &hir::Param| {
        let decl = property(&param.name, &param.ty, if param.out { property_flags::OUT } else { 0 });
        let default = match param.default.as_ref().map(|default| &default.kind) {
            Some(hir::ExprKind::Const(value @ (Const::Int(_) | Const::Float(_)))) => const_text(value),
            _ => String::new(),
        };
        PropertyDecl { default, ..decl }
    };
    let result = result.map(|ty| property(RESULT_NAME, ty, property_flags::RETURN));
    of.iter().map(one).chain(result).collect()
}

fn batch_of(package: &hir::Package, cells: &mut Cells) -> Batch {
    let entry = |(number, name): (usize, &String)| EnumEntry {
        name: name.as_str().into(),
        number: number as i128,
        display: "".into(),
        is_hidden: false,
        doc: "".into(),
    };
    let enums = package.enums.iter().map(|of| EnumDecl {
        package: package.name.clone(),
        name: of.name.clone(),
        origin: Origin::Script,
        underlying: PropertyKind::U8,
        is_flags: false,
        entries: of.entries.iter().enumerate().map(entry).collect(),
        fingerprint: 0,
        doc: String::new(),
    });
    let structs = package.structs.iter().map(|of| {
        let field = |field: &hir::Property| {
            let default = field.default.as_ref().map(const_text).unwrap_or_default();
            let decl = property(&field.name, &field.ty, field.flags);
            PropertyDecl { default: if default.is_empty() { decl.default.clone() } else { default }, ..decl }
        };
        StructDecl {
            base: of.base.as_ref().map(|base| base.to_string()).unwrap_or_default(),
            fields: of.fields.iter().map(field).collect(),
            ..StructDecl::new(&package.name, &of.name, Origin::Script)
        }
    });
    let delegates = package.delegates.iter().map(|of| DelegateDecl {
        class: of.class.to_string(),
        params: params(&of.params, of.result.as_ref()),
        ..DelegateDecl::new(&package.name, &of.name, PropertyKind::DELEGATE, Origin::Script)
    });
    let interfaces = package.interfaces.iter().map(|of| {
        let function = |function: &hir::InterfaceFunction| FunctionDecl {
            flags: function_flags::CALLABLE,
            params: params(&function.params, function.result.as_ref()),
            ..FunctionDecl::without_body(&function.name)
        };
        InterfaceDecl {
            functions: of.functions.iter().map(function).collect(),
            ..InterfaceDecl::new(&package.name, &of.name, Origin::Script)
        }
    });
    let mut made: BTreeMap<String, Thunk> = BTreeMap::new();
    for function in
        package.classes.iter().flat_map(|class| class.functions.iter().map(move |function| (class, function)))
    {
        let path = format!("{}:{}", function.0.path, function.1.name);
        made.insert(path.clone(), late(cells, &path));
    }
    let classes = package.classes.iter().map(|of| {
        let function = |function: &hir::Function| {
            let mut decl =
                FunctionDecl::new(&function.name, Rc::clone(&made[&format!("{}:{}", of.path, function.name)]));
            decl.params = params(&function.params, function.result.as_ref());
            decl.flags = function_flags::CALLABLE;
            let flags = &function.flags;
            if flags.is_static {
                decl.flags |= function_flags::STATIC;
            } else if function.overrides.is_some() {
                decl.flags |= function_flags::OVERRIDE;
            } else if !flags.is_final && function.access != hir::Access::Private {
                decl.flags |= function_flags::NATIVE_EVENT;
            }
            decl
        };
        ClassDecl {
            properties: of.properties.iter().map(|found| property(&found.name, &found.ty, found.flags)).collect(),
            functions: of.functions.iter().map(function).collect(),
            interfaces: of.interfaces.iter().map(|path| path.to_string()).collect(),
            ..ClassDecl::new(&package.name, &of.name, &of.base, Origin::Script)
        }
    });
    Batch {
        enums: enums.collect(),
        structs: structs.collect(),
        delegates: delegates.collect(),
        interfaces: interfaces.collect(),
        classes: classes.collect(),
        ..Batch::default()
    }
}

#[test]
fn a_delegate_of_another_package_takes_an_enum_of_more_than_one_byte() {
    let scripts = Scripts::new();
    let entry = |number: i128, name: &str| EnumEntry {
        name: name.into(),
        number,
        display: "".into(),
        is_hidden: false,
        doc: "".into(),
    };
    let wide = EnumDecl {
        entries: vec![entry(0, "WIDE_Near"), entry(70_000, "WIDE_Far")],
        ..EnumDecl::new("Engine", "Wide", PropertyKind::I32, Origin::Native)
    };
    let batch = Batch { enums: vec![wide], ..Batch::default() };
    scripts.world.types.declare(&scripts.world.names, &batch).expect("a right declaration");
    scripts.load("Scripts", &[("Bell.uc", "class Bell extends Machine;\ndelegate int OnRing(Wide Where);")]);
    let text = "class Robot extends Machine;
        function int Note(Wide Where) { return int(Where); }
        function int Rings() { local Bell b; b = new class'Bell'; b.OnRing = Note; return b.OnRing(WIDE_Far); }";
    let class = scripts.load("Tale", &[("Robot.uc", text)]).remove(0);
    assert_eq!(scripts.outcome(scripts.object(&class), "Rings"), "70000");
}
