//! Numbers of pods as text: `1,3-5,7`.

use machinery::scalar::go_text::quote;

/// How many there are (`validateIndexesFormat`); all of them below `completions`, and in order.
pub(super) fn count_indexes(text: &str, completions: i32) -> Result<i32, String> {
    let (mut total, mut last) = (0, None);
    for interval in text.split(',').filter(|_| !text.is_empty()) {
        let (from, to) = parse_interval(interval, completions)?;
        if let Some(last) = last.filter(|last| *last >= from) {
            return Err(format!("non-increasing order, previous: {last}, current: {from}"));
        }
        total += to - from + 1;
        last = Some(to);
    }
    Ok(total)
}

/// `parseIndexInterval`
fn parse_interval(text: &str, completions: i32) -> Result<(i32, i32), String> {
    let parts: Vec<&str> = text.split('-').collect();
    let index = |text: &str| match text.parse::<i32>() {
        Err(_) if text.parse::<i64>().is_err() => {
            Err(format!("cannot convert string to integer for index: {}", quote(text)))
        }
        Ok(index) if index < completions => Ok(index),
        _ => Err(format!("too large index: {}", quote(text))),
    };
    match parts[..] {
        [one] => index(one).map(|index| (index, index)),
        [from, to] => {
            let (from, to) = (index(from)?, index(to)?);
            if from < to {
                Ok((from, to))
            } else {
                Err(format!("non-increasing order, previous: {from}, current: {to}"))
            }
        }
        _ => Err(format!(
            "the fragment {} violates the requirement that an index interval can have at most two parts separated by '-'",
            quote(text)
        )),
    }
}

/// The first number that is in both texts (`validateFailedIndexesNotOverlapCompleted`). What is malformed is passed
/// over.
pub(super) fn first_overlap(completed: &str, failed: &str, completions: i32) -> Option<i32> {
    let parsed = |text: &str| -> Vec<(i32, i32)> {
        text.split(',').filter_map(|interval| parse_interval(interval, completions).ok()).collect()
    };
    let (completed, failed) = (parsed(completed), parsed(failed));
    let (mut c, mut f) = (completed.iter().peekable(), failed.iter().peekable());
    while let (Some((from, to)), Some((failed_from, failed_to))) = (c.peek(), f.peek()) {
        if from <= failed_to && failed_from <= to {
            return Some(*from.max(failed_from));
        }
        let behind = if from <= failed_from { &mut c } else { &mut f };
        behind.next();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What ten completions make of a text.
    #[test]
    fn indexes_are_counted() {
        let check = |text: &str, expect: Result<i32, &str>| {
            assert_eq!(count_indexes(text, 10), expect.map_err(str::to_owned), "{text}");
        };
        check("", Ok(0));
        check("0", Ok(1));
        check("1,3-5,9", Ok(5));
        check("10", Err("too large index: \"10\""));
        check("3000000000", Err("too large index: \"3000000000\""));
        check("1-10", Err("too large index: \"10\""));
        check("a", Err("cannot convert string to integer for index: \"a\""));
        check("1,", Err("cannot convert string to integer for index: \"\""));
        check("3,2", Err("non-increasing order, previous: 3, current: 2"));
        check("2-2", Err("non-increasing order, previous: 2, current: 2"));
        check(
            "1-2-3",
            Err(
                "the fragment \"1-2-3\" violates the requirement that an index interval can have at most two parts separated by '-'",
            ),
        );
    }

    #[test]
    fn overlaps_are_found() {
        for (completed, failed, expect) in
            [("", "1", None), ("1-3,7", "4-6", None), ("1-3,7", "5,7", Some(7)), ("x,2-4", "3", Some(3))]
        {
            assert_eq!(first_overlap(completed, failed, 10), expect, "{completed} {failed}");
        }
    }
}
