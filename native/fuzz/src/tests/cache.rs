use crate::cache::Cache;

fn key(number: usize) -> Vec<u8> {
    format!("{{\"table\":{number}}}").into_bytes()
}

fn has(cache: &Cache<usize>, text: &[u8]) -> bool {
    cache.entries.contains_key(text)
}

/// How many bytes are kept.
fn bytes(cache: &Cache<usize>) -> usize {
    cache.entries.values().map(|(_, bytes)| bytes).sum()
}

/// A text is found again, among the recent ones by what bytes begin with.
#[test]
fn finds_texts() {
    let mut cache = Cache::of(1000);
    for number in 0..20 {
        cache.put(&key(number), number, 10);
    }
    assert_eq!(cache.get(&key(3)).as_deref(), Some(&3));
    assert!(cache.get(b"{}").is_none());
    let (found, size) = cache.beginning(b"{\"table\":3},\"payload\":{}}").expect("it is recent");
    assert_eq!((*found, size), (3, key(3).len()));
    assert!(cache.beginning(&key(0)).is_none(), "only the last ones are compared");
    assert!(cache.beginning(b"{\"table\"").is_none(), "a text that is cut is not there");
}

/// Tables that messages name in turn stay, however many, as long as there is room.
#[test]
fn keeps_many_tables() {
    let mut cache = Cache::of(1 << 20);
    for _ in 0..3 {
        let missed = (0..2000).filter(|number| cache.get(&key(*number)).is_none()).collect::<Vec<_>>();
        for number in &missed {
            cache.put(&key(*number), *number, 100);
        }
        assert!(missed.is_empty() || missed.len() == 2000);
    }
    assert!((0..2000).all(|number| has(&cache, &key(number))));
}

/// What was needed last stays, and no more bytes are kept than there is room for.
#[test]
fn forgets_what_was_not_needed() {
    let mut cache = Cache::of(1000);
    for number in 0..10_000 {
        cache.put(&key(number), number, 10);
        assert!(bytes(&cache) <= 1000);
        assert_eq!(cache.get(&key(0)).as_deref(), Some(&0), "it is needed each time");
        assert!(has(&cache, &key(number)));
    }
    assert!(!has(&cache, &key(1)));
    cache.put(&key(1), 1, 5000);
    assert!(bytes(&cache) <= 1000, "what has no room is not kept");
}
