//! Tests damaged, foreign and unfinished library files, and files with another ABI. The host refuses each file before any code of the file
//! runs. The old generation continues.
//!
//! The plugin of these tests is a witness: its initializer writes a file as soon as the plugin is mapped. An environment variable contains
//! the path of that file. Every test therefore runs in its own process, and a crash of a host fails only one test.
#![cfg(all(target_os = "linux", target_env = "gnu"))]

mod scene;

use crate::support;

use std::env;
use std::fs::{self, File};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use alcedo_abi::hooks;
use alcedo_abi::manifest::{ManifestError, SECTION, TYPES_SECTION};
use alcedo_abi::{ABI_NUMBER, API_CURRENT, API_OLDEST, LAYOUT_HASH};
use alcedo_runtime::{
    Budget, ContextError, Error, FoundModule, LoadError, ManifestInfo, ModuleSummary, SecretKey, VersionReq, seal_file,
    sign_file,
};
use alcedo_sys::ImageError;

use scene::{LONG, OLD, SEAL, Scene, scene, scene_of};
use support::elf::{headers, number, section, sections, with_manifest};

/// Module name of these tests in the harness.
const MODULE: &str = module_path!();

/// Flips one bit at each of these locations, one flip at a time. The host must refuse each changed file.
fn flip_each(scene: &mut Scene, bits: impl IntoIterator<Item = (String, usize, u8)>, expected: &str) {
    // Size of the ELF header. The host checks this header first and reports its errors with other messages.
    const HEAD: usize = 64;
    let original = fs::read(&scene.file).expect("just written");
    // Opens the file only briefly, because the host refuses a file that a writer has open.
    let put = |file: &Path, at: usize, byte: u8| {
        let file = File::options().write(true).open(file).expect("the test directory is writable");
        file.write_all_at(&[byte], at as u64).expect("the file is open for writing");
    };
    for (what, at, bit) in bits {
        put(&scene.file, at, original[at] ^ 1 << bit);
        let expected = if at < HEAD { "" } else { expected };
        scene.is_refused(&format!("{what}, bit {bit} of byte {at:#x}"), expected);
        put(&scene.file, at, original[at]);
    }
}

#[test]
fn a_bit_flipped_in_any_header_is_noticed() {
    scene("a_bit_flipped_in_any_header_is_noticed", |scene| {
        scene.put(&scene.whole);
        // Flips one bit in every eight bytes, which covers each field of the large headers.
        let words = headers(scene.body()).into_iter().flat_map(|(name, range)| {
            range.clone().step_by(8).map(move |word| (name.clone(), word + word / 8 % 8, (word / 64 % 8) as u8))
        });
        let words: Vec<_> = words.collect();
        assert!(words.len() > 300, "{words:?}");
        flip_each(scene, words, "is damaged: its seal does not match its content; build it again");
        scene.assert_unchanged_file_loads();
    });
}

#[test]
fn a_bit_flipped_in_any_section_is_noticed() {
    scene("a_bit_flipped_in_any_section_is_noticed", |scene| {
        scene.put(&scene.whole);
        let sections = sections(scene.body());
        for name in [".text", ".rodata", ".data", ".init_array", ".rela.dyn", ".alcedo.types", SECTION] {
            assert!(sections.iter().any(|(known, _)| known == name), "{name} is not among {sections:?}");
        }
        let bits = sections.into_iter().flat_map(|(name, range)| {
            let offsets = [range.start, range.start.midpoint(range.end), range.end - 1];
            offsets.map(|at| (name.clone(), at, (at % 8) as u8))
        });
        flip_each(scene, bits, "is damaged: its seal does not match its content; build it again");
        scene.assert_unchanged_file_loads();
    });
}

#[test]
fn a_bit_flipped_in_the_seal_itself_is_noticed() {
    scene("a_bit_flipped_in_the_seal_itself_is_noticed", |scene| {
        scene.put(&scene.whole);
        let seal = scene.body().len()..scene.whole.len();
        flip_each(scene, seal.flat_map(|at| (0..8).map(move |bit| ("the seal".to_owned(), at, bit))), "is damaged: ");
        scene.assert_unchanged_file_loads();
    });
}

