//! Layout of a live screen. Messages of `alcedo` scroll in the upper rows and into the scrollback of the terminal. The pane below contains
//! output of the world, so this output never scrolls messages away. The last row is the status. Methods return control sequences and print
//! nothing.

use std::borrow::Cow;
use std::collections::VecDeque;

use alcedo_base::figures::thousands;
use unicode_width::UnicodeWidthChar as _;

use crate::fold::{Line, note};

/// Number of lines of output that are kept.
const KEPT_OUTPUT: usize = 1000;
/// Number of messages that are kept. Kept messages are printed again after the size of the terminal changes.
const KEPT_MESSAGES: usize = 100;
/// Minimum number of terminal rows for a pane.
const ROWS_FOR_PANE: u16 = 16;

const RESET: &str = "\x1b[0m";
/// Control sequences that save and restore the cursor at the end of the messages.
const SAVE: &str = "\x1b7";
const RESTORE: &str = "\x1b8";

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Size {
    pub(super) rows: u16,
    pub(super) columns: u16,
}

impl Size {
    /// Maximum number of rows of the pane, with its title.
    fn pane(self) -> u16 {
        if self.rows < ROWS_FOR_PANE { 0 } else { self.rows / 3 }
    }

    /// Number of columns of the status. Keeps one column free, because a full line would scroll on some terminals.
    fn status(self) -> usize {
        usize::from(self.columns).saturating_sub(1)
    }

    /// Returns the longest suffix of an input that fits into the status.
    pub(super) fn last_columns(self, input: &str) -> &str {
        let (mut left, mut start) = (self.status(), input.len());
        for (at, letter) in input.char_indices().rev() {
            let Some(rest) = left.checked_sub(width(letter)) else { break };
            (left, start) = (rest, at);
        }
        &input[start..]
    }
}

#[derive(Debug, Default)]
pub(super) struct Layout {
    pub(super) size: Size,
    /// Number of rows of the pane, including its title. Grows with the output.
    pane: u16,
    output: VecDeque<Line>,
    /// Number of lines of output that were added so far.
    printed: u64,
    messages: VecDeque<String>,
    pub(super) status: String,
    /// Set if the cursor is at the end of a message. The line feed is printed only before the next message, because a line feed after the
    /// last message would waste a row.
    is_behind_line: bool,
}

impl Layout {
    pub(super) fn new(size: Size) -> Self {
        Self { size, ..Self::default() }
    }

    /// Reserves the last row, and scrolls the contents of the terminal up.
    pub(super) fn open(&self) -> String {
        format!("\r\n\x1b[1A{}", self.region())
    }

    /// Releases all rows, clears the status, and leaves the cursor in the last row.
    pub(super) fn close(&self) -> String {
        format!("\x1b[r{}", self.row(self.size.rows, ""))
    }

    pub(super) fn has_pane(&self) -> bool {
        self.size.pane() != 0
    }

    pub(super) fn set_status(&mut self, status: String) -> String {
        self.status = status;
        self.paint_status()
    }

    /// Prints the lines of a message.
    pub(super) fn message(&mut self, text: &str) -> String {
        let mut out = RESTORE.to_owned();
        let lines = if text.is_empty() { vec![""] } else { text.lines().collect() };
        for line in lines {
            self.messages.push_back(line.to_owned());
            self.put(line, &mut out);
        }
        while self.messages.len() > KEPT_MESSAGES {
            self.messages.pop_front();
        }
        out + SAVE + &self.paint_status()
    }

    fn put(&mut self, line: &str, out: &mut String) {
        if self.is_behind_line {
            out.push_str("\r\n");
        }
        out.push_str(line);
        out.push_str(RESET);
        self.is_behind_line = true;
    }

    /// Adds a line of output, without painting it.
    pub(super) fn add(&mut self, line: &str) {
        // Replaces tabs, because a tab would count as one column.
        note(&mut self.output, KEPT_OUTPUT, &line.replace('\t', "    "));
        self.printed += 1;
    }

    /// Returns the kept output, oldest first.
    pub(super) fn output(&self) -> Vec<String> {
        self.output.iter().map(|line| counted(line).into_owned()).collect()
    }

    /// Paints the pane. Enlarges the pane first if the output needs more rows.
    pub(super) fn paint_output(&mut self) -> String {
        let rows = self.rows();
        let mut out = String::new();
        if rows > self.pane {
            let more = rows - self.pane;
            out.push_str(RESTORE);
            // Prints line feeds, which scroll the messages only if the messages occupy the rows that the pane needs.
            out.extend((0..more).map(|_| '\n'));
            out.push_str(&format!("\x1b[{more}A"));
            self.pane = rows;
            out.push_str(&self.region());
        }
        if self.pane == 0 {
            return out;
        }
        let (title, columns) = (self.size.rows - self.pane, usize::from(self.size.columns));
        let shown = usize::from(self.pane - 1);
        // Disables line wrap, because terminals differ in the widths of some characters.
        out.push_str("\x1b[?7l");
        let rows = self.last_rows(shown, columns);
        let more = if rows.len() > shown || self.output.len() > shown { " · o prints more" } else { "" };
        let head = format!("── output · {} lines{more} ", thousands(self.printed));
        let rest = "─".repeat(columns.saturating_sub(head.chars().count()));
        out.push_str(&self.row(title, &format!("\x1b[2m{head}{rest}")));
        for (row, line) in (title + 1..).zip(rows.iter().skip(rows.len().saturating_sub(shown))) {
            out.push_str(&self.row(row, line));
        }
        out + "\x1b[?7h" + &self.paint_status()
    }

