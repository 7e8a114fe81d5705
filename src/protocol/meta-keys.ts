// The reserved `_meta` keys of the specification, and Trivet's own.
// https://modelcontextprotocol.io/specification/2026-07-28/basic/index#meta

export const META_PROTOCOL_VERSION = 'io.modelcontextprotocol/protocolVersion'
export const META_CLIENT_INFO = 'io.modelcontextprotocol/clientInfo'
export const META_CLIENT_CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities'
export const META_LOG_LEVEL = 'io.modelcontextprotocol/logLevel'
export const META_SERVER_INFO = 'io.modelcontextprotocol/serverInfo'
export const META_SUBSCRIPTION_ID = 'io.modelcontextprotocol/subscriptionId'

/** In the result of `server/discover`: the version of the catalog of the replica that answered. */
export const META_CATALOG_VERSION = 'dev.trivet/catalogVersion'