#[test]
fn a_bit_flipped_in_the_manifest_is_noticed_without_a_seal() {
    scene("a_bit_flipped_in_the_manifest_is_noticed_without_a_seal", |scene| {
        scene.put(scene.body());
        let bits = section(scene.body(), SECTION).flat_map(|at| (0..8).map(move |bit| (SECTION.to_owned(), at, bit)));
        flip_each(scene, bits, "the manifest section of ");
        scene.assert_unchanged_file_loads();
    });
}

#[test]
fn a_file_cut_anywhere_is_refused() {
    scene("a_file_cut_anywhere_is_refused", |scene| {
        let (body, whole) = (scene.body().len(), scene.whole.len());
        let mut longer = scene.whole.clone();
        longer.push(0);
        scene.put(&longer);
        scene.is_refused("a byte more", "the file does not end with the section headers");
        let mut cut = |length: usize, expected: &str| {
            let file = File::options().write(true).open(&scene.file).expect("the test directory is writable");
            file.set_len(length as u64).expect("the file is open for writing");
            drop(file);
            scene.is_refused(&format!("cut to {length} of {whole} bytes"), expected);
        };
        // A truncated seal is not recognized. The bytes of the seal then count as surplus bytes of the library.
        for length in [whole - 1, whole - 8, body + 16, body + 1] {
            cut(length, "the file does not end with the section headers");
        }
        // A cut exactly before the seal leaves an undamaged library without a seal. A later test covers this case.
        cut(
            body - 1,
            &format!("is cut short: {body} bytes are required for the section headers, the file has {}", body - 1),
        );
        for length in (1..body).step_by(4096).collect::<Vec<_>>().into_iter().rev() {
            cut(length - 1, if length == 1 { "is empty: it is still being built" } else { "is cut short: " });
        }
        scene.assert_unchanged_file_loads();
    });
}

#[test]
fn a_file_that_lost_its_seal_is_refused_where_seals_are_required() {
    scene("a_file_that_lost_its_seal_is_refused_where_seals_are_required", |scene| {
        let strict = support::builder().require_seal(true).build().unwrap_or_else(|error| panic!("{error}"));
        scene.put(scene.body());
        let refused = strict.create_master(&[&scene.file]);
        assert!(matches!(refused, Err(Error::Load(LoadError::NotSealed { .. }))), "{refused:?}");
        scene.host = strict;
        scene.host.create_master(&[env::var_os(OLD).expect("set by the parent process")]).expect("it is sealed");
        scene.object = scene.host.objects().spawn("/Script/Game.Fragile").expect("an object");
        scene.is_refused(
            "no seal",
            "has no seal, and this host accepts only sealed libraries: build it with `alcedo build`",
        );
        scene.assert_unchanged_file_loads();
    });
}

#[test]
fn a_file_that_lost_its_seal_is_whole_all_the_same() {
    scene("a_file_that_lost_its_seal_is_whole_all_the_same", |scene| {
        scene.put(scene.body());
        scene.assert_loads();
    });
}

#[test]
fn a_file_still_being_written_is_refused_until_it_is_whole() {
    scene("a_file_still_being_written_is_refused_until_it_is_whole", |scene| {
        let whole = scene.whole.clone();
        let pieces: Vec<_> = whole.chunks(whole.len().div_ceil(10)).collect();
        // A file that is still being copied grows from its start.
        scene.put(&[]);
        scene.is_refused("nothing yet", "is empty");
        for written in 1..pieces.len() {
            scene.put(&pieces[..written].concat());
            scene.is_refused(&format!("{written} of 10 pieces"), "is cut short");
        }
        // A linker reserves the whole file and fills it in any order. This test fills the file from its end.
        for written in 0..pieces.len() {
            let (hole, tail) = whole.split_at(whole.len() - pieces[..written].concat().len());
            scene.put(&[vec![0; hole.len()], tail.to_vec()].concat());
            scene.is_refused(&format!("the last {written} of 10 pieces"), "is not an ELF file");
        }
        scene.put(&[scene.body()[..scene.body().len() / 2].to_vec(), vec![0; scene.body().len().div_ceil(2)]].concat());
        scene.is_refused("the first half, and room for the rest", "is damaged: the section names are missing");
        scene.put(&pieces.concat());
        scene.assert_loads();
    });
}

