//! The function names of addresses (Go: `pprof.Symbol`).

/// Resolves addresses separated by `+`; writes one line for each that belongs to a function.
pub(super) fn name(addresses: &str) -> String {
    let line = |word| number(word).and_then(|address| Some(format!("{address:#x} {}\n", function(address)?)));
    addresses.split('+').filter_map(line).collect()
}

/// Parses a number in Go's notation.
fn number(word: &str) -> Option<usize> {
    match word.strip_prefix("0x").or_else(|| word.strip_prefix("0X")) {
        Some(digits) => usize::from_str_radix(digits, 16).ok(),
        None => word.parse().ok(),
    }
}

fn function(address: usize) -> Option<String> {
    let mut name = None;
    // The addresses are return addresses, which are behind the call.
    backtrace::resolve(std::ptr::without_provenance_mut(address.wrapping_add(1)), |symbol| {
        name = name.take().or_else(|| symbol.name().map(|found| format!("{found:#}")));
    });
    name
}
