//! The query and the path of a request that is proxied.

use machinery::def::StructDef;
use machinery::reflect::{ListMut, OneMut, OptMut, Owned, Slot};
use machinery::scalar::Time;
use machinery::status::Status;
use request::{Query, RequestInfo};

/// Decodes query parameters into the options of a connection (`runtime.ParameterCodec`). Absent
/// parameters have their zero values.
///
/// # Errors
/// Returns an error if a parameter is not a valid value of its field.
pub(crate) fn options(def: &'static StructDef, query: &Query) -> Result<Owned, Status> {
    let mut options = Owned::new(def);
    for field in def.json_fields() {
        let Some(first) = query.get(field.json) else { continue };
        let mut into = options.as_mut();
        let Some(slot) = into.by_name(field.json) else { continue };
        match slot {
            Slot::One(OneMut::Bool(flag)) => *flag = query.flag(field.json),
            Slot::One(OneMut::String(text)) => first.clone_into(text),
            Slot::Opt(OptMut::String(text)) => *text = Some(first.to_owned()),
            Slot::Opt(OptMut::I64(number)) => *number = query.number(field.json)?,
            Slot::Opt(OptMut::Time(time)) if !first.is_empty() => {
                *time = Some(Time::parse(first).map_err(|why| Status::bad_request(why.to_string()))?);
            }
            Slot::List(ListMut::String(texts)) => *texts = query.all(field.json).map(str::to_owned).collect(),
            Slot::List(ListMut::I32(numbers)) => *numbers = ports(query.all(field.json))?,
            _ => {}
        }
    }
    Ok(options)
}

/// Parses ports in parameters. Each may have several, separated by commas
/// (`Convert_Slice_string_To_Slice_int32`).
fn ports<'q>(values: impl Iterator<Item = &'q str>) -> Result<Vec<i32>, Status> {
    let port = |text: &str| {
        text.parse::<u16>().map(i32::from).map_err(|_| {
            let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            let why = if is_number { "value out of range" } else { "invalid syntax" };
            Status::bad_request(format!("cannot convert to []int32: strconv.ParseUint: parsing {text:?}: {why}"))
        })
    };
    values.flat_map(|value| value.split(',')).map(port).collect()
}

/// The path after a subresource, for the backend (`getRequestOptions` of a subresource with a
/// subpath).
pub(crate) fn subpath(info: &RequestInfo) -> String {
    let rest = info.rest.as_str();
    let mut path = if rest.is_empty() || rest.starts_with('/') { rest.to_owned() } else { format!("/{rest}") };
    if info.path.ends_with('/') && !path.ends_with('/') {
        path.push('/');
    }
    path
}

#[cfg(test)]
mod tests {
    use http::Method;

    use super::*;

    #[test]
    fn parses_port_lists() {
        let read = |values: &[&str]| ports(values.iter().copied()).map_err(|status| status.message);
        assert_eq!(read(&["80,443", "8080"]).unwrap(), [80, 443, 8080]);
        for (text, why) in [("70000", "value out of range"), ("-1", "invalid syntax"), ("", "invalid syntax")] {
            let message = format!("cannot convert to []int32: strconv.ParseUint: parsing {text:?}: {why}");
            assert_eq!(read(&[text]).unwrap_err(), message);
        }
    }

    #[test]
    fn returns_path_after_subresource() {
        let check = |rest: &str, expect: &str| {
            let uri = format!("/api/v1/namespaces/a/pods/b/proxy{rest}").parse().unwrap();
            assert_eq!(subpath(&RequestInfo::new(&Method::GET, &uri).unwrap()), expect, "{rest}");
        };
        check("", "");
        check("/", "/");
        check("/c", "/c");
        check("/c/d/", "/c/d/");
        check("//c", "/c");
        check("/c%20d", "/c d");
    }
}
