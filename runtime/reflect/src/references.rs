//! Where the strong references of a layout are: computed once for a class or a parameter block, so that a mark goes
//! straight to them.
#![expect(unsafe_code, reason = "reads references out of raw property memory")]

use alcedo_base::handles::ObjectHandle;

use crate::memory;
use crate::property::PropertyType;

/// The strong references of a layout.
#[derive(Debug, Default)]
pub(super) struct References {
    /// Offsets of handles that lie in the memory itself, those in structs included.
    direct: Box<[u32]>,
    /// Values that hold references in memory of their own, or not always, with their offsets: containers.
    deep: Box<[(u32, PropertyType)]>,
}

impl References {
    /// The references in fields, given with their offsets.
    pub(super) fn of<'a>(fields: impl IntoIterator<Item = (usize, &'a PropertyType)>) -> Self {
        let (mut direct, mut deep) = (Vec::new(), Vec::new());
        fields.into_iter().for_each(|(offset, ty)| add(offset, ty, &mut direct, &mut deep));
        Self { direct: direct.into(), deep: deep.into() }
    }

    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.direct.is_empty() && self.deep.is_empty()
    }

    /// Shows `visit` every strong reference in the memory, none left out.
    ///
    /// # Safety
    /// `start` is memory of the layout, with a value of its type at each field, and nobody writes it meanwhile, not even
    /// `visit`.
    #[inline]
    pub(super) unsafe fn each(&self, start: *const u8, mut visit: impl FnMut(ObjectHandle)) {
        for offset in &self.direct {
            let at = start.wrapping_add(*offset as usize).cast::<ObjectHandle>();
            // SAFETY: the caller promises a handle there, aligned.
            visit(unsafe { at.read() });
        }
        for (offset, ty) in &self.deep {
            // SAFETY: the caller promises a value of the type there.
            unsafe { memory::visit_objects(start.wrapping_add(*offset as usize), ty, &mut visit) };
        }
    }
}

fn add(offset: usize, ty: &PropertyType, direct: &mut Vec<u32>, deep: &mut Vec<(u32, PropertyType)>) {
    // A layout is smaller than four gigabytes: offsets of properties are 32 bits.
    let at = offset as u32;
    match ty {
        // A delegate begins with its object.
        PropertyType::Object { .. } | PropertyType::ScriptInterface(_) | PropertyType::Delegate(_) => direct.push(at),
        PropertyType::Struct(of) if ty.holds_objects() => {
            of.fields().iter().for_each(|field| add(offset + field.offset as usize, &field.ty, direct, deep));
        }
        ty if ty.holds_objects() => deep.push((at, ty.clone())),
        _ => {}
    }
}
