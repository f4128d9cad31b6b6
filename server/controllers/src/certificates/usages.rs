//! The extensions of a certificate by the usages of a request (`authority.keyUsagesFromStrings`).

use machinery::status::Status;

/// The bits of the extension `keyUsage`, by the names of the API.
const KEY_USAGES: [(&str, u8); 10] = [
    ("signing", 0),
    ("digital signature", 0),
    ("content commitment", 1),
    ("key encipherment", 2),
    ("data encipherment", 3),
    ("key agreement", 4),
    ("cert sign", 5),
    ("crl sign", 6),
    ("encipher only", 7),
    ("decipher only", 8),
];

/// The identifiers of the extension `extKeyUsage`, by the names of the API, in Go's order.
const EXTENDED: [(&str, &[u64]); 13] = [
    ("any", &[2, 5, 29, 37, 0]),
    ("server auth", &[1, 3, 6, 1, 5, 5, 7, 3, 1]),
    ("client auth", &[1, 3, 6, 1, 5, 5, 7, 3, 2]),
    ("code signing", &[1, 3, 6, 1, 5, 5, 7, 3, 3]),
    ("email protection", &[1, 3, 6, 1, 5, 5, 7, 3, 4]),
    ("s/mime", &[1, 3, 6, 1, 5, 5, 7, 3, 4]),
    ("ipsec end system", &[1, 3, 6, 1, 5, 5, 7, 3, 5]),
    ("ipsec tunnel", &[1, 3, 6, 1, 5, 5, 7, 3, 6]),
    ("ipsec user", &[1, 3, 6, 1, 5, 5, 7, 3, 7]),
    ("timestamping", &[1, 3, 6, 1, 5, 5, 7, 3, 8]),
    ("ocsp signing", &[1, 3, 6, 1, 5, 5, 7, 3, 9]),
    ("microsoft sgc", &[1, 3, 6, 1, 4, 1, 311, 10, 3, 3]),
    ("netscape sgc", &[2, 16, 840, 1, 113_730, 4, 1]),
];

/// Returns the bits and the identifiers of usages, each once.
///
/// # Errors
/// A usage is unknown.
pub fn extensions(usages: &[String]) -> Result<(Vec<u8>, Vec<&'static [u64]>), Status> {
    let is_known = |usage: &str| {
        KEY_USAGES.iter().any(|(name, _)| *name == usage) || EXTENDED.iter().any(|(name, _)| *name == usage)
    };
    if let Some(unknown) = usages.iter().find(|usage| !is_known(usage)) {
        return Err(Status::internal(format!("unrecognized usage value: {unknown:?}")));
    }
    let is_wanted = |name: &str| usages.iter().any(|usage| usage == name);
    let mut bits: Vec<u8> = KEY_USAGES.iter().filter(|(name, _)| is_wanted(name)).map(|(_, bit)| *bit).collect();
    let mut identifiers: Vec<&[u64]> =
        EXTENDED.iter().filter(|(name, _)| is_wanted(name)).map(|(_, identifier)| *identifier).collect();
    bits.dedup();
    identifiers.dedup();
    Ok((bits, identifiers))
}

#[cfg(test)]
mod tests {
    use generated::certificates::v1::key_usage;

    use super::*;

    fn of(usages: &[&str]) -> (Vec<u8>, usize) {
        let usages: Vec<String> = usages.iter().map(|usage| (*usage).to_owned()).collect();
        let (bits, identifiers) = extensions(&usages).unwrap();
        (bits, identifiers.len())
    }

    #[test]
    fn each_usage_of_the_api_has_an_extension_once() {
        assert_eq!(of(&["client auth", "signing", "digital signature"]), (vec![0], 1));
        assert_eq!(of(&["s/mime", "email protection", "decipher only"]), (vec![8], 1));
        assert_eq!(of(&[]), (Vec::new(), 0));
        assert!(extensions(&["made up".to_owned()]).is_err());
        for usage in [key_usage::ANY, key_usage::NETSCAPE_SGC, key_usage::CRL_SIGN, key_usage::S_MIME] {
            assert!(extensions(&[usage.to_owned()]).is_ok(), "{usage}");
        }
    }
}
