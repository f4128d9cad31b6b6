//! "Did you mean": finds the closest word of a closed vocabulary.

/// The candidate closest to `word`, if it is close enough to be a typing error.
pub fn did_you_mean<'a>(word: &str, candidates: &[&'a str]) -> Option<&'a str> {
    let plain = |text: &str| text.replace(['_', '-'], "").to_lowercase();
    let wanted = plain(word);
    let limit = (word.chars().count() / 3).max(1);
    candidates
        .iter()
        .map(|candidate| (distance(&wanted, &plain(candidate)), *candidate))
        .filter(|(distance, _)| *distance <= limit)
        .min_by_key(|(distance, candidate)| (*distance, *candidate))
        .map(|(_, candidate)| candidate)
}

/// Words in backticks, comma-separated.
pub fn list_words(words: &[&str]) -> String {
    words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}

/// Edit distance in which a transposition counts once (optimal string alignment).
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = vec![(0..=b.len()).collect::<Vec<usize>>()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let change = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = change.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggests_typing_errors_only() {
        let words = ["required", "min_length", "max_length", "default", "immutable"];
        for (word, near) in [
            ("requierd", Some("required")),
            ("minLength", Some("min_length")),
            ("defalt", Some("default")),
            ("colour", None),
        ] {
            assert_eq!(did_you_mean(word, &words), near, "{word}");
        }
    }
}
