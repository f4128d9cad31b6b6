//! Validation of the certificate that was issued for a pod's request.

use machinery::field_error::BadValue;
use machinery::field_path::Path;
use machinery::hooks::Validation;
use machinery::scalar::Time;
use x509::{Block, Certificate, CertificateRequest, PublicKey};

use super::CERTIFICATE;
use generated::certificates::v1beta1::{PodCertificateRequest, PodCertificateRequestSpec, PodCertificateRequestStatus};

/// A minute in seconds.
const MINUTE: i64 = 60;
/// Maximum distance of the certificate's start from the current time, in seconds.
const SKEW: i64 = 5 * MINUTE;
/// Minimum distance of the refresh time from either end, in seconds.
const MARGIN: i64 = 10 * MINUTE;
const MIN_LIFETIME: i64 = 60 * MINUTE;

/// A result, or the field, the shown value and the message of the first error, which ends the
/// validation.
type Checked<T> = Result<T, (&'static str, BadValue, String)>;

const CHAIN: &str = "status.certificateChain";

fn refuse<T>(field: &'static str, shown: impl Into<BadValue>, why: impl Into<String>) -> Checked<T> {
    Err((field, shown.into(), why.into()))
}

/// Validates the issued certificates. Hand-written, because they are parsed. The first one has to be
/// for the requested key and to agree with the status. Runs only if no error was found before.
pub fn validate_issued(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    new: &PodCertificateRequest,
    old: Option<&PodCertificateRequest>,
) {
    let checked = old.map_or(Ok(()), |old| validate_chain(v, path, new, &old.spec));
    if let Err((field, shown, why)) = checked {
        v.invalid(&path.child(field), shown, why);
    }
}

fn validate_chain(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    new: &PodCertificateRequest,
    request: &PodCertificateRequestSpec,
) -> Checked<()> {
    let chain = new.status.certificate_chain.as_str();
    let mut blocks = x509::blocks(chain);
    let Some(block) = blocks.next() else {
        return refuse(CHAIN, chain, "issued certificate chain must contain at least one certificate");
    };
    let leaf = certificate(&block, chain, "leaf", CERTIFICATE)?;
    validate_names(v, path, &leaf);
    if requested_key(request)? != leaf.public_key {
        return refuse(CHAIN, chain, "leaf certificate was not issued to the requested public key");
    }
    let times = required_times(v, path, &new.status).filter(|_| v.errors.is_empty());
    let Some([not_before, not_after, refresh]) = times else { return Ok(()) };
    agree("status.notBefore", not_before, leaf.not_before, "NotBefore")?;
    if (not_before.unix() - v.context.now.unix()).abs() >= SKEW {
        let why = "must be set to within 5 minutes of kube-apiserver's current time";
        return refuse("status.notBefore", shown(not_before), why);
    }
    agree("status.notAfter", not_after, leaf.not_after, "NotAfter")?;
    validate_lifetime(&leaf, new.spec.max_expiration_seconds.unwrap_or_default())?;
    if refresh.unix() < not_before.unix() + MARGIN {
        return refuse("status.beginRefreshAt", shown(refresh), "must be at least 10 minutes after status.notBefore");
    }
    if refresh.unix() > not_after.unix() - MARGIN {
        return refuse("status.beginRefreshAt", shown(refresh), "must be at least 10 minutes before status.notAfter");
    }
    // The misspelling is upstream's.
    blocks.try_for_each(|block| certificate(&block, chain, "intermediate", "CERTFICATE").map(drop))
}

fn certificate(block: &Block, chain: &str, role: &str, label: &str) -> Checked<Certificate> {
    if block.label != CERTIFICATE {
        let why = format!("issued certificate chain must consist entirely of {label} PEM blocks");
        return refuse(CHAIN, chain, why);
    }
    let why = || format!("{role} certificate does not parse as valid X.509");
    Certificate::parse(&block.bytes).or_else(|_| refuse(CHAIN, chain, why()))
}

fn validate_names(v: &mut Validation<'_>, path: &Path<'_>, leaf: &Certificate) {
    let path = path.child(CHAIN);
    for name in &leaf.dns_names {
        if name.is_empty() {
            v.invalid(&path, name, "leaf certificate should not contain empty DNSName");
        }
        if name.contains("..") {
            v.invalid(&path, name, "leaf certificate's DNSName should not contain '..'");
        }
        if name.starts_with('.') || name.ends_with('.') {
            v.invalid(&path, name, "leaf certificate's DNSName should not start or end with '.'");
        }
    }
    for address in &leaf.email_addresses {
        if !address.split_once('@').is_some_and(|(local, domain)| !local.is_empty() && !domain.is_empty()) {
            v.invalid(&path, address, "leaf certificate should not contain invalid EmailAddress");
        }
    }
}

fn requested_key(request: &PodCertificateRequestSpec) -> Checked<PublicKey> {
    if !request.stub_pkcs10_request.is_empty() {
        return match CertificateRequest::parse(&request.stub_pkcs10_request) {
            Ok(request) => Ok(request.public_key),
            Err(_) => refuse("spec.stubPKCS10Request", BadValue::Omitted, "must be a valid PKCS#10 CSR"),
        };
    }
    PublicKey::parse(&request.pkix_public_key)
        .or_else(|_| refuse("spec.pkixPublicKey", BadValue::Omitted, "must be a valid PKIX-serialized public key"))
}

/// The beginning, the end, and the refresh time.
fn required_times(v: &mut Validation<'_>, path: &Path<'_>, status: &PodCertificateRequestStatus) -> Option<[Time; 3]> {
    let consistent = "must be present and consistent with the issued certificate";
    let refresh = "must be present and in the range [notbefore+10min, notafter-10min]";
    let fields = [
        ("status.notBefore", status.not_before, consistent),
        ("status.notAfter", status.not_after, consistent),
        ("status.beginRefreshAt", status.begin_refresh_at, refresh),
    ];
    for (field, time, why) in fields {
        if time.is_none() {
            v.required(&path.child(field), why);
        }
    }
    Some([status.not_before?, status.not_after?, status.begin_refresh_at?])
}

fn shown(time: Time) -> BadValue {
    BadValue::json_string(&time.to_string())
}

fn agree(field: &'static str, declared: Time, encoded: i64, name: &str) -> Checked<()> {
    if declared.unix() == encoded {
        return Ok(());
    }
    refuse(field, shown(declared), format!("must be set to the {name} time encoded in the leaf certificate"))
}

fn validate_lifetime(leaf: &Certificate, max: i32) -> Checked<()> {
    let lifetime = leaf.not_after - leaf.not_before;
    let nanoseconds = BadValue::Int(lifetime.saturating_mul(1_000_000_000));
    if lifetime < MIN_LIFETIME {
        return refuse(CHAIN, nanoseconds, "leaf certificate lifetime must be >= 1 hour");
    }
    if lifetime > max.into() {
        let why = format!("leaf certificate lifetime must be <= spec.maxExpirationSeconds ({max})");
        return refuse(CHAIN, nanoseconds, why);
    }
    Ok(())
}
