//! Operations of DataWorks messages.

/// The change that each variant is.
const OPS: [(&str, &str); 19] = [
    ("Insert", "insert"),
    ("UpdateAfter", "update"),
    (BEFORE[0], "update"),
    (BEFORE[1], "update"),
    ("Delete", "delete"),
    ("Heartbeat", "heartbeat"),
    ("DdlCreate", "ddl"),
    ("DdlAlter", "ddl"),
    ("DdlErase", "ddl"),
    ("DdlRename", "ddl"),
    ("DdlCindex", "ddl"),
    ("DdlDindex", "ddl"),
    ("Truncate", "truncate"),
    ("Query", "statement"),
    ("TransactionBegin", "transaction"),
    ("TransactionEnd", "transaction"),
    ("TransactionGtid", "transaction"),
    ("TransactionXacommit", "transaction"),
    ("TransactionXarollback", "transaction"),
];
const BEFORE: [&str; 2] = ["UpdateBeforeUpdateBefor", "UpdateBeforeUpdateBefore"];
const OTHER: &str = "Other";

/// What an arm of the payload is.
#[derive(Clone, Copy)]
pub struct Arm {
    pub op: &'static str,
    pub is_before: bool,
    pub is_other: bool,
}

/// Return what an arm is, by the title of its schema; none if it has no meaning yet.
pub fn arm_of(title: &str) -> Option<Arm> {
    let is_before = BEFORE.contains(&title);
    if title == OTHER {
        return Some(Arm { op: "other", is_before, is_other: true });
    }
    let (_, op) = OPS.iter().find(|(name, _)| *name == title)?;
    Some(Arm { op, is_before, is_other: false })
}
