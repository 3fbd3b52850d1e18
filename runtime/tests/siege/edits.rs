//! Random edits of scripts, and their undo.
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use alcedo_runtime::{Budget, EnumValue, ObjectHandle, Runtime, Value};

use crate::{Rng, env, short, support};

#[derive(Clone, PartialEq, Debug)]
enum Ty {
    Int,
    Byte,
    I64,
    F32,
    F64,
    Bool,
    Str,
    Name,
    Enum,
    Struct(usize),
    Foe,
    Weak,
    Class,
    Arr(Box<Ty>),
    Set(Box<Ty>),
    Map(Box<Ty>, Box<Ty>),
    Opt(Box<Ty>),
    Fixed(Box<Ty>, usize),
}
use Ty::*;

impl Ty {
    fn simple(rng: &mut Rng) -> Self {
        match rng.below(10) {
            0 => Int,
            1 => Byte,
            2 => I64,
            3 => F32,
            4 => F64,
            5 => Bool,
            6 => Str,
            7 => Name,
            8 => Enum,
            _ => Int,
        }
    }
    fn key(rng: &mut Rng) -> Self {
        match rng.below(7) {
            0 => Int,
            1 => Byte,
            2 => I64,
            3 => Str,
            4 => Name,
            5 => Enum,
            _ => Foe,
        }
    }
    /// `deepest`: structs below this number may be used.
    fn any(rng: &mut Rng, deepest: usize, depth: usize) -> Self {
        // `NOSTRUCT=1` leaves out the structs.
        let deepest = if env("NOSTRUCT", 0) == 1 { 0 } else { deepest };
        match rng.below(if depth == 0 { 9 } else { 16 }) {
            0..=3 => Self::simple(rng),
            4 if deepest > 0 => Struct(rng.below(deepest)),
            5 if deepest > 0 => Struct(rng.below(deepest)),
            6 => Foe,
            7 => Weak,
            8 => Class,
            9 | 10 => Arr(Box::new(Self::any(rng, deepest, depth - 1))),
            11 => Set(Box::new(Self::key(rng))),
            12 => Map(Box::new(Self::key(rng)), Box::new(Self::any(rng, deepest, depth - 1))),
            13 => Opt(Box::new(Self::any(rng, deepest, depth - 1))),
            14 | 15 if depth == 2 => Fixed(
                Box::new(match rng.below(3) {
                    0 if deepest > 0 => Struct(rng.below(deepest)),
                    _ => Self::simple(rng),
                }),
                2 + rng.below(5),
            ),
            _ => Self::simple(rng),
        }
    }
    fn text(&self) -> String {
        match self {
            Int => "int".into(),
            Byte => "byte".into(),
            I64 => "i64".into(),
            F32 => "float".into(),
            F64 => "double".into(),
            Bool => "bool".into(),
            Str => "string".into(),
            Name => "name".into(),
            Enum => "EMood".into(),
            Struct(n) => format!("S{n}"),
            Foe => "Base".into(),
            Weak => "weak<Base>".into(),
            Class => "class<Base>".into(),
            Arr(t) => format!("array< {} >", t.text()),
            Set(t) => format!("set< {} >", t.text()),
            Map(k, v) => format!("map< {}, {} >", k.text(), v.text()),
            Opt(t) => format!("optional< {} >", t.text()),
            Fixed(t, _) => t.text(),
        }
    }
    fn names_struct(&self, n: usize) -> bool {
        match self {
            Struct(m) => *m == n,
            Arr(t) | Opt(t) | Set(t) | Fixed(t, _) => t.names_struct(n),
            Map(k, v) => k.names_struct(n) || v.names_struct(n),
            _ => false,
        }
    }
}

type Vars = Vec<(String, Ty)>;

fn vars(all: &Vars) -> String {
    all.iter()
        .map(|(name, ty)| match ty {
            Fixed(of, n) => format!("var {} {name}[{n}];\n", of.text()),
            ty => format!("var {} {name};\n", ty.text()),
        })
        .collect()
}

#[derive(Clone, Debug)]
struct Model {
    structs: Vec<Option<(Vars, bool)>>,
    entries: Vec<String>,
    /// Base, Foe extends Base, Bar extends Foe
    classes: Vec<Option<(Vars, Option<usize>)>>,
    package: bool,
    /// A package that uses the types of this one, and does not change itself.
    saga: Option<bool>,
}

const CLASSES: [&str; 3] = ["Base", "Foe", "Bar"];

