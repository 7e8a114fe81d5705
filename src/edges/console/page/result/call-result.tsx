// The answer of a call, as people read it.

import { findIds } from '../calls/remembered.ts'
import type { CallRecord } from '../calls/call-record.ts'
import { isRecord, type JsonObject } from '../connection/json.ts'
import { isSame } from '../form/field-kinds.ts'
import { entryByKey } from '../lists/catalog.ts'
import { screenUriOf } from '../lists/entries.ts'
import { ScreenFrame } from '../screen-frame.tsx'
import { Block, ResourceContent } from './blocks.tsx'
import { FoundIds } from './found-ids.tsx'
import { Structured } from './structured.tsx'

interface CallResultProps { readonly call: CallRecord, readonly result: JsonObject }

export function CallResult ({ call, result }: CallResultProps) {
  switch (call.method) {
    case 'tools/call': return <ToolResult call={call} result={result} />
    case 'prompts/get': return <PromptMessages call={call} result={result} />
    case 'resources/read': return (
      <>
        {toRecords(result.contents).map((part, index) => <ResourceContent key={index} contents={part} />)}
      </>
    )
  }
}

function ToolResult ({ call, result }: CallResultProps) {
  const { structuredContent, isError } = result
  const blocks = toRecords(result.content)
  const extra = structuredContent === undefined
    ? blocks
    : blocks.filter((block) => !isJsonOf(block, structuredContent))
  const primitive = entryByKey.value.get(call.key)?.primitive
  const screenUri = primitive && screenUriOf(primitive)
  return (
    <div class={isError === true ? 'result is-error' : 'result'}>
      {isError === true && <p class='bad'><strong>The tool answers with an error.</strong></p>}
      {screenUri !== undefined && call.caller.abilities.screens && isError !== true && (
        <ScreenFrame key={call.id} call={call} result={result} uri={screenUri} />
      )}
      {extra.map((block, index) => <Block key={index} block={block} caller={call.caller} />)}
      {structuredContent !== undefined && <Structured value={structuredContent} />}
      {blocks.length === 0 && structuredContent === undefined && <p class='faint'>The result is empty.</p>}
      <FoundIds ids={findIds(structuredContent)} />
    </div>
  )
}

/** Whether a block only repeats the structured content, for clients that read no other. */
function isJsonOf ({ type, text }: JsonObject, structuredContent: unknown): boolean {
  if (type !== 'text' || typeof text !== 'string') return false
  try {
    return isSame(JSON.parse(text), structuredContent)
  } catch {
    return false
  }
}

function PromptMessages ({ call, result }: CallResultProps) {
  return (
    <ol class='messages'>
      {toRecords(result.messages).map(({ role, content }, index) => (
        <li key={index}>
          <span class='badge'>{String(role)}</span>
          {isRecord(content) && <Block block={content} caller={call.caller} />}
        </li>
      ))}
    </ol>
  )
}

function toRecords (value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isRecord) : []
}
