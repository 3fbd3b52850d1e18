//! What a module declares that is only a file: its descriptions are constants of the library, and read as the bytes that they
//! are. No code of it runs. That the descriptions lie as this build lays them out is known from the manifest, whose hash of the
//! layout was compared before.

use std::collections::BTreeMap;
use std::mem::offset_of;

use alcedo_abi::abi_stable::std_types::RStr;
use alcedo_abi::describe::{
    ClassDesc, DelegateDesc, EnumDesc, EnumEntryDesc, ExportDesc, FunctionDesc, ImportDesc, ImportKind, InterfaceDesc,
    MetaDesc, PropertyDesc, SignatureDesc, StructDesc,
};
use alcedo_abi::kinds::{PropertyKind, property_flags};
use alcedo_sys::{Constants, ImageFile};

use super::{
    Declared, DeclaredClass, DeclaredDelegate, DeclaredEntry, DeclaredEnum, DeclaredExport, DeclaredFunction,
    DeclaredImport, DeclaredInterface, DeclaredProperty, DeclaredStruct, delegate_path, flags, take_base, type_path,
};
use crate::bridge::exports::export_name;

/// More bytes than any text, and more entries than any list has: a damaged number is not believed.
const MOST: u64 = 1 << 20;

/// A word of the target.
const WORD: u64 = 8;

/// What the library of that name declares; the error says what could not be read.
pub(crate) fn of_file(module: &str, image: &ImageFile) -> Result<Declared, String> {
    let constants = image.constants().ok_or("its headers cannot be read a second time")?;
    Descriptions { constants, module }.all().map(Declared::in_order)
}

struct Descriptions<'a> {
    constants: Constants<'a>,
    module: &'a str,
}

/// An address in the file, and what lies there.
macro_rules! at {
    ($start:expr, $owner:ty, $field:ident) => {
        $start + offset_of!($owner, $field) as u64
    };
}

