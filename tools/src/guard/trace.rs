//! Computes a backtrace of a process that has already ended, from its recorded registers, its recorded stack, and its mapped files.

use std::collections::BTreeMap;
use std::path::Path;

use addr2line::Location;
use framehop::{CacheNative, ExplicitModuleSectionInfo, MayAllocateDuringUnwind, Module, Unwinder as _};
use framehop::{FrameAddress, UnwindRegsNative, UnwinderNative};
use object::{Object as _, ObjectSection as _, ObjectSegment as _, SegmentFlags};

use super::calls::{Call, Owner};
use super::dump::{CrashDump, ImageRecord, Mapped};
use super::names::{Names, read_image};
use super::unmapped::former_images;
use crate::figures::near;
use crate::install::checkout;

/// Maximum number of frames. An endless recursion has thousands of equal frames.
const MOST: usize = 256;

/// A mapped file that contains code.
struct Image<'a> {
    code: &'a Mapped,
    /// Difference between an address in the process and the address in the file.
    bias: u64,
    names: Option<Names>,
}

#[derive(Debug, Default)]
pub(super) struct Trace {
    /// Frames, innermost first.
    pub(super) calls: Vec<Call>,
    /// Set if the address of the first frame contains no code, and the second frame contains the call instruction that jumped to this
    /// address.
    pub(super) has_jumped: bool,
}

pub(super) fn trace(dump: &CrashDump) -> Trace {
    let mut unwinder = UnwinderNative::<Vec<u8>, MayAllocateDuringUnwind>::new();
    let mut images: BTreeMap<&Path, Image<'_>> = BTreeMap::new();
    for code in dump.maps.iter().filter(|mapped| mapped.executable) {
        let Some((module, bias)) = unwindable(code) else { continue };
        unwinder.add_module(module);
        images.insert(&code.path, Image { code, bias, names: Names::of(&code.path) });
    }
    let mut trace = Trace::default();
    let is_code = |address| images.values().any(|image| image.code.range.contains(&address));
    let (mut pc, mut sp) = (dump.pc, dump.sp);
    if !is_code(pc) {
        trace.calls.push(nowhere(pc, dump));
        // Continues at the caller. No instruction of the callee has run, so the registers still contain the values of the caller.
        if let Some((caller, its_sp)) = caller(dump, &images) {
            (pc, sp) = (caller, its_sp);
            trace.has_jumped = true;
        }
    }
    #[cfg(target_arch = "x86_64")]
    let registers = UnwindRegsNative::new(pc, sp, dump.fp);
    #[cfg(target_arch = "aarch64")]
    let registers = UnwindRegsNative::new(dump.lr, sp, dump.fp);
    let mut cache = CacheNative::new();
    let mut read = |address| dump.word_at(address).ok_or(());
    let mut frames = unwinder.iter_frames(pc, registers, &mut cache, &mut read);
    // Stops at a frame that cannot be unwound, and returns the frames before it.
    while let Ok(Some(frame)) = frames.next() {
        let address = frame.address_for_lookup();
        let image = images.values().find(|image| image.code.range.contains(&address));
        match image {
            Some(image) => trace.calls.extend(named(image, address, dump)),
            // Adds a frame for a return address in code that was unmapped while the call was running.
            None if matches!(frame, FrameAddress::ReturnAddress(_)) => {
                trace.calls.extend(former_images(dump, address).map(|_| nowhere(address, dump)));
            }
            None => {}
        }
        if trace.calls.len() >= MOST {
            break;
        }
    }
    trace
}

/// Returns an address in the call instruction that jumped to the program counter, and the stack pointer before this call. Returns `None` if
/// no call instruction precedes the return address.
fn caller(dump: &CrashDump, images: &BTreeMap<&Path, Image<'_>>) -> Option<(u64, u64)> {
    #[cfg(target_arch = "x86_64")]
    let (back, sp) = (dump.word_at(dump.sp)?, dump.sp.wrapping_add(8));
    #[cfg(target_arch = "aarch64")]
    let (back, sp) = (dump.lr, dump.sp);
    let image = images.values().find(|image| image.code.range.contains(&back))?;
    let bytes = read_image(&image.code.path).ok()?;
    let at = back.checked_sub(image.code.range.start)?.checked_add(image.code.offset)?;
    let at = usize::try_from(at).ok()?;
    let before = bytes.get(at.checked_sub(LONGEST_CALL)?..at)?;
    ends_with_a_call(before).then_some((back - 1, sp))
}

/// Maximum length of a call instruction, in bytes.
const LONGEST_CALL: usize = 7;

#[cfg(target_arch = "x86_64")]
fn ends_with_a_call(code: &[u8]) -> bool {
    let is_direct = code.len() >= 5 && code[code.len() - 5] == 0xe8;
    let is_indirect = |len: usize| {
        let Some(code) = code.len().checked_sub(len).map(|at| &code[at..]) else { return false };
        let (mode, digit, base) = (code[1] >> 6, code[1] >> 3 & 7, code[1] & 7);
        let scaled = usize::from(mode != 3 && base == 4);
        let offset = match (mode, base) {
            (0, 5) => 4,
            (0, 4) if code.get(2).is_some_and(|scaled| scaled & 7 == 5) => 4,
            (0 | 3, _) => 0,
            (1, _) => 1,
            _ => 4,
        };
        code[0] == 0xff && digit == 2 && len == 2 + scaled + offset
    };
    is_direct || (2..=LONGEST_CALL).any(is_indirect)
}

