//! Tests a native class that scripts extend and call.

use alcedo_abi::kinds::{PropertyKind, function_flags, property_flags};
use alcedo_base::boundary::CallError;
use alcedo_base::handles::ObjectHandle;
use alcedo_reflect::World;
use alcedo_reflect::collect::unreachable;
use alcedo_reflect::construction::destroy;
use alcedo_reflect::decl::{ClassDecl, DelegateDecl, FunctionDecl, InterfaceDecl, PropertyDecl};
use alcedo_reflect::origin::Origin;
use alcedo_reflect::testing::native_thunk;
use alcedo_reflect::thunk::{Frame, ParamBlock};
use alcedo_reflect::value::Value;

use crate::package::NoModules;

type Body = fn(&World, &mut Frame<'_>) -> Result<(), CallError>;

fn function(name: &str, flags: u64, params: Vec<PropertyDecl>, body: Body) -> FunctionDecl {
    let mut decl = FunctionDecl::new(name, native_thunk(body));
    decl.flags = function_flags::CALLABLE | flags;
    decl.params = params;
    decl
}

/// `/Script/Engine.Tuned`: an interface of the host. The parameter of its function has a default.
pub(crate) fn interface() -> InterfaceDecl {
    let pitch = PropertyDecl::new("pitch", PropertyKind::I32).with_default("5");
    let tune = FunctionDecl {
        flags: function_flags::CALLABLE,
        params: vec![pitch, PropertyDecl::result(PropertyKind::I32)],
        ..FunctionDecl::without_body("tune")
    };
    InterfaceDecl { functions: vec![tune], ..InterfaceDecl::new("Engine", "Tuned", Origin::Native) }
}

/// `/Script/Engine.Pulled`: a named type of multicast delegates.
pub(crate) fn delegate() -> DelegateDecl {
    DelegateDecl {
        params: vec![PropertyDecl::new("times", PropertyKind::I32)],
        ..DelegateDecl::new("Engine", "Pulled", PropertyKind::MULTICAST_DELEGATE, Origin::Native)
    }
}

/// `/Script/Engine.Machine`: native functions of the host.
pub(crate) fn class() -> ClassDecl {
    let whole = |name: &str| PropertyDecl::new(name, PropertyKind::I32);
    let object = |name: &str| PropertyDecl::new(name, PropertyKind::OBJECT).of_type("/Script/Engine.Object");
    let result = PropertyDecl::result;
    let statics = function_flags::STATIC;
    let mut class = ClassDecl::new("Engine", "Machine", "/Script/Engine.Object", Origin::Native);
    class.properties = vec![
        whole("power"),
        PropertyDecl::new("label", PropertyKind::STRING),
        object("partner"),
        PropertyDecl::new("on_touch", PropertyKind::MULTICAST_DELEGATE).of_type("i32"),
        PropertyDecl::new("on_pull", PropertyKind::MULTICAST_DELEGATE).of_type("/Script/Engine.Pulled(i32)"),
        PropertyDecl::new("on_rest", PropertyKind::SPARSE_DELEGATE).of_type("i32"),
        PropertyDecl::new("touches", PropertyKind::ARRAY).of_type("MulticastDelegate(i32)"),
        PropertyDecl::new("panel", PropertyKind::STRUCT).of_type("/Script/Engine.Panel"),
    ];
    class.functions = vec![
        function("add", statics, vec![whole("a"), whole("b"), result(PropertyKind::I32)], |_, frame| {
            let (a, b) = (frame.take::<i32>()?, frame.take::<i32>()?);
            frame.finish()?;
            frame.set_result(a.wrapping_add(b))
        }),
        function(
            "split",
            statics,
            vec![
                whole("value"),
                whole("half").with_flags(property_flags::OUT),
                PropertyDecl::new("words", PropertyKind::STRING).with_flags(property_flags::OUT),
            ],
            |_, frame| {
                let value = frame.take::<i32>()?;
                frame.take_value()?;
                frame.take_value()?;
                frame.finish()?;
                frame.set_out_as(1, value / 2)?;
                frame.set_out_as(2, format!("half of {value}"))
            },
        ),
        function("fail", statics, vec![PropertyDecl::new("words", PropertyKind::STRING)], |_, frame| {
            let words = frame.take::<String>()?;
            frame.finish()?;
            Err(CallError::returned(words))
        }),
        function("panics", statics, Vec::new(), |_, _| panic!("a bug of the host")),
        // Comparison function that panics.
        function("order_panics", 0, vec![whole("a"), whole("b"), result(PropertyKind::I32)], |_, _| {
            panic!("a bug of the host's order")
        }),
        // Calls a function of an object by name, and ignores errors.
        function("try_call", 0, vec![PropertyDecl::new("name", PropertyKind::STRING)], |world, frame| {
            let (object, name) = (frame.object(), frame.take::<String>()?);
            frame.finish()?;
            let class = world.objects.class(object).ok_or(CallError::Stale { handle: object })?;
            if let Some(function) = class.find_function(&name) {
                let _ignored = function.invoke(world, object, &mut ParamBlock::new(function));
            }
            Ok(())
        }),
        // Has a large parameter block.
        function(
            "weigh",
            statics,
            vec![PropertyDecl::new("slab", PropertyKind::STRUCT).of_type("/Script/Engine.Slab").with_default("()")],
            |_, frame| {
                frame.take_value()?;
                frame.finish()
            },
        ),
        // Calls a function of an object by name, from native code into a script.
        function(
            "call_by_name",
            0,
            vec![PropertyDecl::new("name", PropertyKind::STRING), result(PropertyKind::I32)],
            |world, frame| {
                let (object, name) = (frame.object(), frame.take::<String>()?);
                frame.finish()?;
                let class = world.objects.class(object).ok_or(CallError::Stale { handle: object })?;
                let function = class.find_function(&name).cloned();
                let function = function.ok_or_else(|| CallError::NotFound { message: format!("no {name}") })?;
                let mut block = ParamBlock::new(&function);
                function.invoke(world, object, &mut block)?;
                frame.set_result(block.result_as::<i32>()?)
            },
        ),
        function("destroy_it", statics, vec![object("it")], |world, frame| {
            let object = frame.take::<ObjectHandle>()?;
            frame.finish()?;
            destroy(world, &NoModules, object);
            Ok(())
        }),
        // Counts the objects that a collection would destroy now.
        function("garbage", statics, vec![result(PropertyKind::I32)], |world, frame| {
            frame.finish()?;
            let no_roots = |_: &mut dyn FnMut(ObjectHandle)| {};
            frame.set_result(unreachable(world, &no_roots)?.len() as i32)
        }),
        function(
            "power_up",
            function_flags::NATIVE_EVENT,
            vec![whole("by"), result(PropertyKind::I32)],
            |world, frame| {
                let (object, by) = (frame.object(), frame.take::<i32>()?);
                frame.finish()?;
                let power = world.get::<i32>(object, "power")? + by;
                world.write(object, "power", &Value::I32(power))?;
                frame.set_result(power)
            },
        ),
    ];
    class
}

#[test]
fn fixed_arrays_of_native_structs_have_all_elements() {
    crate::attacks::check(
        "function Grid Made() { local Grid g; return g; }\n\
         function int Taken(optional Grid g) { return g.cells[0]; }\n\
         function string Reads() { local Grid g; local Robot r; g.cells[1] = 4; g.cells[2] += r.Made().cells[1]; \
         return g.cells[1] @ g.cells[2] @ Taken(); }",
        "Reads",
        "4 0 0",
    );
}

#[test]
fn multicast_delegates_of_two_types_with_one_signature_are_assigned() {
    crate::attacks::check(
        "var int Sum;\nfunction Adds(int n) { Sum += n; }\n\
         function int Reports() { on_pull.Add(Adds); on_touch = on_pull; on_touch.Broadcast(4); on_touch(3); return Sum; }",
        "Reports",
        "7",
    );
}
