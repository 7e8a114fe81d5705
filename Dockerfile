# Builds dist/ with all dependencies.
FROM node:24.21.0-slim@sha256:0e0ff40c39bc087845bfb27465a0df4ea419520094bc35842ff83dd8cbe6f9b6 AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts
COPY tsconfig.json tsconfig.build.json ./
COPY build ./build
COPY src ./src
RUN npm run build

# The dependencies at run time.
FROM node:24.21.0-slim@sha256:0e0ff40c39bc087845bfb27465a0df4ea419520094bc35842ff83dd8cbe6f9b6 AS dependencies
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --ignore-scripts

FROM node:24.21.0-slim@sha256:0e0ff40c39bc087845bfb27465a0df4ea419520094bc35842ff83dd8cbe6f9b6
WORKDIR /app
COPY package.json ./
COPY --from=dependencies /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
RUN mkdir /catalog /data .compile-cache && chown node:node /data .compile-cache
# The service writes only to /data, so the root file system may be read-only.
# Others can reach the container, so the service starts only if TRIVET_AUTH is set.
ENV NODE_ENV=production HOST=0.0.0.0 PORT=3000 TRIVET_CATALOG=/catalog TRIVET_STATE_URL=file:/data
USER node
# Leaves compiled code in the image, which makes starts shorter. The service cannot change it.
RUN node dist/launch.js check /catalog
USER root
RUN chown -R root:root .compile-cache
USER node
EXPOSE 3000
# /readyz also fails while Redis is away: then a restart of the container would not help.
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/livez`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "dist/launch.js"]
