// Reads the copies of metadata documents that sign-in.yaml has for clients whose hosts do not answer.

import { isAbsolute, join, normalize } from 'node:path'
import { readPlainFile } from '../../../base/file-system.ts'
import { codeOf } from '../../../base/words.ts'
import type { ReportProblem } from '../../../catalog/compiled/problem.ts'
import { ruleOf } from '../../../catalog/folder/error-problem.ts'
import { isObject } from '../../../platform/protocol/json-rpc.ts'

export async function readPinnedDocuments (
  root: string, files: { readonly [url: string]: string }, report: ReportProblem
): Promise<ReadonlyMap<string, object>> {
  const documents = new Map<string, object>()
  for (const [url, path] of Object.entries(files)) {
    try {
      documents.set(url, await readDocument(root, url, path))
    } catch (error) {
      report(`clients.documents.${url}`, ruleOf(error))
    }
  }
  return documents
}

async function readDocument (root: string, url: string, path: string): Promise<object> {
  const { protocol, pathname, href } = URL.canParse(url) ? new URL(url) : new URL('none:')
  if (protocol !== 'https:' || pathname === '/' || href !== url) {
    throw new Error('must be the https:// URL of a document, with a path')
  }
  if (isAbsolute(path) || normalize(path).startsWith('..')) {
    throw new Error(`${path} must be in the catalog folder`)
  }
  const bytes = await readPlainFile(join(root, path)).catch((error: unknown) => {
    throw new Error(`${path} cannot be read: ${codeOf(error)}`)
  })
  const document: unknown = JSON.parse(String(bytes))
  if (!isObject(document) || document['client_id'] !== url) {
    throw new Error(`${path} must be an object whose client_id is the URL`)
  }
  return document
}
