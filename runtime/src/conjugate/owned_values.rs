//! Values in host memory that plugin code owns. Each value has a separate allocation, and therefore a stable address. Each value also has a
//! handle, which is never reused. `life.rs` defines the state transitions, and this file manages the memory.
//!
//! A reload suspends all owned values of a generation together by closing its gate. A rollback resumes these values by reopening the gate.
//! When a generation ends, its remaining values are released. The last finalizers of a plugin may still drop a released value. Such a drop
//! only removes the value from the list of undropped values. The last report therefore lists only values that the plugin never dropped.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use alcedo_abi::handles::{BlackHandle, ConjugateHandle, TypeNumber};
use alcedo_abi::host::BlackDirectory;
use crossbeam_channel::Receiver;
use rustc_hash::FxHashMap;
use slotmap::{SlotMap, new_key_type};

use crate::boundary::CallError;
use crate::cells::RefCell;
use crate::conjugate::black_row::BlackRow;
use crate::conjugate::drops::{self, Drops};
use crate::conjugate::gate::Gate;
use crate::conjugate::life::{Color, Event, Life};
use crate::conjugate::serials::{Facts, Serials};
use crate::conjugate::statistics::{BlackCount, BlackReport, SiteCount, SiteNumber, Sites};
use crate::handles::{ModuleId, ObjectHandle};
use crate::lease::{Lease, LeaseKind, Leases};
use crate::object::owned::OwnedValue;
use crate::object::property::PropertyType;

new_key_type! {
    /// Key of the counters for owned values of one type and module.
    struct CountersKey;
}

/// All owned values. Game thread only, except for [`OwnedValues::drops`]. No borrow is held while plugin code runs.
#[derive(Debug)]
pub(crate) struct OwnedValues {
    /// Queue for drops on other threads.
    pub(crate) drops: Drops,
    dropped: Receiver<BlackHandle>,
    stock: RefCell<Stock>,
}

#[derive(Clone, Debug)]
pub(crate) struct Opened {
    /// Object that contains the value; `NONE` if the value has a separate allocation.
    pub owner: ObjectHandle,
    pub at: *mut u8,
    pub ty: PropertyType,
    /// Id by which the module refers to the type; `NONE` for values of the host.
    pub number: TypeNumber,
}

#[derive(Debug, Default)]
struct Stock {
    entries: Serials<Entry>,
    row: BlackRow,
    members: FxHashMap<ModuleId, Member>,
    type_counters: SlotMap<CountersKey, TypeCounters>,
    by_type: FxHashMap<(ModuleId, TypeNumber), CountersKey>,
    /// Values that were released at the end of their generation, before the plugin dropped these values.
    orphans: FxHashMap<BlackHandle, (CountersKey, SiteNumber)>,
    /// Values that unloaded modules never dropped.
    left: Vec<BlackCount>,
    sites: Sites,
    made: u64,
    released: u64,
}

#[derive(Debug)]
struct Member {
    gate: Rc<Gate>,
    leases: Arc<Leases>,
}

#[derive(Debug)]
struct TypeCounters {
    module: ModuleId,
    name: Arc<str>,
    generation: u64,
    ty: PropertyType,
    number: TypeNumber,
    live: u64,
    orphans: u64,
    /// Lease on the module's code, held while the module owns values.
    lease: Option<Lease>,
}

#[derive(Debug)]
struct Entry {
    value: OwnedValue,
    counters: CountersKey,
    life: Life,
    site: SiteNumber,
}

/// Contents of a removed entry. Must be dropped while no store is borrowed.
struct Remains {
    _value: OwnedValue,
    _lease: Option<Lease>,
}

impl Default for OwnedValues {
    fn default() -> Self {
        let (drops, dropped) = drops::queue();
        Self { drops, dropped, stock: RefCell::default() }
    }
}

impl OwnedValues {
    /// Returns the table in which modules look up the addresses of owned values. After `self` is dropped, the table is empty.
    pub(crate) fn directory(&self) -> Rc<Cell<BlackDirectory>> {
        Rc::clone(self.stock.borrow().row.head())
    }

    pub(crate) fn admit(&self, gate: &Rc<Gate>, leases: Arc<Leases>) {
        let member = Member { gate: Rc::clone(gate), leases };
        self.stock.borrow_mut().members.insert(gate.tag().id, member);
    }

