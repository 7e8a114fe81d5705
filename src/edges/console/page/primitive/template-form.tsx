// Reads a resource whose URI comes from a template, with variables that the service completes.

import { useMemo } from 'preact/hooks'
import { parseTemplate } from 'url-template'
import type { ResourceTemplate } from '../../../../platform/protocol/primitives.ts'
import { startCall } from '../calls/run-call.ts'
import { openDraft } from '../form/drafts.ts'
import { CompletedFields, toTexts } from './completed-fields.tsx'
import { RunForm } from './run-bar.tsx'
import { WatchToggle } from './watch-toggle.tsx'

interface TemplateFormProps {
  readonly entryKey: string
  readonly title: string
  readonly template: ResourceTemplate
}

export function TemplateForm ({ entryKey, title, template: { uriTemplate } }: TemplateFormProps) {
  const value = openDraft(entryKey, {})
  const parsed = useMemo(() => parseTemplate(uriTemplate), [uriTemplate])
  const fields = useMemo(() => findVariables(uriTemplate), [uriTemplate])
  const uri = parsed.expand(toTexts(value.value))
  const run = () => startCall({ key: entryKey, method: 'resources/read', params: { uri } })
  return (
    <RunForm title={title} action='Read' onRun={run} onReset={() => { value.value = {} }}>
      <CompletedFields fields={fields} reference={{ type: 'ref/resource', uri: uriTemplate }} value={value} />
      <p class='row'><code>{uri}</code><WatchToggle uri={uri} /></p>
    </RunForm>
  )
}

/** Returns the variables of a template, each once. */
function findVariables (uriTemplate: string) {
  const names = [...uriTemplate.matchAll(/\{[+#./;?&]?([^{}]+)\}/g)].flatMap(
    ([, list = '']) => list.split(',').map((variable) => variable.replace(/(?:\*|:\d+)$/, ''))
  )
  return [...new Set(names)].map((name) => ({ name, isRequired: true }))
}
