// The journal of a task: what its handler came to, and what came of it; and its log. The protocol does not
// carry them.

import { useEffect, useState } from 'preact/hooks'
import { cut } from '../../../../base/text.ts'
import { CopyButton } from '../parts/code.tsx'
import type { LogLine, TaskView } from './call-record.ts'
import { LogLines } from './log-lines.tsx'

/** A step, a question or a sleep. */
interface JournalLine {
  readonly kind: string
  readonly key: string
  /** The entries of a group ran beside each other. */
  readonly group?: number
  readonly outcome: string
  readonly value?: unknown
  readonly failure?: { readonly name?: string, readonly message?: string }
}

interface TaskRecording {
  readonly undo?: string
  readonly journal: readonly JournalLine[]
  readonly undoJournal?: readonly JournalLine[]
}

/** What GET /console/tasks/ID answers. */
interface TaskDetails {
  readonly recording: TaskRecording
  /** What the handler logged after its call was answered. */
  readonly log: readonly LogLine[]
}

interface TaskJournalProps { readonly task: TaskView, readonly isOpen: boolean }

const POLL_MS = 1000

export function TaskJournal ({ task: { taskId, status, lastUpdatedAt }, isOpen }: TaskJournalProps) {
  const [details, setDetails] = useState<TaskDetails | undefined>(undefined)
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    let isGone = false
    const read = async () => {
      const isVisible = document.visibilityState === 'visible'
      const next = isVisible ? await readDetails(taskId) : undefined
      if (isGone) return
      if (next !== undefined) setDetails(next === 'unknown' ? undefined : next)
      if (next === 'unknown') return
      // The work of a task that has ended may be undone for a while.
      if (isOpen || next === undefined || next.recording.undo === 'due') timer = setTimeout(read, POLL_MS)
    }
    read()
    return () => {
      isGone = true
      clearTimeout(timer)
    }
  }, [taskId, status, lastUpdatedAt, isOpen])
  if (details === undefined) return null
  const { recording, recording: { journal, undoJournal }, log } = details
  return (
    <>
      {(journal.length > 0 || undoJournal !== undefined) && <Journal recording={recording} />}
      <LogLines name='Log of the task' log={log} />
    </>
  )
}

function Journal ({ recording }: { readonly recording: TaskRecording }) {
  const { journal, undoJournal } = recording
  return (
    <section class='trace' aria-label='Journal'>
      <JournalLines heading='Journal' lines={journal} />
      {undoJournal !== undefined && <JournalLines heading='Undo' lines={undoJournal} />}
      <p class='row'>
        <CopyButton text={() => JSON.stringify(recording, undefined, 2)} label='the recording' />
        <span class='faint'>as a recording, for catalog.replay in a test</span>
      </p>
    </section>
  )
}

interface JournalLinesProps { readonly heading: string, readonly lines: readonly JournalLine[] }

function JournalLines ({ heading, lines }: JournalLinesProps) {
  return (
    <>
      <h3>{heading} <span class='note'>{lines.length}</span></h3>
      <ol class='timeline'>
        {lines.map((line, index) => {
          const { kind, key, group, outcome } = line
          const isBeside = group !== undefined && group === lines[index - 1]?.group
          return (
            <li key={`${kind} ${key}`}>
              <span class='faint'>{KINDS[kind] ?? kind}</span>
              <span>{key}</span>
              {isBeside && <span class='faint'>beside the one before</span>}
              <code class={outcome === 'failure' ? 'bad' : undefined}>{describeOutcome(line)}</code>
            </li>
          )
        })}
      </ol>
    </>
  )
}

const KINDS: { readonly [kind: string]: string } = { ask: 'question' }

const ENDS: { readonly [kind: string]: string } = { step: 'done', ask: 'answered', sleep: 'over' }

const MAX_VALUE = 300

/** Where tokens are checked, there are no values. */
function describeOutcome ({ kind, outcome, value, failure: { name, message } = {} }: JournalLine): string {
  if (outcome === 'open') return 'not yet'
  if (outcome === 'failure') return message === undefined ? 'failed' : short(`${name}: ${message}`)
  return value === undefined ? ENDS[kind] ?? 'over' : short(JSON.stringify(value))
}

function short (text: string): string {
  return text.length > MAX_VALUE ? `${cut(text, MAX_VALUE)}…` : text
}

/** Resolves to `undefined` if the service does not answer. */
async function readDetails (taskId: string): Promise<TaskDetails | 'unknown' | undefined> {
  try {
    const response = await fetch(`/console/tasks/${encodeURIComponent(taskId)}`, { cache: 'no-store' })
    if (response.status === 404) return 'unknown'
    return response.ok ? await response.json() : undefined
  } catch {
    return undefined
  }
}
