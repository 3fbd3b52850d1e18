//! Log of irreversible effects while the Master changes: listeners that were called, and module code that ran. The report of
//! a rollback lists these effects.

use crate::cells::RefCell;

/// Effects since the start of the record. Each list is in the order of the effects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Record {
    pub events: Vec<String>,
    pub callbacks: Vec<i32>,
    pub mains: Vec<String>,
    pub suspended: Vec<String>,
    pub resumed: Vec<String>,
    pub exit_hooks: Vec<String>,
}

/// Records effects while a record is active. Game thread only.
#[derive(Debug, Default)]
pub(crate) struct Recorder(RefCell<Option<Record>>);

impl Recorder {
    pub(crate) fn begin(&self) {
        *self.0.borrow_mut() = Some(Record::default());
    }

    /// Ends the record and returns it. Returns an empty record if none was active.
    pub(crate) fn end(&self) -> Record {
        self.0.take().unwrap_or_default()
    }

    pub(crate) fn note(&self, note: impl FnOnce(&mut Record)) {
        if let Some(record) = &mut *self.0.borrow_mut() {
            note(record);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Record, Recorder};

    #[test]
    fn only_what_happens_while_it_is_recorded_is_written_down() {
        let recorder = Recorder::default();
        let note = |priority| recorder.note(|record| record.callbacks.push(priority));
        note(1);
        recorder.begin();
        note(2);
        assert_eq!(recorder.end(), Record { callbacks: vec![2], ..Record::default() });
        note(3);
        assert_eq!(recorder.end(), Record::default());
    }
}
