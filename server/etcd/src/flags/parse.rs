//! Splits a command line into flags and values.

use std::{collections::BTreeMap, ffi::OsString};

use super::table::{FLAGS, RENAMED, find};
use crate::Error;

/// Flags with their values.
pub(super) type Values = BTreeMap<&'static str, String>;

/// What a command line selects.
pub(super) enum Given {
    Flags(Values),
    Help,
    Version,
}

/// Parses arguments. Both `-flag` and `--flag` are flags; a switch takes its value only after `=`.
pub(super) fn arguments(program: &'static str, args: &[OsString]) -> Result<Given, Error> {
    let mut values = Values::new();
    let mut args = args.iter().map(|arg| arg.to_string_lossy().into_owned());
    while let Some(arg) = args.next() {
        let Some(flag) = arg.strip_prefix('-').map(|rest| rest.strip_prefix('-').unwrap_or(rest)) else {
            return Err(Error::Argument { argument: arg, program });
        };
        let (name, inline) = match flag.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (flag, None),
        };
        match name {
            "h" | "help" => return Ok(Given::Help),
            "version" => return Ok(Given::Version),
            _ => {}
        }
        let Some(known) = find(name) else { return Err(Error::UnknownFlag { name: name.to_owned(), program }) };
        let value = match inline {
            Some(value) => value,
            None if known.is_bool => "true".to_owned(),
            None => args.next().ok_or_else(|| Error::NoValue { name: name.to_owned() })?,
        };
        values.insert(known.name, value);
    }
    Ok(Given::Flags(values))
}

/// Parses arguments that are flags only.
pub(super) fn arguments_of(program: &'static str, args: &[OsString]) -> Result<Values, Error> {
    match arguments(program, args)? {
        Given::Flags(values) => Ok(values),
        Given::Help | Given::Version => Ok(Values::new()),
    }
}

/// Adds flags from variables such as `ETCD_DATA_DIR`, unless they are set.
pub(super) fn add_environment(values: &mut Values, environment: impl IntoIterator<Item = (OsString, OsString)>) {
    let environment: BTreeMap<String, String> = environment
        .into_iter()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect();
    let variable = |name: &str| environment.get(&format!("ETCD_{}", name.replace('-', "_").to_uppercase()));
    for flag in FLAGS {
        let old_name = RENAMED.iter().find(|(_, new)| *new == flag.name).map(|(old, _)| *old);
        if let Some(value) = variable(flag.name).or_else(|| variable(old_name?)).filter(|value| !value.is_empty()) {
            values.entry(flag.name).or_insert_with(|| value.clone());
        }
    }
}
