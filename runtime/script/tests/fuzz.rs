//! Tests bytecode with random changes. The loader must reject the changed code, or the code must run. No change causes a panic, and the
//! machine stays usable. The changed code is compiled from real source, so the loader accepts much of it.

use alcedo_reflect::testing::{Dice, fuzz};
use alcedo_reflect::thunk::ParamBlock;
use alcedo_script::code::{Argument, FunctionCode, Ins, Reg, Register, Root, Step, Target};
use alcedo_script::{Limits, compile, library};
use alcedo_uc::{Options, Source, check};

use crate::package::Scripts;

const TEXT: &str = r#"
class Robot extends Machine;
struct Part { var string Title; var int Count; var array<int> Sizes; };
enum Mood { Calm, Angry };
var int Energy; var float Speed; var Part Main; var array<Part> Parts; var Robot Other; var Mood Feels; var array<string> Words;
var map<string, int> Known; var vector Spot;
delegate int Ask(int a) { return a + 1; }
function int Doubled(int a) { return a * 2; }
function int Loops(int n) { local int i, s; for (i = 0; i < n; i++) { if (i % 3 == 0) continue; s += i * 2 - Energy; } return s; }
function string Texts(string s) { local array<string> all; local string one, sum; all.AddItem(s); all.AddItem(s $ "x"); foreach all(one) sum $= one; return sum; }
function float Reals(float x) { local float y; y = x * 2 + 1; while (y > 1) y /= 3; Speed = y; return Speed + Energy; }
function int Fields(int a) { local Part p; p.Count = a; p.Sizes[2] = a; Main = p; Parts.AddItem(p); Parts[0].Count += Main.Count; return Parts[0].Sizes[2]; }
function int Calls(int a) { local int half; local string words; split(a, half, words); Ask = Doubled; return Ask(half) + add(a, Virtual1(a)); }
function int Virtual1(int a) { return a < 1 ? 0 : Virtual1(a - 1) + 1; }
function Robot Objects(Robot r) { local Robot other; other = new class'Robot'; other.Energy = 3; Other = other; other.Other = r; return Robot(other.Other); }
function int Wild(int a) { array_add(Words, "w"); array_set(Words, 2, "z", true); return array_find(Words, "z") + Len(array_get(Words, 0)); }
function int Maps(int a) { Known.Set("k" $ a, a); return Known.Find("k1") + Known.Length; }
function string Vectors(float x) { Spot.x = x; return string(Spot * 2 + vect(1, 2, 3)) $ (Spot dot vect(1, 0, 0)); }
function string Moods(int a) { Feels = a > 3 ? Angry : Calm; switch (Feels) { case Calm: return "c"; case Angry: return "a"; } return "?"; }
static function int Static1(int a) { return class'Robot'.default.Energy + a; }
"#;

/// Returns all registers that an instruction names.
fn registers(ins: &mut Ins) -> Vec<&mut Reg> {
    match ins {
        Ins::Nop | Ins::Jump { .. } | Ins::JumpIfPassed { .. } | Ins::Call { .. } | Ins::Fail { .. } | Ins::Return => {
            Vec::new()
        }
        Ins::Init { to } | Ins::SelfObject { to } | Ins::SelfClass { to } | Ins::Load { to, .. } => vec![to],
        Ins::Store { from, .. } => vec![from],
        Ins::SetLength { length, .. } => vec![length],
        Ins::JumpIf { condition, .. } => vec![condition],
        Ins::JumpCompare { left, right, .. } => vec![left, right],
        Ins::Copy { to, from }
        | Ins::Unary { to, from, .. }
        | Ins::Convert { to, from, .. }
        | Ins::Cast { to, from, .. } => {
            vec![to, from]
        }
        Ins::Binary { to, left, right, .. } => vec![to, left, right],
        Ins::ClassOf { to, object } => vec![to, object],
        Ins::Intrinsic { args, to, .. } => args.iter_mut().chain(to).collect(),
        Ins::Bind { to, object, .. } => std::iter::once(to).chain(object).collect(),
        Ins::New { to, class, outer, name, template } => {
            [to, class].into_iter().chain(outer).chain(name).chain(template).collect()
        }
    }
}

fn places(ins: &mut Ins) -> Option<&mut u16> {
    match ins {
        Ins::Load { place, .. }
        | Ins::Store { place, .. }
        | Ins::Intrinsic { place, .. }
        | Ins::SetLength { place, .. } => Some(place),
        Ins::Call { site } => Some(site),
        _ => None,
    }
}

fn jumps(ins: &mut Ins) -> Option<&mut u32> {
    match ins {
        Ins::Jump { to } | Ins::JumpIf { to, .. } | Ins::JumpCompare { to, .. } | Ins::JumpIfPassed { to, .. } => {
            Some(to)
        }
        _ => None,
    }
}

