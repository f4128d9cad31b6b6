# The image that .ci/packages writes as a layout, for container engines: docker build -t kube-apiserver .
# .ci/packages reads the configuration of containers from the last stage.
FROM rust:1.95-bookworm AS build
ARG SOURCE_DATE_EPOCH
WORKDIR /source
COPY . .
RUN cargo build --release --locked -p kube-apiserver
RUN .ci/packages --strip --image target/release/kube-apiserver /image

FROM scratch
COPY --from=build /image/base/ /
COPY --from=build --chown=65532:65532 /image/data/var/lib/kube-apiserver/ /var/lib/kube-apiserver/
COPY --from=build /image/program/ /
USER 65532:65532
WORKDIR /var/lib/kube-apiserver
VOLUME ["/var/lib/kube-apiserver"]
EXPOSE 6443
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 \
  CMD ["/usr/bin/kube-apiserver", "probe", "--data-dir=/var/lib/kube-apiserver"]
ENTRYPOINT ["/usr/bin/kube-apiserver", "--data-dir=/var/lib/kube-apiserver", "--bind-address=0.0.0.0"]
