//! Where a list of sensors begins anew: loops print it again and again, often with nothing between.

/// The starts of all lists in `rows`, the first of them 0. Rows are told by their keys; where `unique`, a key
/// comes only once in a list (it holds a sensor's number), otherwise names may repeat within it.
pub fn starts(keys: &[&str], unique: bool) -> Vec<usize> {
    let mut starts = vec![0];
    let (mut start, mut period) = (0, None);
    for at in 1..keys.len() {
        if keys[at] != keys[start] {
            continue;
        }
        let rows = at - start;
        if unique || (period == Some(rows) && rows > 1) || begins_again(&keys[start..], rows) {
            period = Some(rows);
            start = at;
            starts.push(at);
        }
    }
    starts
}

/// Whether the rows from `at` on repeat the first ones: several in a row, and not all of one name.
fn begins_again(keys: &[&str], at: usize) -> bool {
    // Two rows need a second repetition: two processors may have the same two sensors each.
    let rows = match at {
        0 | 1 => return false,
        2 => 4,
        at => at.min(4),
    };
    let (Some(first), Some(again)) = (keys.get(..rows), keys.get(at..at + rows)) else { return false };
    first == again && first.iter().any(|key| *key != first[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists() {
        let check = |rows: &str, unique: bool, expected: &[usize]| {
            let keys: Vec<&str> = rows.split_whitespace().collect();
            assert_eq!(starts(&keys, unique), expected, "{rows}");
        };
        check("a b c", false, &[0]);
        check("a b c d a b c d a b c d", false, &[0, 4, 8]);
        check("a b c a b c", false, &[0, 3]);
        check("a b c d e a b c d", false, &[0, 5]);
        check("t t t t t t", false, &[0]);
        check("t t f t t p", false, &[0]);
        check("a b a b", false, &[0]);
        check("a b a b a b a b", false, &[0, 2, 4, 6]);
        check("a b a b a b", false, &[0, 2, 4]);
        check("a b c d a b c d a", false, &[0, 4, 8]);
        check("a b a b", true, &[0, 2]);
        check("a a", true, &[0, 1]);
        check("", false, &[0]);
    }
}
