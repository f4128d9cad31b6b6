//! Options of `pods/log`: validation (`ValidatePodLogOptions`) and encoding for the kubelet.

use form_urlencoded::Serializer;
use generated::core::v1::PodLogOptions;
use machinery::field_error::FieldError;
use machinery::field_path::Path;
use machinery::json_name;

const EVERYTHING: &str = "All";

/// Validates options. `splits` enables separate streams for standard output and standard error.
pub fn errors(options: &PodLogOptions, splits: bool) -> Vec<FieldError> {
    let (mut errors, whole) = (Vec::new(), Path::new(""));
    if let Some(lines) = options.tail_lines.filter(|lines| *lines < 0) {
        errors.push(FieldError::invalid(
            &Path::new(json_name!(PodLogOptions.tail_lines)),
            lines,
            "must be greater than or equal to 0",
        ));
    }
    if let Some(bytes) = options.limit_bytes.filter(|bytes| *bytes < 1) {
        errors.push(FieldError::invalid(
            &Path::new(json_name!(PodLogOptions.limit_bytes)),
            bytes,
            "must be greater than 0",
        ));
    }
    match options.since_seconds {
        Some(_) if options.since_time.is_some() => {
            let why = "at most one of `sinceTime` or `sinceSeconds` may be specified";
            errors.push(FieldError::forbidden(&whole, why));
        }
        Some(seconds) if seconds < 1 => {
            errors.push(FieldError::invalid(
                &Path::new(json_name!(PodLogOptions.since_seconds)),
                seconds,
                "must be greater than 0",
            ));
        }
        _ => {}
    }
    stream_errors(options, splits, &mut errors);
    errors
}

fn stream_errors(options: &PodLogOptions, splits: bool, errors: &mut Vec<FieldError>) {
    let path = Path::new(json_name!(PodLogOptions.stream));
    let Some(stream) = options.stream.as_deref() else { return };
    if !splits {
        return errors.push(FieldError::forbidden(&path, "may not be specified"));
    }
    if !matches!(stream, EVERYTHING | "Stdout" | "Stderr") {
        errors.push(FieldError::not_supported(&path, stream, &[EVERYTHING, "Stderr", "Stdout"]));
    }
    if stream != EVERYTHING && options.tail_lines.is_some() {
        let why = "`tailLines` and specific `stream` are mutually exclusive for now";
        errors.push(FieldError::forbidden(&Path::new(""), why));
    }
}

/// Encodes the options as query parameters of `/containerLogs`, sorted by name.
pub fn query(options: &PodLogOptions, splits: bool) -> String {
    let mut query = Serializer::new(String::new());
    let mut append = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            query.append_pair(name, &value);
        }
    };
    let flag = |on: bool| on.then(|| "true".to_owned());
    let number = |number: Option<i64>| number.map(|number| number.to_string());
    append("follow", flag(options.follow));
    append("limitBytes", number(options.limit_bytes));
    append("previous", flag(options.previous));
    append("sinceSeconds", number(options.since_seconds));
    append("sinceTime", options.since_time.map(|time| time.to_string()));
    append("stream", splits.then(|| options.stream.clone().unwrap_or_else(|| EVERYTHING.into())));
    append("tailLines", number(options.tail_lines));
    append("timestamps", flag(options.timestamps));
    query.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodes_options_for_the_kubelet() {
        let check = |options: PodLogOptions, splits: bool, expect: &str| assert_eq!(query(&options, splits), expect);
        check(PodLogOptions::default(), false, "");
        check(PodLogOptions::default(), true, "stream=All");
        let options = PodLogOptions {
            follow: true,
            tail_lines: Some(0),
            since_time: machinery::scalar::Time::parse("2026-01-02T03:04:05+01:00").ok(),
            ..PodLogOptions::default()
        };
        check(options, false, "follow=true&sinceTime=2026-01-02T02%3A04%3A05Z&tailLines=0");
    }
}
