use proptest::prelude::*;

use super::{DEEPEST, LoadRequest, LoadStep, Never, Sort, Table, Work};

/// Parses a [`Work`]: `a` is a name in context 1, and `a@2` is a name in context 2.
fn work(text: &str) -> Work {
    let (name, scope) = text.split_once('@').unwrap_or((text, "1"));
    Work::new(scope.parse().expect("a number"), format!("#{scope}"), LoadRequest::Module(name.to_owned()))
}

fn format_chain(chain: &[LoadStep]) -> String {
    let short = |step: &LoadStep| step.to_string().replace(" in #1", "").replace(" in #", "@");
    chain.iter().map(short).collect::<Vec<_>>().join(" → ")
}

/// Ends the newest steps of a thread. Returns true if a thread may be waiting for these steps.
fn end(table: &mut Table<u8>, thread: u8, count: usize) -> bool {
    let steps = table.threads.get(&thread).map_or(&[][..], |row| &row.steps);
    let numbers: Vec<_> = steps.iter().rev().take(count).map(|step| step.number).collect();
    numbers.into_iter().filter(|number| table.end(thread, *number)).count() > 0
}

/// Runs actions of numbered threads and checks the result of the last action. `1?a` means that thread 1 requests `a`, and `1+a` that thread
/// 1 loads `a`. `1!a,b` means that thread 1 claims both names. `1-` means that thread 1 ends its newest step, and `1^` its oldest step.
fn check(acts: &str, outcome: &str) {
    let mut table = Table::<u8>::default();
    let mut last = String::new();
    for act in acts.split_whitespace() {
        assert!(last.is_empty() || last == "begun" || last == "waits", "{acts}: {last} too soon");
        let thread = act[..1].parse::<u8>().expect("a thread");
        let (sort, names) = match act[1..].split_at(1) {
            ("?", names) => (Sort::Asking, names),
            ("+", names) => (Sort::Loading, names),
            ("!", names) => (Sort::Claiming, names),
            (which, _) => {
                let steps = &table.threads.get(&thread).expect("a thread with steps").steps;
                let ended = if which == "^" { steps.first() } else { steps.last() };
                let number = ended.expect("a step").number;
                let others_may_go_on = table.end(thread, number);
                last = if others_may_go_on { "begun" } else { "" }.to_owned();
                continue;
            }
        };
        let works: Vec<_> = names.split(',').map(work).collect();
        last = match table.begin(thread, sort, &works) {
            Ok(Some(_)) => "begun".to_owned(),
            Ok(None) => "waits".to_owned(),
            Err(Never::Cycle(chain)) => format_chain(&chain),
            Err(Never::TooDeep) => "too deep".to_owned(),
        };
    }
    assert_eq!(last, outcome, "{acts}");
}

#[test]
fn a_query_nested_in_itself_is_a_cycle() {
    check("1?a 1?a", "a → a");
    check("1?a 1?b 1?a", "a → b → a");
    check("1?a 1?a@2 1?a", "a → a@2 → a");
    check("1?x 1?a 1?b 1?a", "a → b → a");
    check("1+a 1?b 1?a", "a → b → a");
}

#[test]
fn a_resolver_may_load_only_the_requested_module_by_path() {
    check("1?a 1+a 1!a", "begun");
    check("1?a 1+a 1?b 1+b 1?a", "a → b → a");
    check("1+a 1?b 1+a", "a → b → a");
    check("1?a 1+a 1+a", "a → a");
}

#[test]
fn finished_work_is_not_part_of_a_cycle() {
    check("1?a 1- 1?a", "begun");
    check("1?a 1?b 1- 1?b", "begun");
    check("1!a 1- 2!a", "begun");
}

#[test]
fn the_end_of_a_step_keeps_later_steps_of_a_suspended_coroutine() {
    check("1?a 1!b 1^ 2!b", "waits");
    check("1!a 1!b 1^ 1?b", "b → b");
    check("1!a 1!b 1^ 2!a", "begun");
}

#[test]
fn questions_and_libraries_in_hand_keep_no_other_thread() {
    check("1?a 2?a", "begun");
    check("1+a 2+a", "begun");
    check("1+a 1?b 2+b 2?a 2+a 2!a", "begun");
}

#[test]
fn threads_wait_for_a_load_in_progress() {
    for other in ["2?a", "2+a", "2!a", "2?b", "2!c,b"] {
        check(&format!("1+a 1!a,b {other}"), "waits");
        check(&format!("1+a 1!a,b {other} 1- {other}"), "begun");
    }
    check("1!a,b 2!c", "begun");
    check("1!a 2!a@2", "begun");
}

