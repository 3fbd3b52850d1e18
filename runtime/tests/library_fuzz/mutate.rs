//! Generates random mutations from a seed. Each mutation changes one table, several tables consistently, or the whole file.

use alcedo_abi::fingerprint::Fingerprint;
use proptest::prelude::Rng as _;
use proptest::test_runner::{RngAlgorithm, TestRng};

use super::anatomy::{Field, Table, get, put};

/// Random numbers that depend only on a seed and on the position of a mutant in the series of that seed.
pub(crate) struct Dice(TestRng);

impl Dice {
    pub(crate) fn new(seed: u64, index: u64) -> Self {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&seed.to_le_bytes());
        bytes[8..16].copy_from_slice(&index.to_le_bytes());
        Self(TestRng::from_seed(RngAlgorithm::ChaCha, &bytes))
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.0.next_u64() % end.max(1) as u64) as usize
    }

    fn pick<'a, T>(&mut self, row: &'a [T]) -> &'a T {
        &row[self.below(row.len())]
    }
}

/// Changed library, with a description of the change.
pub(crate) struct Mutant {
    pub(crate) bytes: Vec<u8>,
    pub(crate) changes: Vec<String>,
}

/// Returns the mutant at one position in the series of a seed. `tables` are the tables of the library.
pub(crate) fn mutant(elf: &[u8], tables: &[Table], dice: &mut Dice) -> Mutant {
    let mut mutant = Mutant { bytes: elf.to_vec(), changes: Vec::new() };
    for _ in 0..=dice.below(3) {
        let change = match dice.below(16) {
            0 => swap_entries(&mut mutant.bytes, tables, dice),
            1 => copy_entry(&mut mutant.bytes, tables, dice),
            2 => clear_entry(&mut mutant.bytes, tables, dice),
            3 => splice(&mut mutant.bytes, tables, dice),
            4 | 5 => change_alike(&mut mutant.bytes, tables, dice),
            6 if dice.below(8) == 0 => cut(&mut mutant.bytes, dice),
            _ => change_field(&mut mutant.bytes, tables, dice),
        };
        mutant.changes.push(change);
    }
    mend_manifest(&mut mutant.bytes, tables);
    mutant
}

fn some_table<'a>(tables: &'a [Table], dice: &mut Dice) -> &'a Table {
    dice.pick(tables)
}

fn some_field(tables: &[Table], dice: &mut Dice) -> Field {
    let table = some_table(tables, dice);
    let fields: Vec<_> = table.fields(dice.below(table.len())).collect();
    dice.pick(&fields).clone()
}

fn change_field(bytes: &mut [u8], tables: &[Table], dice: &mut Dice) -> String {
    let field = some_field(tables, dice);
    let Some(old) = read(bytes, &field) else { return format!("{} is cut off", field.name) };
    let new = other_value(bytes, tables, &field, old, dice);
    put(bytes, &field, new);
    format!("{} from {old:#x} to {new:#x}", field.name)
}

fn read(bytes: &[u8], field: &Field) -> Option<u64> {
    (field.at + field.size <= bytes.len()).then(|| get(bytes, field.at, field.size))
}

/// Returns a new value for a field: a variation of the old value, a special number such as `u64::MAX`, a power of two, an address or an
/// offset in a section, or the value of the field in another entry of the same table.
fn other_value(bytes: &[u8], tables: &[Table], field: &Field, old: u64, dice: &mut Dice) -> u64 {
    const NEAR: [u64; 8] = [1, 2, 4, 8, 16, 24, 64, 4096];
    match dice.below(10) {
        0 => old.wrapping_add(*dice.pick(&NEAR)),
        1 => old.wrapping_sub(*dice.pick(&NEAR)),
        2 => old ^ 1 << dice.below(field.size * 8),
        3 => *dice.pick(&[0, 1, 2, 0x7fff, 0xffff, u64::MAX, 1 << 31, 1 << 40, i64::MAX as u64, bytes.len() as u64]),
        4 => 1 << dice.below(64),
        5 | 6 => edge(bytes, tables, dice).unwrap_or(0),
        7 => old << 1,
        // Copies the field from another entry.
        _ => {
            let twin = |table: &&Table| table.range.contains(&field.at);
            let table = tables.iter().find(twin).unwrap_or(&tables[0]);
            let skip = (field.at - table.range.start) % table.each;
            let at = table.entry(dice.below(table.len())).start + skip;
            read(bytes, &Field { at, ..field.clone() }).unwrap_or(0)
        }
    }
}