impl Descriptions<'_> {
    fn all(&self) -> Result<Declared, String> {
        Ok(Declared {
            classes: self.each("CLASSES", |at| self.class(at))?,
            enums: self.each("ENUMS", |at| self.enumeration(at))?,
            delegates: self.each("DELEGATES", |at| self.delegate(at))?,
            structs: self.each("STRUCTS", |at| self.structure(at))?,
            interfaces: self.each("INTERFACES", |at| self.interface(at))?,
            exports: self.each("EXPORTS", |at| self.export(at))?,
            imports: self.each("IMPORTS", |at| self.import(at))?,
        })
    }

    /// What a list of the linker's leads to.
    fn each<T>(&self, list: &str, read: impl Fn(u64) -> Option<T>) -> Result<Vec<T>, String> {
        let Some((start, size)) = self.constants.section(&format!("linkme_{list}")) else { return Ok(Vec::new()) };
        let entry = |at: u64| {
            let described = self.constants.address(start + at * WORD).and_then(&read);
            described.ok_or_else(|| format!("entry {at} of its list {list} leads to no description"))
        };
        (0..(size / WORD).min(MOST)).map(entry).collect()
    }

    fn number<const N: usize>(&self, at: u64) -> Option<[u8; N]> {
        self.constants.bytes(at, N as u64)?.try_into().ok()
    }

    fn u64(&self, at: u64) -> Option<u64> {
        self.number(at).map(u64::from_le_bytes)
    }

    fn u32(&self, at: u64) -> Option<u32> {
        self.number(at).map(u32::from_le_bytes)
    }

    /// Where the entries of a slice begin, and how many there are.
    fn slice(&self, at: u64) -> Option<(u64, u64)> {
        match self.u64(at + WORD)? {
            // An empty one leads nowhere.
            0 => Some((0, 0)),
            len => Some((self.constants.address(at)?, len)).filter(|(_, len)| *len <= MOST),
        }
    }

    fn text(&self, at: u64) -> Option<String> {
        let (start, len) = self.slice(at)?;
        if len == 0 {
            return Some(String::new());
        }
        std::str::from_utf8(self.constants.bytes(start, len)?).ok().map(str::to_owned)
    }

    fn entries<T, Entry>(&self, at: u64, read: impl Fn(u64) -> Option<T>) -> Option<Vec<T>> {
        let (start, len) = self.slice(at)?;
        (0..len).map(|entry| read(start.checked_add(entry * size_of::<Entry>() as u64)?)).collect()
    }

    fn properties(&self, at: u64) -> Option<Vec<(DeclaredProperty, u64)>> {
        self.entries::<_, PropertyDesc>(at, |at| self.property(at))
    }

    /// A property, and its flags.
    fn property(&self, at: u64) -> Option<(DeclaredProperty, u64)> {
        let flags = self.u64(at!(at, PropertyDesc, flags))?;
        let [kind] = self.number(at!(at, PropertyDesc, kind))?;
        let found = DeclaredProperty {
            name: self.text(at!(at, PropertyDesc, name))?,
            ty: flags::type_text(PropertyKind(kind), &self.text(at!(at, PropertyDesc, type_path))?),
            flags: flags::words(flags::OF_PROPERTIES, flags),
            default: self.text(at!(at, PropertyDesc, default))?,
            meta: self.meta(at!(at, PropertyDesc, meta))?,
            doc: self.text(at!(at, PropertyDesc, doc))?,
        };
        Some((found, flags))
    }

    fn function(&self, at: u64) -> Option<DeclaredFunction> {
        let overrides = self.text(at!(at, FunctionDesc, overrides))?;
        let flags = self.u64(at!(at, FunctionDesc, flags))?;
        let (name, doc) = (at!(at, FunctionDesc, name), at!(at, FunctionDesc, doc));
        let meta = self.meta(at!(at, FunctionDesc, meta))?;
        self.declared(name, flags, overrides, at!(at, FunctionDesc, params), doc)
            .map(|found| DeclaredFunction { meta, ..found })
    }

    fn signature(&self, at: u64) -> Option<DeclaredFunction> {
        let flags = self.u64(at!(at, SignatureDesc, flags))?;
        let (name, doc) = (at!(at, SignatureDesc, name), at!(at, SignatureDesc, doc));
        self.declared(name, flags, String::new(), at!(at, SignatureDesc, params), doc)
    }

    fn declared(&self, name: u64, flags: u64, overrides: String, params: u64, doc: u64) -> Option<DeclaredFunction> {
        let (results, params): (Vec<_>, Vec<_>) =
            self.properties(params)?.into_iter().partition(|(_, flags)| flags & property_flags::RETURN != 0);
        Some(DeclaredFunction {
            name: self.text(name)?,
            flags: flags::words(flags::OF_FUNCTIONS, flags),
            overrides,
            params: params.into_iter().map(|(param, _)| param).collect(),
            result: results.into_iter().next().map(|(result, _)| result.ty),
            meta: BTreeMap::new(),
            doc: self.text(doc)?,
        })
    }

    fn meta(&self, at: u64) -> Option<BTreeMap<String, String>> {
        let entry = |at| Some((self.text(at!(at, MetaDesc, key))?, self.text(at!(at, MetaDesc, value))?));
        self.entries::<_, MetaDesc>(at, entry).map(|found| found.into_iter().collect())
    }

    fn class(&self, at: u64) -> Option<DeclaredClass> {
        let properties = self.properties(at!(at, ClassDesc, properties))?;
        Some(DeclaredClass {
            path: type_path(&self.text(at!(at, ClassDesc, package))?, &self.text(at!(at, ClassDesc, name))?),
            base: self.text(at!(at, ClassDesc, base))?,
            flags: flags::words(flags::OF_CLASSES, self.u64(at!(at, ClassDesc, flags))?),
            properties: properties.into_iter().map(|(property, _)| property).collect(),
            functions: self.entries::<_, FunctionDesc>(at!(at, ClassDesc, functions), |at| self.function(at))?,
            implements: self.entries::<_, RStr<'static>>(at!(at, ClassDesc, implements), |at| self.text(at))?,
            doc: self.text(at!(at, ClassDesc, doc))?,
        })
    }

    fn enumeration(&self, at: u64) -> Option<DeclaredEnum> {
        let [underlying] = self.number(at!(at, EnumDesc, underlying))?;
        let [flags] = self.number::<1>(at!(at, EnumDesc, flags))?;
        let underlying = flags::type_text(PropertyKind(underlying), "");
        let is_signed = underlying.starts_with('i');
        let entry = |at| {
            let [hidden] = self.number::<1>(at!(at, EnumEntryDesc, hidden))?;
            let number = self.u64(at!(at, EnumEntryDesc, number))?;
            Some(DeclaredEntry {
                name: self.text(at!(at, EnumEntryDesc, name))?,
                number: if is_signed { number.cast_signed().into() } else { number.into() },
                display: self.text(at!(at, EnumEntryDesc, display))?,
                is_hidden: hidden != 0,
                doc: self.text(at!(at, EnumEntryDesc, doc))?,
            })
        };
        Some(DeclaredEnum {
            path: type_path(&self.text(at!(at, EnumDesc, package))?, &self.text(at!(at, EnumDesc, name))?),
            underlying,
            is_flags: flags != 0,
            entries: self.entries::<_, EnumEntryDesc>(at!(at, EnumDesc, entries), entry)?,
            doc: self.text(at!(at, EnumDesc, doc))?,
        })
    }

    fn delegate(&self, at: u64) -> Option<DeclaredDelegate> {
        let [kind] = self.number(at!(at, DelegateDesc, kind))?;
        let (package, class) = (self.text(at!(at, DelegateDesc, package))?, self.text(at!(at, DelegateDesc, class))?);
        let (name, params) = (at!(at, DelegateDesc, name), at!(at, DelegateDesc, params));
        let DeclaredFunction { name, params, result, doc, .. } =
            self.declared(name, 0, String::new(), params, at!(at, DelegateDesc, doc))?;
        let (path, sort) = (delegate_path(&package, &class, &name), flags::of_delegate(PropertyKind(kind)));
        Some(DeclaredDelegate { path, sort, params, result, doc })
    }

    fn structure(&self, at: u64) -> Option<DeclaredStruct> {
        let fields = self.properties(at!(at, StructDesc, fields))?;
        let mut fields: Vec<_> = fields.into_iter().map(|(field, _)| field).collect();
        Some(DeclaredStruct {
            base: take_base(&mut fields),
            path: type_path(&self.text(at!(at, StructDesc, package))?, &self.text(at!(at, StructDesc, name))?),
            size: self.u32(at!(at, StructDesc, size))?,
            align: self.u32(at!(at, StructDesc, align))?,
            fields,
            doc: self.text(at!(at, StructDesc, doc))?,
        })
    }

    fn interface(&self, at: u64) -> Option<DeclaredInterface> {
        Some(DeclaredInterface {
            path: type_path(&self.text(at!(at, InterfaceDesc, package))?, &self.text(at!(at, InterfaceDesc, name))?),
            functions: self.entries::<_, SignatureDesc>(at!(at, InterfaceDesc, functions), |at| self.signature(at))?,
            doc: self.text(at!(at, InterfaceDesc, doc))?,
        })
    }

    fn export(&self, at: u64) -> Option<DeclaredExport> {
        let (of, name) = (self.text(at!(at, ExportDesc, type_path))?, self.text(at!(at, ExportDesc, name))?);
        let signature = self.text(at!(at, ExportDesc, signature))?;
        Some(DeclaredExport { name: export_name(self.module, &of, &name), signature })
    }

    fn import(&self, at: u64) -> Option<DeclaredImport> {
        let [kind] = self.number(at!(at, ImportDesc, kind))?;
        Some(DeclaredImport { path: self.text(at!(at, ImportDesc, path))?, kind: flags::of_import(ImportKind(kind)) })
    }
}
