// Gets a prompt, with arguments that the service completes.

import type { Prompt } from '../../../../platform/protocol/primitives.ts'
import { startCall } from '../calls/run-call.ts'
import { openDraft } from '../form/drafts.ts'
import { CompletedFields, toTexts } from './completed-fields.tsx'
import { RunForm } from './run-bar.tsx'

interface PromptFormProps { readonly entryKey: string, readonly title: string, readonly prompt: Prompt }

export function PromptForm ({ entryKey, title, prompt }: PromptFormProps) {
  const value = openDraft(entryKey, {})
  const { name, arguments: fields = [] } = prompt
  const run = () => startCall({
    key: entryKey, method: 'prompts/get', params: { name, arguments: toTexts(value.peek()) }
  })
  return (
    <RunForm title={title} action='Get' onRun={run} onReset={() => { value.value = {} }}>
      <CompletedFields
        fields={fields.map(({ required = false, ...field }) => ({ ...field, isRequired: required }))}
        reference={{ type: 'ref/prompt', name }} value={value}
      />
    </RunForm>
  )
}
