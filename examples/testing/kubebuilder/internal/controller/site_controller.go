// Package controller publishes sites.
package controller

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	webv1 "example.com/sites/api/v1"
)

// SiteReconciler publishes the pages of a site in a config map, which the site owns.
type SiteReconciler struct {
	client.Client
	Scheme *runtime.Scheme
}

// +kubebuilder:rbac:groups=web.example.com,resources=sites,verbs=get;list;watch
// +kubebuilder:rbac:groups=web.example.com,resources=sites/status,verbs=get;update;patch
// +kubebuilder:rbac:groups="",resources=configmaps,verbs=get;list;watch;create;update

// Reconcile creates or updates the config map of a site, then the status of the site.
func (r *SiteReconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var site webv1.Site
	if err := r.Get(ctx, request.NamespacedName, &site); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	// The garbage collector deletes the config map.
	if !site.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, nil
	}
	published := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: site.Name, Namespace: site.Namespace}}
	_, err := controllerutil.CreateOrUpdate(ctx, r.Client, published, func() error {
		published.Data = site.Spec.Pages
		return controllerutil.SetControllerReference(&site, published, r.Scheme)
	})
	if err != nil {
		return ctrl.Result{}, err
	}
	site.Status.Pages = int32(len(published.Data))
	return ctrl.Result{}, r.Status().Update(ctx, &site)
}

// SetupWithManager registers the controller.
func (r *SiteReconciler) SetupWithManager(manager ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(manager).For(&webv1.Site{}).Owns(&corev1.ConfigMap{}).Complete(r)
}