/// Returns an address or an offset at the start, at the end, or in the middle of a section.
fn edge(bytes: &[u8], tables: &[Table], dice: &mut Dice) -> Option<u64> {
    let sections = &tables[2];
    let index = dice.below(sections.len());
    let start = read(bytes, &sections.field(index, ["addr", "offset"][dice.below(2)]))?;
    let size = read(bytes, &sections.field(index, "size"))?;
    let skips = [0, size, size.wrapping_sub(8), size.wrapping_sub(1), dice.below(size as usize) as u64 & !7];
    Some(start.wrapping_add(*dice.pick(&skips)))
}

/// Changes a value that the headers and the dynamic table contain repeatedly. All copies of the value are changed equally.
fn change_alike(bytes: &mut [u8], tables: &[Table], dice: &mut Dice) -> String {
    let headers = tables.iter().filter(|table| ["segments", "sections", ".dynamic"].contains(&table.name.as_str()));
    let fields: Vec<_> = headers.flat_map(|table| (0..table.len()).flat_map(|index| table.fields(index))).collect();
    let large: Vec<_> =
        fields.iter().filter(|f| read(bytes, f).is_some_and(|value| value > 8) && f.size == 8).collect();
    let Some(field) = (!large.is_empty()).then(|| *dice.pick(&large)) else { return "nothing".to_owned() };
    let old = get(bytes, field.at, field.size);
    let new = other_value(bytes, tables, field, old, dice);
    for twin in fields.iter().filter(|twin| read(bytes, twin) == Some(old)).cloned().collect::<Vec<_>>() {
        put(bytes, &twin, new);
    }
    format!("{} and all alike from {old:#x} to {new:#x}", field.name)
}

fn swap_entries(bytes: &mut [u8], tables: &[Table], dice: &mut Dice) -> String {
    let table = some_table(tables, dice);
    let (one, other) = (dice.below(table.len()), dice.below(table.len()));
    let (a, b) = (table.entry(one), table.entry(other));
    if a.end.max(b.end) <= bytes.len() {
        for (a, b) in a.zip(b) {
            bytes.swap(a, b);
        }
    }
    format!("{} has {one} and {other} swapped", table.name)
}

fn copy_entry(bytes: &mut [u8], tables: &[Table], dice: &mut Dice) -> String {
    let table = some_table(tables, dice);
    let (from, to) = (dice.below(table.len()), dice.below(table.len()));
    if table.entry(from.max(to)).end <= bytes.len() {
        bytes.copy_within(table.entry(from), table.entry(to).start);
    }
    format!("{} has {from} copied over {to}", table.name)
}

fn clear_entry(bytes: &mut [u8], tables: &[Table], dice: &mut Dice) -> String {
    let table = some_table(tables, dice);
    let index = dice.below(table.len());
    if let Some(entry) = bytes.get_mut(table.entry(index)) {
        entry.fill(0);
    }
    format!("{} has {index} cleared", table.name)
}

/// Copies some bytes of one table over another table.
fn splice(bytes: &mut [u8], tables: &[Table], dice: &mut Dice) -> String {
    let (from, to) = (some_table(tables, dice), some_table(tables, dice));
    let (start, at) = (from.entry(dice.below(from.len())).start, to.entry(dice.below(to.len())).start);
    let len = (1 + dice.below(64)).min(from.range.end - start).min(to.range.end - at);
    if start.max(at) + len <= bytes.len() {
        bytes.copy_within(start..start + len, at);
    }
    format!("{len} bytes of {} at {start:#x} over {} at {at:#x}", from.name, to.name)
}

fn cut(bytes: &mut Vec<u8>, dice: &mut Dice) -> String {
    bytes.truncate(dice.below(bytes.len()));
    format!("cut to {:#x} bytes", bytes.len())
}

/// Updates the checksum of the manifest. The checks then also read the fields of the manifest.
fn mend_manifest(bytes: &mut [u8], tables: &[Table]) {
    let manifest = tables.iter().find(|table| table.name == ".alcedo.manifest");
    let Some(section) = manifest.and_then(|table| bytes.get_mut(table.range.clone())) else { return };
    let len = get(section, 12, 4) as usize;
    if let Some((facts, sum)) = section.get_mut(..len).and_then(|all| all.split_at_mut_checked(len.saturating_sub(8))) {
        let fits = Fingerprint::START.bytes(facts).finish().to_le_bytes();
        sum.copy_from_slice(&fits[..sum.len()]);
    }
}
