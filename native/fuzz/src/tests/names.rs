use crate::json::names::{MOST, Names};
use crate::why::Why;

/// A name that comes twice in an object is declined, in another object it is not.
#[test]
fn names_differ() {
    let text = b"abab";
    let mut names = Names::default();
    let mark = names.open();
    assert_eq!(names.add(mark, text, 0, 1), Ok(()));
    assert_eq!(names.add(mark, text, 1, 2), Ok(()));
    let inner = names.open();
    assert_eq!(names.add(inner, text, 2, 3), Ok(()));
    names.close(inner);
    assert_eq!(names.add(mark, text, 2, 3), Err(Why::Name));
    assert_eq!(names.add(mark, text, 2, 4), Ok(()));
    assert_eq!(names.add(mark, text, 0, 2), Err(Why::Name));
}

/// An object of more names is declined.
#[test]
fn names_are_bounded() {
    let text: String = (0..=MOST).map(|number| format!("{number:04}")).collect();
    let mut names = Names::default();
    for number in 0..MOST {
        assert_eq!(names.add(0, text.as_bytes(), 4 * number, 4 * number + 4), Ok(()));
    }
    assert_eq!(names.add(0, text.as_bytes(), 4 * MOST, 4 * MOST + 4), Err(Why::Name));
}
