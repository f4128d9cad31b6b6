//! Parses the `Accept` header and orders its clauses as upstream (`goautoneg.ParseAccept`,
//! `negotiation.NegotiateMediaTypeOptions`).

/// One clause of an `Accept` header: a media range with its parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Clause<'h> {
    main: &'h str,
    sub: &'h str,
    quality: f32,
    parameters: Vec<(&'h str, &'h str)>,
}

impl<'h> Clause<'h> {
    /// Returns `None` for text that is not a media range.
    fn parse(text: &'h str) -> Option<Self> {
        let (range, mut rest) = split_at(text.trim_matches(' '), ';');
        let (main, sub) = split_at(range, '/');
        let main = main.trim_matches(' ');
        let sub = match split_at(sub, '/') {
            ("", _) if sub.is_empty() && main == "*" => "*",
            (sub, "") if !sub.is_empty() => sub.trim_matches(' '),
            _ => return None,
        };
        let mut clause = Clause { main, sub, quality: 1.0, parameters: Vec::new() };
        while !rest.is_empty() {
            let (piece, behind) = split_at(rest, ';');
            rest = behind;
            let (key, value) = split_at(piece, '=');
            let (first, more) = split_at(value, '=');
            match key.trim_matches(' ') {
                _ if value.is_empty() || !more.is_empty() => {}
                "q" => clause.quality = first.parse().unwrap_or(0.0),
                key => clause.parameters.push((key, first.trim_matches(' '))),
            }
        }
        Some(clause)
    }

    /// Whether the clause precedes `other`: it has a higher quality or is more specific. Upstream's
    /// order is not transitive.
    fn is_before(&self, other: &Self) -> bool {
        self.quality > other.quality || (self.main != "*" && other.main == "*") || (self.sub != "*" && other.sub == "*")
    }

    /// Whether a media type is in the range.
    pub fn matches(&self, media_type: &str) -> bool {
        let Some((main, sub)) = media_type.split_once('/') else { return false };
        match (self.main, self.sub) {
            ("*", "*") => true,
            (of, "*") => of == main,
            (of, exactly) => of == main && exactly == sub,
        }
    }

    /// The value of a parameter; the last one if repeated.
    pub fn parameter(&self, name: &str) -> Option<&'h str> {
        self.parameters.iter().rfind(|(key, _)| *key == name).map(|(_, value)| *value)
    }

    /// Whether the client requests another type of object: any of `as`, `g` and `v`.
    pub fn is_transformed(&self) -> bool {
        self.parameters.iter().any(|(key, _)| matches!(*key, "as" | "g" | "v"))
    }
}

/// The text before and after the first separator.
fn split_at(text: &str, separator: char) -> (&str, &str) {
    text.split_once(separator).unwrap_or((text, ""))
}

/// The maximum number of clauses for insertion sort, as in Go's `sort.Sort`. Longer lists are
/// sorted by quality, then by specificity.
const INSERTION: usize = 12;

/// The clauses of a header in order of preference.
pub fn parse_accept(header: &str) -> Vec<Clause<'_>> {
    let mut clauses: Vec<Clause<'_>> = header.split(',').filter_map(Clause::parse).collect();
    if clauses.len() > INSERTION {
        let stars = |clause: &Clause<'_>| u8::from(clause.main == "*") + u8::from(clause.sub == "*");
        clauses.sort_by(|a, b| b.quality.total_cmp(&a.quality).then_with(|| stars(a).cmp(&stars(b))));
        return clauses;
    }
    for end in 1..clauses.len() {
        for at in (1..=end).rev() {
            if !clauses[at].is_before(&clauses[at - 1]) {
                break;
            }
            clauses.swap(at, at - 1);
        }
    }
    clauses
}

/// Whether a route with these response media types matches an `Accept` header (go-restful:
/// `Route.matchesAccept`). Parameters are ignored; the only range that matches is `*/*`.
pub fn is_produced(header: &str, media_types: &[&str]) -> bool {
    header.is_empty()
        || header.split(',').any(|clause| {
            let media_type = clause.split(';').next().unwrap_or_default().trim_matches(' ');
            media_type == "*/*" || media_types.contains(&media_type)
        })
}

/// Whether a read route with these request media types matches a `Content-Type` (go-restful:
/// `Route.matchesContentType`). An empty header matches.
pub fn is_consumed(header: &str, media_types: &[&str]) -> bool {
    let media_type = |part: &str| part.split(';').next().unwrap_or_default().trim_matches(' ').to_owned();
    header.is_empty()
        || header.split(',').map(media_type).any(|part| part == "*/*" || media_types.contains(&part.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranges(header: &str) -> Vec<String> {
        parse_accept(header).iter().map(|clause| format!("{}/{}", clause.main, clause.sub)).collect()
    }

    #[test]
    fn orders_clauses_as_upstream() {
        for (header, expect) in [
            ("a/b,c/d", "a/b c/d"),
            ("a/b;q=0.5,c/d", "c/d a/b"),
            ("*/*,a/*,a/b", "a/b a/* */*"),
            // Specificity outweighs quality.
            ("*/*;q=1,a/b;q=0.1", "a/b */*"),
            ("a/b;q=x,c/d;q=0.1", "c/d a/b"),
            ("a,*,a/b/c,,b/c", "b/c */*"),
        ] {
            assert_eq!(ranges(header).join(" "), expect, "{header}");
        }
        assert_eq!(ranges(&"*/*;q=0.1,a/b,".repeat(20_000)).first().map(String::as_str), Some("a/b"));
    }

    #[test]
    fn reads_parameters() {
        let clauses = parse_accept("application/json; as=Table ;g=meta.k8s.io;v= v1;x;y=1=2");
        let parameter = |name| clauses[0].parameter(name);
        assert_eq!(
            (parameter("as"), parameter("v"), parameter("x"), parameter("y")),
            (Some("Table"), Some("v1"), None, None)
        );
        assert!(clauses[0].is_transformed() && !parse_accept("a/b;stream=watch")[0].is_transformed());
    }

    #[test]
    fn content_type_matches_media_types_of_route() {
        for (header, expect) in
            [("", true), ("application/json; a", true), ("a/b", false), ("a/b, application/json", true)]
        {
            assert_eq!(is_consumed(header, &["application/json"]), expect, "{header:?}");
        }
    }

    #[test]
    fn accept_matches_only_full_wildcard_range() {
        let json = ["application/json"];
        for (header, expect) in [
            ("", true),
            ("*/*", true),
            ("application/*", false),
            ("application/json;v=v1", true),
            ("text/plain, application/json;q=0", true),
            (" ", false),
        ] {
            assert_eq!(is_produced(header, &json), expect, "{header:?}");
        }
    }
}