    /// Creates an owned value of `module`. `number` is the id by which the module refers to the type, or `NONE`. Returns an error if values
    /// of the type have no conjugate, or if the module accepts no calls.
    pub(crate) fn make(
        &self,
        module: ModuleId,
        number: TypeNumber,
        value: OwnedValue,
        site: Option<(&str, u32)>,
        now: Instant,
    ) -> Result<BlackHandle, CallError> {
        let stock = &mut *self.stock.borrow_mut();
        let ty = value.ty();
        let life = Life::Unbuilt.step_behind(stock.is_open(module), Color::Black, Event::Build);
        let life = life.map_err(|_shut| CallError::Unavailable { what: format!("a new black {ty} of a module") })?;
        if matches!(ty.kind().conjugate(), None | Some(1)) {
            let message = format!("{ty} has no black conjugate: keep the value itself");
            return Err(CallError::other(message));
        }
        let site = site.filter(|_| stock.sites.keeps);
        let site = site.map_or(0, |(file, line)| stock.sites.number(&format!("{file}:{line}")));
        let key = stock.counters_key(module, number, ty);
        let counters = &mut stock.type_counters[key];
        counters.live += 1;
        if counters.live == 1 {
            // An unloading module may still create owned values. These values are released with the module, before the unload waits for
            // leases.
            let leases = stock.members.get(&module).map(|member| &member.leases);
            let lease = leases.map(|leases| leases.take_at(LeaseKind::Black, counters.ty.to_string(), None));
            counters.lease = lease.and_then(Result::ok);
        }
        let (kind, at) = (ty.kind(), value.at());
        let handle = stock.entries.insert(kind, now, Entry { value, counters: key, life, site });
        stock.row.put(handle, at);
        stock.made += 1;
        Ok(BlackHandle(handle.0))
    }

    /// Returns the type and address of an owned value. Returns `None` if the conjugate has expired.
    pub(crate) fn open(&self, handle: ConjugateHandle) -> Option<Opened> {
        let stock = self.stock.borrow();
        let entry = stock.entries.get(handle)?;
        let counters = stock.type_counters.get(entry.counters)?;
        if entry.life.is_expired(stock.is_open(counters.module)) {
            return None;
        }
        let (at, ty) = (entry.value.at(), counters.ty.clone());
        Some(Opened { owner: ObjectHandle::NONE, at, ty, number: counters.number })
    }

    /// Returns kind and age of an owned value, even if the value is suspended. Returns `None` for a handle that was never assigned.
    pub(crate) fn facts(&self, handle: ConjugateHandle, now: Instant) -> Option<Facts> {
        self.stock.borrow().entries.facts(handle, now)
    }

    /// Returns the module that owns a value. Returns `None` if the value was removed.
    pub(crate) fn owner(&self, black: BlackHandle) -> Option<ModuleId> {
        let stock = self.stock.borrow();
        let entry = stock.entries.get(black.into())?;
        stock.type_counters.get(entry.counters).map(|counters| counters.module)
    }

    /// Drops an owned value on the game thread. Has no effect if the value has already ended.
    pub(crate) fn dispose(&self, black: BlackHandle) {
        let remains = self.stock.borrow_mut().end(black, &[Event::Dispose]);
        drop(remains);
    }

    /// Processes the drops that other threads have queued, until [`drops::may_stop`] returns `true`. `elapsed` returns the time since the
    /// start of the flush.
    pub(crate) fn flush(&self, elapsed: &mut dyn FnMut() -> Duration) {
        let queued = self.dropped.len();
        if queued == 0 {
            return;
        }
        let mut done = 0;
        while !drops::may_stop(done, queued, elapsed()) {
            if !self.release_next() {
                break;
            }
            done += 1;
        }
    }

    /// Processes all drops that other threads have queued.
    pub(crate) fn flush_all(&self) {
        while self.release_next() {}
    }

    /// Releases all values of these modules, in descending order of their kind numbers, and rejects new values. Returns the number of
    /// values that the plugins had not dropped.
    pub(crate) fn end_modules(&self, modules: &BTreeSet<ModuleId>) -> u64 {
        self.flush_all();
        let ending = self.stock.borrow().in_order_of_end(modules);
        for (_, black) in &ending {
            let remains = self.stock.borrow_mut().retire(*black);
            drop(remains);
        }
        let mut stock = self.stock.borrow_mut();
        stock.members.retain(|module, _| !modules.contains(module));
        stock.by_type.retain(|(module, _), _| !modules.contains(module));
        stock.type_counters.retain(|_, counters| !modules.contains(&counters.module) || counters.orphans != 0);
        ending.len() as u64
    }