    /// Returns the number of rows that the pane needs, with its title.
    fn rows(&self) -> u16 {
        let most = self.size.pane();
        let rows = self.last_rows(most.into(), self.size.columns.into()).len();
        let rows = u16::try_from(rows).unwrap_or(most);
        if rows == 0 { 0 } else { rows.saturating_add(1).min(most) }
    }

    /// Splits the last lines of output into rows of at most `columns` columns. Returns at least `shown` rows if enough output exists.
    fn last_rows(&self, shown: usize, columns: usize) -> Vec<String> {
        let mut rows = VecDeque::new();
        for line in self.output.iter().rev() {
            if rows.len() >= shown {
                break;
            }
            let text = counted(line);
            let mut text = &*text;
            let mut wrapped = Vec::new();
            while !text.is_empty() || wrapped.is_empty() {
                let row = cut(text, columns);
                wrapped.push(row.to_owned());
                text = &text[row.len()..];
            }
            wrapped.into_iter().rev().for_each(|row| rows.push_front(row));
        }
        rows.into()
    }

    /// Clears the terminal, and prints the contents that fit into its new size.
    pub(super) fn resize(&mut self, size: Size) -> String {
        (self.size, self.pane, self.is_behind_line) = (size, 0, false);
        self.pane = self.rows();
        let mut out = format!("\x1b[r\x1b[2J\x1b[1;1H{}", self.region());
        let height = |line: &String| {
            letters(line).map(|(_, width)| width).sum::<usize>().div_ceil(usize::from(size.columns)).max(1)
        };
        let mut room = usize::from(size.rows - 1 - self.pane);
        let fits = |line: &&String| {
            room = room.saturating_sub(height(line));
            room > 0
        };
        let last: Vec<_> = self.messages.iter().rev().take_while(fits).cloned().collect();
        last.iter().rev().for_each(|line| self.put(line, &mut out));
        out + SAVE + &self.paint_output() + &self.paint_status()
    }

    /// Returns the sequence that limits scrolling to the rows above the pane and the status.
    fn region(&self) -> String {
        // Saves and restores the cursor, because setting the scroll region moves the cursor.
        format!("{SAVE}\x1b[1;{}r{RESTORE}", self.size.rows - 1 - self.pane)
    }

    fn paint_status(&self) -> String {
        self.row(self.size.rows, cut(&self.status, self.size.status()))
    }

    fn row(&self, row: u16, text: &str) -> String {
        format!("\x1b[{row};1H\x1b[2K{RESET}{text}{RESET}")
    }
}

/// Returns the line, followed by the number of its repeats.
fn counted(line: &Line) -> Cow<'_, str> {
    match line.again {
        0 | 1 => Cow::Borrowed(&line.text),
        times => Cow::Owned(format!("{}{RESET}   ×{}", line.text, thousands(times))),
    }
}

/// Returns the longest prefix of a string that fits into `columns`.
fn cut(text: &str, columns: usize) -> &str {
    let mut left = columns;
    for (at, width) in letters(text) {
        let Some(rest) = left.checked_sub(width) else { return &text[..at] };
        left = rest;
    }
    text
}

/// Returns the number of columns of a character in a terminal. Returns 1 for a control character.
fn width(letter: char) -> usize {
    letter.width().unwrap_or(1)
}

/// Returns the offsets and the widths of the visible characters. Color sequences are not visible.
fn letters(text: &str) -> impl Iterator<Item = (usize, usize)> {
    let mut is_color = false;
    text.char_indices().filter_map(move |(at, letter)| {
        is_color |= letter == '\x1b';
        let is_visible = !is_color;
        is_color &= letter != 'm';
        is_visible.then(|| (at, width(letter)))
    })
}

#[cfg(test)]
mod tests {
    use std::num::NonZero;

    use expect_test::{Expect, expect};

    use super::{Layout, Size, cut};

    /// A layout, and an emulated terminal to which it is printed.
    struct Scene {
        layout: Layout,
        terminal: vt100::Parser,
    }

    fn nonzero(number: u16) -> NonZero<u16> {
        NonZero::new(number).unwrap()
    }