impl Model {
    fn new(rng: &mut Rng) -> Self {
        let mut field = 0;
        let mut some = |rng: &mut Rng, deepest: usize, count: usize, letter: char| -> Vars {
            (0..count)
                .map(|_| {
                    field += 1;
                    (format!("{letter}{field}"), Ty::any(rng, deepest, 2))
                })
                .collect()
        };
        let mut structs = Vec::new();
        for at in 0..3 {
            let count = 1 + rng.below(env("VARS", 4) as usize);
            structs.push(Some((some(rng, at, count, 'F'), at > 0 && rng.one_in(3))));
        }
        let mut classes = Vec::new();
        for at in 0..3_usize {
            let count = 1 + rng.below(env("VARS", 4) as usize);
            classes.push(Some((some(rng, 3, count, 'V'), at.checked_sub(1))));
        }
        Self {
            structs,
            entries: ["MA", "MB", "MC", "MD"].map(String::from).to_vec(),
            classes,
            package: true,
            saga: None,
        }
    }
    fn files(&self) -> Vec<(String, String)> {
        let mut all = Vec::new();
        let mut head = format!("enum EMood {{ {} }};\n", self.entries.join(", "));
        for (at, one) in self.structs.iter().enumerate() {
            if let Some((fields, extends)) = one {
                let extends = if *extends { format!(" extends S{}", at - 1) } else { String::new() };
                head += &format!("struct S{at}{extends} {{\n{}}};\n", vars(fields));
            }
        }
        // Types stand in a class of their own.
        all.push(("Types.uc".to_owned(), format!("class Types extends Actor;\n{head}")));
        for (at, one) in self.classes.iter().enumerate() {
            if let Some((all_vars, base)) = one {
                let base = base.map_or("Actor", |base| CLASSES[base]);
                all.push((
                    format!("{}.uc", CLASSES[at]),
                    format!("class {} extends {base};\n{}", CLASSES[at], vars(all_vars)),
                ));
            }
        }
        all
    }
    fn every(&mut self) -> Vec<&mut Vars> {
        let structs = self.structs.iter_mut().flatten().map(|it| &mut it.0);
        structs.chain(self.classes.iter_mut().flatten().map(|it| &mut it.0)).collect()
    }
    fn mutate(&mut self, rng: &mut Rng, fresh: &mut usize) -> &'static str {
        let kind = rng.below(if self.saga.is_some() { 20 } else { 17 });
        let nstructs = self.structs.len();
        let pick = rng.below(6);
        let in_struct = pick < nstructs;
        let deepest = if in_struct { pick } else { nstructs };
        // No struct that is gone.
        let deepest = if self.structs.iter().all(Option::is_some) { deepest } else { 0 };
        let target: Option<&mut Vars> = if in_struct {
            self.structs[pick].as_mut().map(|it| &mut it.0)
        } else {
            self.classes[pick - nstructs].as_mut().map(|it| &mut it.0)
        };
        match (kind, target) {
            (0 | 1, Some(list)) if !list.is_empty() && !(in_struct && list.len() == 1) => {
                let at = rng.below(list.len());
                list.remove(at);
                "remove"
            }
            (2, Some(list)) => {
                *fresh += 1;
                let at = rng.below(list.len() + 1);
                list.insert(at, (format!("N{fresh}"), Ty::any(rng, deepest, 2)));
                "add"
            }
            (3 | 4, Some(list)) if !list.is_empty() => {
                let at = rng.below(list.len());
                list[at].1 = Ty::any(rng, deepest, 2);
                "retype"
            }
            (5, Some(list)) if list.len() > 1 => {
                let at = rng.below(list.len());
                let one = list.remove(at);
                list.insert(0, one);
                "reorder"
            }
            (6 | 7, Some(list)) => {
                for (_, ty) in list.iter_mut() {
                    if let Fixed(_, n) = ty {
                        *n = 1 + rng.below(8);
                    }
                }
                "length"
            }
            (8, _) if self.entries.len() > 2 => {
                let at = rng.below(self.entries.len());
                self.entries.remove(at);
                "entry removed"
            }
            (9, _) => {
                *fresh += 1;
                let at = rng.below(self.entries.len());
                self.entries.insert(at, format!("M{fresh}"));
                "entry added"
            }
            (10, _) => {
                let at = 1 + rng.below(2);
                if let Some(one) = &mut self.structs[at] {
                    one.1 = !one.1;
                }
                "struct base"
            }
            (11, _) => {
                let at = rng.below(3);
                self.structs[at] = None;
                if let Some(Some(next)) = self.structs.get_mut(at + 1) {
                    next.1 = false;
                }
                let all = rng.one_in(2);
                for list in self.every() {
                    list.retain(|(_, ty)| !ty.names_struct(at));
                }
                // A struct has a field.
                for list in self.structs.iter_mut().flatten() {
                    if list.0.is_empty() {
                        list.0.push(("Filler".into(), Int));
                    }
                }
                "struct gone"
            }
            (12, _) => {
                self.classes[2] = None;
                "Bar gone"
            }
            (13, _) => {
                if let Some(bar) = &mut self.classes[2] {
                    bar.1 = *rng.of(&[None, Some(0)]);
                }
                "Bar's base"
            }
            (14, _) => {
                self.classes[1] = None;
                if let Some(bar) = &mut self.classes[2] {
                    if bar.1 == Some(1) {
                        bar.1 = Some(0);
                    }
                }
                "Foe gone"
            }
            (15, _) => {
                let (from, to) = *rng.of(&[(0, 1), (1, 0), (1, 2), (2, 1), (0, 2), (2, 0)]);
                if self.classes[from].is_some() && self.classes[to].is_some() {
                    let list = &mut self.classes[from].as_mut().expect("there").0;
                    if !list.is_empty() {
                        let at = rng.below(list.len());
                        let one = list.remove(at);
                        self.classes[to].as_mut().expect("there").0.push(one);
                    }
                }
                "moved"
            }
            (16, _) => {
                self.package = false;
                if self.saga.is_some() {
                    self.saga = Some(false);
                }
                "package gone"
            }
            (17.., _) => {
                self.saga = self.saga.map(|it| !it && self.package);
                "saga"
            }
            _ => "nothing",
        }
    }
}

