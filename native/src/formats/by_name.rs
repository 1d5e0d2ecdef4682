//! What options say by the names of sources: columns of keys, and the images of rows.

use crate::columns::{Columns, Name, RowImage};
use crate::rows::distinct;
use crate::table::pattern::Pattern;
use crate::why::{Done, Why};

/// Name of a source that has none.
const NO_TABLE: &str = "(no table)";

/// Values by globs of names; the first that matches counts.
pub struct ByName<T>(Vec<(Glob, T)>);

/// A pattern of names: `*` means any text and `?` one character. None matches every name.
type Glob = Option<Pattern>;

impl<T> ByName<T> {
    fn new(given: impl Iterator<Item = Option<(String, T)>>) -> Option<Self> {
        let parsed = given.map(|given| given.and_then(|(glob, value)| Some((parsed(&glob)?, value))));
        Some(ByName(parsed.collect::<Option<_>>()?))
    }

    /// Return the value for a source, by its database, schema and table; none if no glob matches.
    pub fn of<'s>(&self, source: impl FnOnce() -> Done<[Option<&'s [u8]>; 3]>) -> Done<Option<&T>> {
        let Some((first, value)) = self.0.first() else { return Ok(None) };
        if first.is_none() {
            return Ok(Some(value));
        }
        let there: Vec<&[u8]> = source()?.into_iter().flatten().filter(|name| !name.is_empty()).collect();
        let joined = there.join(&b'.');
        let name =
            if joined.is_empty() { NO_TABLE } else { str::from_utf8(&joined).map_err(|_| Why::Name)? };
        let is_it = |glob: &Glob| glob.as_ref().is_none_or(|glob| glob.is_in(name));
        Ok(self.0.iter().find(|(glob, _)| is_it(glob)).map(|(_, value)| value))
    }
}

impl ByName<Vec<Vec<u8>>> {
    /// Take columns that name rows.
    pub fn keys(given: &[(String, Vec<String>)]) -> Option<Self> {
        ByName::new(given.iter().map(|(glob, columns)| Some((glob.clone(), distinct(columns)))))
    }
}

impl ByName<RowImage> {
    /// Read parts of rows that writes have, by their names; None if a name is unknown.
    pub fn images(given: &[(String, String)]) -> Option<Self> {
        ByName::new(given.iter().map(|(glob, name)| Some((glob.clone(), RowImage::named(name)?))))
    }

    /// Return the part that a write has, whose source is in columns.
    pub fn image(&self, columns: &Columns) -> Done<RowImage> {
        let names = [Name::Database, Name::Schema, Name::Table];
        Ok(self.of(|| Ok(names.map(|name| columns.text(name))))?.copied().unwrap_or_default())
    }
}

/// Return the pattern of a glob; `None` if it cannot be one.
fn parsed(glob: &str) -> Option<Glob> {
    let text = regex_lite::escape(glob).replace(r"\*", ".*").replace(r"\?", ".");
    if glob == "*" { Some(None) } else { Pattern::new(&format!("(?s)^(?:{text})$")).map(Some) }
}
