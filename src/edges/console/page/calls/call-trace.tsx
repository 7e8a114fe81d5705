// What happened while a call ran: the states of its task, its journal, and its log.

import { isOpen, type CallRecord } from './call-record.ts'
import { LogLines } from './log-lines.tsx'
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
      <LogLines name='Log' log={log} />
      {task !== undefined && <TaskJournal task={task} isOpen={isOpen(call)} />}
    </>
  )
}