/// What the class of the other package has.
fn hero() -> Vars {
    [
        ("H1", Arr(Box::new(Struct(0)))),
        ("H2", Map(Box::new(Foe), Box::new(Struct(1)))),
        ("H3", Enum),
        ("H4", Map(Box::new(Enum), Box::new(Int))),
        ("H5", Struct(2)),
        ("H6", Class),
        ("H7", Opt(Box::new(Struct(0)))),
        ("H8", Foe),
    ]
    .map(|(name, ty)| (name.to_owned(), ty))
    .to_vec()
}

struct Scene {
    _dir: tempfile::TempDir,
    tale: PathBuf,
    rest: PathBuf,
    saga: PathBuf,
    host: Runtime,
}

impl Scene {
    fn new() -> Self {
        let dir = tempfile::tempdir().expect("a folder");
        let (tale, rest, saga) = (dir.path().join("Tale"), dir.path().join("Rest"), dir.path().join("Saga"));
        fs::create_dir(&saga).expect("made");
        fs::write(saga.join("Hero.uc"), format!("class Hero extends Bar;\n{}", vars(&hero()))).expect("written");
        fs::create_dir(&tale).expect("made");
        fs::create_dir(&rest).expect("made");
        fs::write(rest.join("Idle.uc"), "class Idle extends Actor;\nvar int X;\n").expect("written");
        let host = support::builder().package("Tale").package("Rest").package("Saga").build().expect("a host");
        Self { _dir: dir, tale, rest, saga, host }
    }
    fn write(&self, model: &Model) {
        for entry in fs::read_dir(&self.tale).expect("read") {
            fs::remove_file(entry.expect("one").path()).expect("gone");
        }
        for (name, text) in model.files() {
            fs::write(self.tale.join(name), text).expect("written");
        }
    }
    fn libraries(&self, model: &Model) -> Vec<PathBuf> {
        let mut all = if model.package { vec![self.tale.clone(), self.rest.clone()] } else { vec![self.rest.clone()] };
        if model.saga == Some(true) {
            all.push(self.saga.clone());
        }
        all
    }
}

fn value(rng: &mut Rng, ty: &Ty, model: &Model, host: &Runtime, objects: &[ObjectHandle]) -> Value {
    match ty {
        Int => Value::I32(1 + (rng.next() as i32 & if rng.one_in(2) { 0x7f } else { 0x7fff_fff })),
        Byte => Value::U8(1 + (rng.next() % 250) as u8),
        I64 => Value::I64(1 + (rng.next() as i64 & if rng.one_in(2) { 0xff } else { i64::MAX >> 4 })),
        F32 => Value::F32(if rng.one_in(2) { 0.1 } else { 3.0 } + rng.below(100) as f32),
        F64 => Value::F64(if rng.one_in(2) { 0.1 } else { 3.0 } + rng.below(100) as f64),
        Bool => Value::Bool(true),
        Str => Value::Text(format!("t{}", rng.below(1000))),
        Name => Value::Name(host.intern(&format!("n{}", rng.below(1000)))),
        Enum => Value::Enum(EnumValue::named(rng.of(&model.entries).as_str())),
        Struct(n) => {
            let mut fields = Vec::new();
            all_fields(*n, model, &mut fields);
            Value::Struct(
                fields
                    .into_iter()
                    .map(|(name, ty)| (name.as_str().into(), value(rng, &ty, model, host, objects)))
                    .collect(),
            )
        }
        Foe => Value::Object(*rng.of(objects)),
        Weak => Value::WeakObject(*rng.of(objects)),
        Class => Value::SubclassOf(host.intern(&format!("/Script/Tale.{}", rng.of(&CLASSES)))),
        Arr(t) => Value::Array((0..1 + rng.below(3)).map(|_| value(rng, t, model, host, objects)).collect()),
        Fixed(t, n) => Value::Array((0..*n).map(|_| value(rng, t, model, host, objects)).collect()),
        Set(t) => {
            let mut all: Vec<Value> = Vec::new();
            for _ in 0..1 + rng.below(3) {
                let one = value(rng, t, model, host, objects);
                if !all.contains(&one) {
                    all.push(one);
                }
            }
            Value::Set(all)
        }
        Map(k, v) => {
            let mut all: Vec<(Value, Value)> = Vec::new();
            for _ in 0..1 + rng.below(3) {
                let one = value(rng, k, model, host, objects);
                if !all.iter().any(|it| it.0 == one) {
                    let v = value(rng, v, model, host, objects);
                    all.push((one, v));
                }
            }
            Value::Map(all)
        }
        Opt(t) => Value::Optional(Some(Box::new(value(rng, t, model, host, objects)))),
    }
}

