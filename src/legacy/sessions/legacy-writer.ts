// Writes results in the form of an earlier revision, without the members that later revisions added.

import type { ResultWriter } from '../../catalog/compiled/results/result-json.ts'
import type { Meta } from '../../protocol/content.ts'
import { isObject } from '../../protocol/json-rpc.ts'
import { hasStructuredContent } from '../../protocol/revision-features.ts'
import { toLegacyContent, toLegacyContents, toLegacyMessage } from './legacy-content.ts'

export function createLegacyWriter (revision: string): ResultWriter {
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
    mayBeStructuredContent: (structuredContent) => hasStructuredContent(revision) &&
      isObject(structuredContent)
  }
}
