//! From registers, a stack and the files that were mapped to the calls that had not returned. All of it is done here,
//! after the end of the process: nothing had to work in there any more.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use addr2line::{Loader, demangle_auto};
use framehop::{CacheNative, ExplicitModuleSectionInfo, MayAllocateDuringUnwind, Module, Unwinder as _};
use framehop::{FrameAddress, UnwindRegsNative, UnwinderNative};
use object::{Object as _, ObjectSection as _, ObjectSegment as _, SegmentFlags};

use super::words::{Mapped, Words};

/// A stack that is full has thousands of frames, all alike.
const MOST: usize = 256;

/// A call that had not returned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Call {
    /// The function, or the address where it has no name.
    pub(super) function: String,
    /// File and line.
    pub(super) place: Option<String>,
    /// The file that the code is of.
    pub(super) image: String,
    /// The module and generation, for a copy of a plugin.
    pub(super) module: Option<(String, u64)>,
}

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
        let Some((module, bias)) = unwindable(code, &words.maps) else { continue };
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
fn unwindable(code: &Mapped, maps: &[Mapped]) -> Option<(Module<Vec<u8>>, u64)> {
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
    let of_file = || maps.iter().filter(|mapped| mapped.path == code.path);
    let begin = of_file().map(|mapped| mapped.range.start).min()?;
    let end = of_file().map(|mapped| mapped.range.end).max()?;
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
    let call = |function: Option<String>, place| Call {
        function: function.unwrap_or_else(|| format!("{address:#x}")),
        place,
        image: path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        module: module.map(|(_, name, generation)| (name.clone(), *generation)),
    };
    let probe = address.wrapping_sub(image.bias);
    let symbol = || {
        let symbol = image.names.as_ref()?.find_symbol(probe)?;
        Some(demangle_auto(symbol.into(), None).into_owned())
    };
    let mut calls = Vec::new();
    if let Some(mut frames) = image.names.as_ref().and_then(|names| names.find_frames(probe).ok()) {
        while let Ok(Some(frame)) = frames.next() {
            let function = frame.function.and_then(|name| Some(name.demangle().ok()?.into_owned()));
            let place = frame.location.and_then(|at| Some(format!("{}:{}", short(at.file?), at.line?)));
            calls.push(call(function, place));
        }
    }
    match calls.last_mut() {
        // The table of symbols knows whole paths, also where the debug information has line tables only.
        Some(outermost) => outermost.function = symbol().unwrap_or_else(|| outermost.function.clone()),
        None => calls.push(call(symbol(), None)),
    }
    calls
}

/// A jump to where there is no code.
fn nowhere(address: u64) -> Call {
    Call { function: format!("{address:#x}"), place: None, image: "no code that was mapped".into(), module: None }
}

/// A path below the current folder without that.
fn short(file: &str) -> String {
    let here = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"));
    Path::new(file).strip_prefix(here).map_or_else(|_| file.to_owned(), |rest| rest.display().to_string())
}
