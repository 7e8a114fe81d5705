// What happened while a call ran: the states of its task, and its log.

import type { CallRecord, LogLine } from './call-record.ts'
import { toDuration } from './status.tsx'

export function CallTrace ({ call: { moments, log, task } }: { readonly call: CallRecord }) {
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
      {log.length > 0 && (
        <details class='trace' open>
          <summary>Log <span class='note'>{log.length}</span></summary>
          <ul class='log' tabIndex={0} aria-label='Log'>
            {log.map((line, index) => <Line key={index} line={line} />)}
          </ul>
        </details>
      )}
    </>
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
      <code>{typeof data === 'string' ? data : JSON.stringify(data)}</code>
    </li>
  )
}