#[test]
fn a_file_that_is_not_a_library_is_named_by_its_kind() {
    scene("a_file_that_is_not_a_library_is_named_by_its_kind", |scene| {
        scene.put(&[]);
        scene.is_refused_as("an empty file", "is empty: it is still being built or the build failed", |error| {
            matches!(error, LoadError::Image(ImageError::Empty { .. }))
        });
        scene.put(include_bytes!("main.rs"));
        scene.is_refused_as(
            "a source file",
            "is not an ELF file, this host maps a 64-bit little-endian ELF",
            |error| matches!(error, LoadError::Image(ImageError::Foreign { .. })),
        );
        for seed in 1..=8 {
            scene.put(&noise(seed, 300_000));
            scene.is_refused(&format!("noise {seed}"), "is not an ELF file");
            scene.put_sealed(&[&scene.body()[..64], &noise(seed, 300_000)].concat());
            scene.is_refused(&format!("an ELF header before noise {seed}"), "is cut short: ");
            let symbols = section(scene.body(), ".dynsym");
            let mut damaged = scene.body().to_vec();
            damaged[symbols.clone()].copy_from_slice(&noise(seed, symbols.len()));
            scene.put_sealed(&damaged);
            scene.is_refused(&format!("noise {seed} for symbols"), "is damaged: ");
        }
        let (nowhere, folder) = (scene.dir.path().join("nowhere.so"), scene.dir.path().to_owned());
        scene.path_is_refused(&nowhere, "no file", "nowhere.so: No such file or directory");
        scene.path_is_refused(
            &folder,
            "a folder",
            "is a folder with no `.uc` files in it or in its folder `Classes`: name a library itself",
        );
        scene.assert_unchanged_file_loads();
    });
}

/// Returns `len` random bytes that depend only on the seed.
fn noise(seed: u64, len: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let step = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    };
    std::iter::repeat_with(step).take(len).collect()
}

