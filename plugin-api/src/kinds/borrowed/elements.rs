//! Views of the elements of a container, and iteration over sets and maps.
#![expect(unsafe_code, reason = "dereferences addresses in buffers of the host after checking their tokens")]

use alcedo_rt::CallError;

use super::Borrowed;
use crate::Value;
use crate::host::lending::Access;
use crate::kinds::ptr::{Ptr, Viewable};
use crate::kinds::row::{Items, Keyed, Keys, List, Mapped, Part, Row, Values};
use crate::kinds::{Kind, ValidityToken};

/// Access to the elements in a container's buffer during the running call `'f`.
struct Inside<'a, 'f, P: Part> {
    whole: Ptr<'a, P::Whole>,
    /// Token of the container, just checked by the creator of this struct.
    token: ValidityToken<'f>,
    /// Token of the buffer from an earlier step of an iteration. If present, the token must be valid.
    in_row: Option<ValidityToken<'f>>,
}

impl<'f, P: Part> Inside<'_, 'f, P> {
    /// Returns a token that is valid while the elements remain at their addresses.
    #[inline]
    fn in_row(&self) -> ValidityToken<'f> {
        self.in_row.unwrap_or_else(|| {
            let row = self.whole.at().wrapping_byte_add(P::ROW).cast();
            // SAFETY: the buffer is part of the container, which is live as long as its own token is valid. The epoch changes whenever an
            // element moves.
            unsafe { self.token.in_row(row, &P::row(self.whole.read())) }
        })
    }

    /// Returns the element at an index, or `None` past the end.
    #[inline]
    fn see(&self, index: usize) -> Option<<P::Item as Value>::Seen<'f>> {
        let token = || if P::IS_KEY { self.in_row().as_key() } else { self.in_row() };
        // SAFETY: an element stays at its address as long as the token of this buffer is valid.
        Some(P::Item::see(unsafe { Viewable::new(Row::of::<P>(self.whole).get(index)?, token) }))
    }
}

impl<'f, K: Kind> Borrowed<'f, K> {
    #[inline]
    fn inside<P: Part<Whole = K>>(&self) -> Result<Inside<'_, 'f, P>, CallError> {
        Ok(Inside { whole: self.ptr()?, token: self.token, in_row: None })
    }

    /// Returns the element of an array at an index, or `None` past the end.
    #[inline]
    pub(crate) fn item(&self, index: usize) -> Result<Option<<K::Item as Value>::Seen<'f>>, CallError>
    where
        K: List,
    {
        Ok(self.inside::<Items<K>>()?.see(index))
    }

    /// Returns the value of a map's entry at an index, or `None` past the end.
    #[inline]
    pub(crate) fn value_at(&self, index: usize) -> Result<Option<<K::Item as Value>::Seen<'f>>, CallError>
    where
        K: Mapped,
    {
        Ok(self.inside::<Values<K>>()?.see(index))
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
    fn step(&mut self) -> Result<(usize, Inside<'a, 'f, Keys<M>>), CallError> {
        let keys = self.over.inside::<Keys<M>>()?;
        let token = *self.token.get_or_insert_with(|| keys.in_row());
        token.check(Access::Read, "iteration")?;
        Ok((self.next, Inside { in_row: Some(token), ..keys }))
    }

    #[inline]
    pub(crate) fn key(&mut self) -> Result<Option<<M::Key as Value>::Seen<'f>>, CallError> {
        let (index, keys) = self.step()?;
        let key = keys.see(index);
        self.next += usize::from(key.is_some());
        Ok(key)
    }

    #[inline]
    pub(crate) fn entry(&mut self) -> Result<Option<SeenEntry<'f, M>>, CallError>
    where
        M: Mapped,
    {
        let (index, keys) = self.step()?;
        let values = Inside::<Values<M>> { whole: keys.whole, token: keys.token, in_row: keys.in_row };
        let (key, value) = (keys.see(index), values.see(index));
        self.next += usize::from(key.is_some());
        Ok(key.zip(value))
    }
}

pub(crate) type SeenEntry<'f, M> = (<<M as Keyed>::Key as Value>::Seen<'f>, <<M as Mapped>::Item as Value>::Seen<'f>);