fn all_fields(n: usize, model: &Model, into: &mut Vars) {
    if let Some((fields, extends)) = &model.structs[n] {
        if *extends {
            all_fields(n - 1, model, into);
        }
        into.extend(fields.iter().cloned());
    }
}

/// Order of sets and maps is none.
fn plain(value: &Value) -> String {
    match value {
        Value::Set(all) => {
            let mut all: Vec<_> = all.iter().map(plain).collect();
            all.sort();
            format!("Set{all:?}")
        }
        Value::Map(all) => {
            let mut all: Vec<_> = all.iter().map(|(k, v)| format!("{}={}", plain(k), plain(v))).collect();
            all.sort();
            format!("Map{all:?}")
        }
        Value::Array(all) => format!("Array{:?}", all.iter().map(plain).collect::<Vec<_>>()),
        Value::Struct(all) => {
            let mut all: Vec<_> = all.iter().map(|(k, v)| format!("{k:?}={}", plain(v))).collect();
            all.sort();
            format!("Struct{all:?}")
        }
        Value::Optional(Some(one)) => format!("Some({})", plain(one)),
        Value::Enum(one) => format!("Enum({})", one.text),
        other => format!("{other:?}"),
    }
}

fn show(host: &Runtime, objects: &[ObjectHandle]) -> Vec<(String, String)> {
    let mut all = Vec::new();
    for object in objects {
        for name in host.objects().properties_of(*object) {
            let value = host.objects().get(*object, &name);
            all.push((
                format!("{} {name}", host.objects().name_of(*object).unwrap_or_default()),
                value.map_or_else(|e| format!("error {e}"), |it| plain(&it)),
            ));
        }
    }
    all.sort();
    all
}

/// How a chain of edits goes: there and back by the same way, or back in one leap.
fn run(
    seed: u64,
    leap: bool,
    verbose: bool,
    changed_only: bool,
    world: bool,
    saga: bool,
) -> Result<&'static str, String> {
    let mut rng = Rng(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    for _ in 0..5 {
        rng.next();
    }
    let scene = Scene::new();
    let mut first = Model::new(&mut rng);
    first.saga = saga.then_some(true);
    scene.write(&first);
    let host = &scene.host;
    if let Err(error) = host.create_master(&scene.libraries(&first)) {
        return if verbose { Err(format!("refused: {error}\n{:?}", first.files())) } else { Ok("first refused") };
    }
    let mut objects = Vec::new();
    for at in 0..6 {
        objects.push(host.objects().spawn(&format!("/Script/Tale.{}", CLASSES[at % 3])).map_err(|e| e.to_string())?);
        assert!(host.objects().is_root(objects[at]) || host.objects().add_root(objects[at]));
    }
    for at in 0..6 {
        let mut class = Some(at % 3);
        while let Some(of) = class {
            let (list, base) = first.classes[of].as_ref().expect("there");
            for (name, ty) in list {
                let value = value(&mut rng, ty, &first, host, &objects);
                if let Err(error) = host.objects().set(objects[at], name, &value) {
                    return Err(format!("set {name} {ty:?} {value:?}: {error}"));
                }
            }
            class = *base;
        }
    }
    if saga {
        for _ in 0..2 {
            let it = host.objects().spawn("/Script/Saga.Hero").map_err(|e| e.to_string())?;
            assert!(host.objects().is_root(it) || host.objects().add_root(it));
            objects.push(it);
            let mut all = hero();
            for (list, _) in first.classes.iter().flatten() {
                all.extend(list.iter().cloned());
            }
            for (name, ty) in &all {
                let value = value(&mut rng, ty, &first, host, &objects);
                if let Err(error) = host.objects().set(it, name, &value) {
                    return Err(format!("set {name} {ty:?} {value:?}: {error}"));
                }
            }
        }
    }
    let before = show(host, &objects);
    let steps = 1 + rng.below(env("STEPS", 3) as usize);
    let mut models = vec![first.clone()];
    let mut fresh = 0;
    let mut told = Vec::new();
    for _ in 0..steps {
        let mut next = models.last().expect("one").clone();
        let mut what = Vec::new();
        for _ in 0..1 + rng.below(env("EDITS", 3) as usize) {
            what.push(next.mutate(&mut rng, &mut fresh));
        }
        told.push(what);
        models.push(next);
    }
    let mut way: Vec<Model> = models[1..].to_vec();
    if !leap {
        way.extend(models[1..models.len() - 1].iter().rev().cloned());
    }
    way.push(first.clone());
    let mut refused = 0;
    let mut reports = Vec::new();
    let mut middle = Vec::new();
    for model in &way {
        scene.write(model);
        let libraries = scene.libraries(model);
        let report = if changed_only { host.reload_changed(&libraries) } else { host.reload(&libraries) };
        let report = report.map_err(|e| format!("reload: {e}"))?;
        if !report.is_committed() {
            refused += 1;
            if verbose {
                eprintln!("refused: {report}");
            }
        }
        reports.push(report.to_string());
        if world && rng.one_in(2) {
            host.collection().collect().map_err(|e| format!("collect: {e}"))?;
        }
        if verbose {
            middle.push(show(host, &objects));
        }
    }
    let after = show(host, &objects);
    if before != after {
        let mut text = format!("seed {seed} leap {leap}: {told:?} refused {refused}\n");
        for (name, value) in &before {
            let now = after.iter().find(|it| it.0 == *name).map(|it| it.1.clone());
            if now.as_ref() != Some(value) {
                let now = now.unwrap_or_default().replace('\\', "").replace('"', "");
                let was = value.replace('\\', "").replace('"', "");
                let at = was.chars().zip(now.chars()).take_while(|it| it.0 == it.1).count().saturating_sub(60);
                let part = |it: &str| it.chars().skip(at).take(160).collect::<String>();
                text += &format!("  LOST {name}:\n     {}\n     {}\n", part(&was), part(&now));
            }
        }
        if verbose {
            for (at, model) in std::iter::once(&first).chain(&way).enumerate() {
                text += &format!("--- step {at} package {}\n", model.package);
                for (name, it) in model.files() {
                    text += &format!("{name}: {it}\n");
                }
                if at > 0 {
                    text += &format!("report: {}\n", reports[at - 1]);
                    for (name, value) in &middle[at - 1] {
                        text += &format!("      {name} = {}\n", short(value.clone()));
                    }
                }
            }
        }
        return Err(text);
    }
    host.clone().shutdown();
    Ok(if refused > 0 { "some refused" } else { "same" })
}

