//! Network form of a struct: the bytes that `net_serialize` writes and reads. Hosts and plugins both implement `net_serialize` with the
//! archive in this file. Referenced objects are stored in a separate table. The host translates this table, because only the host has the
//! names by which remote machines identify the objects.
//!
//! Table and bytes are sent as one buffer: the number of objects (4 bytes), the handles (8 bytes each), and the bytes of the
//! struct. All numbers are little-endian.

use crate::handles::ObjectHandle;
use crate::zcall::SlotValue;

/// Bytes of a struct in network form. `net_serialize` writes the values of the struct to the archive, or reads the values from the archive,
/// in order. If a value that is read is missing or invalid, the variable remains unchanged and the archive is marked as failed. The
/// operation then fails even if `net_serialize` reports success.
///
/// # Examples
/// ```
/// use alcedo_abi::net::{NetArchive, NetMap, NetOutcome, load, save};
///
/// #[derive(Clone, Debug, Default, PartialEq)]
/// struct Chat {
///     text: String,
///     color: u32,
/// }
///
/// impl Chat {
///     /// Writes and reads the same fields in the same order.
///     fn net_serialize(&mut self, archive: &mut NetArchive, _map: &mut NetMap) -> (bool, bool) {
///         archive.text(&mut self.text);
///         archive.number(&mut self.color);
///         (true, true)
///     }
/// }
///
/// let (mut sent, mut received) = (Chat { text: "hi".to_owned(), color: 0xff00 }, Chat::default());
/// let NetOutcome::Done(bytes) = save(|archive, map| sent.net_serialize(archive, map)) else { panic!("not saved") };
/// assert_eq!(load(&bytes, |archive, map| received.net_serialize(archive, map)), NetOutcome::Done(()));
/// assert_eq!(received, sent);
/// ```
#[derive(Debug)]
pub struct NetArchive {
    bytes: Vec<u8>,
    at: usize,
    is_saving: bool,
    has_failed: bool,
}

/// Number type that an archive supports: an integer, a float or `bool`. The archive stores a number in the size that it has in memory.
///
/// # Examples
/// ```
/// use alcedo_abi::net::{NetArchive, NetNumber};
///
/// /// Writes or reads a pair of numbers.
/// fn pair<T: NetNumber>(archive: &mut NetArchive, [x, y]: &mut [T; 2]) {
///     archive.number(x);
///     archive.number(y);
/// }
///
/// fn serialize(archive: &mut NetArchive, position: &mut [f64; 2], is_on: &mut [bool; 2]) {
///     pair(archive, position);
///     pair(archive, is_on);
/// }
/// ```
pub trait NetNumber: SlotValue + sealed::Sealed {
    /// Checks bits that were read.
    #[doc(hidden)]
    fn is_valid(_bits: u64) -> bool {
        true
    }
}

/// Reference to an object.
///
/// # Examples
/// ```
/// use alcedo_abi::handles::ObjectHandle;
/// use alcedo_abi::net::NetObject;
///
/// /// Reference to an object that may be attacked.
/// struct Target(ObjectHandle);
///
/// impl NetObject for Target {
///     fn to_handle(&self) -> ObjectHandle {
///         self.0
///     }
///
///     fn of_handle(handle: ObjectHandle) -> Self {
///         Self(handle)
///     }
/// }
///
/// assert!(Target::of_handle(ObjectHandle::NONE).to_handle().is_none());
/// ```
pub trait NetObject {
    /// Returns the handle of the object.
    fn to_handle(&self) -> ObjectHandle;
    /// Creates a reference to the object with `handle`.
    fn of_handle(handle: ObjectHandle) -> Self;
}

impl NetObject for ObjectHandle {
    fn to_handle(&self) -> ObjectHandle {
        *self
    }

    fn of_handle(handle: ObjectHandle) -> Self {
        handle
    }
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! numbers {
    ($($rust:ty),*) => {$(
        impl sealed::Sealed for $rust {}
        impl NetNumber for $rust {}
    )*};
}
numbers!(u8, u16, u32, u64, i8, i16, i32, i64, f32, f64);

impl sealed::Sealed for bool {}
impl NetNumber for bool {
    fn is_valid(bits: u64) -> bool {
        bits <= 1
    }
}

impl NetArchive {
    /// Returns true if `net_serialize` writes values into the archive.
    ///
    /// # Examples
    /// ```
    /// use alcedo_abi::net::NetArchive;
    ///
    /// /// Sends an angle of 0 to 360 degrees in one byte.
    /// fn angle(archive: &mut NetArchive, degrees: &mut f64) {
    ///     let mut byte = if archive.is_saving() { (*degrees / 360.0 * 256.0) as u8 } else { 0 };
    ///     archive.number(&mut byte);
    ///     if archive.is_loading() && !archive.has_failed() {
    ///         *degrees = f64::from(byte) / 256.0 * 360.0;
    ///     }
    /// }
    /// ```
    #[must_use]
    pub fn is_saving(&self) -> bool {
        self.is_saving
    }

