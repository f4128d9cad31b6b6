//! The names of the functions at addresses (Go: `pprof.Symbol`).

/// A line for each of these addresses, with `+` between them, that is in a function.
pub(super) fn name(addresses: &str) -> String {
    let line = |word| number(word).and_then(|address| Some(format!("{address:#x} {}\n", function(address)?)));
    addresses.split('+').filter_map(line).collect()
}

/// A number as Go's programs write one.
fn number(word: &str) -> Option<usize> {
    match word.strip_prefix("0x").or_else(|| word.strip_prefix("0X")) {
        Some(digits) => usize::from_str_radix(digits, 16).ok(),
        None => word.parse().ok(),
    }
}

fn function(address: usize) -> Option<String> {
    let mut name = None;
    // Addresses count as those where calls return to, which are behind the call.
    backtrace::resolve(std::ptr::without_provenance_mut(address.wrapping_add(1)), |symbol| {
        name = name.take().or_else(|| symbol.name().map(|found| format!("{found:#}")));
    });
    name
}