fn campaign(leap: bool, changed_only: bool, world: bool, saga: bool) {
    let verbose = std::env::var_os("SEED").is_some();
    let until = Instant::now() + Duration::from_secs(env("SECS", 60));
    let (from, mut counts, mut lost) =
        (env("SEED", env("FROM", 1)), std::collections::BTreeMap::<String, u32>::new(), 0);
    for seed in from.. {
        match std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            run(seed, leap, verbose, changed_only, world, saga)
        })) {
            Ok(Ok(how)) => *counts.entry(how.to_owned()).or_default() += 1,
            Ok(Err(text)) => {
                lost += 1;
                eprintln!("{text}");
            }
            Err(_) => {
                lost += 1;
                eprintln!("seed {seed} panicked");
            }
        }
        if verbose || Instant::now() > until || lost > 30 {
            break;
        }
    }
    eprintln!("{counts:?} lost {lost}");
    assert_eq!(lost, 0);
}

#[test]
fn e01_there_and_back_by_the_same_way() {
    campaign(false, false, false, false);
}
#[test]
fn e02_back_in_one_leap() {
    campaign(true, false, false, false);
}
#[test]
fn e03_changed_only() {
    campaign(false, true, false, false);
}
#[test]
fn e04_with_collections() {
    campaign(true, false, true, false);
}
#[test]
fn e07_two_packages() {
    campaign(false, false, true, true);
}
#[test]
fn e08_two_packages_changed_only() {
    campaign(false, true, false, true);
}

/// Many objects whose base class is gone for a while, and then has another layout.
#[test]
fn e05_a_hundred_thousand_sleep() {
    let scene = Scene::new();
    let text = "class Base extends Actor;\nvar int A;\nvar string B;\nvar array<int> C;\n";
    let foe = "class Foe extends Base;\nvar int D[4];\nvar map<name, int> E;\n";
    fs::write(scene.tale.join("Base.uc"), text).expect("written");
    fs::write(scene.tale.join("Foe.uc"), foe).expect("written");
    let host = &scene.host;
    let both = [scene.tale.clone(), scene.rest.clone()];
    host.create_master(&both).unwrap_or_else(|e| panic!("{e}"));
    let n = env("N", 100_000) as i32;
    let objects: Vec<_> = (0..n)
        .map(|at| {
            let it =
                host.objects().spawn(if at % 2 == 0 { "/Script/Tale.Foe" } else { "/Script/Tale.Base" }).expect("born");
            host.objects().set(it, "A", &Value::I32(at)).expect("set");
            host.objects().set(it, "B", &Value::Text(format!("text {at}"))).expect("set");
            if at % 2 == 0 {
                host.objects().set(it, "D", &Value::Array((0..4).map(|k| Value::I32(at + k)).collect())).expect("set");
            }
            it
        })
        .collect();
    let check = |when: &str| {
        let mut wrong = 0;
        for (at, it) in objects.iter().enumerate() {
            let a = host.objects().get(*it, "A").ok();
            let b = host.objects().get(*it, "B").ok();
            let d = if at % 2 == 0 { host.objects().get(*it, "D").ok() } else { None };
            let right = a == Some(Value::I32(at as i32))
                && b == Some(Value::Text(format!("text {at}")))
                && (at % 2 == 1 || d == Some(Value::Array((0..4).map(|k| Value::I32(at as i32 + k)).collect())));
            wrong += usize::from(!right);
        }
        eprintln!("{when}: {wrong} wrong of {}", objects.len());
        wrong
    };
    assert_eq!(check("before"), 0);
    for (name, write) in [
        ("base gone", (None, None)),
        ("foe gone", (Some(text.to_owned()), None)),
        ("shrunk", (Some(text.replace("var int A;\n", "")), Some(foe.replace("[4]", "[2]")))),
        (
            "retyped",
            (
                Some(text.replace("int A", "byte A").replace("string B", "int B")),
                Some(foe.replace("int D", "string D")),
            ),
        ),
    ] {
        let put = |file: &str, text: &Option<String>| {
            let file = scene.tale.join(file);
            match text {
                Some(text) => fs::write(file, text).expect("written"),
                None => drop(fs::remove_file(file)),
            }
        };
        put("Base.uc", &write.0);
        put("Foe.uc", &write.1);
        let began = Instant::now();
        let libraries = if write.0.is_none() { vec![scene.rest.clone()] } else { both.to_vec() };
        let report = host.reload(&libraries).unwrap_or_else(|e| panic!("{e}"));
        eprintln!("{name}: {report} in {:?}", began.elapsed());
        put("Base.uc", &Some(text.to_owned()));
        put("Foe.uc", &Some(foe.to_owned()));
        let began = Instant::now();
        let report = host.reload(&both).unwrap_or_else(|e| panic!("{e}"));
        eprintln!("back: {} in {:?}", report.is_committed(), began.elapsed());
        assert_eq!(check(name), 0);
    }
    host.clone().shutdown();
}

