//! From registers, a stack and the files that were mapped to the calls that had not returned. All of it is done here,
//! after the end of the process: nothing had to work in there any more.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use addr2line::{Loader, Location, demangle_auto};
use framehop::{CacheNative, ExplicitModuleSectionInfo, MayAllocateDuringUnwind, Module, Unwinder as _};
use framehop::{FrameAddress, UnwindRegsNative, UnwinderNative};
use object::{Object as _, ObjectSection as _, ObjectSegment as _, SegmentFlags};

use super::calls::{Call, Owner};
use super::words::{Mapped, Words};

/// A stack that is full has thousands of frames, all alike.
const MOST: usize = 256;

/// A file that code was mapped from.
struct Image<'a> {
    code: &'a Mapped,
    /// From addresses of the file to those of the process.
    bias: u64,
    names: Option<Loader>,
}

/// The calls, innermost first.
pub(super) fn calls(words: &Words) -> Vec<Call> {
    let mut unwinder = UnwinderNative::<Vec<u8>, MayAllocateDuringUnwind>::new();
    let mut images: BTreeMap<&Path, Image<'_>> = BTreeMap::new();
    for code in words.maps.iter().filter(|mapped| mapped.executable) {
        let Some((module, bias)) = unwindable(code) else { continue };
        unwinder.add_module(module);
        images.insert(&code.path, Image { code, bias, names: Loader::new(&code.path).ok() });
    }
    #[cfg(target_arch = "x86_64")]
    let registers = UnwindRegsNative::new(words.pc, words.sp, words.fp);
    #[cfg(target_arch = "aarch64")]
    let registers = UnwindRegsNative::new(words.lr, words.sp, words.fp);
    let mut cache = CacheNative::new();
    let mut read = |address| words.word_at(address).ok_or(());
    let mut frames = unwinder.iter_frames(words.pc, registers, &mut cache, &mut read);
    let mut calls = Vec::new();
    // A stack that cannot be followed any further has told what it could.
    while let Ok(Some(frame)) = frames.next() {
        let address = frame.address_for_lookup();
        let image = images.values().find(|image| image.code.range.contains(&address));
        match image {
            Some(image) => calls.extend(named(image, address, words)),
            None if matches!(frame, FrameAddress::InstructionPointer(_)) => calls.push(nowhere(address)),
            None => {}
        }
        if calls.len() >= MOST {
            break;
        }
    }
    calls
}

/// What the unwinder has to know of a mapped file, and its bias.
fn unwindable(code: &Mapped) -> Option<(Module<Vec<u8>>, u64)> {
    let bytes = fs::read(&code.path).ok()?;
    let file = object::File::parse(bytes.as_slice()).ok()?;
    // The kernel maps whole pages, so the mapping may begin before the segment; and one page of the file may be mapped
    // for two segments that meet in it.
    let segment = file.segments().find(|segment| {
        let (offset, len) = segment.file_range();
        let page = offset & !0xfff;
        is_executable(segment.flags()) && (page..offset + len).contains(&code.offset)
    })?;
    let (offset, _) = segment.file_range();
    let bias = code.range.start.wrapping_sub(segment.address().wrapping_sub(offset.wrapping_sub(code.offset)));
    // Not what is mapped of the file: a program that prints a backtrace maps it once more, elsewhere, to read its names.
    let begin = file.segments().map(|segment| segment.address() & !0xfff).min()?.wrapping_add(bias);
    let end = file.segments().map(|segment| segment.address() + segment.size()).max()?.wrapping_add(bias);
    let section = |name: &str| {
        let section = file.section_by_name(name)?;
        let range = section.address()..section.address() + section.size();
        Some((range, section.data().ok()?.to_vec()))
    };
    let (text_svma, text) = section(".text").unzip();
    let (eh_frame_svma, eh_frame) = section(".eh_frame").unzip();
    let (eh_frame_hdr_svma, eh_frame_hdr) = section(".eh_frame_hdr").unzip();
    let sections = ExplicitModuleSectionInfo {
        base_svma: 0,
        text_svma,
        text,
        eh_frame_svma,
        eh_frame,
        eh_frame_hdr_svma,
        eh_frame_hdr,
        ..ExplicitModuleSectionInfo::default()
    };
    Some((Module::new(code.path.display().to_string(), begin..end, bias, sections), bias))
}

fn is_executable(flags: SegmentFlags) -> bool {
    matches!(flags, SegmentFlags::Elf { p_flags, .. } if p_flags.0 & object::elf::PF_X.0 != 0)
}

/// The functions at an address: one, and those that were inlined into it before it.
fn named(image: &Image<'_>, address: u64, words: &Words) -> Vec<Call> {
    let path = &image.code.path;
    let module = words.modules.iter().rev().find(|(copy, ..)| copy == path);
    let call = |function: Option<String>, at: Option<&Location<'_>>| {
        let function = function.unwrap_or_else(|| format!("{address:#x}"));
        let file = at.and_then(|at| at.file);
        Call {
            of: Owner::of(&function, file.map(Path::new), alcedo()),
            place: file.zip(at.and_then(|at| at.line)).map(|(file, line)| format!("{}:{line}", short(file))),
            function,
            image: path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            module: module.map(|(_, name, generation)| (name.clone(), *generation)),
        }
    };
    let probe = address.wrapping_sub(image.bias);
    let symbol = || {
        let symbol = image.names.as_ref()?.find_symbol(probe)?;
        Some(demangle_auto(symbol.into(), None).into_owned())
    };
    let mut found = Vec::new();
    if let Some(mut frames) = image.names.as_ref().and_then(|names| names.find_frames(probe).ok()) {
        while let Ok(Some(frame)) = frames.next() {
            found.push((frame.function.and_then(|name| Some(name.demangle().ok()?.into_owned())), frame.location));
        }
    }
    // The table of symbols knows whole paths, also where the debug information has line tables only.
    let (function, at) = found.pop().unwrap_or_default();
    found.push((symbol().or(function), at));
    found.into_iter().map(|(function, at)| call(function, at.as_ref())).collect()
}

/// A jump to where there is no code.
fn nowhere(address: u64) -> Call {
    let image = "no code that was mapped".into();
    Call { function: format!("{address:#x}"), place: None, of: Owner::Library, image, module: None }
}

/// The checkout that this tool was built from.
fn alcedo() -> &'static Path {
    let tools = Path::new(env!("CARGO_MANIFEST_DIR"));
    tools.parent().unwrap_or(tools)
}

/// A path below the current folder without that.
fn short(file: &str) -> String {
    let here = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"));
    Path::new(file).strip_prefix(here).map_or_else(|_| file.to_owned(), |rest| rest.display().to_string())
}
