// The catalog's snapshot in the form of each earlier revision. The form of a revision is made once, for the
// first request of that revision.

import type { CompiledPrimitive } from '../catalog/compiled-primitive.ts'
import { createSnapshot, type Snapshot } from '../catalog/snapshot.ts'
import { toLegacyPrompt, toLegacyResource, toLegacyTool } from './legacy-entries.ts'
import { createLegacyWriter } from './legacy-writer.ts'

/** The forms are held weakly: they are collected together with their snapshot. */
export function createLegacySnapshots (): (snapshot: Snapshot, revision: string) => Snapshot {
  const known = new WeakMap<Snapshot, Map<string, Snapshot>>()
  return (snapshot, revision) => {
    const byRevision = known.get(snapshot) ?? new Map<string, Snapshot>()
    known.set(snapshot, byRevision)
    const found = byRevision.get(revision) ?? toLegacySnapshot(snapshot, revision)
    byRevision.set(revision, found)
    return found
  }
}

function toLegacySnapshot (snapshot: Snapshot, revision: string): Snapshot {
  const { tools, prompts, resources, templates, listed } = snapshot.primitives
  const primitives = {
    tools: tools.map((tool) => toLegacyPrimitive(tool, toLegacyTool, revision)),
    prompts: prompts.map((prompt) => toLegacyPrimitive(prompt, toLegacyPrompt, revision)),
    resources: resources.map((resource) => toLegacyPrimitive(resource, toLegacyResource, revision)),
    templates: templates.map((template) => toLegacyPrimitive(template, toLegacyResource, revision)),
    listed: listed.map((resource) => toLegacyPrimitive(resource, toLegacyResource, revision))
  }
  const writer = createLegacyWriter(revision)
  return createSnapshot({ ...snapshot, primitives }, { pageSize: snapshot.pageSize, writer })
}

function toLegacyPrimitive<P extends CompiledPrimitive, E> (
  primitive: P, toLegacyEntry: (entry: E, revision: string) => object, revision: string
): P {
  return { ...primitive, json: JSON.stringify(toLegacyEntry(JSON.parse(primitive.json), revision)) }
}
