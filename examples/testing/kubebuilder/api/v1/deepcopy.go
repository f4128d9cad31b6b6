package v1

import (
	"maps"

	"k8s.io/apimachinery/pkg/runtime"
)

// In a project of your own, `controller-gen object` writes these functions.

// DeepCopyInto copies the site into another.
func (in *Site) DeepCopyInto(out *Site) {
	*out = *in
	in.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	out.Spec.Pages = maps.Clone(in.Spec.Pages)
}

// DeepCopy returns a copy of the site.
func (in *Site) DeepCopy() *Site {
	if in == nil {
		return nil
	}
	out := new(Site)
	in.DeepCopyInto(out)
	return out
}

// DeepCopyObject returns a copy of the site as an object.
func (in *Site) DeepCopyObject() runtime.Object {
	if in == nil {
		return nil
	}
	return in.DeepCopy()
}

// DeepCopyObject returns a copy of the list as an object.
func (in *SiteList) DeepCopyObject() runtime.Object {
	if in == nil {
		return nil
	}
	out := &SiteList{TypeMeta: in.TypeMeta, Items: make([]Site, len(in.Items))}
	in.ListMeta.DeepCopyInto(&out.ListMeta)
	for i := range in.Items {
		in.Items[i].DeepCopyInto(&out.Items[i])
	}
	return out
}
