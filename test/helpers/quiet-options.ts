// Options for an app in the process of a busy test: it must not refuse requests because the loop is late.

export const QUIET = { watch: 'off', logLevel: 'silent', stateUrl: 'memory:', overload: 'off' } as const
