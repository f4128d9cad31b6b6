package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// SiteSpec is the content of a site.
type SiteSpec struct {
	// Pages has the text of each page by its name.
	// +kubebuilder:validation:MinProperties=1
	Pages map[string]string `json:"pages"`
}

// SiteStatus is what the controller has observed.
type SiteStatus struct {
	// Pages is the number of published pages.
	// +optional
	Pages int32 `json:"pages,omitempty"`
}

// Site is a web site. Its pages are published in a config map of the same name.
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Pages",type=integer,JSONPath=`.status.pages`
type Site struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   SiteSpec   `json:"spec"`
	Status SiteStatus `json:"status,omitempty"`
}

// SiteList is a list of sites.
// +kubebuilder:object:root=true
type SiteList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Site `json:"items"`
}
