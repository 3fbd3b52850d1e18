//! Formats the phases between a saved file and live code as a table with one row per phase, followed by the time for which the world was
//! paused.

use alcedo_base::figures::thousands;
use alcedo_runtime::Phase;

use crate::session::{Live, Part};

/// Returns the phases in chronological order. The times of the phases up to and including `live` add up to the time from the save to live
/// code.
pub(crate) fn parts(live: &Live) -> Vec<Part> {
    const SWAP: [Phase; 6] =
        [Phase::Quiesce, Phase::Start, Phase::Classes, Phase::Migrate, Phase::Rebuild, Phase::Commit];
    let phases = &live.report.phases;
    let ms = |phase: &Phase| phases.get(*phase).as_secs_f64() * 1e3;
    let of = |phase: &Phase| phases.0.contains_key(phase.name()).then(|| Part::new(phase.name(), ms(phase)));
    let build = live.build_ms.map(|ms| Part { parts: live.build_parts.clone(), ..Part::new("build", ms) });
    let mut parts: Vec<_> = build.into_iter().chain([Phase::Stage, Phase::Canary].iter().filter_map(of)).collect();
    let swap =
        Part { parts: SWAP.iter().filter_map(of).collect(), ..Part::new("live", phases.swap().as_secs_f64() * 1e3) };
    let known: f64 = parts.iter().map(|part| part.ms).sum::<f64>() + swap.ms;
    // Adds the remaining time as a phase, which includes the detection of the save, copies of libraries, and messages between session and
    // host.
    parts.extend(live.edit_to_live_ms.map(|all| Part::new("other", (all - known).max(0.0))));
    parts.push(swap);
    parts.extend(of(&Phase::Retire));
    parts
}

/// Formats the parts as lines of at most 80 columns. If the world was paused, a line for the pause follows.
pub(crate) fn lines(live: &Live) -> Vec<String> {
    const PAUSE: &str = "pause";
    let (parts, pause) = (parts(live), &live.report.pause);
    let names = parts.iter().map(|part| part.name.chars().count());
    let width = names.max().unwrap_or_default().max(PAUSE.len());
    let row = |name: &str, ms: f64, rest: &str| format!("  {name:width$}  {ms:>9.1} ms   {rest}").trim_end().to_owned();
    let of = |part: &Part| {
        let within: Vec<_> = part.parts.iter().filter(|part| part.ms >= 0.05).collect();
        let within: Vec<_> = within.iter().map(|part| format!("{} {:.1}", part.name, part.ms)).collect();
        row(&part.name, part.ms, &within.join(" · "))
    };
    let each = pause.per_object().map(|each| format!("{} ns per object", thousands(each.as_nanos() as u64)));
    let total = pause.total();
    let pause = (!total.is_zero()).then(|| row(PAUSE, total.as_secs_f64() * 1e3, &each.unwrap_or_default()));
    parts.iter().map(of).chain(pause).collect()
}

#[cfg(test)]
mod tests {
    use alcedo_runtime::Outcome;
    use expect_test::expect;

    use super::{lines, parts};
    use crate::reload_message::tests::live;
    use crate::session::Part;

    #[test]
    fn the_parts_up_to_live_add_up_to_the_time_since_the_save() {
        let mut live = live(Outcome::Committed);
        live.build_parts = vec![Part::new("cargo", 104.4)];
        let parts = parts(&live);
        expect![[r#"
            parts
              build       104.4 ms   cargo 104.4
              stage         6.0 ms
              canary        1.2 ms
              other        18.5 ms
              live          1.1 ms   quiesce 0.1 · start 0.1 · classes 0.2 · migrate 0.3 · rebuild 0.4
              retire        0.9 ms
              pause         2.0 ms   2,000 ns per object"#]]
        .assert_eq(&format!("parts\n{}", lines(&live).join("\n")));
        let total: f64 = parts.iter().filter(|part| part.name != "retire").map(|part| part.ms).sum();
        assert!((total - live.edit_to_live_ms.unwrap()).abs() < 1e-6, "{total}");
    }
}
