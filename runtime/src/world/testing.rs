//! World files as records with their own lists, for tests and fuzz targets. A load uses a [`FlatFile`].

use std::io;

use crate::handles::ObjectHandle;
use crate::world::canonical::KeptBytes;
use crate::world::format::{Envelope, Records, digest, head};
use crate::world::records::{
    ClassRecord, FlatFile, FlatKept, FlatRecord, FormatError, KeptRecord, ObjectRecord, StructRecord,
};

/// Contents of a world file with separate lists for each object.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct WorldFile<'a> {
    /// Declarations of the structs in saved values, sorted by path. Programs that read the file without a host need these declarations.
    pub(crate) structs: Vec<StructRecord>,
    /// Classes of the objects, in the order of first use.
    pub(crate) classes: Vec<ClassRecord>,
    /// Objects in creation order. References are indices into this list.
    pub(crate) objects: Vec<ObjectRecord<'a>>,
}

impl<'a> WorldFile<'a> {
    /// Encodes the whole file. Equal worlds have equal bytes.
    pub(crate) fn encode(&self) -> io::Result<Vec<u8>> {
        let mut file = Envelope::new(io::Cursor::new(Vec::new()));
        let mut records = Records::new(&mut file, self.objects.len() as u32)?;
        let mut kept = KeptBytes::default();
        for ObjectRecord { class, name, outer, part, root, lazy, values, kept: fields } in self.objects.clone() {
            kept.clear();
            fields.iter().for_each(|field| kept.put(ObjectHandle::NONE, &field.class, &field.name, &field.data));
            kept.select(ObjectHandle::NONE);
            let record = ObjectRecord { class, name, outer, part, root, lazy, values, kept };
            records.object(&record)?;
            kept = record.kept;
        }
        records.finish(&self.classes, &self.structs)?;
        Ok(file.seal()?.into_inner())
    }

    /// Decodes as [`FlatFile::decode`] does, into records with their own lists.
    pub(crate) fn decode(bytes: &'a [u8]) -> Result<Self, FormatError> {
        FlatFile::decode(bytes).map(|file| file.nested())
    }
}

impl<'a> FlatFile<'a> {
    /// Copies the contents into records with their own lists.
    pub(crate) fn nested(&self) -> WorldFile<'a> {
        let named = |kept: &FlatKept<'a>| {
            let [class, name] = self.fields[kept.field as usize].clone();
            KeptRecord { class, name, data: kept.data.clone() }
        };
        let nested = |record: &FlatRecord<'a>| {
            let values = record.values.of(&self.values).to_vec();
            let kept: Vec<_> = record.kept.of(&self.kept).iter().map(named).collect();
            let ObjectRecord { class, name, outer, part, root, lazy, .. } = record.clone();
            ObjectRecord { class, name, outer, part, root, lazy, values, kept }
        };
        let objects = self.objects.iter().map(nested).collect();
        WorldFile { structs: self.structs.clone(), classes: self.classes.clone(), objects }
    }
}

/// Returns a file with this body and a valid length and digest. The body may be invalid.
pub(crate) fn sealed(body: &[u8]) -> Vec<u8> {
    let head = head(body.len() as u64);
    [&head[..], body, &digest(&head, body).to_le_bytes()].concat()
}
