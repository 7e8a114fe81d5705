// The top of the page: the service, whether it can be reached, and who calls.

import { CallerPanel } from './caller-panel.tsx'
import { consoleState, isServiceReachable } from './connection/console-state.ts'
import { listeningProblem } from './connection/listening.ts'

export function Header () {
  const state = consoleState.value
  const { catalog } = state ?? {}
  return (
    <header>
      <button type='button' class='skip' onClick={() => document.getElementById('main')?.focus()}>
        Skip the lists
      </button>
      <div class='service'>
        <h1>{catalog?.title ?? catalog?.name ?? 'Console'}</h1>
        {catalog !== undefined && <span class='faint'>{catalog.version}</span>}
      </div>
      <p class='health'>
        <Health />
        {catalog !== undefined && <span class='faint'>loaded at {toClock(catalog.loadedAt)}</span>}
      </p>
      {state !== undefined && <CallerPanel state={state} />}
    </header>
  )
}

function Health () {
  if (!isServiceReachable.value) return <span class='bad'>● The service does not answer</span>
  if (consoleState.value?.catalog.failure !== undefined) return <span class='bad'>● last load failed</span>
  return listeningProblem.value === undefined
    ? <span class='good'>● live</span>
    : <span class='warn' title={listeningProblem.value}>● not listening</span>
}

export function toClock (ms: number): string {
  return new Date(ms).toLocaleTimeString('en-GB')
}
