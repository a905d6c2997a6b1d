//! Reads a TOML table key by key. Reading continues after a mistake, so that one run reports all of them.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fmt::Display;
use std::ops::{Range, RangeInclusive};
use std::str::FromStr;
use std::time::Duration;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::problems::Problem;

/// The file, and the mistakes found so far.
pub(super) struct Source<'a> {
    text: &'a str,
    problems: RefCell<Vec<Problem>>,
}

impl<'a> Source<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, problems: RefCell::default() }
    }

    /// Notes a mistake at this position in the text.
    pub(super) fn note(&self, at: usize, key: &str, text: impl Display) {
        let before = self.text.get(..at).unwrap_or(self.text);
        let line = before.split('\n').count();
        let problem = Problem { line, key: key.to_owned(), text: text.to_string() };
        self.problems.borrow_mut().push(problem);
    }

    /// The mistakes, sorted by line.
    pub(super) fn into_problems(self) -> Vec<Problem> {
        let mut problems = self.problems.into_inner();
        problems.sort();
        problems.dedup();
        problems
    }
}

/// A table of the file.
pub(super) struct Section<'s, 'a> {
    source: &'s Source<'a>,
    table: &'s DeTable<'a>,
    path: String,
    at: usize,
    read: RefCell<BTreeSet<String>>,
}

/// A value and its position.
pub(super) struct At<T> {
    pub(super) value: T,
    pub(super) at: usize,
}

impl<'s, 'a> Section<'s, 'a> {
    pub(super) fn root(source: &'s Source<'a>, table: &'s Spanned<DeTable<'a>>) -> Self {
        Self { source, table: table.get_ref(), path: String::new(), at: 0, read: RefCell::default() }
    }

    /// The full name of a key in this table, including its parent tables.
    pub(super) fn path(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) }
    }

    /// Notes a mistake about a key, at its value if it has one.
    pub(super) fn note(&self, key: &str, text: impl Display) {
        let at = self.table.get(key).map_or(self.at, |value| value.span().start);
        self.source.note(at, &self.path(key), text);
    }

    /// Notes a mistake about the table itself.
    pub(super) fn note_here(&self, text: impl Display) {
        self.source.note(self.at, &self.path, text);
    }

    fn value(&self, key: &str) -> Option<(&'s DeValue<'a>, Range<usize>)> {
        self.read.borrow_mut().insert(key.to_owned());
        self.table.get(key).map(|value| (value.get_ref(), value.span()))
    }

    /// A value of this type; any other type is a mistake.
    fn typed<T>(
        &self,
        key: &str,
        wanted: &str,
        read: impl FnOnce(&'s DeValue<'a>) -> Option<T>,
    ) -> Option<At<T>> {
        let (value, span) = self.value(key)?;
        let typed = read(value);
        if typed.is_none() {
            self.note(key, format!("it must be {wanted}"));
        }
        typed.map(|value| At { value, at: span.start })
    }

    pub(super) fn text(&self, key: &str) -> Option<At<&'s str>> {
        self.typed(key, "a text in quotes", |value| value.as_str())
    }

    /// Whether the key is there, whatever its value.
    pub(super) fn has(&self, key: &str) -> bool {
        self.table.contains_key(key)
    }

    /// A required string.
    pub(super) fn needed(&self, key: &str) -> Option<&'s str> {
        if !self.table.contains_key(key) {
            self.note_here(format!("`{key}` is missing"));
        }
        self.text(key).map(|text| text.value)
    }

    /// A string, parsed as this type.
    pub(super) fn parsed<T>(&self, key: &str) -> Option<T>
    where
        T: FromStr,
        T::Err: Display,
    {
        let text = self.text(key)?;
        text.value.parse().map_err(|problem| self.note(key, problem)).ok()
    }

    pub(super) fn number(&self, key: &str, otherwise: u64, range: RangeInclusive<u64>) -> u64 {
        let wanted = format!("a whole number from {} to {}", range.start(), range.end());
        let number = self.typed(key, &wanted, |value| {
            let number = value.as_integer()?;
            let digits = number.as_str().replace('_', "");
            u64::from_str_radix(&digits, number.radix()).ok().filter(|number| range.contains(number))
        });
        number.map_or(otherwise, |number| number.value)
    }

    /// A duration such as `10m`, which is not zero.
    pub(super) fn duration(&self, key: &str, otherwise: Duration) -> Duration {
        let time = self.any_duration(key, otherwise);
        if time.is_zero() {
            self.note(key, "it must be at least \"1s\"");
        }
        time
    }

    /// A duration such as `10m` or `0s`.
    pub(super) fn any_duration(&self, key: &str, otherwise: Duration) -> Duration {
        let wanted = "a time such as \"30s\", \"10m\" or \"2h\"";
        self.typed(key, wanted, |value| duration(value.as_str()?)).map_or(otherwise, |time| time.value)
    }

    pub(super) fn texts(&self, key: &str) -> Option<Vec<At<&'s str>>> {
        let list = self.typed(key, "a list of texts in quotes", |value| {
            let items = value.as_array()?;
            items
                .iter()
                .map(|item| item.get_ref().as_str().map(|value| At { value, at: item.span().start }))
                .collect::<Option<Vec<_>>>()
        });
        list.map(|list| list.value)
    }

    /// A nested table.
    pub(super) fn section(&self, key: &str) -> Option<Section<'s, 'a>> {
        let table = self.typed(key, "a table", DeValue::as_table)?;
        let at = self.table.get_key_value(key).map_or(table.at, |(name, _)| name.span().start);
        let path = self.path(key);
        Some(Section { source: self.source, table: table.value, path, at, read: RefCell::default() })
    }

    /// The names of the keys, in the order of the file.
    pub(super) fn keys(&self) -> Vec<String> {
        let mut keys: Vec<(usize, String)> =
            self.table.keys().map(|key| (key.span().start, key.get_ref().to_string())).collect();
        keys.sort();
        keys.into_iter().map(|(_, key)| key).collect()
    }

    /// Notes a mistake at a position in the file.
    pub(super) fn note_at(&self, at: usize, key: &str, text: impl Display) {
        self.source.note(at, &self.path(key), text);
    }

    /// Reports every key that was not read: a setting without effect must not look as if it had one.
    pub(super) fn finish(&self) {
        let read = self.read.borrow();
        for name in self.table.keys().filter(|name| !read.contains(name.get_ref().as_ref())) {
            let known: Vec<&str> = read.iter().map(String::as_str).collect();
            let text = format!("there is no such key; here are: {}", known.join(", "));
            self.source.note(name.span().start, &self.path(name.get_ref()), text);
        }
    }
}

/// A whole number of seconds, minutes or hours.
pub(super) fn duration(text: &str) -> Option<Duration> {
    let unit = text.char_indices().next_back()?.0;
    let number: u64 = text[..unit].parse().ok()?;
    let seconds = match &text[unit..] {
        "s" => 1,
        "m" => 60,
        "h" => 3600,
        _ => return None,
    };
    // Clocks overflow after some centuries.
    number.checked_mul(seconds).filter(|&seconds| seconds <= 366 * 86_400).map(Duration::from_secs)
}
