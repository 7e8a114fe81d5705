// The levels of `notifications/message`, lowest severity first (RFC 5424).
// https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/logging

export const LOG_LEVELS = [
  'debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'
] as const

export type LogLevel = typeof LOG_LEVELS[number]

const severities = new Map<unknown, number>(LOG_LEVELS.map((level, severity) => [level, severity]))

export function isLogLevel (value: unknown): value is LogLevel {
  return severities.has(value)
}

/** Whether a message of this level reaches the threshold that the client has set. */
export function isAtLeast (level: LogLevel, threshold: LogLevel): boolean {
  return LOG_LEVELS.indexOf(level) >= LOG_LEVELS.indexOf(threshold)
}