/// Sources that are changed at random: told, and never more than that.
#[test]
fn e06_sources_that_are_changed_at_random() {
    let mut sources = Vec::new();
    let examples = support::examples().join("../example-scripts");
    let mut folders = vec![examples];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|it| it == "uc") {
                sources.push(fs::read_to_string(path).expect("text"));
            }
        }
    }
    sources.push("class Foe extends Actor;\nenum EMood { A, B, C };\nstruct Row { var int X[4]; var string T; };\nvar EMood Mood;\nvar array<Row> Rows;\nvar map<int, string> M;\nvar optional<int> O;\nvar int Fixed[4];\ndelegate int OnX(int A);\nfunction int F(optional int A = 5, out string T) { local Row R; local int I; foreach Fixed(I) { R.X[I & 3] = I; } switch (Mood) { case A: return 1; case B: break; default: return OnX(A); } do { A--; } until (A < 0); T = T $ A; return A > 2 ? Rows.Length : M.Length; }\ndefaultproperties\n{\nFixed(2)=4\nRows.Add((X[1]=5,T=\"x\"))\nMood=B\n}\n".to_owned());
    let tokens: Vec<String> = sources
        .iter()
        .flat_map(|it| it.split_inclusive(|c: char| !c.is_alphanumeric()).map(String::from).collect::<Vec<_>>())
        .collect();
    eprintln!("{} sources {} tokens", sources.len(), tokens.len());
    let until = Instant::now() + Duration::from_secs(env("SECS", 60));
    let scene = Scene::new();
    scene.host.create_master(&[scene.rest.clone()]).expect("made");
    let (mut tries, mut loaded, mut slow) = (0, 0, Duration::ZERO);
    for seed in env("SEED", 1).. {
        let mut rng = Rng(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let source = rng.of(&sources).clone();
        let mut parts: Vec<String> = source.split_inclusive(|c: char| !c.is_alphanumeric()).map(String::from).collect();
        for _ in 0..1 + rng.below(6) {
            if parts.is_empty() {
                break;
            }
            let at = rng.below(parts.len());
            match rng.below(6) {
                0 => drop(parts.remove(at)),
                1 => parts.insert(at, rng.of(&tokens).clone()),
                2 => parts[at] = rng.of(&tokens).clone(),
                3 => {
                    let other = rng.below(parts.len());
                    parts.swap(at, other);
                }
                4 => {
                    parts[at] = rng
                        .of(&[
                            "-2147483648",
                            "1e999",
                            "\"",
                            "'",
                            "{",
                            "}",
                            "(",
                            ")",
                            "[",
                            "]",
                            "\u{0}",
                            "\u{feff}",
                            "é",
                            "/*",
                            "*/",
                            "//",
                            "`",
                            "<",
                            ">",
                            "99999999999999999999",
                            "0x",
                            ".",
                            "self",
                            "super",
                            "class'Foe'",
                            "extends",
                            "out",
                            "[0]",
                            "none",
                            "++",
                            "-",
                            "?",
                            ":",
                            ";",
                            "\n",
                            "defaultproperties",
                            "Begin Object",
                            "var",
                            "[2147483647]",
                            "[0]",
                        ])
                        .to_string()
                }
                _ => {
                    let end = (at + 1 + rng.below(30)).min(parts.len());
                    let copy: Vec<String> = parts[at..end].to_vec();
                    let to = rng.below(parts.len());
                    parts.splice(to..to, copy);
                }
            }
        }
        let text: String = parts.concat();
        let name = text
            .split("class ")
            .nth(1)
            .and_then(|it| it.split(|c: char| !c.is_alphanumeric()).next())
            .unwrap_or("Foe")
            .to_owned();
        let name = if name.is_empty() || name.len() > 50 { "Foe".to_owned() } else { name };
        for entry in fs::read_dir(&scene.tale).expect("read") {
            fs::remove_file(entry.expect("one").path()).expect("gone");
        }
        fs::write(scene.tale.join(format!("{name}.uc")), &text).expect("written");
        tries += 1;
        let began = Instant::now();
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            scene.host.reload(&[scene.tale.clone(), scene.rest.clone()])
        }));
        slow = slow.max(began.elapsed());
        match result {
            Ok(Ok(report)) if report.is_committed() => {
                loaded += 1;
                if let Ok(it) = scene.host.objects().spawn(&format!("/Script/Tale.{name}")) {
                    scene.host.objects().destroy(it);
                }
            }
            Ok(Ok(report)) => {
                let told = report.to_string();
                if told.contains("panicked") || told.contains("internal") {
                    eprintln!("seed {seed}: {}\n{text}", short(told));
                }
            }
            Ok(Err(error)) => eprintln!("seed {seed}: error {}", short(error.to_string())),
            Err(_) => {
                eprintln!("seed {seed} panicked:\n{text}");
            }
        }
        if Instant::now() > until {
            break;
        }
    }
    eprintln!("{tries} tries, {loaded} loaded, slowest {slow:?}");
    scene.host.shutdown();
}

