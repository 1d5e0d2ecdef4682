//! What options say by the names of sources: columns of keys, and the images of rows.

use crate::columns::{Columns, Name, RowImage};
use crate::rows::distinct;
use crate::why::{Done, Why};

/// Matches every name.
const ANY: &str = "*";

/// Name of a source that has none.
const NO_TABLE: &str = "(no table)";

/// Values by globs of names; the first that matches counts.
struct ByName<T>(Vec<(Vec<char>, T)>);

impl<T> ByName<T> {
    fn new(given: impl Iterator<Item = (String, T)>) -> Self {
        ByName(given.map(|(glob, value)| (glob.chars().collect(), value)).collect())
    }

    /// Return the value for a source, by its database, schema and table; none if no glob matches.
    fn of<'s>(&self, source: impl FnOnce() -> Done<[Option<&'s [u8]>; 3]>) -> Done<Option<&T>> {
        let Some((first, value)) = self.0.first() else { return Ok(None) };
        if first.iter().copied().eq(ANY.chars()) {
            return Ok(Some(value));
        }
        let name = dotted(source()?)?;
        Ok(self.0.iter().find(|(glob, _)| matches(glob, &name)).map(|(_, value)| value))
    }
}

/// Columns that name rows.
pub struct Keys(ByName<Vec<Vec<u8>>>);

impl Keys {
    pub fn new(given: &[(String, Vec<String>)]) -> Self {
        Keys(ByName::new(given.iter().map(|(glob, columns)| (glob.clone(), distinct(columns)))))
    }

    /// Return the columns that name the rows of a source; none if its messages say them.
    pub fn of<'s>(&self, source: impl FnOnce() -> Done<[Option<&'s [u8]>; 3]>) -> Done<Option<&[Vec<u8>]>> {
        Ok(self.0.of(source)?.map(Vec::as_slice))
    }
}

/// Parts of rows that writes have.
pub struct RowImages(ByName<RowImage>);

impl RowImages {
    /// Read parts by their names; None if a name is unknown.
    pub fn new(given: &[(String, String)]) -> Option<Self> {
        let images: Option<Vec<_>> =
            given.iter().map(|(glob, name)| Some((glob.clone(), RowImage::named(name)?))).collect();
        Some(RowImages(ByName::new(images?.into_iter())))
    }

    /// Return the part that a write has, whose source is in columns.
    pub fn of(&self, columns: &Columns) -> Done<RowImage> {
        let names = [Name::Database, Name::Schema, Name::Table];
        Ok(self.0.of(|| Ok(names.map(|name| columns.text(name))))?.copied().unwrap_or_default())
    }
}

/// Return the name of a source, as Python's `dotted` does.
fn dotted(source: [Option<&[u8]>; 3]) -> Done<Vec<char>> {
    let there: Vec<&[u8]> = source.into_iter().flatten().filter(|name| !name.is_empty()).collect();
    let joined = there.join(&b'.');
    let name = if joined.is_empty() { NO_TABLE } else { str::from_utf8(&joined).map_err(|_| Why::Name)? };
    Ok(name.chars().collect())
}

/// Tell whether a glob matches a whole name: `*` means any text and `?` one character.
fn matches(glob: &[char], name: &[char]) -> bool {
    let (mut at, mut place) = (0, 0);
    // Where the last `*` is, and where the text behind what it matches begins.
    let mut star = None;
    while place < name.len() {
        match glob.get(at) {
            Some('*') => {
                star = Some((at, place));
                at += 1;
            }
            Some(one) if *one == '?' || *one == name[place] => (at, place) = (at + 1, place + 1),
            _ => {
                let Some((of_star, behind)) = star else { return false };
                star = Some((of_star, behind + 1));
                (at, place) = (of_star + 1, behind + 1);
            }
        }
    }
    glob[at..].iter().all(|one| *one == '*')
}
