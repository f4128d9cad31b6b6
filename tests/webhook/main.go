// An admission webhook for tests, which does what its path says. It prints its address, and its authority as configurations hold it.
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

// What /unlike leaves is not what the schema of the custom resource of the test says.
const unlike = `[{"op": "add", "path": "/spec/unknown", "value": 1}, {"op": "remove", "path": "/spec/size"},
	{"op": "add", "path": "/metadata/labels/patched", "value": "yes"}]`

func main() {
	server := httptest.NewTLSServer(http.HandlerFunc(answer))
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	fmt.Println(server.URL)
	fmt.Println(base64.StdEncoding.EncodeToString(authority))
	select {}
}

func answer(w http.ResponseWriter, r *http.Request) {
	var asked review
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	response := map[string]any{"uid": asked.Request.UID, "allowed": true}
	switch r.URL.Path {
	case "/deny":
		kind, of := asked.Request.Kind, asked.Request.RequestKind
		message := fmt.Sprintf("no %s of %s, read as %s", kind.Kind, of.Version, asked.Request.Object.APIVersion)
		response["allowed"], response["status"] = false, map[string]any{"code": 422, "message": message}
	case "/who":
		message := fmt.Sprintf("asked with %q", r.Header.Get("Authorization"))
		response["allowed"], response["status"] = false, map[string]any{"code": 403, "message": message}
	case "/warn":
		response["warnings"] = []string{"seen"}
	case "/patch":
		response["patchType"], response["patch"] = "JSONPatch", base64.StdEncoding.EncodeToString([]byte(patch))
	case "/unlike":
		response["patchType"], response["patch"] = "JSONPatch", base64.StdEncoding.EncodeToString([]byte(unlike))
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
	_ = json.NewEncoder(w).Encode(review{APIVersion: asked.APIVersion, Kind: asked.Kind, Response: response})
}