/// One edit of the types and its undo, for a hand-made case.
fn undone(types: &str, var: &str, edits: &[(&str, &str)], make: &str) -> String {
    let scene = Scene::new();
    let write = |text: &str| fs::write(scene.tale.join("Foe.uc"), text).expect("written");
    let one = format!("class Foe extends Actor;\n{types}\n{var}\nfunction Fill() {{ {make} }}\n");
    // Without the function, which may not fit.
    let bare = one[..one.find("function").expect("there")].to_owned();
    write(&one);
    let host = &scene.host;
    let libraries = [scene.tale.clone(), scene.rest.clone()];
    if let Err(error) = host.create_master(&libraries) {
        return format!("refused: {error}");
    }
    let foe = host.objects().spawn("/Script/Tale.Foe").expect("born");
    if let Err(error) = host.objects().call(foe, "Fill", &[]) {
        return format!("refused: {error}");
    }
    let show = || host.objects().get(foe, "V").map_or_else(|e| e.to_string(), |it| plain(&it));
    let before = show();
    let mut told = String::new();
    let mut middle = Vec::new();
    for edit in edits.iter().map(|it| bare.replace(it.0, it.1)).chain([bare.clone()]) {
        write(&edit);
        let report = host.reload(&libraries).expect("a Master");
        if !report.is_committed() {
            told += &format!("REFUSED {report} ");
        }
        middle.push(show());
        told += &format!(
            "{:?} ",
            report
                .properties
                .iter()
                .map(|it| format!(
                    "{} {}: kept {} dormant {} defaulted {}",
                    it.property, it.change, it.kept, it.dormant, it.defaulted
                ))
                .collect::<Vec<_>>()
        );
    }
    let after = show();
    host.clone().shutdown();
    let clean = |it: &str| it.replace('\\', "").replace('"', "");
    if before == after {
        "same".to_owned()
    } else {
        format!(
            "LOST\n   {}\n   {}\n   report {told}",
            clean(&before),
            middle.iter().map(|it| clean(it)).collect::<Vec<_>>().join("\n   ")
        )
    }
}

