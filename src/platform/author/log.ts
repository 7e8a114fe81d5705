// The log that code of a catalog writes to.

import type { LogLevel } from '../protocol/log-levels.ts'

type Data = { readonly [key: string]: unknown }

/**
 * Writes to the service's log.
 *
 * @example ctx.log.warning('rate service is slow', { ms: 1200 })
 */
export type Log = { readonly [L in LogLevel]: (message: string, data?: Data) => void }

/** The level of the service's log for each level of the protocol. */
export const SERVICE_LEVELS = {
  debug: 'debug',
  info: 'info',
  notice: 'info',
  warning: 'warn',
  error: 'error',
  critical: 'error',
  alert: 'error',
  emergency: 'error'
} as const

export function createLog (write: (level: LogLevel, message: string, data?: Data) => void): Log {
  const at = (level: LogLevel): Log[LogLevel] => (message, data) => write(level, message, data)
  return {
    debug: at('debug'),
    info: at('info'),
    notice: at('notice'),
    warning: at('warning'),
    error: at('error'),
    critical: at('critical'),
    alert: at('alert'),
    emergency: at('emergency')
  }
}