    /// Returns true if `net_serialize` reads values from the archive.
    #[must_use]
    pub fn is_loading(&self) -> bool {
        !self.is_saving
    }

    /// Returns true if an expected value was missing or invalid, or if a byte string was too long to be written.
    ///
    /// # Examples
    /// ```
    /// use alcedo_abi::net::{NetOutcome, joined, load};
    ///
    /// let (mut level, mut has_failed) = (1_u64, false);
    /// // Two bytes are too few for a `u64`.
    /// let outcome = load(&joined(&[], &[7, 7]), |archive, _map| {
    ///     archive.number(&mut level);
    ///     has_failed = archive.has_failed();
    ///     (true, true)
    /// });
    /// assert_eq!((outcome, level, has_failed), (NetOutcome::Failed, 1, true));
    /// ```
    #[must_use]
    pub fn has_failed(&self) -> bool {
        self.has_failed
    }

    /// Writes the number when saving. When loading, replaces the number by the next value of the archive.
    ///
    /// # Examples
    /// ```
    /// use alcedo_abi::net::{NetArchive, NetMap};
    ///
    /// fn net_serialize(health: &mut f32, archive: &mut NetArchive, _map: &mut NetMap) -> (bool, bool) {
    ///     archive.number(health);
    ///     (true, health.is_finite())
    /// }
    /// ```
    pub fn number<T: NetNumber>(&mut self, number: &mut T) {
        if self.is_saving {
            self.bytes.extend_from_slice(&number.into_bits().to_le_bytes()[..size_of::<T>()]);
            return;
        }
        let next = self.next(size_of::<T>()).map(|bytes| {
            let mut word = [0; size_of::<u64>()];
            word[..size_of::<T>()].copy_from_slice(bytes);
            u64::from_le_bytes(word)
        });
        self.put(number, next.filter(|bits| T::is_valid(*bits)).map(T::from_bits));
    }

    /// Writes the bytes and their length when saving. When loading, replaces the bytes by the next bytes of the archive.
    ///
    /// # Examples
    /// ```
    /// use alcedo_abi::net::{NetArchive, NetOutcome, load, save};
    ///
    /// fn picture(archive: &mut NetArchive, width: &mut u16, pixels: &mut Vec<u8>) -> (bool, bool) {
    ///     archive.number(width);
    ///     archive.bytes(pixels);
    ///     (true, pixels.len() % usize::from(*width).max(1) == 0)
    /// }
    ///
    /// let (mut width, mut pixels) = (2, vec![0, 255, 255, 0]);
    /// let saved = save(|archive, _map| picture(archive, &mut width, &mut pixels));
    /// assert!(matches!(saved, NetOutcome::Done(_)));
    /// ```
    pub fn bytes(&mut self, bytes: &mut Vec<u8>) {
        let next = self.sized_bytes(bytes).map(<[u8]>::to_vec);
        self.put(bytes, next);
    }

    /// Writes the string when saving. When loading, replaces the string by the next string of the archive.
    ///
    /// # Examples
    /// ```
    /// use alcedo_abi::net::{NetOutcome, load, save};
    ///
    /// let mut name = "Zoë".to_owned();
    /// let saved = save(|archive, _map| {
    ///     archive.text(&mut name);
    ///     (true, !name.is_empty())
    /// });
    /// let NetOutcome::Done(bytes) = saved else { panic!("an empty name is not sent") };
    ///
    /// let mut received = String::new();
    /// let loaded = load(&bytes, |archive, _map| {
    ///     archive.text(&mut received);
    ///     (true, true)
    /// });
    /// assert_eq!((loaded, received.as_str()), (NetOutcome::Done(()), "Zoë"));
    /// ```
    pub fn text(&mut self, text: &mut String) {
        let next = self.sized_bytes(text.as_bytes()).and_then(|bytes| String::from_utf8(bytes.to_vec()).ok());
        self.put(text, next);
    }

    /// When saving, writes the bytes and their length. When loading, returns the next bytes of the archive.
    fn sized_bytes(&mut self, bytes: &[u8]) -> Option<&[u8]> {
        // If the buffer is longer than `u32::MAX` bytes, the code below marks the archive as failed, since the count is wrong.
        let mut count = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        self.number(&mut count);
        if self.is_saving {
            self.has_failed |= count as usize != bytes.len();
            self.bytes.extend_from_slice(bytes);
            return None;
        }
        if self.has_failed { None } else { self.next(count as usize) }
    }