/// Changes the code of a function at a random position.
fn change(dice: &mut Dice, code: &mut FunctionCode, all: &[FunctionCode]) {
    let (count, count_ins) = (code.registers.len(), code.code.len());
    if count_ins == 0 || count == 0 {
        return;
    }
    let other = &all[dice.roll(all.len())];
    let at = dice.roll(count_ins);
    match dice.roll(12) {
        0..=3 => {
            let outside = usize::from(dice.roll(20) == 0);
            let to = dice.roll(count + outside) as Reg;
            let mut named = registers(&mut code.code[at]);
            let len = named.len();
            if len != 0 {
                *named.swap_remove(dice.roll(len)) = to;
            }
        }
        4 => {
            if let Some(place) = places(&mut code.code[at]) {
                *place = dice.roll(8) as u16;
            }
        }
        5 => {
            if let Some(to) = jumps(&mut code.code[at]) {
                *to = dice.roll(count_ins + 2) as u32;
            }
        }
        6 => code.code[at] = other.code[dice.roll(other.code.len())].clone(),
        7 => code.code.swap(at, dice.roll(count_ins)),
        8 => {
            let from = other.registers[dice.roll(other.registers.len())].clone();
            let to = dice.roll(count);
            code.registers[to] = match (from, dice.roll(3)) {
                (Register::Value { ty, .. }, 0) => {
                    Register::Const { ty, value: alcedo_uc::hir::Const::Int(dice.roll(300) as i128) }
                }
                (from, _) => from,
            };
        }
        9 => {
            if let Some(from) = other.places.get(dice.roll(other.places.len().max(1))) {
                code.places.push(from.clone());
            }
            let len = code.places.len();
            if len != 0 {
                let place = &mut code.places[dice.roll(len)];
                let reg = dice.roll(count) as Reg;
                match dice.roll(5) {
                    0 => place.root = Root::Register(reg),
                    1 => place.steps.push(Step::Element(reg)),
                    2 => place.steps.push(Step::Field("Count".to_owned())),
                    3 => {
                        place.steps.pop();
                    }
                    _ => place.root = Root::Of(reg, "/Script/Scripts.Robot".into(), "Energy".to_owned()),
                }
            }
        }
        10 => {
            let len = code.calls.len();
            if len != 0 {
                let site = &mut code.calls[dice.roll(len)];
                let (reg, args) = (dice.roll(count) as Reg, site.args.len());
                if dice.roll(3) == 0 || args == 0 {
                    site.to = (dice.roll(2) == 0).then_some(reg);
                } else {
                    site.args[dice.roll(args)] = match dice.roll(5) {
                        0 => Argument::Out(reg),
                        1 => Argument::Skipped,
                        2 => Argument::Place(dice.roll(4) as u16),
                        _ => Argument::In(reg),
                    };
                }
            }
        }
        _ => {
            if let Some(site) = other.calls.get(dice.roll(other.calls.len().max(1))) {
                let mut site = site.clone();
                if dice.roll(2) == 0
                    && let Target::Virtual(_, path) = &site.callee
                {
                    site.callee = Target::Final(None, path.clone());
                }
                code.calls.push(site);
            }
        }
    }
}

#[test]
fn changed_bytecode_is_refused_or_runs() {
    let limits = Limits { depth: 20, entries: 8, rounds: 500, memory: 1 << 16, value: 1 << 20, values: 1 << 24 };
    let scripts = Scripts::with_limits(limits);
    let class = scripts.load("Scripts", &[("Robot.uc", TEXT)]).remove(0);
    let robot = scripts.object(&class);
    let sources = [Source::new("Robot.uc", TEXT)];
    let libraries = library::PATHS.iter().map(|path| (*path).to_owned()).collect();
    let options = Options { libraries, ignore_flags: true, ..Options::default() };
    let mut checked = check("Scripts", &sources, &scripts.world.types, &options).expect("the text is right");
    let all = compile(&mut checked.package).expect("small functions");
    let (mut refused, mut ran, mut failed) = (0, 0, 0);
    fuzz(4_000, |dice| {
        let mut code = all[dice.roll(all.len())].clone();
        for _ in 0..=dice.roll(4) {
            change(dice, &mut code, &all);
        }
        let path = code.path.clone();
        match scripts.machine.load(&scripts.world, &[code]) {
            Err(_) => refused += 1,
            Ok(compiled) => {
                let function = scripts.world.types.function_by_path(&path).expect("it is declared");
                let thunk = compiled.thunk(&path).expect("it has a body");
                let mut block = ParamBlock::new(&function);
                if function
                    .arguments()
                    .first()
                    .is_some_and(|param| param.ty.kind() == alcedo_abi::kinds::PropertyKind::I32)
                {
                    block.put(0, dice.roll(9) as i32).expect("a whole number");
                }
                scripts.swap(&path, thunk);
                match function.invoke(&scripts.world, robot, &mut block) {
                    Ok(()) => ran += 1,
                    Err(_) => failed += 1,
                }
                assert!(!scripts.machine.is_running(), "{path} left a frame");
            }
        }
        // Restores the original code, because further functions call this code.
        scripts.machine.load(&scripts.world, &all).map(|compiled| scripts.keep(compiled)).expect("the code is right");
    });
    assert!(refused > 100 && ran > 100, "{refused} refused, {ran} ran, {failed} failed");
}
