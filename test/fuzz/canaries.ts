// Texts that must not appear where they do not belong.

/** In texts of clients. The log has none, but for the path, the host and the origin of a refused request. */
export const CLIENT_CANARY = 'canary-of-a-client'
/** In the secrets of the service and in tokens. They appear nowhere. */
export const SECRET_CANARY = 'canary-of-a-secret'
/** In definitions and files that no caller has the scopes for. They appear nowhere. */
export const PRIVATE_CANARY = 'canary-of-a-private-text'
/** In errors that handlers throw. The log has them, and no answer. */
export const CAUSE_CANARY = 'canary-of-a-cause'
