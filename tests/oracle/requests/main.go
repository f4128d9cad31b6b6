// Command requests parses generated requests, and the corpus of the fuzz target `requests`, with Go and upstream. It writes
// requests.tsv and queries.tsv, which unit tests of server/request and server/authz compare with this server's parser.
//
// Run it in this folder, with the module cache of the oracle: GOFLAGS=-mod=mod GOPROXY=off go run .
package main

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"math/rand"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/klog/v2"
)

const (
	paths   = 1000
	targets = 500
	queries = 400
	inputs  = "../../fuzz/corpus/requests"
)

var (
	methods  = []string{"GET", "GET", "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}
	prefixes = []string{"/api/v1/", "/api/v1/", "/apis/apps/v1/", "/apis/apps/v1/", "/", "//api/v1/", "/api//", "/apis/", "/%61pi/v1/"}
	segments = []string{
		"namespaces", "namespaces", "namespaces", "pods", "pods", "nodes", "watch", "proxy", "status", "finalize", "log", "exec",
		"a", "b", "c", "", "", ".", "..", "%2e%2e", "%2F", "a%2Fb", "%2Fa", "a+b", "a%20b", "%C3%A9", "a%FFb", "a;b", "%70ods", "%25", "v1",
		"%", "%zz", "%4",
	}
	keys = []string{
		"fieldSelector", "fieldSelector", "fieldSelector", "labelSelector", "watch", "watch", "limit", "timeoutSeconds", "resourceVersion",
		"field%53elector", "fieldselector", "fieldSelector+", "", "%zz", "a;fieldSelector",
	}
	values = []string{
		"metadata.name%3Da", "metadata.name=a", "metadata.name%3Db", "metadata.name%3Da,spec.nodeName%3Dn", "metadata.name!%3Da",
		"metadata.name%3Da%2Fb", "metadata.name%3D..", "metadata.name%3D", "metadata.name%3Da%2525", "metadata.name%3D%3Da", "metadata.name%3Da%5C%2Cb",
		"metadata.name%3Da%00", "metadata.name%3Da+", "metadata.name%3Da;", "metadata.name%3Da%zz", "a", "a%3Db", "a+in+(b,c)", "!a", "!!", "",
		"1", "0", "true", "false", "False", "x", "-1", "%2B1", "99999999999999999999", "%FF", "%C3%A9", "%",
	}
)

func main() {
	flags := flag.NewFlagSet("", flag.PanicOnError)
	klog.InitFlags(flags)
	if err := flags.Parse([]string{"--logtostderr=false", "--stderrthreshold=FATAL"}); err != nil {
		panic(err)
	}
	klog.SetOutput(io.Discard)
	random := rand.New(rand.NewSource(22))
	pick := func(of []string) string { return of[random.Intn(len(of))] }
	query := func() string {
		var pairs []string
		for range 1 + random.Intn(4) {
			pair := pick(keys)
			if random.Intn(8) > 0 {
				pair += "=" + pick(values)
			}
			pairs = append(pairs, pair)
		}
		return strings.Join(pairs, "&")
	}
	path := func() string {
		var parts []string
		for range random.Intn(6) {
			parts = append(parts, pick(segments))
		}
		return pick(prefixes) + strings.Join(parts, "/")
	}
	write("requests.tsv", func(line func(...string)) {
		seen := sets.New[string]()
		add := func(method, target string) {
			if !seen.Has(method + target) {
				seen.Insert(method + target)
				line(append([]string{method, target}, parse(method, target)...)...)
			}
		}
		for range paths {
			add(pick(methods), path())
		}
		for range targets {
			add(pick([]string{"GET", "GET", "HEAD", "DELETE", "POST"}), pick([]string{
				"/api/v1/pods", "/api/v1/namespaces/ns/pods", "/api/v1/namespaces/ns/pods/p", "/api/v1/watch/pods", "/api/v1/namespaces",
				"/api/v1/watch/namespaces/ns/pods/p", "/api/v1/namespaces/ns/pods//log", "/apis/apps/v1/deployments", "/version",
			})+"?"+query())
		}
		for _, found := range corpus() {
			add(found[0], found[1])
		}
	})
	write("queries.tsv", func(line func(...string)) {
		for range queries {
			text := query()
			parsed, _ := url.ParseQuery(text)
			line(text, strings.ReplaceAll(parsed.Encode(), "%FF", "%EF%BF%BD"))
		}
	})
}

// corpus returns the methods and targets of the fuzz target's inputs that fit a line of the table.
func corpus() [][2]string {
	var lines [][2]string
	files, err := os.ReadDir(inputs)
	if err != nil {
		panic(err)
	}
	// The `http` crate drops what follows a number sign, which RFC 9112 allows in no request line.
	isRefused := func(r rune) bool { return r <= ' ' || r >= 0x7f || r == '#' }
	for _, file := range files {
		text, err := os.ReadFile(inputs + "/" + file.Name())
		if err != nil {
			panic(err)
		}
		method, target, ok := strings.Cut(string(text), " ")
		if !ok {
			method, target = "GET", string(text)
		}
		isLine := strings.HasPrefix(target, "/") && strings.IndexFunc(target, isRefused) < 0 && slices.Contains(methods, method)
		if isLine {
			lines = append(lines, [2]string{method, target})
		}
	}
	return lines
}

// parse returns the fields of RequestInfo, or the error.
func parse(method, target string) []string {
	parsed, err := http.ReadRequest(bufio.NewReader(strings.NewReader(method + " " + target + " HTTP/1.1\r\nHost: x\r\n\r\n")))
	if err != nil {
		return []string{"bad request"}
	}
	factory := request.RequestInfoFactory{APIPrefixes: sets.NewString("api", "apis"), GrouplessAPIPrefixes: sets.NewString("api")}
	info, err := factory.NewRequestInfo(parsed)
	if err != nil {
		return []string{"no request info"}
	}
	kind := "path"
	if info.IsResourceRequest {
		kind = "resource"
	}
	fields := []string{
		kind, info.Verb, info.APIPrefix, info.APIGroup, info.APIVersion, info.Namespace, info.Resource, info.Subresource, info.Name,
		fmt.Sprint(len(info.Parts)), info.FieldSelector, info.LabelSelector, info.Path,
	}
	for i, field := range fields {
		fields[i] = strings.ReplaceAll(url.QueryEscape(field), "%FF", "%EF%BF%BD")
	}
	return fields
}

func write(name string, fill func(line func(...string))) {
	file, err := os.Create(name)
	if err != nil {
		panic(err)
	}
	out := bufio.NewWriter(file)
	fill(func(fields ...string) {
		fmt.Fprintln(out, strings.Join(fields, "\t"))
	})
	if err := out.Flush(); err != nil {
		panic(err)
	}
	if err := file.Close(); err != nil {
		panic(err)
	}
}
