// Calls a tool with arguments from a form of its schema.

import { useState } from 'preact/hooks'
import type { Tool } from '../../../../platform/protocol/primitives.ts'
import { startCall } from '../calls/run-call.ts'
import { openDraft } from '../form/drafts.ts'
import { toFirstValue } from '../form/field-kinds.ts'
import { resolve } from '../form/schema.ts'
import { SchemaForm } from '../form/schema-form.tsx'
import { RunForm } from './run-bar.tsx'

interface ToolFormProps { readonly entryKey: string, readonly title: string, readonly tool: Tool }

export function ToolForm ({ entryKey, title, tool }: ToolFormProps) {
  const [problem, setProblem] = useState<string | undefined>(undefined)
  const { name, inputSchema } = tool
  const value = openDraft(entryKey, inputSchema)
  const run = () => startCall({
    key: entryKey, method: 'tools/call', params: { name, arguments: value.peek() }
  })
  // A text that is no JSON is reset too.
  const [resets, setResets] = useState(0)
  const reset = () => {
    setResets(resets + 1)
    setProblem(undefined)
    value.value = toFirstValue(resolve(inputSchema, inputSchema), inputSchema, true) ?? {}
  }
  return (
    <RunForm title={title} action='Call' problem={problem} onRun={run} onReset={reset}>
      <SchemaForm
        key={resets} id='f' label='Arguments' schema={inputSchema} value={value} onProblem={setProblem}
      />
    </RunForm>
  )
}
