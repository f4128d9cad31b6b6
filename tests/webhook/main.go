// An admission webhook for tests; the path selects its behavior. It prints its URL and its CA bundle in base64.
package main

import (
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
)

type review struct {
	APIVersion string         `json:"apiVersion"`
	Kind       string         `json:"kind"`
	Request    *request       `json:"request,omitempty"`
	Response   map[string]any `json:"response,omitempty"`
}

type request struct {
	UID         string `json:"uid"`
	Kind        gvk    `json:"kind"`
	RequestKind gvk    `json:"requestKind"`
	Object      struct {
		APIVersion string `json:"apiVersion"`
	} `json:"object"`
}

type gvk struct{ Group, Version, Kind string }

const patch = `[{"op": "add", "path": "/metadata/labels/patched", "value": "yes"}]`

// The patch of /off-schema adds an unknown field and removes one with a default.
const offSchema = `[{"op": "add", "path": "/spec/unknown", "value": 1}, {"op": "remove", "path": "/spec/size"},
	{"op": "add", "path": "/metadata/labels/patched", "value": "yes"}]`

func main() {
	server := httptest.NewTLSServer(http.HandlerFunc(answer))
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	fmt.Println(server.URL)
	fmt.Println(base64.StdEncoding.EncodeToString(authority))
	select {}
}

func answer(w http.ResponseWriter, r *http.Request) {
	var received review
	if err := json.NewDecoder(r.Body).Decode(&received); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	response := map[string]any{"uid": received.Request.UID, "allowed": true}
	switch r.URL.Path {
	case "/deny":
		kind, of := received.Request.Kind, received.Request.RequestKind
		message := fmt.Sprintf("no %s of %s, read as %s", kind.Kind, of.Version, received.Request.Object.APIVersion)
		response["allowed"], response["status"] = false, map[string]any{"code": 422, "message": message}
	case "/authorization":
		message := fmt.Sprintf("called with %q", r.Header.Get("Authorization"))
		response["allowed"], response["status"] = false, map[string]any{"code": 403, "message": message}
	case "/warn":
		response["warnings"] = []string{"seen"}
	case "/patch":
		response["patchType"], response["patch"] = "JSONPatch", base64.StdEncoding.EncodeToString([]byte(patch))
	case "/off-schema":
		response["patchType"], response["patch"] = "JSONPatch", base64.StdEncoding.EncodeToString([]byte(offSchema))
	case "/hang":
		<-r.Context().Done()
		return
	case "/garbage":
		fmt.Fprint(w, "hello")
		return
	case "/break":
		http.Error(w, "it broke", http.StatusInternalServerError)
		return
	case "/other-uid":
		response["uid"] = "other"
	}
	_ = json.NewEncoder(w).Encode(review{APIVersion: received.APIVersion, Kind: received.Kind, Response: response})
}