#[test]
fn a_claim_is_of_all_or_of_none() {
    check("1!b 2!a,b 3!a", "begun");
}

#[test]
fn a_thread_does_not_wait_for_its_own_load() {
    check("1+a 1!a,b 1?a", "a → a");
    check("1+a 1!a,b 1?b", "b → a → b");
    check("1!a 1?c 1!a", "a → c → a");
}

#[test]
fn a_wait_cycle_is_refused_with_its_chain() {
    check("1!a 2!b 1?b 2?a", "b → a → b");
    check("1!a 1?x 2!b 1+b 2!a", "b → a → x → b");
    check("1!a 2!b 3!c 1?b 2?c 3?a", "c → a → b → c");
    // The third thread waits, because the cycle does not contain the third thread.
    check("1!a 2!b 1?b 3?a", "waits");
}

#[test]
fn a_resumed_thread_is_not_part_of_a_cycle() {
    check("1!a 2?a 1- 2!b 1!a 1?b", "waits");
}

#[test]
fn nested_queries_terminate() {
    let mut table = Table::default();
    for at in 0..DEEPEST {
        assert!(matches!(table.begin(1, Sort::Asking, &[work(&format!("a{at}"))]), Ok(Some(_))));
    }
    assert_eq!(table.begin(1, Sort::Asking, &[work("more")]), Err(Never::TooDeep));
    assert!(matches!(table.begin(1, Sort::Loading, &[work("more")]), Ok(Some(_))));
    assert!(matches!(table.begin(2, Sort::Asking, &[work("more")]), Ok(Some(_))));
    end(&mut table, 1, usize::MAX);
    end(&mut table, 2, usize::MAX);
    assert!(table.threads.is_empty(), "nothing is kept of threads that are done");
}

/// Next action of a simulated thread. The thread begins a step, or ends a number of steps.
#[derive(Clone, Debug)]
enum Act {
    Begin(Sort, Vec<u8>),
    End(usize),
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let sort = prop_oneof![Just(Sort::Asking), Just(Sort::Loading), Just(Sort::Claiming)];
    let begin = (sort, proptest::collection::btree_set(0_u8..4, 1..3)).prop_map(|(sort, works)| {
        let few = if sort == Sort::Claiming { works.len() } else { 1 };
        Act::Begin(sort, works.into_iter().take(few).collect())
    });
    proptest::collection::vec(prop_oneof![3 => begin, 1 => (1_usize..3).prop_map(Act::End)], 0..12)
}

proptest! {
    #[test]
    fn threads_never_all_wait_and_nothing_is_claimed_twice(
        mut programs in proptest::collection::vec(acts(), 1..5),
        turns in proptest::collection::vec(any::<prop::sample::Index>(), 200),
    ) {
        let mut table = Table::default();
        let mut turns = turns.into_iter().cycle();
        for program in &mut programs {
            program.reverse();
        }
        while programs.iter().any(|program| !program.is_empty()) {
            // Simulates a notification of all waiting threads. At least one thread must proceed.
            let mut has_moved = false;
            let mut order: Vec<usize> = (0..programs.len()).collect();
            let by = turns.next().expect("it goes round").index(order.len());
            order.rotate_left(by);
            for at in order {
                let thread = at as u8;
                match programs[at].last() {
                    None => has_moved |= end(&mut table, thread, usize::MAX),
                    Some(Act::End(steps)) => {
                        end(&mut table, thread, *steps);
                        programs[at].pop();
                        has_moved = true;
                    }
                    Some(Act::Begin(sort, names)) => {
                        let works: Vec<_> = names.iter().map(|name| work(&name.to_string())).collect();
                        match table.begin(thread, *sort, &works) {
                            Ok(None) => {}
                            Ok(Some(_)) => {
                                programs[at].pop();
                                has_moved = true;
                            }
                            Err(never) => {
                                let Never::Cycle(chain) = never else { panic!("{never:?}") };
                                let is_cycle = chain.len() > 1 && chain.first() == chain.last();
                                prop_assert!(is_cycle, "{}", format_chain(&chain));
                                // After an error, the thread ends all its steps.
                                end(&mut table, thread, usize::MAX);
                                programs[at].pop();
                                has_moved = true;
                            }
                        }
                    }
                }
                for name in 0..4 {
                    let work = work(&name.to_string());
                    let claims = table.threads.values().flat_map(|row| &row.steps);
                    let claims = claims.filter(|step| step.sort == Sort::Claiming && step.is_of(&work));
                    prop_assert!(claims.count() <= 1);
                }
            }
            prop_assert!(has_moved, "all wait: {programs:?}");
        }
    }
}
