// Package v1 has the types of the group web.example.com, version v1.
// +kubebuilder:object:generate=true
// +groupName=web.example.com
package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is the group with its version.
var GroupVersion = schema.GroupVersion{Group: "web.example.com", Version: "v1"}

var schemeBuilder = runtime.NewSchemeBuilder(addTypes)

// AddToScheme registers the types of the group.
var AddToScheme = schemeBuilder.AddToScheme

func addTypes(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion, &Site{}, &SiteList{})
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}