#[test]
fn e09_hand_made() {
    let entry = [(", MD }", " }")];
    for (name, types, var, make) in [
        (
            "array of maps in a struct in a map",
            "enum EMood { MA, MB, MD };\nstruct S { var array< map<EMood, bool> > F; };",
            "var map<int, S> V;",
            "local S L; L.F.Length = 2; L.F[0].Set(MD, true); L.F[1].Set(MB, true); V.Set(1, L);",
        ),
        (
            "the same beside a fixed array",
            "enum EMood { MA, MB, MD };\nstruct S { var int X[6]; var array< map<EMood, bool> > F; };",
            "var map<int, S> V;",
            "local S L; L.X[5] = 7; L.F.Length = 2; L.F[0].Set(MD, true); L.F[1].Set(MB, true); V.Set(1, L);",
        ),
        (
            "two in a map",
            "enum EMood { MA, MB, MD };\nstruct S { var array< map<EMood, bool> > F; };",
            "var map<int, S> V;",
            "local S L; L.F.Length = 2; L.F[0].Set(MD, true); L.F[1].Set(MB, true); V.Set(1, L); V.Set(2, L); ",
        ),
        (
            "array of maps in a struct",
            "enum EMood { MA, MB, MD };\nstruct S { var array< map<EMood, bool> > F; };",
            "var S V;",
            "V.F.Length = 2; V.F[0].Set(MD, true); V.F[1].Set(MB, true);",
        ),
        (
            "array of maps in a struct in an array",
            "enum EMood { MA, MB, MD };\nstruct S { var array< map<EMood, bool> > F; };",
            "var array<S> V;",
            "V.Length = 1; V[0].F.Length = 2; V[0].F[0].Set(MD, true); V[0].F[1].Set(MB, true);",
        ),
        (
            "map in a struct in a map",
            "enum EMood { MA, MB, MD };\nstruct S { var map<EMood, bool> F; };",
            "var map<int, S> V;",
            "local S L; L.F.Set(MD, true); L.F.Set(MB, true); V.Set(1, L);",
        ),
        (
            "map in a struct in a map, beside a fixed array",
            "enum EMood { MA, MB, MD };\nstruct S { var int X[6]; var map<EMood, bool> F; };",
            "var map<int, S> V;",
            "local S L; L.X[5] = 7; L.F.Set(MD, true); L.F.Set(MB, true); V.Set(1, L);",
        ),
        (
            "entry in a struct in a map, beside a fixed array",
            "enum EMood { MA, MB, MD };\nstruct S { var int X[6]; var EMood F; };",
            "var map<int, S> V;",
            "local S L; L.X[5] = 7; L.F = MD; V.Set(1, L);",
        ),
        (
            "entries in a struct in an array, beside a fixed array",
            "enum EMood { MA, MB, MD };\nstruct S { var int X[6]; var array<EMood> F; };",
            "var array<S> V;",
            "V.Length = 1; V[0].X[5] = 7; V[0].F.AddItem(MD);",
        ),
        ("entry in an array", "enum EMood { MA, MB, MD };", "var array<EMood> V;", "V.AddItem(MB); V.AddItem(MD);"),
        (
            "map of entries in an array",
            "enum EMood { MA, MB, MD };",
            "var array< map<EMood, int> > V;",
            "V.Length = 2; V[0].Set(MD, 5); V[1].Set(MA, 6);",
        ),
        (
            "extends",
            "enum EMood { MA, MB, MD };\nstruct T { var int X[6]; };\nstruct S extends T { var array< map<EMood, bool> > F; };",
            "var map<int, S> V;",
            "local S L; L.X[5] = 7; L.F.Length = 2; L.F[0].Set(MD, true); L.F[1].Set(MB, true); V.Set(1, L);",
        ),
        (
            "extends, with an object",
            "enum EMood { MA, MB, MD };\nstruct T { var int X[6]; };\nstruct S extends T { var array< map<EMood, bool> > F; var Actor A; };",
            "var map<int, S> V;",
            "local S L; L.X[5] = 7; L.F.Length = 2; L.F[0].Set(MD, true); L.F[1].Set(MB, true); L.A = self; V.Set(1, L);",
        ),
        (
            "with an object",
            "enum EMood { MA, MB, MD };\nstruct S { var array<EMood> F; var Actor A; };",
            "var array<S> V;",
            "V.Length = 1; V[0].F.AddItem(MD); V[0].A = self;",
        ),
        (
            "with an object in a map",
            "enum EMood { MA, MB, MD };\nstruct S { var array<EMood> F; var Actor A; };",
            "var map<int, S> V;",
            "local S L; L.F.AddItem(MD); L.A = self; V.Set(1, L);",
        ),
        (
            "with an object, alone",
            "enum EMood { MA, MB, MD };\nstruct S { var array<EMood> F; var Actor A; };",
            "var S V;",
            "V.F.AddItem(MD); V.A = self;",
        ),
    ] {
        eprintln!("{name}: {}", undone(types, var, &entry, make));
    }
}

/// Which fields of a struct are lost beside another that has a value of its own.
#[test]
fn e10_which_fields() {
    for (name, one, two, fill) in [
        ("array of another type", "var array<int> F;", "var array<bool> F;", "V.F.AddItem(7);"),
        ("array to a number", "var array<int> F;", "var int F;", "V.F.AddItem(7);"),
        ("array removed", "var array<int> F;", "", "V.F.AddItem(7);"),
        ("set to an array of bools", "var set<int> F;", "var array<bool> F;", "V.F.Add(7);"),
        ("map of another type", "var map<int, int> F;", "var map<int, bool> F;", "V.F.Set(7, 7);"),
        ("text to a number", "var string F;", "var int F;", "V.F = \"x\";"),
        ("number to a bool", "var int F;", "var bool F;", "V.F = 7;"),
        ("number to an array", "var int F;", "var array<bool> F;", "V.F = 7;"),
        ("text to an array", "var string F;", "var array<bool> F;", "V.F = \"x\";"),
        ("array to a text", "var array<int> F;", "var string F;", "V.F.AddItem(7);"),
        ("optional to an optional", "var optional<int> F;", "var optional<bool> F;", "V.F = 7;"),
        ("struct to an array", "var T F;", "var array<bool> F;", "V.F.A = 7;"),
    ] {
        for (place, var, fill) in [
            ("struct", "var S V;", fill.to_owned()),
            ("struct, alone", "var S V;", fill.to_owned()),
            ("in an array", "var array<S> V;", format!("V.Length = 1; V[0].X = 3; {}", fill.replace("V.F", "V[0].F"))),
        ] {
            let types = format!("struct T {{ var int A; }};\nstruct S {{ var int X; {one} }};");
            let fill = if place == "struct" { format!("V.X = 3; {fill}") } else { fill };
            eprintln!("{name}, {place}: {}", undone(&types, var, &[(one, two)], &fill));
        }
    }
}
