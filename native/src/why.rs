//! Why a message is left to Python.

/// A reason. Counts of declined messages name it, and `docs/contributing/native.md` lists the names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Why {
    /// Bytes that the table does not accept, or that are not text.
    Text,
    /// A record without value.
    Null,
    /// A name with escapes, one that occurs twice, or more names than an object may have.
    Name,
    /// A number that binary64 or 64 bits do not hold, or that Python may write otherwise.
    Number,
    /// Too many levels of nesting.
    Depth,
    /// A text or a batch that is too long.
    Size,
    /// A variant, or a property of the schema, that the adapter gives no meaning.
    Meaning,
    /// A schema within the message that has rules which the kernel lacks.
    Schema,
    /// A value that is not of the type that is declared for it, or whose text Python may write otherwise.
    Value,
    /// A key of which it is not seen what Python makes of it.
    Key,
    /// A change whose effect on tables is not seen.
    Effect,
    /// A row that does not fit its type, or of which this is not seen.
    Row,
    /// A message that may be of another format.
    Format,
    /// The kernel panicked.
    Panic,
}

pub type Done<T = ()> = Result<T, Why>;

impl Why {
    pub fn name(self) -> String {
        format!("{self:?}").to_lowercase()
    }
}
