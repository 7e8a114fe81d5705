// The form around the fields of a primitive, with its button. Ctrl Enter or ⌘ Enter calls from any field.

import type { ComponentChildren } from 'preact'
import { LOG_LEVELS } from '../../../../platform/protocol/log-levels.ts'
import { logLevel } from '../connection/caller.ts'
import { useStable } from '../parts/memo.ts'

interface RunFormProps {
  readonly title: string
  /** What the button says. */
  readonly action: string
  /** Why the call cannot be sent. */
  readonly problem?: string | undefined
  readonly onRun: () => void
  readonly onReset?: (() => void) | undefined
  readonly children?: ComponentChildren
}

export function RunForm ({ title, action, problem, onRun, onReset, children }: RunFormProps) {
  const run = useStable((event: Event) => {
    event.preventDefault()
    if (problem === undefined) onRun()
  })
  const runByKey = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) run(event)
  }
  return (
    <form class='run' noValidate aria-label={title} onSubmit={run} onKeyDown={runByKey}>
      {children}
      <div class='row bar'>
        <button type='submit' class='primary' disabled={problem !== undefined}>{action}</button>
        {onReset !== undefined && <button type='button' onClick={onReset}>Reset</button>}
        <label class='inline'>
          <span class='faint'>Log from</span>
          <select
            value={logLevel.value}
            onChange={({ currentTarget }) => {
              logLevel.value = LOG_LEVELS[currentTarget.selectedIndex] ?? 'debug'
            }}
          >
            {LOG_LEVELS.map((level) => <option key={level} value={level}>{level}</option>)}
          </select>
        </label>
        {problem !== undefined && <span class='bad'>The JSON cannot be read: {problem}</span>}
      </div>
    </form>
  )
}
