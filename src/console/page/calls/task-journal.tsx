// The journal of a task: what its handler came to, and what came of it. The protocol does not carry it:
// GET /console/tasks/ID.

import { useEffect, useState } from 'preact/hooks'
import { CopyButton } from '../parts/code.tsx'
import type { TaskView } from './call-record.ts'

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

interface TaskJournalProps { readonly task: TaskView, readonly isOpen: boolean }

const POLL_MS = 1000

export function TaskJournal ({ task: { taskId, status, lastUpdatedAt }, isOpen }: TaskJournalProps) {
  const [recording, setRecording] = useState<TaskRecording | undefined>(undefined)
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    let isGone = false
    const read = async () => {
      const isVisible = document.visibilityState === 'visible'
      const next = isVisible ? await readRecording(taskId) : undefined
      if (isGone) return
      if (next !== undefined) setRecording(next === 'unknown' ? undefined : next)
      if (next === 'unknown') return
      // The work of a task that has ended may be undone for a while.
      if (isOpen || next === undefined || next.undo === 'due') timer = setTimeout(read, POLL_MS)
    }
    read()
    return () => {
      isGone = true
      clearTimeout(timer)
    }
  }, [taskId, status, lastUpdatedAt, isOpen])
  if (recording === undefined) return null
  const { journal, undoJournal } = recording
  if (journal.length === 0 && undoJournal === undefined) return null
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
  if (outcome === 'failure') return message === undefined ? 'failed' : cut(`${name}: ${message}`)
  return value === undefined ? ENDS[kind] ?? 'over' : cut(JSON.stringify(value))
}

function cut (text: string): string {
  return text.length > MAX_VALUE ? `${text.slice(0, MAX_VALUE)}…` : text
}

/** Resolves to `undefined` if the service does not answer. */
async function readRecording (taskId: string): Promise<TaskRecording | 'unknown' | undefined> {
  try {
    const response = await fetch(`/console/tasks/${encodeURIComponent(taskId)}`, { cache: 'no-store' })
    if (response.status === 404) return 'unknown'
    return response.ok ? await response.json() : undefined
  } catch {
    return undefined
  }
}