    /// Records the values that these unloaded modules never dropped.
    pub(crate) fn forget(&self, modules: &[ModuleId]) {
        self.flush_all();
        let gone = self.stock.borrow_mut().forget(modules);
        for count in &gone {
            log!(WARN, module = count.module, generation = count.generation, "never dropped: {count}");
        }
    }

    /// Calls `visit` for each object to which an owned value refers.
    pub(crate) fn each_object(&self, visit: &mut dyn FnMut(ObjectHandle)) {
        let stock = self.stock.borrow();
        let holds: FxHashMap<_, _> =
            stock.type_counters.iter().map(|(key, counters)| (key, counters.ty.holds_objects())).collect();
        for (_, entry) in stock.entries.iter().filter(|(_, entry)| holds.get(&entry.counters) == Some(&true)) {
            entry.value.each_object(visit);
        }
    }

    /// Enables or disables allocation-site tracking of owned values.
    pub(crate) fn keep_sites(&self, keeps: bool) {
        self.stock.borrow_mut().sites.keeps = keeps;
    }

    /// Checks if allocation-site tracking is enabled.
    pub(crate) fn keeps_sites(&self) -> bool {
        self.stock.borrow().sites.keeps
    }

    pub(crate) fn report(&self) -> BlackReport {
        let stock = self.stock.borrow();
        BlackReport {
            live: stock.living(),
            undropped: stock.undropped(|_| true),
            queued: self.dropped.len() as u64,
            made: stock.made,
            released: stock.released,
            keeps_sites: stock.sites.keeps,
        }
    }

    pub(crate) fn left(&self) -> Vec<BlackCount> {
        self.stock.borrow().left.clone()
    }

    fn release_next(&self) -> bool {
        let Ok(black) = self.dropped.try_recv() else { return false };
        let remains = self.stock.borrow_mut().end(black, &[Event::Finalize, Event::Flush]);
        drop(remains);
        true
    }
}

impl Stock {
    fn counters_key(&mut self, module: ModuleId, number: TypeNumber, ty: &PropertyType) -> CountersKey {
        let known = match number {
            TypeNumber::NONE => {
                let is_it = |counters: &TypeCounters| {
                    counters.module == module && counters.number == number && counters.ty == *ty
                };
                self.type_counters.iter().find(|(_, counters)| is_it(counters)).map(|(key, _)| key)
            }
            number => self.by_type.get(&(module, number)).copied(),
        };
        known.unwrap_or_else(|| {
            let tag = self.members.get(&module).map(|member| member.gate.tag().clone());
            let (name, generation) = tag.map_or(("host".into(), 0), |tag| (tag.name, tag.generation.0));
            let ty = ty.clone();
            let counters = TypeCounters { module, name, generation, ty, number, live: 0, orphans: 0, lease: None };
            let key = self.type_counters.insert(counters);
            if number != TypeNumber::NONE {
                self.by_type.insert((module, number), key);
            }
            key
        })
    }

    /// Checks if a module can access its values: the module accepts calls, or is ending. The gate of the host is always open.
    fn is_open(&self, module: ModuleId) -> bool {
        let keeps = || self.members.get(&module).is_some_and(|member| member.gate.keeps_values());
        module == ModuleId::HOST || keeps()
    }

    /// Applies the events to an owned value in order, and then removes the value. Returns `None` if the value has already ended.
    fn end(&mut self, black: BlackHandle, events: &[Event]) -> Option<Remains> {
        let Some(entry) = self.entries.get_mut(black.into()) else {
            self.record_late_drop(black);
            return None;
        };
        for event in events {
            // A listed value is live, because each final event removes the value immediately.
            entry.life = entry.life.step(Color::Black, *event).ok()?;
        }
        self.take_out(black)
    }

    /// Ends a value with its generation, and records that the plugin has not dropped the value.
    fn retire(&mut self, black: BlackHandle) -> Option<Remains> {
        let entry = self.entries.get_mut(black.into())?;
        entry.life = entry.life.step(Color::Black, Event::Retire).ok()?;
        let (key, site) = (entry.counters, entry.site);
        self.orphans.insert(black, (key, site));
        self.type_counters[key].orphans += 1;
        self.take_out(black)
    }

