// The selected primitive: what it is, and a form to call it.

import { calls, requiredScopesOf } from '../calls/call-record.ts'
import { consoleState } from '../connection/console-state.ts'
import { isRecord } from '../connection/json.ts'
import { entries, selectedEntry, selectedKey } from '../lists/catalog.ts'
import type { ServedEntry, ListedPrimitive } from '../lists/entries.ts'
import { reportOf } from '../lists/problems.ts'
import { ProblemList } from '../lists/sidebar.tsx'
import { JsonCode } from '../parts/code.tsx'
import { PromptForm } from './prompt-form.tsx'
import { ResourceReader } from './resource-reader.tsx'
import { TemplateForm } from './template-form.tsx'
import { ToolForm } from './tool-form.tsx'

export function Selected () {
  const entry = selectedEntry.value
  return (
    <main id='main' tabIndex={-1}>
      {entry === undefined ? <NothingSelected /> : <Details key={entry.key} entry={entry} />}
    </main>
  )
}

function NothingSelected () {
  const key = selectedKey.value
  if (key === '' || entries.value === undefined) {
    return (
      <div class='empty'>
        <h2>Choose something to call</h2>
        <p class='faint'>Press / to filter the list. Ctrl Enter or ⌘ Enter calls what is shown.</p>
      </div>
    )
  }
  return (
    <div class='empty'>
      <h2>Not offered</h2>
      <p><code>{key}</code> does not exist, or this caller may not see it.</p>
    </div>
  )
}

function Details ({ entry }: { readonly entry: ServedEntry }) {
  const { key, title, name, primitive } = entry
  const listed = shownOf(primitive)
  const file = consoleState.value?.files[key]
  const { problems = [], advice = [], hosts = [] } = reportOf(key) ?? {}
  // A list does not say which scopes a primitive needs. A refusal does.
  const scopes = calls.value.flatMap((call) => {
    return call.key === key && call.failure !== undefined ? [requiredScopesOf(call.failure)] : []
  }).find((scopes) => scopes !== undefined)
  return (
    <article>
      <h2>{title}</h2>
      <p class='facts'>
        <code>{name}</code>
        {file !== undefined && <span class='faint'>{file}</span>}
        {badgesOf(primitive).map((badge) => <span key={badge} class='badge'>{badge}</span>)}
        {scopes !== undefined && <span class='badge warn'>needs {scopes.join(' ')}</span>}
      </p>
      {typeof listed.description === 'string' && <p class='description'>{listed.description}</p>}
      {problems.length > 0 && <ProblemList problems={problems} />}
      {advice.length > 0 && (
        <details class='report advice'>
          <summary>Advice <span class='note'>{advice.length}</span></summary>
          <ProblemList problems={advice} />
        </details>
      )}
      {hosts.length > 0 && (
        <details class='report advice'>
          <summary>Hosts <span class='note'>{hosts.length}</span></summary>
          <ProblemList problems={hosts} />
        </details>
      )}
      <CallForm entry={entry} />
      <details class='definition'>
        <summary>Definition</summary>
        <JsonCode value={listed} label={`Definition of ${title}`} />
      </details>
    </article>
  )
}

function CallForm ({ entry }: { readonly entry: ServedEntry }) {
  const { key, title, primitive } = entry
  switch (primitive.kind) {
    case 'tool': return <ToolForm entryKey={key} title={title} tool={primitive.tool} />
    case 'prompt': return <PromptForm entryKey={key} title={title} prompt={primitive.prompt} />
    case 'resource': return <ResourceReader entryKey={key} title={title} resource={primitive.resource} />
    case 'template': return <TemplateForm entryKey={key} title={title} template={primitive.template} />
  }
}

function shownOf (primitive: ListedPrimitive) {
  switch (primitive.kind) {
    case 'tool': return primitive.tool
    case 'prompt': return primitive.prompt
    case 'resource': return primitive.resource
    case 'template': return primitive.template
  }
}

/** The hints that the definition gives, in words. */
function badgesOf (primitive: ListedPrimitive): readonly string[] {
  const listed = shownOf(primitive)
  const { annotations = {} } = primitive.kind === 'tool' ? primitive.tool : {}
  const { readOnlyHint = false, destructiveHint, idempotentHint = false, openWorldHint } = annotations
  const hints = [
    readOnlyHint && 'reads only',
    !readOnlyHint && destructiveHint === true && 'may destroy',
    !readOnlyHint && destructiveHint === false && 'destroys nothing',
    !readOnlyHint && idempotentHint && 'idempotent',
    openWorldHint === true && 'open world',
    isRecord(listed._meta?.ui) && 'screen',
    'mimeType' in listed && listed.mimeType,
    'size' in listed && `${listed.size} bytes`
  ]
  return hints.filter((hint) => typeof hint === 'string')
}