    impl Scene {
        fn new(rows: u16) -> Self {
            let size = Size { rows, columns: 40 };
            let mut terminal = vt100::Parser::new(nonzero(rows), nonzero(40), 100);
            terminal.process(b"$ alcedo dev\r\n");
            let layout = Layout::new(size);
            terminal.process(layout.open().as_bytes());
            Self { layout, terminal }
        }

        fn message(&mut self, text: &str) {
            self.terminal.process(self.layout.message(text).as_bytes());
        }

        fn output(&mut self, lines: &[&str]) {
            lines.iter().for_each(|line| self.layout.add(line));
            self.terminal.process(self.layout.paint_output().as_bytes());
        }

        fn status(&mut self, status: &str) {
            self.terminal.process(self.layout.set_status(status.into()).as_bytes());
        }

        fn check(&self, expected: &Expect) {
            expected.assert_eq(&self.terminal.screen().contents());
        }
    }

    #[test]
    fn output_has_a_pane_that_grows_and_never_moves_a_message_away() {
        let mut scene = Scene::new(18);
        scene.status("generation 1");
        scene.message("built\nlive");
        scene.check(&expect![[r#"
            $ alcedo dev
            built
            live














            generation 1"#]]);
        scene.output(&["one", "two", "two", "\x1b[31mred\x1b[0m"]);
        scene.output(&[&format!("{} long", "very ".repeat(8))]);
        scene.message("error: a");
        scene.check(&expect![[r#"
            $ alcedo dev
            built
            live
            error: a







            ── output · 5 lines ────────────────────
            one
            two   ×2
            red
            very very very very very very very very 
             long
            generation 1"#]]);
        for round in 0..100 {
            scene.output(&[&format!("line {round}")]);
        }
        scene.message("saved");
        scene.check(&expect![[r#"
            $ alcedo dev
            built
            live
            error: a
            saved






            ── output · 105 lines · o prints more ──
            line 95
            line 96
            line 97
            line 98
            line 99
            generation 1"#]]);
    }

    #[test]
    fn messages_scroll_above_the_pane() {
        let mut scene = Scene::new(18);
        scene.output(&["one"]);
        (0..30).for_each(|at| scene.message(&format!("message {at}")));
        scene.output(&["two", "three"]);
        scene.status("fine");
        scene.check(&expect![[r#"
            message 17
            message 18
            message 19
            message 20
            message 21
            message 22
            message 23
            message 24
            message 25
            message 26
            message 27
            message 28
            message 29
            ── output · 3 lines ────────────────────
            one
            two
            three
            fine"#]]);
        scene.terminal.screen_mut().set_scrollback(100);
        scene.check(&expect![[r#"
            $ alcedo dev
            message 0
            message 1
            message 2
            message 3
            message 4
            message 5
            message 6
            message 7
            message 8
            message 9
            message 10
            message 11
            message 12
            message 13
            message 14
            message 15
            message 16"#]]);
    }

    #[test]
    fn another_size_prints_again_what_fits() {
        let mut scene = Scene::new(18);
        scene.message(&"x".repeat(45));
        scene.message("error: a");
        scene.output(&["one"; 7]);
        scene.status("fine");
        scene.terminal.screen_mut().set_size(nonzero(16), nonzero(30));
        scene.terminal.process(scene.layout.resize(Size { rows: 16, columns: 30 }).as_bytes());
        scene.check(&expect![[r#"
            xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
            error: a










            ── output · 7 lines ──────────
            one   ×7
            fine"#]]);
        let closed = scene.layout.close();
        scene.terminal.process(closed.as_bytes());
        assert_eq!(scene.terminal.screen().cursor_position(), (15, 0));
    }

    #[test]
    fn the_end_of_a_long_input_fits_into_the_status() {
        let size = Size { rows: 5, columns: 8 };
        for (input, expected) in [("", ""), (": get x", ": get x"), (": get é_x_", "et é_x_")] {
            assert_eq!(size.last_columns(input), expected, "{input}");
        }
    }

    #[test]
    fn a_wide_character_counts_as_two_columns() {
        let wide = "日本語".repeat(10);
        let mut scene = Scene::new(18);
        scene.output(&[&wide]);
        scene.status(&wide);
        let rows = scene.terminal.screen().contents();
        let rows: Vec<_> = rows.lines().rev().take(3).map(|row| row.trim_end().chars().count()).collect();
        assert_eq!(rows, [19, 10, 20], "the status, and two rows of output");
        assert_eq!(scene.layout.size.last_columns(&wide).chars().count(), 19);
        assert_eq!(cut("e\u{301}x", 1), "e\u{301}");
    }

    #[test]
    fn a_cut_text_keeps_its_colors() {
        assert_eq!(cut("\x1b[31mred\x1b[0m", 2), "\x1b[31mre");
        assert_eq!(cut("\x1b[31mred\x1b[0m", 3), "\x1b[31mred\x1b[0m");
        assert_eq!(cut("é⏎x", 2), "é⏎");
    }
}
