// What happened while a call ran: the states of its task, its journal, and its log.

import { useEffect, useRef } from 'preact/hooks'
import { isRecord } from '../connection/json.ts'
import { isOpen, type CallRecord, type LogLine } from './call-record.ts'
import { toDuration } from './status.tsx'
import { TaskJournal } from './task-journal.tsx'

export function CallTrace ({ call }: { readonly call: CallRecord }) {
  const { moments, log, task } = call
  return (
    <>
      {moments.length > 0 && (
        <section class='trace' aria-label='Timeline'>
          <ol class='timeline'>
            {moments.map(({ afterMs, text }, index) => (
              <li key={index}><span class='faint'>{toDuration(afterMs)}</span><span>{text}</span></li>
            ))}
          </ol>
          {task !== undefined && <p class='faint'>Task <code>{task.taskId}</code></p>}
        </section>
      )}
      {task !== undefined && <TaskJournal task={task} isOpen={isOpen(call)} />}
      {log.length > 0 && (
        <details class='trace' open>
          <summary>Log <span class='note'>{log.length}</span></summary>
          <Lines log={log} />
        </details>
      )}
    </>
  )
}

/** Within this many pixels of its end the log follows new lines. */
const NEAR_END_PX = 40

function Lines ({ log }: Pick<CallRecord, 'log'>) {
  const list = useRef<HTMLUListElement>(null)
  const isFollowing = useRef(true)
  useEffect(() => {
    if (isFollowing.current) list.current?.scrollTo({ top: list.current.scrollHeight })
  }, [log])
  return (
    <ul
      class='log' tabIndex={0} aria-label='Log' ref={list}
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
