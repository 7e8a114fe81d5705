// The console of `trivet dev`: shows what the catalog offers, and calls it. It speaks MCP to the endpoint as
// any client does.

import { computed } from '@preact/signals'
import { render } from 'preact'
import { Activity } from './calls/activity.tsx'
import { followKeptTasks } from './calls/run-call.ts'
import { consoleState, watchState } from './connection/console-state.ts'
import { listen } from './connection/listening.ts'
import { Header } from './header.tsx'
import { keepListsFresh, refreshLists, selectedEntry, selectedKey } from './lists/catalog.ts'
import { Sidebar } from './lists/sidebar.tsx'
import { Selected } from './primitive/selected.tsx'

const serviceName = computed(() => consoleState.value?.catalog.title ?? consoleState.value?.catalog.name)

function Page () {
  document.title = [selectedEntry.value?.title, serviceName.value ?? 'Console'].filter(Boolean).join(' - ')
  return (
    <div class={selectedKey.value === '' ? 'page' : 'page has-selection'}>
      <Header />
      <Sidebar />
      <Selected />
      <Activity />
    </div>
  )
}

const TYPED_INTO = 'input, textarea, select, [contenteditable]'

/** A slash goes to the filter, unless it is typed into something. Ctrl Enter calls what is shown. */
addEventListener('keydown', (event) => {
  const { target, key, ctrlKey, metaKey, altKey, defaultPrevented } = event
  const isWithControl = ctrlKey || metaKey
  if (key === 'Enter' && isWithControl && !defaultPrevented) {
    event.preventDefault()
    document.querySelector<HTMLFormElement>('form.run')?.requestSubmit()
    return
  }
  if (key !== '/' || isWithControl || altKey) return
  if (target instanceof Element && target.matches(TYPED_INTO)) return
  event.preventDefault()
  document.getElementById('filter')?.focus()
})

const root = document.getElementById('page')
if (root !== null) render(<Page />, root)
await watchState()
keepListsFresh()
followKeptTasks()
listen(({ method }) => { if (method.endsWith('/list_changed')) refreshLists() })
