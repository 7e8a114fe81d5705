// The level of the log. A file may have it, so that it can change while the service runs: a process cannot
// see a change of its environment.

import type { Logger } from 'pino'
import { readTextSync } from '../../base/file-system.ts'
import { cut } from '../../base/text.ts'
import { codeOf, messageOf } from '../../base/words.ts'
import { ConfigError } from '../config/config.ts'
import { SETTINGS, type Config } from '../config/settings.ts'

type LevelSettings = Pick<Config, 'logLevel' | 'logLevelFile'>

/** A problem quotes no more characters of the file. */
const MAX_QUOTED = 40

/**
 * The level in the file of TRIVET_LOG_LEVEL_FILE. While the file is missing or empty, that of
 * TRIVET_LOG_LEVEL. Throws a ConfigError.
 */
export function readLogLevel ({ logLevel, logLevelFile }: LevelSettings): string {
  if (logLevelFile === undefined) return logLevel
  const { logLevel: { kind }, logLevelFile: { variable } } = SETTINGS
  const place = `${variable}: ${logLevelFile}`
  const text = readText(logLevelFile, place).trim()
  if (text === '') return logLevel
  const quoted = JSON.stringify(cut(text, MAX_QUOTED))
  if (!kind.accepts(text)) throw new ConfigError([`${place} must contain ${kind.form}, got ${quoted}`])
  return text
}

/** Reads the level again, and sets it on the log and so on its children. If it cannot be read, it stays. */
export function updateLogLevel (log: Logger, settings: LevelSettings): void {
  try {
    const [from, to] = [log.level, readLogLevel(settings)]
    if (from === to) return
    writeAtAnyLevel(log, () => log.info({ from, to }, 'log level changed'))
    log.level = to
  } catch (err) {
    writeAtAnyLevel(log, () => log.error({ err }, 'log level not changed'))
  }
}

/** An operator waits for the line, also if the log is silent. */
function writeAtAnyLevel (log: Logger, write: () => void): void {
  const { level } = log
  log.level = 'info'
  write()
  log.level = level
}

/** Empty for a file that does not exist. */
function readText (file: string, place: string): string {
  try {
    return readTextSync(file)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return ''
    const reason = messageOf(error)
    throw new ConfigError([`${place} cannot be read: ${reason}`], { cause: error })
  }
}
