//! Views of the elements of a container, and iteration over sets and maps.

use alcedo_rt::CallError;

use super::Borrowed;
use crate::Value;
use crate::host::lending::Access;
use crate::kinds::row::{Inside, Items, Keyed, Keys, List, Mapped, Values};
use crate::kinds::{Kind, ValidityToken};

impl<'f, K: Kind> Borrowed<'f, K> {
    /// Returns the element of an array at an index, or `None` past the end.
    #[inline]
    pub(crate) fn item(&self, index: usize) -> Result<Option<<K::Item as Value>::Seen<'f>>, CallError>
    where
        K: List,
    {
        Ok(self.inside()?.see::<Items<K>>(index))
    }

    /// Returns the value of a map's entry at an index, or `None` past the end.
    #[inline]
    pub(crate) fn value_at(&self, index: usize) -> Result<Option<<K::Item as Value>::Seen<'f>>, CallError>
    where
        K: Mapped,
    {
        Ok(self.inside()?.see::<Values<K>>(index))
    }
}

/// Iterator over the entries of a set or map. A step fails if an entry has been moved or removed since the first step.
pub(crate) struct Walk<'a, 'f, M: Kind> {
    over: &'a Borrowed<'f, M>,
    next: usize,
    /// Token of the buffer, set by the first step.
    token: Option<ValidityToken<'f>>,
}

impl<'a, 'f, M: Keyed + Kind> Walk<'a, 'f, M> {
    pub(crate) fn new(over: &'a Borrowed<'f, M>) -> Self {
        Self { over, next: 0, token: None }
    }

    #[inline]
    fn step(&mut self) -> Result<(usize, Inside<'a, 'f, M>), CallError> {
        let whole = self.over.inside()?;
        self.token.get_or_insert_with(|| whole.in_row::<Keys<M>>()).check(Access::Read, "iteration")?;
        Ok((self.next, whole))
    }

    #[inline]
    pub(crate) fn key(&mut self) -> Result<Option<<M::Key as Value>::Seen<'f>>, CallError> {
        let (index, whole) = self.step()?;
        let key = whole.see::<Keys<M>>(index);
        self.next += usize::from(key.is_some());
        Ok(key)
    }

    #[inline]
    pub(crate) fn entry(&mut self) -> Result<Option<SeenEntry<'f, M>>, CallError>
    where
        M: Mapped,
    {
        let (index, whole) = self.step()?;
        let (key, value) = (whole.see::<Keys<M>>(index), whole.see::<Values<M>>(index));
        self.next += usize::from(key.is_some());
        Ok(key.zip(value))
    }
}

pub(crate) type SeenEntry<'f, M> = (<<M as Keyed>::Key as Value>::Seen<'f>, <<M as Mapped>::Item as Value>::Seen<'f>);
