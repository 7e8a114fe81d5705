// The catalog's snapshot in the form of each earlier revision. The form of a revision is made once, for the
// first request of that revision.

import { runAtOnce } from '../../base/stepwise.ts'
import type { CompiledPrimitive } from '../../catalog/compiled/compiled-primitive.ts'
import type { ResultWriter } from '../../catalog/compiled/results/result-json.ts'
import { createSnapshot, type Snapshot } from '../../catalog/compiled/snapshot.ts'
import type { Primitives } from '../../catalog/compiled/view.ts'
import type { ContentBlock, Meta } from '../../protocol/content.ts'
import { META_SERVER_INFO } from '../../protocol/envelope.ts'
import { isObject } from '../../protocol/json-rpc.ts'
import { hasStructuredContent } from '../../protocol/revisions.ts'
import {
  toLegacyContent, toLegacyContents, toLegacyMessage, toLegacyPrompt, toLegacyResource, toLegacyTool
} from './wire-forms.ts'

type Convert<T> = (current: T) => T

/** The forms are held weakly: they are collected together with their snapshot. */
export function createLegacySnapshots (): (snapshot: Snapshot, revision: string) => Snapshot {
  const byRevision = new Map<string, Convert<Snapshot>>()
  return (snapshot, revision) => {
    const convert = byRevision.get(revision) ?? createConversion(revision)
    byRevision.set(revision, convert)
    return convert(snapshot)
  }
}

function createConversion (revision: string): Convert<Snapshot> {
  const toWriter = oncePer((current: ResultWriter) => createLegacyWriter(revision, current))
  const toTools: Convert<Primitives['tools']> = convertAll(toLegacyTool, revision)
  const toPrompts: Convert<Primitives['prompts']> = convertAll(toLegacyPrompt, revision)
  const toResources: Convert<Primitives['resources']> = convertAll(toLegacyResource, revision)
  const toTemplates: Convert<Primitives['templates']> = convertAll(toLegacyResource, revision)
  const toListed: Convert<Primitives['listed']> = convertAll(toLegacyResource, revision)
  return oncePer((snapshot) => {
    const { primitives: { tools, prompts, resources, templates, listed }, ownTools } = snapshot
    const primitives = {
      tools: toTools(tools),
      prompts: toPrompts(prompts),
      resources: toResources(resources),
      templates: toTemplates(templates),
      listed: toListed(listed),
      // Their methods are of the current revision. The files of skills are resources here too.
      skills: []
    }
    const parts = { ...snapshot, primitives, ownTools: toTools(ownTools) }
    const options = { pageSize: snapshot.pageSize, writer: toWriter(snapshot.writer) }
    return runAtOnce(createSnapshot(parts, options))
  })
}

/** When resources are listed again, the next snapshot has most lists of the one before. */
function convertAll<P extends CompiledPrimitive, E> (
  toLegacyEntry: (entry: E, revision: string) => object, revision: string
): Convert<readonly P[]> {
  return oncePer((all) => all.map((primitive) => {
    return { ...primitive, json: JSON.stringify(toLegacyEntry(JSON.parse(primitive.json), revision)) }
  }))
}

/** Each result is held as long as its object. */
function oncePer<T extends object> (convert: Convert<T>): Convert<T> {
  const results = new WeakMap<T, T>()
  return (current) => {
    const result = results.get(current) ?? convert(current)
    results.set(current, result)
    return result
  }
}

/** Writes results without the members that later revisions added. */
function createLegacyWriter (revision: string, current: ResultWriter): ResultWriter {
  function write (members: string, meta?: Meta): string {
    return meta === undefined
      ? `{${members}}`
      : `{${members}${members === '' ? '' : ','}"_meta":${JSON.stringify(meta)}}`
  }
  return {
    write,
    writeCacheable: (members, _cache, meta) => write(members, meta),
    writeInputRequired () {
      throw new TypeError('unreachable: in this revision the client is asked by requests')
    },
    writeTask () {
      throw new TypeError('unreachable: in this revision no call becomes a task')
    },
    toContent: (blocks) => blocks.map((block) => toLegacyContent(block, revision)),
    toMessages: (messages) => messages.map((message) => toLegacyMessage(message, revision)),
    toContents: (contents) => contents.map((one) => toLegacyContents(one, revision)),
    mayBeStructuredContent,
    current,
    fromCurrent (json) {
      const { content, structuredContent, isError, _meta }: ToolResultJson = JSON.parse(json)
      const { [META_SERVER_INFO]: _, ...meta } = _meta ?? {}
      const isKept = structuredContent !== undefined && mayBeStructuredContent(structuredContent)
      return JSON.stringify({
        content: content.map((block) => toLegacyContent(block, revision)),
        ...isKept && { structuredContent },
        ...isError === true && { isError },
        ...Object.keys(meta).length > 0 && { _meta: meta }
      })
    }
  }

  function mayBeStructuredContent (value: unknown): boolean {
    return hasStructuredContent(revision) && isObject(value)
  }
}

/** The result of a call in the current revision. */
interface ToolResultJson {
  readonly content: readonly ContentBlock[]
  readonly structuredContent?: unknown
  readonly isError?: boolean
  readonly _meta?: Meta
}