#[test]
fn a_library_that_is_not_a_module_is_not_mapped() {
    scene("a_library_that_is_not_a_module_is_not_mapped", |scene| {
        let source = scene.dir.path().join("other.c");
        let text = "#include <stdio.h>\n#include <stdlib.h>\n__attribute__((constructor)) static void testify(void) {
            FILE *file = fopen(getenv(\"ALCEDO_WITNESS\"), \"w\");\nif (file) fclose(file); }\n";
        fs::write(&source, text).expect("the test directory is writable");
        let cc = Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(&scene.file).arg(&source).output();
        let cc = cc.expect("a C compiler, as Rust itself needs one");
        assert!(cc.status.success(), "{}", String::from_utf8_lossy(&cc.stderr));
        let no_module = |error: &LoadError| matches!(error, LoadError::NoManifest { .. });
        scene.is_refused_as("a C library", "is a library, but no Alcedo module: it has no manifest section", no_module);
        seal_file(&scene.file).expect("the test directory is writable");
        scene.is_refused_as("a sealed C library", "is a library, but no Alcedo module", no_module);
        scene.assert_unchanged_file_loads();
    });
}

/// Offsets of the fields in a manifest.
mod at {
    pub(super) const FORMAT: usize = 8;
    pub(super) const ABI_NUMBER: usize = 16;
    pub(super) const LAYOUT_HASH: usize = 20;
    pub(super) const API_OLDEST: usize = 28;
    pub(super) const API_CURRENT: usize = 32;
    pub(super) const FLAGS: usize = 36;
    pub(super) const NAME: usize = 58;
    pub(super) const VERSION: usize = NAME + "broken".len() + 2;
}

fn put_u32(facts: &mut [u8], at: usize, number: u32) {
    facts[at..at + 4].copy_from_slice(&number.to_le_bytes());
}

#[test]
fn a_module_of_another_abi_is_refused_with_facts_of_both_sides() {
    scene("a_module_of_another_abi_is_refused_with_facts_of_both_sides", |scene| {
        let mut check = |edit: fn(&mut [u8]), expected: &str, is: fn(&LoadError) -> bool| {
            scene.put_sealed(&with_manifest(scene.body(), edit));
            scene.is_refused_as(expected, expected, is);
        };
        check(
            |facts| put_u32(facts, at::ABI_NUMBER, ABI_NUMBER + 1),
            "broken has ABI 2, this host expects 1: rebuild it with this host's alcedo-plugin-api",
            |error| matches!(error, LoadError::Abi { found, expected, .. } if (*found, *expected) == (ABI_NUMBER + 1, ABI_NUMBER)),
        );
        check(
            |facts| facts[at::LAYOUT_HASH] ^= 1,
            &format!(
                "has layout {:#018x} for the types of the ABI, this host has {LAYOUT_HASH:#018x}",
                LAYOUT_HASH ^ 1
            ),
            |error| matches!(error, LoadError::Layout { found, expected, .. } if found ^ 1 == LAYOUT_HASH && *expected == LAYOUT_HASH),
        );
        check(
            |facts| {
                put_u32(facts, at::API_OLDEST, API_CURRENT + 4);
                put_u32(facts, at::API_CURRENT, API_CURRENT + 5);
            },
            &format!(
                "broken needs host API {} to {}, this host offers {API_OLDEST} to {API_CURRENT}: rebuild the module or update \
                 the host",
                API_CURRENT + 4,
                API_CURRENT + 5
            ),
            |error| matches!(error, LoadError::Api { expected, .. } if *expected == (API_OLDEST, API_CURRENT)),
        );
        check(
            |facts| {
                put_u32(facts, at::API_OLDEST, 0);
                put_u32(facts, at::API_CURRENT, API_OLDEST - 1);
            },
            &format!("broken needs host API 0 to 0, this host offers {API_OLDEST} to {API_CURRENT}"),
            |error| matches!(error, LoadError::Api { .. }),
        );
        check(
            |facts| put_u32(facts, at::API_CURRENT, API_CURRENT + 1),
            &format!(
                "broken was built for host API {}, this host offers up to {API_CURRENT}: update the host",
                API_CURRENT + 1
            ),
            |error| matches!(error, LoadError::Newer { .. }),
        );
        check(
            |facts| facts[at::FLAGS] ^= 2,
            "the feature slot-types, this host was built the other way: use the same features for both",
            |error| matches!(error, LoadError::SlotTypes { .. }),
        );
        check(
            |facts| facts[at::FLAGS] ^= 1,
            "broken was built with panic = \"abort\", so a panic in it would end the host",
            |error| matches!(error, LoadError::PanicAborts { .. }),
        );
        check(
            |facts| put_u32(facts, at::FORMAT, 9),
            "it has format 9, this host reads format 1; build the plugin again",
            |error| matches!(error, LoadError::Manifest { source: ManifestError::Format(9), .. }),
        );
        check(
            |facts| facts[0] = b'a',
            "it does not start with the magic of a manifest",
            |error| matches!(error, LoadError::Manifest { source: ManifestError::Magic, .. }),
        );
        check(
            |facts| facts[at::NAME] = 0xff,
            "its content is invalid",
            |error| matches!(error, LoadError::Manifest { source: ManifestError::Content, .. }),
        );
        check(
            |facts| facts[at::VERSION] = b'v',
            "broken: \"v.1.0\" is not a version in Cargo's format",
            |error| matches!(error, LoadError::Version { .. }),
        );
        // Rewrites the manifest without a change, and loads the file. This load proves that the changed fields caused the earlier refusals.
        scene.put_sealed(&with_manifest(scene.body(), |_| {}));
        scene.assert_loads();
    });
}

/// Returns the refusals of all entry points that need no Master: Slim, bytes, Default, resolver, `peek` and `replace`.
fn other_entry_points(scene: &Scene, bytes: &[u8]) -> Vec<(&'static str, String)> {
    let contexts = scene.host.contexts();
    let slim = contexts.create_slim("door").expect("a free name");
    let guided = contexts.create_slim("guided").expect("a free name");
    let answer = scene.file.clone();
    guided.set_resolver(move |_| Ok(Some(FoundModule::File(answer.clone()))));
    let message_of = |result: Result<ModuleSummary, ContextError>| result.expect_err("it is refused").to_string();
    let messages = vec![
        ("Slim", message_of(slim.load_path(&scene.file))),
        ("bytes", message_of(slim.load_bytes("bytes", bytes, None))),
        ("Default", message_of(contexts.default_context().load_path(&scene.file))),
        ("resolver", message_of(guided.load_name("broken", &VersionReq::STAR))),
        ("peek", ManifestInfo::peek(&scene.file).expect_err("it is refused").to_string()),
        ("replace", slim.replace(&scene.file).expect_err("it is refused").to_string()),
    ];
    slim.begin_unload().expect("it is alive").wait(LONG).expect("nothing keeps it");
    guided.begin_unload().expect("it is alive").wait(LONG).expect("nothing keeps it");
    messages
}

/// Covers two attacks that earlier versions permitted. A module name with a zero byte caused the canary to load another file. A module name
/// with a line break or an escape sequence could forge lines in logs and terminals.
#[test]
fn a_module_name_is_an_identifier_at_every_entry_point() {
    scene("a_module_name_is_an_identifier_at_every_entry_point", |scene| {
        for name in [b"br\0/ev", b"br\x1b[2J", b"br\ndon", b"../../", b"br ken", b"Broken", b"br:ken"] {
            let bytes = with_manifest(scene.body(), |facts| facts[at::NAME..at::NAME + 6].copy_from_slice(&name[..6]));
            scene.put_sealed(&bytes);
            let expected = format!("its module name is {:?}", String::from_utf8_lossy(&name[..6]));
            scene.is_refused_as("a name", &expected, |error| {
                matches!(error, LoadError::Manifest { source: ManifestError::Text { what: "module name", .. }, .. })
            });
            for (entry_point, error) in other_entry_points(scene, &bytes) {
                assert!(
                    error.contains(&expected) && error.contains("build the plugin again"),
                    "{entry_point}: {error}"
                );
                assert!(!error.contains(char::is_control), "{entry_point}: {error:?}");
            }
        }
        assert!(!scene.witness.exists(), "its initializer ran");
        scene.put_sealed(&with_manifest(scene.body(), |_| {}));
        scene.assert_loads();
    });
}

#[test]
fn every_string_of_a_manifest_is_validated() {
    scene("every_string_of_a_manifest_is_validated", |scene| {
        let is_text: fn(&LoadError) -> bool =
            |error| matches!(error, LoadError::Manifest { source: ManifestError::Text { .. }, .. });
        let with = |scene: &mut Scene, edit: fn(&mut [u8]), expected: &str| {
            scene.put_sealed(&with_manifest(scene.body(), edit));
            scene.is_refused_as(expected, expected, is_text);
        };
        with(scene, |facts| facts[at::VERSION] = 0x1b, r#"its version is "\u{1b}.1.0""#);
        let compiler = |facts: &mut [u8]| {
            let at = at::VERSION + "0.1.0".len() + 2;
            facts[at..at + 4].copy_from_slice(b"\x1b[2J");
        };
        with(scene, compiler, r#"its compiler is "\u{1b}[2J"#);
        let mut elf = scene.body().to_vec();
        let types = section(&elf, TYPES_SECTION);
        let path = elf[types.clone()].windows(8).position(|bytes| bytes == b"/Script/").expect("it declares types");
        elf[types.start + path + 8] = b'\n';
        scene.put_sealed(&elf);
        scene.is_refused_as("a path", r#"its type path is "/Script/\n"#, is_text);
    });
}

/// Returns the offset of a section name in the name table.
fn name_of(elf: &[u8], section_name: &str) -> usize {
    let names = section(elf, ".shstrtab");
    let text = [b"\0", section_name.as_bytes(), b"\0"].concat();
    let at = elf[names.clone()].windows(text.len()).position(|name| name == text);
    names.start + at.unwrap_or_else(|| panic!("no section is called {section_name}")) + 1
}

#[test]
fn a_module_whose_slot_for_hooks_is_damaged_is_refused() {
    scene("a_module_whose_slot_for_hooks_is_damaged_is_refused", |scene| {
        let slot = section(scene.body(), hooks::SECTION);
        let is = |error: &LoadError| matches!(error, LoadError::HookSlot { module, .. } if module == "broken");
        // Damages the magic of the slot, and then the field in the slot that only the host may write.
        for (at, bit) in [(0, 1), (3, 128), (7, 16), (8, 1), (15, 64)] {
            let mut elf = scene.body().to_vec();
            elf[slot.start + at] ^= bit;
            scene.put_sealed(&elf);
            let expected = "broken: its slot for hooks (.alcedo.hooks) is damaged; build it again";
            scene.is_refused_as(&format!("byte {at} of the slot"), expected, is);
            scene.put(&elf);
            scene.is_refused(&format!("byte {at} of the slot, without a seal"), expected);
        }
        scene.assert_unchanged_file_loads();
    });
}

#[test]
fn a_module_declaring_hooks_must_have_a_hook_slot() {
    scene("a_module_declaring_hooks_must_have_a_hook_slot", |scene| {
        let name = name_of(scene.body(), hooks::SECTION);
        let mut elf = scene.body().to_vec();
        elf[name + 1] = b'A';
        scene.put_sealed(&elf);
        let expected =
            "broken: its slot for hooks (.alcedo.hooks) is missing, though its manifest states that it has hooks";
        scene.is_refused_as("a slot under another name", expected, |error| matches!(error, LoadError::HookSlot { .. }));
        scene.assert_unchanged_file_loads();
    });
}

#[test]
fn a_module_without_hooks_may_do_without_a_slot() {
    scene("a_module_without_hooks_may_do_without_a_slot", |scene| {
        const HOOKED: u8 = 4;
        let mut elf = with_manifest(scene.body(), |facts| facts[at::FLAGS] &= !HOOKED);
        let name = name_of(&elf, hooks::SECTION);
        elf[name + 1] = b'A';
        scene.put_sealed(&elf);
        scene.assert_loads();
    });
}

#[test]
fn a_relocation_over_the_hook_slot_is_refused() {
    scene("a_relocation_over_the_hook_slot_is_refused", |scene| {
        let mut elf = scene.body().to_vec();
        let slot = section(&elf, hooks::SECTION).start;
        let is_slot = |header: &usize| number(&elf, header + 24, 8) == slot;
        let sections = (number(&elf, 40, 8)..elf.len()).step_by(64);
        let slot = sections.clone().find(is_slot).map(|header| number(&elf, header + 16, 8)).expect("it has a header");
        // Type of a relocation that writes an address of the library into a variable.
        const RELATIVE: usize = 8;
        let table = section(&elf, ".rela.dyn");
        let arrays = sections.filter(|header| [14, 15].contains(&number(&elf, header + 4, 4)));
        let arrays: Vec<_> = arrays.map(|header| number(&elf, header + 16, 8)..).collect();
        let is_array = |at: usize| arrays.iter().any(|array| (array.start..array.start + 64).contains(&at));
        let entry = table
            .step_by(24)
            .find(|entry| number(&elf, entry + 8, 8) == RELATIVE && !is_array(number(&elf, *entry, 8)));
        let entry = entry.expect("there is one");
        elf[entry..entry + 8].copy_from_slice(&(slot + 8).to_le_bytes());
        scene.put_sealed(&elf);
        let expected = "its slot for hooks (.alcedo.hooks) would be written over while the file is mapped";
        scene.is_refused_as("a relocated slot", expected, |error| matches!(error, LoadError::HookSlot { .. }));
        scene.assert_unchanged_file_loads();
    });
}

#[test]
fn a_library_for_another_machine_is_refused() {
    scene("a_library_for_another_machine_is_refused", |scene| {
        let foreign = |error: &LoadError| matches!(error, LoadError::Image(ImageError::Foreign { .. }));
        let supported = format!("this host maps a 64-bit little-endian ELF library for {}", env::consts::ARCH);
        let (class, order, machine) = (4, 5, 18);
        let check = [(machine, 8, "for machine 8"), (class, 1, "of class 1"), (order, 2, "with byte order 2")];
        for (at, value, found) in check {
            let mut elf = scene.body().to_vec();
            elf[at] = value;
            scene.put_sealed(&elf);
            scene.is_refused_as(found, &format!("is an ELF file {found}, {supported}"), foreign);
        }
        scene.assert_unchanged_file_loads();
    });
}

#[test]
fn a_plugin_that_shares_the_standard_library_is_refused() {
    let build = || support::flags::plugin_with_flags("broken", &["witness"], "prefer-dynamic", "-C prefer-dynamic");
    scene_of("a_plugin_that_shares_the_standard_library_is_refused", build, |scene| {
        scene.put(&scene.whole);
        let expected = "dynamically, so thread exit would run code that is gone: build without -C prefer-dynamic";
        scene.is_refused_as("prefer-dynamic", expected, |error| {
            matches!(error, LoadError::DynamicStd { module, library } if module == "broken" && library.starts_with("libstd-"))
        });
    });
}

#[test]
fn a_plugin_whose_panics_abort_is_refused() {
    let build = || support::flags::plugin_with_flags("broken", &["witness"], "panic-abort", "-C panic=abort");
    scene_of("a_plugin_whose_panics_abort_is_refused", build, |scene| {
        scene.put(&scene.whole);
        let expected = "was built with panic = \"abort\", so a panic in it would end the host: remove that from the plugin's profile";
        scene.is_refused_as("panic=abort", expected, |error| matches!(error, LoadError::PanicAborts { .. }));
    });
}

/// Size of the part of a signed file that contains the signature and its name, before the seal.
const SIGNATURE: usize = 104;

#[test]
fn a_host_with_trusted_keys_refuses_unsigned_modules_at_every_entry_point() {
    let test = "a_host_with_trusted_keys_refuses_unsigned_modules_at_every_entry_point";
    scene(test, |scene| {
        let [key, other, foreign] = [(); 3].map(|()| SecretKey::generate().expect("random numbers"));
        let strict = || support::builder().trust(other.public()).trust(key.public()).build().expect("it is built");
        let signed = |bytes: &[u8], key: &SecretKey| {
            scene.put(bytes);
            sign_file(&scene.file, key).expect("the test directory is writable");
            fs::read(&scene.file).expect("just signed")
        };
        let whole = signed(&scene.whole, &key);
        let (content, rest) = whole.split_at(scene.body().len());
        assert_eq!((content, rest.len()), (scene.body(), SIGNATURE + SEAL));
        let signature = &rest[..SIGNATURE];
        // Makes the changes that an attacker can make without the key. Each variant has a valid seal.
        let mut tampered = content.to_vec();
        let text = section(content, ".text");
        tampered[text.start] ^= 1;
        let of_foreign = signed(content, &foreign);
        let mut renamed = of_foreign[content.len()..content.len() + SIGNATURE].to_vec();
        renamed[..32].copy_from_slice(&key.public().to_bytes());
        let mut bent = signature.to_vec();
        bent[40] ^= 1;
        let unknown = format!("is signed by the unknown key {}", foreign.public());
        let damaged = format!("has a signature of {} for other content", key.public());
        let unsigned = "has no signature".to_owned();
        let attacks = [
            ("sealed", content.to_vec(), &unsigned),
            ("signed by somebody else", of_foreign[..content.len() + SIGNATURE].to_vec(), &unknown),
            ("one bit of the code", [&tampered, signature].concat(), &damaged),
            ("the key's name on another's signature", [content, &renamed].concat(), &damaged),
            ("a bit of the signature", [content, &bent].concat(), &damaged),
            ("the name of the signature alone", [content, &[0; 96], b"ALCSIGN\x01"].concat(), &{
                format!("is signed by the unknown key {}", "0".repeat(64))
            }),
        ];
        for (what, bytes, found) in attacks {
            scene.put_sealed(&bytes);
            scene.is_refused_by(&strict, what, found);
        }
        scene.put(scene.body());
        scene.is_refused_by(&strict, "no seal", &unsigned);
        for key in [&key, &other] {
            scene.put(&signed(&scene.whole, key));
            let create = || strict().create_master(&[&scene.file]).map(drop).map_err(|error| error.to_string());
            thread::scope(|scope| scope.spawn(create).join()).expect("no panic").expect("it is signed");
            assert!(scene.witness.exists(), "the witness did not testify");
            fs::remove_file(&scene.witness).expect("just written");
        }
        // A host that has no trusted keys accepts the signed file as well.
        scene.assert_loads();
    });
}

#[test]
fn a_non_file_or_an_oversized_file_is_refused_everywhere() {
    scene("a_non_file_or_an_oversized_file_is_refused_everywhere", |scene| {
        let made = Command::new("mkfifo").arg(&scene.file).status().expect("mkfifo runs");
        assert!(made.success());
        scene.is_refused("a pipe", "libbroken.so is a named pipe, not a file: name the library itself");
        let contexts = scene.host.contexts();
        let slim = contexts.create_slim("pipes").expect("the name is free");
        for refused in [slim.load_path(&scene.file).map(drop), ManifestInfo::peek(&scene.file).map(drop)] {
            let refused = refused.expect_err("it is a pipe").to_string();
            assert!(refused.contains("is a named pipe, not a file"), "{refused}");
        }
        fs::remove_file(&scene.file).expect("it is ours");
        scene.put(&scene.whole);
        let limit = scene.whole.len() as u64;
        let small = || support::builder().largest_library(limit - 1).build().expect("it is built");
        scene.is_refused_by(
            &small,
            "too long",
            &format!("has {limit} bytes, and this host accepts libraries of at most"),
        );
        scene.host = support::builder().largest_library(limit).build().expect("it is built");
        scene.host.create_master(&[&scene.file]).expect("it is just long enough");
    });
}

#[test]
fn a_watch_loads_a_file_once_its_writer_has_finished() {
    scene("a_watch_loads_a_file_once_its_writer_has_finished", |scene| {
        let first = PathBuf::from(env::var_os(OLD).expect("set by the parent process"));
        fs::copy(&first, &scene.file).expect("the test directory is writable");
        scene.host.reload(&[&scene.file]).expect("a Master").into_result().unwrap_or_else(|report| panic!("{report}"));
        scene.host.watch().expect("the folder is there");
        let before = scene.host.generation();
        let body = scene.body().to_vec();
        let mut writer = File::create(&scene.file).expect("the test directory is writable");
        std::io::Write::write_all(&mut writer, &body).expect("it is open");
        // The file is complete. The host cannot detect its completion while a writer has the file open.
        support::until("a reload that is refused", || {
            scene.host.tick(Budget::frame());
            let refused = scene.host.take_reloads();
            refused.iter().any(|report| report.to_string().contains("is still being written: a program has it open"))
        });
        assert_eq!((scene.host.generation(), scene.witness.exists()), (before, false));
        drop(writer);
        support::until("the new generation", || {
            scene.host.tick(Budget::frame());
            scene.witness.exists()
        });
        scene.old_generation_answers("the new generation");
    });
}