#[cfg(target_arch = "aarch64")]
fn ends_with_a_call(code: &[u8]) -> bool {
    let Some(last) = code.last_chunk() else { return false };
    let last = u32::from_le_bytes(*last);
    last & 0xfc00_0000 == 0x9400_0000 || last & 0xffff_fc1f == 0xd63f_0000
}

/// Returns the unwind information and the bias of a mapped file.
fn unwindable(code: &Mapped) -> Option<(Module<Vec<u8>>, u64)> {
    let bytes = read_image(&code.path).ok()?;
    let file = object::File::parse(bytes.as_slice()).ok()?;
    // Finds the segment to which the mapping belongs. The kernel maps whole pages, so the mapping may begin before the segment. If a page
    // of the file contains parts of two segments, the page is mapped twice.
    let segment = file.segments().find(|segment| {
        let (offset, len) = segment.file_range();
        let page = offset & !0xfff;
        is_executable(segment.flags()) && (page..offset + len).contains(&code.offset)
    })?;
    let (offset, _) = segment.file_range();
    let bias = code.range.start.wrapping_sub(segment.address().wrapping_sub(offset.wrapping_sub(code.offset)));
    // Computes the range from the segments instead of the mappings, because a program's file may be mapped twice: printing a backtrace maps
    // the file again to read names.
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

/// Returns the functions at an address. Inlined functions precede the function that contains them.
fn named(image: &Image<'_>, address: u64, dump: &CrashDump) -> Vec<Call> {
    let path = &image.code.path;
    let module = dump.module(path);
    let call = |function: Option<String>, at: Option<&Location<'_>>| {
        let function = function.unwrap_or_else(|| format!("{address:#x}"));
        let file = at.and_then(|at| at.file).map(Path::new);
        Call {
            of: Owner::of(&function, file, checkout()),
            location: file.zip(at.and_then(|at| at.line)).map(|(file, line)| format!("{}:{line}", near(file))),
            function,
            image: path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            module: module.cloned(),
        }
    };
    let probe = address.wrapping_sub(image.bias);
    let symbol = || image.names.as_ref()?.symbol(probe);
    let mut found = image.names.as_ref().map(|names| names.frames(probe)).unwrap_or_default();
    // Prefers the symbol table, because its names are qualified even if the debug information contains only line tables.
    let (function, at) = found.pop().unwrap_or_default();
    found.push((symbol().or(function), at));
    found.into_iter().map(|(function, at)| call(function, at.as_ref())).collect()
}

/// Returns the frame for a jump to an address without code.
fn nowhere(address: u64, dump: &CrashDump) -> Call {
    let former = former_images(dump, address);
    let function = former.as_ref().and_then(|former| function_of(former.alone.as_ref()?, address));
    let image = former.map_or_else(|| "no code that was mapped".to_owned(), |former| former.description);
    let function = function.unwrap_or_else(|| format!("{address:#x}"));
    Call { function, location: None, of: Owner::Library, image, module: None }
}

/// Returns the function at an address of an unmapped image. Names of private copies are never reused, so a copy that still exists is the
/// file that was mapped.
fn function_of(image: &ImageRecord, address: u64) -> Option<String> {
    let bytes = read_image(&image.copy).ok()?;
    let file = object::File::parse(bytes.as_slice()).ok()?;
    let first = file.segments().map(|segment| segment.address()).min()?;
    let bias = image.ranges.iter().map(|range| range.start).min()?.wrapping_sub(first);
    Names::of(&image.copy)?.symbol(address.wrapping_sub(bias))
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::ends_with_a_call;

    #[test]
    fn a_return_address_follows_a_call_instruction() {
        for call in [
            &[0xe8, 1, 2, 3, 4][..],         // call 0x04030201
            &[0xff, 0xd0],                   // call *%rax
            &[0x41, 0xff, 0xd4],             // call *%r12
            &[0xff, 0x13],                   // call *(%rbx)
            &[0xff, 0x14, 0x24],             // call *(%rsp)
            &[0xff, 0x50, 0x18],             // call *24(%rax)
            &[0xff, 0x54, 0x24, 8],          // call *8(%rsp)
            &[0xff, 0x15, 1, 2, 3, 4],       // call *0x04030201(%rip)
            &[0xff, 0x90, 1, 2, 3, 4],       // call *0x04030201(%rax)
            &[0xff, 0x94, 0x24, 1, 2, 3, 4], // call *0x04030201(%rsp)
            &[0xff, 0x14, 0xc5, 1, 2, 3, 4], // call *0x04030201(,%rax,8)
        ] {
            let behind_others = [&[0x90; 7][..], call].concat();
            assert!(ends_with_a_call(&behind_others[behind_others.len() - 7..]), "{call:x?}");
        }
        for other in [
            &[0x90; 7][..],
            &[0xff, 0xe0],       // jmp *%rax
            &[0xff, 0x50],       // a piece of call *24(%rax)
            &[0xe9, 1, 2, 3, 4], // jmp
            &[0xff, 0x15, 1, 2], // a piece
            &[],
        ] {
            assert!(!ends_with_a_call(other), "{other:x?}");
        }
    }
}
