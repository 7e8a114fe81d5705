// The catalog's snapshot in the form of each earlier revision. The form of a revision is made once, for the
// first request of that revision.

import { runAtOnce, runInTurns, type Stepwise } from '../../../base/turns.ts'
import type { CompiledPrimitive } from '../../../catalog/compiled/compiled-primitive.ts'
import type { ResultWriter } from '../../../catalog/compiled/results/result-json.ts'
import { createSnapshot, type Snapshot } from '../../../catalog/compiled/snapshot.ts'
import type { Primitives } from '../../../catalog/compiled/view.ts'
import type { ContentBlock, Meta } from '../../../platform/protocol/content.ts'
import { META_SERVER_INFO } from '../../../platform/protocol/envelope.ts'
import { isObject } from '../../../platform/protocol/json-rpc.ts'
import { hasStructuredContent } from '../../../platform/protocol/revisions.ts'
import {
  toLegacyContent, toLegacyContents, toLegacyMessage, toLegacyPrompt, toLegacyResource, toLegacyTool
} from './wire-forms.ts'

type Convert<T> = (current: T) => Stepwise<T>

export interface LegacySnapshots {
  /** Returns the form of the revision. It is made at once if it was not prepared. */
  in (snapshot: Snapshot, revision: string): Snapshot
  /**
   * Makes the form of the revision, with turns for other requests: for 5,000 tools it takes 60 to 100 ms of
   * CPU. Returns `undefined` if the form is there.
   */
  prepare (snapshot: Snapshot, revision: string): Promise<void> | undefined
}

/** The forms are held weakly: they are collected together with their snapshot. */
export function createLegacySnapshots (): LegacySnapshots {
  const byRevision = new Map<string, RevisionForms>()

  function formsOf (revision: string): RevisionForms {
    const forms = byRevision.get(revision) ?? new RevisionForms(createConversion(revision))
    byRevision.set(revision, forms)
    return forms
  }

  return {
    in: (snapshot, revision) => formsOf(revision).of(snapshot),
    prepare: (snapshot, revision) => formsOf(revision).prepare(snapshot)
  }
}

/** The forms of one revision. */
class RevisionForms {
  readonly #convert: Convert<Snapshot>
  readonly #made = new WeakMap<Snapshot, Snapshot>()
  readonly #preparing = new WeakMap<Snapshot, Promise<void>>()

  constructor (convert: Convert<Snapshot>) {
    this.#convert = convert
  }

  of (snapshot: Snapshot): Snapshot {
    const form = this.#made.get(snapshot) ?? runAtOnce(this.#convert(snapshot))
    this.#made.set(snapshot, form)
    return form
  }

  prepare (snapshot: Snapshot): Promise<void> | undefined {
    if (this.#made.has(snapshot)) return undefined
    const preparing = this.#preparing.get(snapshot) ?? this.#prepare(snapshot)
    this.#preparing.set(snapshot, preparing)
    return preparing
  }

  async #prepare (snapshot: Snapshot): Promise<void> {
    const form = await runInTurns(this.#convert(snapshot))
    if (!this.#made.has(snapshot)) this.#made.set(snapshot, form)
  }
}

function createConversion (revision: string): Convert<Snapshot> {
  const writers = new WeakMap<ResultWriter, ResultWriter>()
  const toTools: Convert<Primitives['tools']> = convertAll(toLegacyTool, revision)
  const toPrompts: Convert<Primitives['prompts']> = convertAll(toLegacyPrompt, revision)
  const toResources: Convert<Primitives['resources']> = convertAll(toLegacyResource, revision)
  const toTemplates: Convert<Primitives['templates']> = convertAll(toLegacyResource, revision)
  const toListed: Convert<Primitives['listed']> = convertAll(toLegacyResource, revision)
  return function * (snapshot) {
    const { primitives: { tools, prompts, resources, templates, listed }, ownTools } = snapshot
    const primitives = {
      tools: yield * toTools(tools),
      prompts: yield * toPrompts(prompts),
      resources: yield * toResources(resources),
      templates: yield * toTemplates(templates),
      listed: yield * toListed(listed),
      // Their methods are of the current revision. The files of skills are resources here too.
      skills: []
    }
    const parts = { ...snapshot, primitives, ownTools: yield * toTools(ownTools) }
    const writer = writers.get(snapshot.writer) ?? createLegacyWriter(revision, snapshot.writer)
    writers.set(snapshot.writer, writer)
    return yield * createSnapshot(parts, { pageSize: snapshot.pageSize, writer })
  }
}

/** A step takes a millisecond at most. */
const ENTRIES_IN_STEP = 50

/**
 * When resources are listed again, the next snapshot has most lists of the one before. After an edit it has
 * most entries. Each result is held as long as its object.
 */
function convertAll<P extends CompiledPrimitive, E> (
  toLegacyEntry: (entry: E, revision: string) => object, revision: string
): Convert<readonly P[]> {
  const lists = new WeakMap<readonly P[], readonly P[]>()
  const entries = new WeakMap<P, P>()

  function convert (primitive: P): P {
    const earlier = entries.get(primitive)
    if (earlier !== undefined) return earlier
    const json = JSON.stringify(toLegacyEntry(JSON.parse(primitive.json), revision))
    const converted = { ...primitive, json }
    entries.set(primitive, converted)
    return converted
  }

  return function * (all) {
    const earlier = lists.get(all)
    if (earlier !== undefined) return earlier
    const converted: P[] = []
    for (const primitive of all) {
      converted.push(convert(primitive))
      if (converted.length % ENTRIES_IN_STEP === 0) yield
    }
    lists.set(all, converted)
    return converted
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
    toContent: (blocks) => toLegacyContent(blocks, revision),
    toMessages: (messages) => messages.map((message) => toLegacyMessage(message, revision)),
    toContents: (contents) => contents.map((part) => toLegacyContents(part, revision)),
    mayBeStructuredContent,
    current,
    fromCurrent (json) {
      const { content, structuredContent, isError, _meta }: ToolResultJson = JSON.parse(json)
      const { [META_SERVER_INFO]: _, ...meta } = _meta ?? {}
      const isKept = structuredContent !== undefined && mayBeStructuredContent(structuredContent)
      return JSON.stringify({
        content: toLegacyContent(content, revision),
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
