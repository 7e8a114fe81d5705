// The lines of a log. It follows new lines while its end is shown.

import { useEffect, useRef } from 'preact/hooks'
import { isRecord } from '../connection/json.ts'
import type { LogLine } from './call-record.ts'

interface LogLinesProps { readonly name: string, readonly log: readonly LogLine[] }

export function LogLines ({ name, log }: LogLinesProps) {
  if (log.length === 0) return null
  return (
    <details class='trace' open>
      <summary>{name} <span class='note'>{log.length}</span></summary>
      <Lines name={name} log={log} />
    </details>
  )
}

/** Within this many pixels of its end the log follows new lines. */
const NEAR_END_PX = 40

function Lines ({ name, log }: LogLinesProps) {
  const list = useRef<HTMLUListElement>(null)
  const isFollowing = useRef(true)
  useEffect(() => {
    if (isFollowing.current) list.current?.scrollTo({ top: list.current.scrollHeight })
  }, [log])
  return (
    <ul
      class='log' tabIndex={0} aria-label={name} ref={list}
      onScroll={({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) => {
        isFollowing.current = scrollHeight - scrollTop - clientHeight < NEAR_END_PX
      }}
    >
      {log.map((line, index) => <Line key={index} line={line} />)}
    </ul>
  )
}

const TONES: { readonly [level: string]: string } = {
  warning: 'warn', error: 'bad', critical: 'bad', alert: 'bad', emergency: 'bad'
}

function Line ({ line: { level, logger, data } }: { readonly line: LogLine }) {
  return (
    <li>
      <span class={`level ${TONES[level] ?? 'faint'}`}>{level}</span>
      {logger !== undefined && <span class='faint'>{logger}</span>}
      <code>{toLineText(data)}</code>
    </li>
  )
}

/** `ctx.log` sends an object with its message, and the fields beside it. */
function toLineText (data: unknown): string {
  if (typeof data === 'string') return data
  if (!isRecord(data) || typeof data.message !== 'string') return JSON.stringify(data)
  const { message, ...fields } = data
  return Object.keys(fields).length === 0 ? message : `${message} ${JSON.stringify(fields)}`
}
