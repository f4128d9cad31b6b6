//! Tests YAML against the results of `sigs.k8s.io/yaml` 1.6.

use super::*;
use crate::json::strict_error;

fn json(text: &str) -> String {
    match to_json(text.as_bytes(), &mut Issues::ignore()) {
        Ok(json) => String::from_utf8(json).unwrap(),
        Err(error) => error.to_string(),
    }
}

fn yaml(text: &str) -> String {
    let mut out = Vec::new();
    from_json(text.as_bytes(), &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn reads_scalars_of_yaml_1_1() {
    let cases = [
        ("[yes, no, on, Off, y, N, tRue, TRUE]", "[true,false,true,false,true,false,\"tRue\",true]"),
        ("[~, null, Null, '', \"null\"]", "[null,null,null,\"\",\"null\"]"),
        ("[010, 0x1F, 0b11, 0o17, 1_000, +5, -0x10, 08]", "[8,31,3,15,1000,5,-16,8]"),
        ("[1e3, .5, 1., -.5, 1:2, 2020-01-01, 0b, 5e]", "[1000,0.5,1,-0.5,\"1:2\",\"2020-01-01\",\"0b\",\"5e\"]"),
        ("[18446744073709551615, 18446744073709551616]", "[18446744073709551615,18446744073709552000]"),
        ("[!!str 5, !!int \"5\", !!float 5, !foo bar, !!binary aGk=]", "[\"5\",5,5,\"bar\",\"hi\"]"),
        ("a: |\n  x\n  y\nb: >-\n  x\n  y\nc: <b>&", r#"{"a":"x\ny\n","b":"x y","c":"\u003cb\u003e\u0026"}"#),
        ("a: |\n  x", r#"{"a":"x"}"#),
        ("a: |+\n  x\n  ", r#"{"a":"x\n"}"#),
        ("1: a\n1.5: b\ntrue: c\n2020-01-01: d", r#"{"1":"a","1.5":"b","2020-01-01":"d","true":"c"}"#),
        ("a: &x {b: 1}\nc: *x\nd: {<<: *x, e: 2}", r#"{"a":{"b":1},"c":{"b":1},"d":{"b":1,"e":2}}"#),
        ("---\na: 1\n---\nb: [", r#"{"a":1}"#),
        ("", "null"),
        ("# nothing", "null"),
    ];
    for (text, expect) in cases {
        assert_eq!(json(text), expect, "{text}");
    }
}

#[test]
fn errors_match_goyaml() {
    let cases = [
        ("a: {", "yaml: line 1: did not find expected node content"),
        ("a:\n\t- b", "yaml: line 2: found character that cannot start any token"),
        ("a: b: c", "yaml: mapping values are not allowed in this context"),
        ("a: 1\n b: 2", "yaml: line 2: mapping values are not allowed in this context"),
        ("a: 'x", "yaml: found unexpected end of stream"),
        ("- a\nb: c", "yaml: line 1: did not find expected '-' indicator"),
        ("a: *x", "yaml: unknown anchor 'x' referenced"),
        ("a: &a {b: *a}", "yaml: anchor 'a' value contains itself"),
        ("<<: 1", "yaml: map merge requires map or sequence of maps as the value"),
        ("[a]: b", "yaml: invalid map key: []interface {}{\"a\"}"),
        ("~: a", "unsupported map key of type: %!s(<nil>), key: <nil>, value: \"a\""),
        ("a: !!int x", "yaml: cannot decode !!str `x` as a !!int"),
        ("a: .inf", "json: unsupported value: +Inf"),
        ("a: \u{1}", "yaml: control characters are not allowed"),
    ];
    for (text, expect) in cases {
        assert_eq!(json(text), expect, "{text}");
    }
    let invalid = to_json(b"a: \xff", &mut Issues::ignore());
    assert_eq!(invalid.unwrap_err().to_string(), "yaml: invalid leading UTF-8 octet");
}

#[test]
fn reports_duplicate_keys() {
    let mut issues = Issues::collect();
    let json = to_json(b"a: 1\nb:\n  c: 1\n  c: 2\na: 5\n1: x\n'1': z\n", &mut issues).unwrap();
    assert_eq!(String::from_utf8(json).unwrap(), r#"{"1":"z","a":5,"b":{"c":2}}"#);
    let expect = "strict decoding error: yaml: unmarshal errors:\n  line 4: key \"c\" already set in map\n  line 5: key \"a\" already set in map";
    assert_eq!(strict_error(&issues).unwrap(), expect);
}

#[test]
fn bounds_cost_of_aliases() {
    let mut bomb = String::from("a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n");
    for level in 1..9 {
        let items = vec![format!("*a{}", level - 1); 10].join(",");
        bomb.push_str(&format!("a{level}: &a{level} [{items}]\n"));
    }
    assert_eq!(json(&bomb), "yaml: document contains excessive aliasing");
    assert!(json(&"[".repeat(100_000)).starts_with("yaml: exceeded max depth"));
}

#[test]
fn output_matches_goyaml() {
    let cases = [
        ("{}", "{}\n"),
        (
            r#"{"b":{},"a":[],"c":[[1,2],{"x":null,"w":true}]}"#,
            "a: []\nb: {}\nc:\n- - 1\n  - 2\n- w: true\n  x: null\n",
        ),
        (r#"{"a10":1,"a2":1.5,"a1":1e21,"A":-0.0000001}"#, "A: -1e-07\na1: 1e+21\na2: 1.5\na10: 1\n"),
        (
            r#"["","yes","1","1e3","~","2020-01-01","12:30","a: b","- a","a #b"]"#,
            "- \"\"\n- \"yes\"\n- \"1\"\n- \"1e3\"\n- \"~\"\n- \"2020-01-01\"\n- \"12:30\"\n- 'a: b'\n- '- a'\n- 'a #b'\n",
        ),
        (
            r#"["a\nb","a\nb\n"," a\n","a\t","é","'","y"]"#,
            "- |-\n  a\n  b\n- |\n  a\n  b\n- |2\n   a\n- \"a\\t\"\n- é\n- ''''\n- \"y\"\n",
        ),
        (r#"{"a\nb":"<b>"}"#, "? |-\n  a\n  b\n: <b>\n"),
    ];
    for (text, expect) in cases {
        assert_eq!(yaml(text), expect, "{text}");
        assert_eq!(json(expect), {
            let mut sorted = Vec::new();
            encode_value(&parse(text.as_bytes(), &mut Issues::ignore()).unwrap(), &mut sorted);
            String::from_utf8(sorted).unwrap()
        });
    }
    let long = format!("[\"{}\"]", "word ".repeat(30).trim_end());
    let folded = format!("- {}\n  {}\n", "word ".repeat(16).trim_end(), "word ".repeat(14).trim_end());
    assert_eq!(yaml(&long), folded);
}

/// Runs a closure on half of the stack size of a worker thread.
fn on_a_small_stack<T: Send + 'static>(run: impl FnOnce() -> T + Send + 'static) -> T {
    std::thread::Builder::new().stack_size(1 << 20).spawn(run).unwrap().join().unwrap()
}

#[test]
fn counts_depth_behind_aliases() {
    // Each line nests 200 levels around the line before it.
    let mut document = String::from("a0: &a0 []\n");
    for level in 1..200 {
        let (open, close) = ("[".repeat(200), "]".repeat(200));
        document.push_str(&format!("a{level}: &a{level} {open}*a{}{close}\n", level - 1));
    }
    assert_eq!(on_a_small_stack(move || json(&document)), "yaml: exceeded max depth of 256");
    // Each map merges the one before it, and therefore all before it.
    let merged: String = (1..2000).map(|level| format!("- &m{level} {{<<: *m{}}}\n", level - 1)).collect();
    let merged = format!("- &m0 {{a: 1}}\n{merged}");
    assert_eq!(on_a_small_stack(move || json(&merged)), "yaml: document contains excessive aliasing");
    let deepest = |depth: usize| format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
    assert_eq!(on_a_small_stack(move || json(&deepest(256))), deepest(256));
    assert_eq!(json(&deepest(257)), "yaml: exceeded max depth of 256");
}

#[test]
fn bounds_the_bytes_that_aliases_add() {
    let scalar =
        |length: usize, count: usize| format!("a: &a {}\nb: [{}]\n", "x".repeat(length), vec!["*a"; count].join(","));
    assert!(json(&scalar(1000, 1000)).starts_with("{\"a\":"));
    let expect = "yaml: document contains excessive aliasing: aliases add more than 3145728 bytes";
    assert_eq!(json(&scalar(30_000, 30_000)), expect);
    let keys = format!("- &a {}\n{}", "x".repeat(30_000), "- {? *a : 1}\n".repeat(30_000));
    assert_eq!(json(&keys), expect);
}

#[test]
fn bounds_the_work_of_merges() {
    let mut bomb = String::from("- &m0 {}\n");
    for level in 1..40 {
        let before = level - 1;
        bomb.push_str(&format!("- &m{level} {{<<: [*m{before}, *m{before}, *m{before}, *m{before}]}}\n"));
    }
    assert_eq!(json(&bomb), "yaml: document contains excessive aliasing");
}

#[test]
fn bounds_directives_because_each_tag_copies_its_prefix() {
    let used = format!("%TAG !p! tag:example.com,2000:\n---\n[{}]\n", ["!p!x 1"; 3].join(","));
    assert_eq!(json(&used), r#"["1","1","1"]"#);
    let expect = "yaml: directives exceed 1024 bytes";
    let long = format!("# a\n%TAG !p! {}\n---\n[]\n", "x".repeat(2000));
    assert_eq!(json(&long), expect);
    let many: String = (0..1000).map(|index| format!("%TAG !p{index}! x\u{2028}")).collect();
    assert_eq!(json(&(many + "---\n[]\n")), expect);
}

/// Bodies of the maximum size for which a naive parser needs quadratic time or memory.
#[test]
fn reads_the_largest_bodies_in_linear_time() {
    const SIZE: usize = 3 << 20;
    let anchors: String = (0..SIZE / 24).map(|index| format!("- &anchor{index:07} *a\n")).collect();
    let references: String = (0..SIZE / 48).map(|i| format!("- &anchor{i:07} x\n- *anchor{:07}\n", i / 2)).collect();
    let bodies = [
        ("anchors", anchors.replace("*a", "a")),
        ("references", references),
        ("unclosed", "[".repeat(SIZE)),
        ("flow", format!("{}{}", "[".repeat(250), "1,".repeat(SIZE / 2))),
        ("comments", "#\n".repeat(SIZE / 2)),
        ("plain", "a ".repeat(SIZE / 2)),
        ("lines", "a\n\n".repeat(SIZE / 3)),
        ("quoted", format!("\"{}\"", "a\\\n".repeat(SIZE / 3))),
        ("literal", format!("|\n{}", " a\n\n".repeat(SIZE / 4))),
        ("keys", (0..SIZE / 12).map(|index| format!("k{index}: 1\n")).collect()),
        ("repeated", "k: 1\n".repeat(SIZE / 5)),
        ("questions", "? \n".repeat(SIZE / 3)),
        ("indented", (0..250).map(|n| format!("{}- a\n", " ".repeat(n))).collect::<String>().repeat(SIZE / 32_000)),
    ];
    for (name, body) in bodies {
        let start = std::time::Instant::now();
        let size = body.len();
        let result = json(&body);
        eprintln!("{name}: {size} bytes in {:?}: {:.60}", start.elapsed(), result);
        assert!(start.elapsed().as_secs() < 60, "{name}: {:?}", start.elapsed());
    }
}
