// What the caller does not see, with the scopes that would show it.

import { computed } from '@preact/signals'
import { consoleState } from '../connection/console-state.ts'
import { entries, listProblem } from './catalog.ts'
import { isWanted } from './filter.ts'

const hidden = computed(() => {
  // Nothing is known of lists that could not be read.
  if (entries.value === undefined || listProblem.value !== undefined) return []
  const keys = new Set(entries.value.map(({ key }) => key))
  return Object.entries(consoleState.value?.scoped ?? {}).filter(([key]) => !keys.has(key))
})

const hiddenFound = computed(() => hidden.value.filter(([key]) => isWanted(key.toLowerCase())))

const MAX_HIDDEN = 100

export function HiddenList () {
  const [count, excess] = [hiddenFound.value.length, hiddenFound.value.length - MAX_HIDDEN]
  if (count === 0) return null
  return (
    <details class='report'>
      <summary>Not seen by this caller <span class='note'>{count}</span></summary>
      <ul class='problems'>
        {hiddenFound.value.slice(0, MAX_HIDDEN).map(([key, scopes]) => {
          const [kind, name] = [key.slice(0, key.indexOf(':')), key.slice(key.indexOf(':') + 1)]
          return (
            <li key={key}>
              <span><span class='faint'>{kind}</span> <code>{name}</code></span>
              <span class='faint'>needs {scopes.join(' ')}</span>
            </li>
          )
        })}
        {excess > 0 && <li class='faint'>and {excess.toLocaleString('en')} more: filter them</li>}
      </ul>
    </details>
  )
}
