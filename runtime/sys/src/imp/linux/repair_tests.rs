//! Simulates a platform that lacks one of the repairs, and a library that leaves behind a resource which needs that repair.
#![expect(unsafe_code, reason = "mapping a library runs its code, and hooks replace C functions")]

use std::collections::BTreeSet;
use std::ffi::c_void;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::ptr;
use std::sync::LazyLock;

use super::{REPAIRS, altstack, exits, frames, hooks, random, requests, sources, streams, system_log};
use crate::ledger::repair::{Repair, is_unrepaired};
use crate::{EndPolicy, EndState, Image, ImageFile, Ledger, ReferenceSearch, StageDir};

static LIBRARY: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let (source, library) = (dir.path().join("empty.c"), dir.path().join("libempty.so"));
    fs::write(&source, "int answer(void) { return 7; }\n").expect("the test directory is writable");
    let built = Command::new("gcc").args(["-shared", "-fPIC", "-o"]).args([&library, &source]).status();
    assert!(built.is_ok_and(|status| status.success()), "gcc");
    fs::read(library).expect("just built")
});

fn without(name: &str) -> &'static [Repair] {
    let repairs: Vec<_> = REPAIRS.iter().copied().filter(|repair| repair.name != name).collect();
    Box::leak(repairs.into_boxed_slice())
}

/// Maps an image on a platform with these repairs, calls a hook for the image, and then unmaps the image. `Err` contains the reason for
/// parking.
fn comes_and_goes(repairs: &'static [Repair], leave: impl FnOnce(*const c_void)) -> Result<(), String> {
    let stage = StageDir::new().expect("a stage directory");
    let file = ImageFile::from_bytes(&PathBuf::from("libempty.so"), LIBRARY.clone()).expect("just built");
    let ledger = Ledger::with("empty", repairs);
    let staged = stage.stage(&file, "empty").expect("the copy can be written");
    // SAFETY: the library has no initializers.
    let image = unsafe { Image::map(staged, Some(ledger.clone())) }.expect("the loader accepts it");
    leave(ledger.word());
    let unsearched = EndPolicy { search: ReferenceSearch::Never, ..EndPolicy::default() };
    // SAFETY: the library is not used.
    let mut ending = unsafe { image.begin_end(unsearched) };
    match ending.poll() {
        EndState::Gone(_) => Ok(()),
        _ => match ending.park() {
            EndState::Parked { reason, .. } => Err(reason),
            other => panic!("{other:?}"),
        },
    }
}

unsafe extern "C" fn forget_table(_table: *const c_void) {}

unsafe extern "C" fn at_exit(_status: i32, _argument: *mut c_void) {}

type Call = fn(*const c_void);

/// Returns the repairs, each with a function that calls the hooks of the repair. The calls create resources that outlive the image.
fn calls() -> [(Repair, Call); 8] {
    static mut STATE: [u8; 64] = [0; 64];
    // SAFETY: the addresses are addresses of live ledgers, and the arguments meet the requirements of the C functions.
    unsafe {
        [
            (random::REPAIR, |image| _ = hooks::random_init(image, 1, (&raw mut STATE).cast(), 64)),
            (system_log::REPAIR, |image| hooks::log_open(image, c"test".as_ptr(), 0, 8)),
            (streams::REPAIR, |image| {
                hooks::stream_bound(image, ptr::null_mut(), 2, ptr::null());
                hooks::stream_closed(image, ptr::null_mut());
            }),
            (frames::REPAIR, |image| {
                hooks::frame_registered(image, ptr::null(), forget_table);
                hooks::frame_deregistered(image, ptr::null());
            }),
            (altstack::REPAIR, |image| _ = hooks::alternate_stack(image, ptr::null(), ptr::null_mut())),
            (sources::REPAIR, |image| _ = hooks::alarm(image, 0)),
            (requests::REPAIR, |image| _ = hooks::names_begin(image, 0, ptr::null(), 0, ptr::null())),
            (exits::REPAIR, |image| _ = hooks::on_exit(image, at_exit, ptr::null_mut())),
        ]
    }
}

#[test]
fn a_repair_missing_on_the_platform_parks_the_image() {
    for (repair, call) in calls() {
        let reason = comes_and_goes(without(repair.name), call).expect_err(repair.name);
        assert!(reason.contains(&format!("{}, for which this platform has no repair", repair.name)), "{reason}");
        assert_eq!(comes_and_goes(without(repair.name), |_| ()), Ok(()), "{} was not left", repair.name);
        assert_eq!(comes_and_goes(REPAIRS, call), Ok(()), "{}", repair.name);
    }
}

#[test]
fn a_platform_without_repairs_unmaps_an_image_that_leaves_nothing() {
    assert_eq!(comes_and_goes(&[], |_| ()), Ok(()));
    let all = |image| calls().iter().for_each(|(_, call)| call(image));
    let reason = comes_and_goes(&[], all).expect_err("it leaves something of each sort");
    assert!(calls().iter().all(|(repair, _)| reason.contains(repair.name)), "{reason}");
}

#[test]
fn repairs_have_distinct_names() {
    let names: BTreeSet<_> = REPAIRS.iter().map(|repair| repair.name).collect();
    assert!(names.len() == REPAIRS.len() && !names.contains(Repair::NONE.name), "{names:?}");
}

#[test]
fn without_its_repair_an_import_that_no_hook_reports_keeps_an_image() {
    for (import, repair) in [("putenv", super::environment::REPAIR), ("_ZSt13set_terminatePFvvE", super::cpp::REPAIR)] {
        assert!(is_unrepaired(import, &[]) && is_unrepaired(import, without(repair.name)), "{import}");
        assert!(!is_unrepaired(import, REPAIRS), "{import}");
    }
    assert!(!is_unrepaired("malloc", &[]));
}
