// The ids that a result has, such as those of handles. One click puts an id into the form of another tool.

import type { FoundId } from '../calls/remembered.ts'
import { isRecord } from '../connection/json.ts'
import { openDraft } from '../form/drafts.ts'
import { entries, select } from '../lists/catalog.ts'
import type { ServedEntry } from '../lists/entries.ts'
import { CopyButton } from '../parts/code.tsx'

const MAX_IDS = 6
const MAX_TOOLS = 6

export function FoundIds ({ ids }: { readonly ids: readonly FoundId[] }) {
  const usable = ids.map((id) => ({ id, tools: toolsWith(id.name) })).filter(({ tools }) => tools.length > 0)
  if (usable.length === 0) return null
  return (
    <section class='ids' aria-label='Ids to use again'>
      {usable.slice(0, MAX_IDS).map(({ id, tools }) => (
        <div key={`${id.name} ${id.value}`} class='row'>
          <code class='cut' title={id.value}>{id.name} {id.value}</code>
          <CopyButton text={() => id.value} label={id.name} />
          <span class='faint'>use in</span>
          {tools.slice(0, MAX_TOOLS).map((entry) => (
            <button key={entry.key} type='button' class='small' onClick={() => useIn(entry, id)}>
              {entry.name}
            </button>
          ))}
        </div>
      ))}
    </section>
  )
}

/** Returns the tools that have an argument of this name. */
function toolsWith (name: string): readonly ServedEntry[] {
  return entries.value?.filter(({ group, primitive }) => group === 'Tools' && primitive.kind === 'tool' &&
    isRecord(primitive.tool.inputSchema.properties) && name in primitive.tool.inputSchema.properties) ?? []
}

function useIn ({ key, primitive }: ServedEntry, { name, value }: FoundId): void {
  if (primitive.kind !== 'tool') return
  const draft = openDraft(key, primitive.tool.inputSchema)
  draft.value = { ...isRecord(draft.value) && draft.value, [name]: value }
  select(key)
}
