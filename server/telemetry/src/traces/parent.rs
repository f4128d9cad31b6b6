//! The parent span of a request by its `traceparent` header (W3C Trace Context).

use http::HeaderMap;

const PARENT: &str = "traceparent";
const STATE: &str = "tracestate";
/// The flag of a sampled trace.
const SAMPLED: u8 = 1;

/// The span of the client in which a request is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Parent {
    pub trace: [u8; 16],
    pub span: [u8; 8],
    pub is_sampled: bool,
    pub state: String,
}

impl Parent {
    /// Parses the headers; `None` when they are absent or invalid.
    pub(super) fn of(headers: &HeaderMap) -> Option<Self> {
        let mut values = headers.get_all(PARENT).iter();
        let text = values.next().filter(|_| values.next().is_none())?.to_str().ok()?;
        let mut parts = text.trim().split('-');
        let [version, trace, span, flags] = [parts.next()?, parts.next()?, parts.next()?, parts.next()?];
        let [version] = bytes::<1>(version)?;
        // Later versions may have more fields.
        if version == 0xff || (version == 0 && parts.next().is_some()) {
            return None;
        }
        let (trace, span, [flags]) = (bytes(trace)?, bytes(span)?, bytes(flags)?);
        let state = headers.get(STATE).and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned();
        let is_valid = trace != [0; 16] && span != [0; 8];
        is_valid.then_some(Parent { trace, span, is_sampled: flags & SAMPLED != 0, state })
    }
}

/// Parses `N` bytes of lower-case hexadecimal digits.
fn bytes<const N: usize>(text: &str) -> Option<[u8; N]> {
    let is_hex = |digit: u8| matches!(digit, b'0'..=b'9' | b'a'..=b'f');
    if text.len() != 2 * N || !text.bytes().all(is_hex) {
        return None;
    }
    let mut out = [0; N];
    for (at, byte) in out.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&text[2 * at..2 * at + 2], 16).ok()?;
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parent_is_well_formed() {
        let of = |value: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(PARENT, http::HeaderValue::from_static(value));
            Parent::of(&headers)
        };
        let good = of("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01").unwrap();
        assert_eq!((good.trace[0], good.span[7], good.is_sampled), (0x0a, 0x31, true));
        assert!(!of("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00").unwrap().is_sampled);
        assert!(of("01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more").is_some());
        for bad in [
            "",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331",
            "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
            "00-00000000000000000000000000000000-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more",
            "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        ] {
            assert_eq!(of(bad), None, "{bad}");
        }
    }
}
