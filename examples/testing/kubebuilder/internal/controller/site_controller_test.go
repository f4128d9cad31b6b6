package controller

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	webv1 "example.com/sites/api/v1"
)

var _ = Describe("Site", func() {
	const timeout = 20 * time.Second

	var (
		namespace *corev1.Namespace
		site      *webv1.Site
		published *corev1.ConfigMap
	)

	get := func(object client.Object) error {
		return k8sClient.Get(ctx, client.ObjectKeyFromObject(object), object)
	}
	isGone := func(object client.Object) func() bool {
		return func() bool { return apierrors.IsNotFound(get(object)) }
	}

	BeforeEach(func() {
		namespace = &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "sites-"}}
		Expect(k8sClient.Create(ctx, namespace)).To(Succeed())
		metadata := metav1.ObjectMeta{Name: "home", Namespace: namespace.Name}
		site = &webv1.Site{ObjectMeta: metadata, Spec: webv1.SiteSpec{Pages: map[string]string{"index": "Welcome"}}}
		published = &corev1.ConfigMap{ObjectMeta: metadata}
		Expect(k8sClient.Create(ctx, site)).To(Succeed())
		Eventually(func() error { return get(published) }, timeout).Should(Succeed())
	})

	It("publishes its pages", func() {
		Expect(published.Data).To(Equal(site.Spec.Pages))
		Expect(metav1.IsControlledBy(published, site)).To(BeTrue())
		Eventually(func(g Gomega) {
			g.Expect(get(site)).To(Succeed())
			g.Expect(site.Status.Pages).To(BeEquivalentTo(1))
		}, timeout).Should(Succeed())
	})

	It("must have a page", func() {
		empty := &webv1.Site{ObjectMeta: metav1.ObjectMeta{Name: "empty", Namespace: namespace.Name}}
		empty.Spec.Pages = map[string]string{}
		Expect(apierrors.IsInvalid(k8sClient.Create(ctx, empty))).To(BeTrue())
	})

	It("is deleted with its pages", func() {
		Expect(k8sClient.Delete(ctx, site)).To(Succeed())
		Eventually(isGone(published), timeout).Should(BeTrue())
	})

	It("is deleted with its namespace", func() {
		Expect(k8sClient.Delete(ctx, namespace)).To(Succeed())
		Eventually(isGone(namespace), timeout).Should(BeTrue())
		Expect(isGone(site)()).To(BeTrue())
		Expect(isGone(published)()).To(BeTrue())
	})
})
