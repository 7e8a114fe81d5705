// Snapshots of the catalog in the words of earlier revisions: made once for each, when the first client of it
// comes.

import type { CompiledPrimitive } from '../catalog/compiled-primitive.ts'
import { createSnapshot, type Snapshot } from '../catalog/snapshot.ts'
import { toLegacyPrompt, toLegacyResource, toLegacyTool } from './legacy-entries.ts'
import { createLegacyWriter } from './legacy-writer.ts'

/** Forgets those of a snapshot together with it. */
export function createLegacySnapshots (): (snapshot: Snapshot, revision: string) => Snapshot {
  const known = new WeakMap<Snapshot, Map<string, Snapshot>>()
  return (snapshot, revision) => {
    const byRevision = known.get(snapshot) ?? new Map<string, Snapshot>()
    known.set(snapshot, byRevision)
    const found = byRevision.get(revision) ?? retell(snapshot, revision)
    byRevision.set(revision, found)
    return found
  }
}

function retell ({ server, primitives, handles, stamps, pageSize }: Snapshot, revision: string): Snapshot {
  const { tools, prompts, resources, templates, listed } = primitives
  const inLegacyWords = {
    tools: tools.map((tool) => reword(tool, toLegacyTool, revision)),
    prompts: prompts.map((prompt) => reword(prompt, toLegacyPrompt, revision)),
    resources: resources.map((resource) => reword(resource, toLegacyResource, revision)),
    templates: templates.map((template) => reword(template, toLegacyResource, revision)),
    listed: listed.map((resource) => reword(resource, toLegacyResource, revision))
  }
  return createSnapshot(server, inLegacyWords, handles, stamps, {
    pageSize, writer: createLegacyWriter(revision)
  })
}

function reword<O extends CompiledPrimitive, E> (
  offered: O, toLegacy: (entry: E, revision: string) => object, revision: string
): O {
  return { ...offered, json: JSON.stringify(toLegacy(JSON.parse(offered.json), revision)) }
}
