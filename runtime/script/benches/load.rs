//! Measures the time to load a package of 11.7 MB of source in 1,000 files, from the source in memory until the code can run and all class
//! default objects exist. `check` measures parsing and checking, as in `alcedo check`. `parse` measures parsing only. All parts run on one
//! thread. Each run loads the same source.
#![allow(dead_code, reason = "the tests use more functions of this loader")]

#[path = "../tests/natives.rs"]
mod natives;
#[path = "../tests/package.rs"]
mod package;
#[path = "../tests/support.rs"]
mod support;

use std::fmt::Write;
use std::hint::black_box;

use alcedo_uc::{Options, Parsed, Source, check_parsed, outline};
use criterion::{BatchSize, Criterion, criterion_group, criterion_main};

use crate::package::Scripts;

/// Number of classes in the package. Each class has its own file.
const CLASSES: usize = 1_000;

/// Total bytes of all files.
const BYTES: usize = 11_700_000;

/// Size in bytes of the last function and the defaults of a class.
const END: usize = 900;

/// Returns the source of class number `at`, of at least `bytes` bytes. The class has an enum, a struct, variables, functions and defaults.
/// The classes 0, 10, 20 and so on extend the root class. Each of these classes is the base of the next nine classes.
fn class(at: usize, bytes: usize) -> String {
    let root = at / 10 * 10;
    let base = if at == root { "Machine".to_owned() } else { format!("Actor{root}") };
    let next = (at + 7) % CLASSES;
    let mut text = format!(
        "/** An actor of the group of {root}. */\nclass Actor{at} extends {base};\n\n\
         enum EMood{at} {{ M{at}_Calm, M{at}_Alarmed, M{at}_Lost }};\n\n\
         struct Step{at}\n{{\n    var vector Where;\n    var int Count;\n    var string Words;\n}};\n\n\
         const MOST{at} = 12;\n\n\
         var() float Range{at};\nvar int Health{at}, Armor{at};\nvar array<int> Scores{at};\nvar array<Step{at}> Steps{at};\n\
         var EMood{at} Mood{at};\nvar Actor{next} Next{at};\nvar string Label{at};\n\n\
         delegate OnAlarm{at}(int Times);\n\n"
    );
    let mut function = 0;
    while text.len() < bytes {
        let _ = write!(
            text,
            "/** Adds up what the actor has seen. */\n\
             function int Sum{at}_{function}(int Count, optional float Scale)\n{{\n    \
             local int I, Total;\n    local vector Offset;\n    local Step{at} Step;\n    local string Line;\n\n    \
             for (I = 0; I < Count; I++)\n    {{\n        \
             Total += I * 3 + Health{at} - Armor{at};\n        \
             if (Total > 100 && Mood{at} != M{at}_Calm)\n        {{\n            \
             Total -= Scores{at}[I % MOST{at}];\n            Offset = Offset + vect(1, 2, 3) * Scale;\n        }}\n        \
             else if (Range{at} < Offset.X)\n        {{\n            \
             Mood{at} = M{at}_Lost;\n            break;\n        }}\n    }}\n    \
             // The last step is kept.\n    \
             Step.Where = Offset;\n    Step.Count = Total;\n    Step.Words = Label{at} @ \"of\" @ Total;\n    \
             Steps{at}.AddItem(Step);\n    \
             Line = Caps(Left(Label{at}, 3)) $ \":\" $ Len(Label{at});\n    \
             if (Next{at} != none)\n    {{\n        \
             Next{at}.Label{next} = Line;\n        Next{at}.Touch{next}(Total, self);\n    }}\n    \
             switch (Mood{at})\n    {{\n        case M{at}_Calm:\n            OnAlarm{at}(Total);\n            break;\n        \
             default:\n            Health{at} = Clamp(Health{at} - Total, 0, 100);\n    }}\n    \
             return Total;\n}}\n\n"
        );
        function += 1;
    }
    let _ = write!(
        text,
        "function Touch{at}(int Times, Machine By)\n{{\n    Health{at} += Times;\n    Power = By.Power;\n}}\n\n\
         defaultproperties\n{{\n    Range{at}=1500.0\n    Label{at}=\"actor\"\n    Scores{at}(0)=1\n    Scores{at}(11)=2\n}}\n"
    );
    text
}

fn sources() -> Vec<Source> {
    let mut total = 0;
    let file = |at| {
        let text = class(at, (BYTES * (at + 1) / CLASSES).saturating_sub(total + END));
        total += text.len();
        Source::new(&format!("Large/Actor{at}.uc"), text)
    };
    (0..CLASSES).map(file).collect()
}

fn load(criterion: &mut Criterion) {
    let sources = sources();
    eprintln!("the package has {} bytes", sources.iter().map(|source| source.text.len()).sum::<usize>());
    let mut group = criterion.benchmark_group("script_load");
    group.sample_size(10);
    group.bench_function("parse", |bencher| {
        bencher.iter(|| Parsed::of(black_box(&sources)));
    });
    let scripts = Scripts::new();
    scripts.world.types.declare_package("Large");
    group.bench_function("check", |bencher| {
        bencher.iter(|| {
            let options = Options { libraries: Scripts::libraries(), ignore_flags: true, ..Options::default() };
            let parsed = Parsed::of(&sources);
            let outline = outline("Large", &sources, &parsed);
            let checked = check_parsed("Large", &sources, parsed, &scripts.world.types, &options);
            (checked.expect("no error"), outline)
        });
    });
    drop(scripts);
    group.bench_function("alcedo", |bencher| {
        let load = |scripts: Scripts| {
            scripts.load_sources("Large", &sources).unwrap_or_else(|problem| panic!("{problem}"));
            scripts
        };
        bencher.iter_batched(Scripts::new, load, BatchSize::PerIteration);
    });
    group.finish();
}

criterion_group!(benches, load);
criterion_main!(benches);