    fn take_out(&mut self, black: BlackHandle) -> Option<Remains> {
        let entry = self.entries.remove(black.into())?;
        self.row.clear(black.into());
        self.released += 1;
        let counters = &mut self.type_counters[entry.counters];
        counters.live -= 1;
        let lease = if counters.live == 0 { counters.lease.take() } else { None };
        Some(Remains { _value: entry.value, _lease: lease })
    }

    fn record_late_drop(&mut self, black: BlackHandle) {
        let Some((key, _)) = self.orphans.remove(&black) else { return };
        let counters = &mut self.type_counters[key];
        counters.orphans -= 1;
        if counters.orphans == 0 {
            self.type_counters.remove(key);
        }
    }

    /// Returns the values that these modules own, with their kinds, in the order of their release.
    fn in_order_of_end(&self, modules: &BTreeSet<ModuleId>) -> Vec<(u8, BlackHandle)> {
        let of = |entry: &Entry| {
            self.type_counters.get(entry.counters).filter(|counters| modules.contains(&counters.module))
        };
        let number = |ty: &PropertyType| ty.kind().conjugate().unwrap_or_default();
        let mut ending: Vec<_> = self
            .entries
            .iter()
            .filter_map(|(handle, entry)| Some((number(&of(entry)?.ty), BlackHandle(handle.0))))
            .collect();
        ending.sort_by_key(|(kind, _)| std::cmp::Reverse(*kind));
        ending
    }

    fn living(&self) -> Vec<BlackCount> {
        let mut sites: FxHashMap<CountersKey, Vec<SiteNumber>> = FxHashMap::default();
        let sited = self.entries.iter().filter(|(_, entry)| entry.site != 0);
        sited.for_each(|(_, entry)| sites.entry(entry.counters).or_default().push(entry.site));
        let counted = self.type_counters.iter().filter(|(_, counters)| counters.live != 0);
        in_order(counted.map(|(key, counters)| counters.count(counters.live, self.sites_of(&sites, key))).collect())
    }

    fn undropped(&self, is_meant: impl Fn(&TypeCounters) -> bool) -> Vec<BlackCount> {
        let mut sites: FxHashMap<CountersKey, Vec<SiteNumber>> = FxHashMap::default();
        self.orphans.values().for_each(|(key, site)| sites.entry(*key).or_default().push(*site));
        let counted = self.type_counters.iter().filter(|(_, counters)| counters.orphans != 0 && is_meant(counters));
        in_order(counted.map(|(key, counters)| counters.count(counters.orphans, self.sites_of(&sites, key))).collect())
    }

    fn sites_of(&self, sites: &FxHashMap<CountersKey, Vec<SiteNumber>>, key: CountersKey) -> Vec<SiteCount> {
        sites.get(&key).map(|sites| self.sites.count(sites.iter().copied())).unwrap_or_default()
    }

    /// Removes these unloaded modules, and returns the values that the modules never dropped.
    fn forget(&mut self, modules: &[ModuleId]) -> Vec<BlackCount> {
        let gone = self.undropped(|counters| modules.contains(&counters.module));
        gone.iter().for_each(|count| self.leave(count));
        let Self { type_counters, orphans, .. } = self;
        type_counters.retain(|_, counters| !modules.contains(&counters.module));
        orphans.retain(|_, (key, _)| type_counters.contains_key(*key));
        gone
    }

    /// Adds values to the list of values that were never dropped. Merges the counts of all generations of a module. Otherwise, a plugin
    /// that leaks a value in each generation would exhaust the memory.
    fn leave(&mut self, count: &BlackCount) {
        match self.left.iter_mut().find(|left| left.module == count.module && left.ty == count.ty) {
            Some(left) => {
                left.count += count.count;
                (left.generation, left.sites) = (count.generation, count.sites.clone());
            }
            None => self.left.push(count.clone()),
        }
    }
}

impl TypeCounters {
    fn count(&self, count: u64, sites: Vec<SiteCount>) -> BlackCount {
        let (module, ty) = (self.name.to_string(), self.ty.to_string());
        BlackCount { module, generation: self.generation, ty, count, sites }
    }
}

fn in_order(mut counts: Vec<BlackCount>) -> Vec<BlackCount> {
    counts.sort_by(|one, two| (one.generation, &one.module, &one.ty).cmp(&(two.generation, &two.module, &two.ty)));
    counts
}

#[cfg(test)]
mod tests;
