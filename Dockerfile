# The one image of Paylog: which part of it a container is, is said by its command.

# By digest after deploy/pinImages.sh.
ARG NODE_IMAGE=node:24.21.0-slim

# The files of the console. What builds them stays here.
FROM ${NODE_IMAGE} AS console
WORKDIR /app
COPY . .
RUN npm pkg delete devDependencies --workspaces --include-workspace-root \
  && npm pkg delete dependencies \
  && npm ci --omit=dev --ignore-scripts --no-audit --no-fund --workspace=@paylog/console \
  && node apps/console/build.ts \
  && npm sbom --sbom-format cyclonedx --package-lock-only --workspace=@paylog/console >console.cdx.json

FROM ${NODE_IMAGE} AS packages
WORKDIR /app
COPY . .
# npm would install a workspace that others only develop with, so their devDependencies go first. The root's only dependency is
# Node, which the image has. Types, source maps and pages of the packages are for those who develop.
RUN npm pkg delete devDependencies --workspaces --include-workspace-root \
  && npm pkg delete dependencies \
  && npm pkg delete dependencies --workspace=@paylog/console \
  && npm ci --omit=dev --ignore-scripts --no-audit --no-fund \
  && rm -r apps/console node_modules/@paylog/console package-lock.json tsconfig.json \
  && find node_modules -type f ! -iname '*licen[cs]e*' ! -iname '*notice*' \
    \( -name '*.d.ts' -o -name '*.d.cts' -o -name '*.d.mts' -o -name '*.map' -o -name '*.md' \) -delete \
  && npm sbom --sbom-format cyclonedx >sbom.cdx.json
COPY --from=console /app/apps/console/dist apps/console/dist
COPY --from=console /app/console.cdx.json ./

FROM ${NODE_IMAGE}
LABEL org.opencontainers.image.title="Paylog" \
  org.opencontainers.image.description="Payments recorded as events" \
  org.opencontainers.image.licenses="MIT" \
  paylog.sbom="/app/sbom.cdx.json /app/console.cdx.json"
ENV NODE_ENV=production \
  NODE_COMPILE_CACHE=/var/cache/paylog
WORKDIR /app
COPY --from=packages /app ./
# A new volume gets the owner that the directory has here.
RUN mkdir /var/cache/paylog /var/lib/paylog && chown node:node /var/cache/paylog /var/lib/paylog
USER node
# Each part is started once, finds that nothing is configured, and leaves what Node compiled to those who start later. The
# cache belongs to the user that made it, and is read from a container whose files cannot be written too.
RUN for main in apps/*/src/main.ts apps/api/src/operatorMain.ts apps/local/src/identity.ts; do \
  node "$main" </dev/null >/dev/null 2>&1 || true; done
# The apps listen to it themselves, also as the first process of a container.
STOPSIGNAL SIGTERM
ENTRYPOINT ["node"]
CMD ["apps/ops/src/main.ts", "--help"]