    fn next(&mut self, count: usize) -> Option<&[u8]> {
        let end = self.at.checked_add(count).filter(|end| *end <= self.bytes.len())?;
        let bytes = &self.bytes[self.at..end];
        self.at = end;
        Some(bytes)
    }

    fn put<T>(&mut self, value: &mut T, next: Option<T>) {
        match next {
            Some(next) if !self.has_failed => *value = next,
            _ => self.has_failed |= !self.is_saving,
        }
    }
}

/// Table of the objects that a struct refers to.
///
/// # Examples
/// ```
/// use alcedo_abi::handles::ObjectHandle;
/// use alcedo_abi::net::{NetOutcome, save, split};
///
/// let (mut sender, mut target) = (ObjectHandle::new(17, 3), ObjectHandle::new(17, 3));
/// let saved = save(|archive, map| {
///     map.object(archive, &mut sender);
///     map.object(archive, &mut target);
///     (true, true)
/// });
/// let NetOutcome::Done(buffer) = saved else { panic!("not saved") };
/// let (objects, _bytes) = split(&buffer).expect("a saved buffer is valid");
/// assert_eq!(objects, [sender], "each object is listed once");
/// ```
#[derive(Debug, Default)]
pub struct NetMap {
    objects: Vec<ObjectHandle>,
}

impl NetMap {
    /// Writes a reference to an object when saving. When loading, replaces the reference by the next reference of the archive. If the
    /// referenced object is unknown on this machine, the reference becomes none.
    ///
    /// # Examples
    /// ```
    /// use alcedo_abi::handles::ObjectHandle;
    /// use alcedo_abi::net::{NetArchive, NetMap};
    ///
    /// fn net_serialize(follows: &mut ObjectHandle, archive: &mut NetArchive, map: &mut NetMap) -> (bool, bool) {
    ///     map.object(archive, follows);
    ///     (true, !archive.has_failed())
    /// }
    /// ```
    pub fn object(&mut self, archive: &mut NetArchive, object: &mut impl NetObject) {
        let handle = object.to_handle();
        let known = self.objects.iter().position(|known| *known == handle);
        let mut at = known.unwrap_or(self.objects.len()) as u32;
        if archive.is_saving && known.is_none() {
            self.objects.push(handle);
        }
        archive.number(&mut at);
        if archive.is_saving {
            return;
        }
        let next = self.objects.get(at as usize).copied();
        archive.put(object, next.map(NetObject::of_handle));
    }
}

/// Result of writing or reading a struct.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NetOutcome<T> {
    /// `net_serialize` leaves the serialization to the host. The host then serializes each field of the struct.
    NotHandled,
    /// Writing or reading failed.
    Failed,
    /// Writing or reading succeeded.
    Done(T),
}

impl<T> NetOutcome<T> {
    fn of((handled, success): (bool, bool), archive: &NetArchive, value: T) -> Self {
        match (handled, success && !archive.has_failed) {
            (false, _) => Self::NotHandled,
            (true, false) => Self::Failed,
            (true, true) => Self::Done(value),
        }
    }
}

/// Serializes a struct with `net_serialize`. Returns objects and bytes as one buffer.
pub fn save(net_serialize: impl FnOnce(&mut NetArchive, &mut NetMap) -> (bool, bool)) -> NetOutcome<Vec<u8>> {
    let mut archive = NetArchive { bytes: Vec::new(), at: 0, is_saving: true, has_failed: false };
    let mut map = NetMap::default();
    let flags = net_serialize(&mut archive, &mut map);
    let buffer = joined(&map.objects, &archive.bytes);
    NetOutcome::of(flags, &archive, buffer)
}

/// Deserializes a struct with `net_serialize` from a buffer that [`save`] has returned.
pub fn load(buffer: &[u8], net_serialize: impl FnOnce(&mut NetArchive, &mut NetMap) -> (bool, bool)) -> NetOutcome<()> {
    let Some((objects, bytes)) = split(buffer) else { return NetOutcome::Failed };
    let mut archive = NetArchive { bytes: bytes.to_vec(), at: 0, is_saving: false, has_failed: false };
    let mut map = NetMap { objects };
    let flags = net_serialize(&mut archive, &mut map);
    NetOutcome::of(flags, &archive, ())
}

