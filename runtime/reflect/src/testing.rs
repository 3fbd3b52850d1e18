//! Helpers for the tests of this crate and of the host: small worlds, and types that are parsed from text.

use std::rc::Rc;
use std::time::{Duration, Instant};

use alcedo_base::boundary::CallError;
use alcedo_base::handles::ObjectHandle;

use crate::World;
use crate::class::Class;
use crate::decl::{Batch, ClassDecl, FunctionDecl, InterfaceDecl, PropertyDecl, StructDecl};
use crate::function::Function;
use crate::hooks::{AddReferences, EndHook, NativeHook};
use crate::origin::Origin;
use crate::property::PropertyType;
use crate::structs::StructType;
use crate::thunk::{Frame, Thunk};

/// Creates a world with the packages `Engine`, `Test` and `Game`, the native root class `/Script/Engine.Object`, and the
/// interface `/Script/Engine.Sings`.
pub fn world() -> World {
    let world = World::new();
    for package in ["Engine", "Test", "Game"] {
        world.types.declare_package(package);
    }
    let interfaces = vec![InterfaceDecl::new("Engine", "Sings", Origin::Native)];
    world.types.declare(&world.names, &Batch { interfaces, ..Batch::default() }).expect("a right declaration");
    declare(&world, [ClassDecl::new("Engine", "Object", "", Origin::Native)]);
    world
}

/// Declares classes. Panics if a declaration is rejected.
pub fn declare(world: &World, classes: impl IntoIterator<Item = ClassDecl>) -> Vec<Rc<Class>> {
    let batch = Batch { classes: classes.into_iter().collect(), ..Batch::default() };
    world.types.declare(&world.names, &batch).expect("a right declaration").classes
}

/// Returns the declaration of the dynamic class `/Script/Game.<name>`.
pub fn dynamic(name: &str, base: &str, properties: &[PropertyDecl]) -> ClassDecl {
    ClassDecl { properties: properties.to_vec(), ..ClassDecl::new("Game", name, base, Origin::Dynamic) }
}

/// Returns the declaration of the native class `/Script/Engine.<name>`.
pub fn native(name: &str, base: &str, properties: &[PropertyDecl]) -> ClassDecl {
    ClassDecl { properties: properties.to_vec(), ..ClassDecl::new("Engine", name, base, Origin::Native) }
}

/// Returns the declaration of the struct `/Script/Test.Point { x: f64, y: f64 = 4 }`.
fn point() -> StructDecl {
    let coordinate = |name| PropertyDecl::new(name, alcedo_abi::kinds::PropertyKind::F64);
    let fields = vec![coordinate("x"), coordinate("y").with_default("4")];
    StructDecl { fields, ..StructDecl::new("Test", "Point", Origin::Native) }
}

/// Declares a struct `/Script/Test.<name>`. The fields of the struct may have the type `/Script/Test.Point { x: f64, y: f64 = 4 }`.
pub fn structure(name: &str, fields: &[PropertyDecl]) -> Rc<StructType> {
    let requested = StructDecl { fields: fields.to_vec(), ..StructDecl::new("Test", name, Origin::Native) };
    let structs = if name == "Point" { vec![requested] } else { vec![point(), requested] };
    let world = world();
    let declared = world.types.declare(&world.names, &Batch { structs, ..Batch::default() });
    declared.expect("a right declaration").structs.pop().expect("the struct asked for")
}

/// Parses a type. The text may name `/Script/Engine.Object` and `/Script/Test.Point`.
pub fn type_of(text: &str) -> PropertyType {
    let world = world();
    let batch = Batch { structs: vec![point()], ..Batch::default() };
    world.types.declare(&world.names, &batch).expect("a right declaration");
    PropertyType::parse(text, &world.types).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Declares a function `/Script/Test.Owner:<name>`.
pub fn function(
    name: &str,
    params: &[PropertyDecl],
    thunk: fn(&World, &mut Frame<'_>) -> Result<(), CallError>,
) -> Rc<Function> {
    let function = FunctionDecl { params: params.to_vec(), ..FunctionDecl::new(name, native_thunk(thunk)) };
    let owner = ClassDecl { functions: vec![function], ..ClassDecl::new("Test", "Owner", "", Origin::Native) };
    declare(&world(), [owner]).remove(0).own_functions[0].clone()
}

/// Wraps a function as a thunk with access to the world.
pub fn native_thunk(body: fn(&World, &mut Frame<'_>) -> Result<(), CallError>) -> Thunk {
    Rc::new(move |context, frame| body(World::of(context), frame))
}

/// Wraps a function as a construction hook with access to the world.
pub fn native_hook(hook: fn(&World, ObjectHandle) -> Result<(), String>) -> NativeHook {
    Rc::new(move |context, object| hook(World::of(context), object))
}

/// Wraps a function as a destruction hook with access to the world.
pub fn end_hook(hook: fn(&World, ObjectHandle)) -> EndHook {
    Rc::new(move |context, object| hook(World::of(context), object))
}

/// Wraps a function as an `add_references` hook with access to the world.
pub fn references_hook(hook: fn(&World, ObjectHandle, &mut dyn FnMut(ObjectHandle))) -> AddReferences {
    Rc::new(move |context, object, visit| {
        hook(World::of(context), object, visit);
        Ok(())
    })
}

/// Deterministic pseudorandom number generator.
pub struct Dice(pub u64);

impl Dice {
    /// Returns a random number from 0 to `sides - 1`.
    pub fn roll(&mut self, sides: usize) -> usize {
        // Xorshift, by George Marsaglia.
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % sides
    }
}

/// Calls `round` `rounds` times, or for `ALCEDO_FUZZ_SECONDS` seconds if this variable is set. Each call receives a new generator. If a
/// call panics, prints the values of `ALCEDO_FUZZ_SEED` and `ALCEDO_FUZZ_FROM` that repeat the failed round.
pub fn fuzz(rounds: u64, mut round: impl FnMut(&mut Dice)) {
    let variable = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let (seed, from) = (variable("ALCEDO_FUZZ_SEED").unwrap_or(20_261_122), variable("ALCEDO_FUZZ_FROM").unwrap_or(0));
    let until = variable("ALCEDO_FUZZ_SECONDS").map(|seconds| Instant::now() + Duration::from_secs(seconds));
    let goes_on = |at: u64| until.map_or(at < from + rounds, |until| Instant::now() < until);
    let mut round_state = Round { seed, at: from };
    while goes_on(round_state.at) {
        // The seed is nonzero, and differs strongly from the seeds of neighboring rounds.
        let number =
            (seed ^ round_state.at.wrapping_mul(0x9e37_79b9_7f4a_7c15)).wrapping_mul(0xbf58_476d_1ce4_e5b9) | 1;
        round(&mut Dice(number));
        round_state.at += 1;
    }
    eprintln!("{} rounds", round_state.at - from);
}

/// Prints the current round during a panic.
struct Round {
    seed: u64,
    at: u64,
}

impl Drop for Round {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("ALCEDO_FUZZ_SEED={} ALCEDO_FUZZ_FROM={} plays it again", self.seed, self.at);
        }
    }
}
