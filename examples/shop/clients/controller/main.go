// A controller of products: it sets status.available to the number of units in stock.
package main

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	shopv1 "shop.example.com/controller/shop/v1"
)

type reconciler struct{ client.Client }

func (r *reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var product shopv1.Product
	if err := r.Get(ctx, request.NamespacedName, &product); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	var stock int32
	if product.Spec.Stock != nil {
		stock = *product.Spec.Stock
	}
	if product.Status.Available == stock {
		return ctrl.Result{}, nil
	}
	changed := product.DeepCopy()
	changed.Status.Available = stock
	return ctrl.Result{}, r.Status().Patch(ctx, changed, client.MergeFrom(&product))
}

func main() {
	ctrl.SetLogger(zap.New())
	scheme := runtime.NewScheme()
	if err := shopv1.AddToScheme(scheme); err != nil {
		panic(err)
	}
	options := ctrl.Options{Scheme: scheme, Metrics: server.Options{BindAddress: "0"}}
	manager, err := ctrl.NewManager(ctrl.GetConfigOrDie(), options)
	if err != nil {
		panic(err)
	}
	controller := ctrl.NewControllerManagedBy(manager).For(&shopv1.Product{})
	if err := controller.Complete(&reconciler{manager.GetClient()}); err != nil {
		panic(err)
	}
	if err := manager.Start(ctrl.SetupSignalHandler()); err != nil {
		panic(err)
	}
}
