//! Fields of a table by the names that an adapter knows.

use crate::table::Table;
use crate::table::node::Union;
use crate::table::tape::{Message, Slot};
use crate::table::walk::arm_at;
use crate::why::{Done, Why};

/// Arms of a union that an adapter gives a meaning to, and their fields.
pub struct Bound<const N: usize> {
    fields: [usize; N],
}

impl<const N: usize> Bound<N> {
    /// Bind the fields of a union; `None` if it lacks one.
    pub fn new(union: &Union, names: [&str; N]) -> Option<Self> {
        let mut fields = [0; N];
        for (field, name) in fields.iter_mut().zip(names) {
            *field = union.field(name)?;
        }
        Some(Bound { fields })
    }

    /// Bind the fields of the object or union that a node of a table is, by its name.
    pub fn named(table: &Table, name: &str, names: [&str; N]) -> Option<Self> {
        Bound::new(table.union(*table.by_name.get(name)?)?, names)
    }

    /// Return the values of an object, in the order of the names.
    pub fn of<'m>(&self, object: &Slot, message: &Message<'m>) -> [&'m Slot; N] {
        self.fields.map(|field| message.field(object, field))
    }
}

/// Return what an adapter knows of the arm that a value has; a variant without meaning is declined.
pub fn known_arm<'k, T>(known: &'k [Option<T>], slot: &Slot) -> Done<&'k T> {
    arm_at(known, slot)?.as_ref().ok_or(Why::Meaning)
}