/// Joins objects and bytes into one buffer.
#[must_use]
pub fn joined(objects: &[ObjectHandle], bytes: &[u8]) -> Vec<u8> {
    let count = (objects.len() as u32).to_le_bytes();
    let objects = objects.iter().flat_map(|object| object.0.to_le_bytes());
    count.into_iter().chain(objects).chain(bytes.iter().copied()).collect()
}

/// Splits a buffer into objects and bytes. Returns `None` for an invalid buffer.
#[must_use]
pub fn split(buffer: &[u8]) -> Option<(Vec<ObjectHandle>, &[u8])> {
    let (count, rest) = buffer.split_first_chunk::<4>()?;
    let end = (u32::from_le_bytes(*count) as usize).checked_mul(8)?;
    let (objects, bytes) = rest.split_at_checked(end)?;
    let (objects, _none_is_left) = objects.as_chunks::<8>();
    Some((objects.iter().map(|object| ObjectHandle(u64::from_le_bytes(*object))).collect(), bytes))
}

#[cfg(test)]
mod tests {
    use super::{NetArchive, NetMap, NetOutcome, joined, load, save, split};
    use crate::handles::ObjectHandle;

    #[derive(Clone, Debug, Default, PartialEq)]
    struct Whole {
        number: i32,
        is_on: bool,
        text: String,
        bytes: Vec<u8>,
        objects: [ObjectHandle; 3],
    }

    impl Whole {
        fn net_serialize(&mut self, archive: &mut NetArchive, map: &mut NetMap) -> (bool, bool) {
            archive.number(&mut self.number);
            archive.number(&mut self.is_on);
            archive.text(&mut self.text);
            archive.bytes(&mut self.bytes);
            self.objects.iter_mut().for_each(|object| map.object(archive, object));
            (true, true)
        }
    }

    fn whole() -> Whole {
        let objects = [ObjectHandle(7), ObjectHandle::NONE, ObjectHandle(7)];
        Whole { number: -3, is_on: true, text: "äh".to_owned(), bytes: vec![0, 255], objects }
    }

    fn buffer() -> Vec<u8> {
        match save(|archive, map| whole().net_serialize(archive, map)) {
            NetOutcome::Done(buffer) => buffer,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn written_values_are_read_back_and_objects_are_listed_once() {
        let mut read = Whole::default();
        assert_eq!(load(&buffer(), |archive, map| read.net_serialize(archive, map)), NetOutcome::Done(()));
        assert_eq!(read, whole());
        let buffer = buffer();
        let (objects, bytes) = split(&buffer).expect("it is a row");
        assert_eq!(objects, [ObjectHandle(7), ObjectHandle::NONE]);
        assert_eq!(joined(&objects, bytes), buffer);
    }

    /// Tests buffers with arbitrary content, because a remote machine may send any bytes.
    #[test]
    fn damaged_input_fails_or_yields_values_but_never_reads_past_the_end() {
        let buffer = buffer();
        for end in 0..buffer.len() {
            let outcome = load(&buffer[..end], |archive, map| Whole::default().net_serialize(archive, map));
            assert_eq!(outcome, NetOutcome::Failed, "{end} bytes");
        }
        for at in 0..buffer.len() {
            for flipped in 0..8 {
                let mut buffer = buffer.clone();
                buffer[at] ^= 1 << flipped;
                let mut read = Whole::default();
                let _any = load(&buffer, |archive, map| read.net_serialize(archive, map));
                assert!(read.text.len() <= buffer.len() && read.bytes.len() <= buffer.len());
            }
        }
    }

    #[test]
    fn absent_values_leave_following_values_unchanged() {
        let (mut first, mut second, mut third) = (5_u64, "as it was".to_owned(), 9_u8);
        let outcome = load(&joined(&[], &[1, 2]), |archive, _| {
            archive.number(&mut first);
            archive.text(&mut second);
            // Although bytes remain, this read fails, because the archive has already failed.
            archive.number(&mut third);
            (true, true)
        });
        assert_eq!((outcome, first, &*second, third), (NetOutcome::Failed, 5, "as it was", 9));
        assert_eq!(save(|_, _| (false, true)), NetOutcome::NotHandled);
        assert_eq!(save(|_, _| (true, false)), NetOutcome::Failed);
    }

    #[test]
    fn a_bool_is_a_byte_of_zero_or_one() {
        for (byte, expected) in [(0, Some(false)), (1, Some(true)), (2, None), (255, None)] {
            for before in [false, true] {
                let mut flag = before;
                let outcome = load(&joined(&[], &[byte]), |archive, _| {
                    archive.number(&mut flag);
                    (true, true)
                });
                let failed = expected.is_none();
                assert_eq!((outcome == NetOutcome::Failed, flag), (failed, expected.unwrap_or(before)), "{byte}");
            }
        }
    }
}
