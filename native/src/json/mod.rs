//! JSON text as the kernel reads and writes it. `None` declines, everywhere.

pub mod base64;
pub mod names;
pub mod number;
pub mod scan;
pub mod text;
mod values;
