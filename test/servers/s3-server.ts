// A real server with the interface of S3: OpenStack Swift, on free ports of the loopback interface.

import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'
import { readBucket } from '../../src/features/files/s3/address.ts'
import { createS3Client, textsOf, type S3Request } from '../../src/features/files/s3/client.ts'
import { until, within } from '../helpers/deadline.ts'
import { makeFolder } from '../helpers/folder.ts'
import { isComplete } from './programs.ts'

export interface S3Server {
  /** The usual variables of the server's only account. */
  readonly environment: { readonly AWS_ACCESS_KEY_ID: string, readonly AWS_SECRET_ACCESS_KEY: string }
  createBucket (prefix?: string): Promise<TestBucket>
}

interface TestBucket {
  /** For `TRIVET_FILES_URL`. */
  readonly url: string
  /** The keys of the first ten files, and of the uploads that are not complete. */
  list (): Promise<readonly string[]>
}

/** Debian's packages are for this Python. PATH may begin with another one. */
const PYTHON = '/usr/bin/python3'
const PROGRAM = fileURLToPath(new URL('swift-server.py', import.meta.url))
const REGION = 'eu-central-1'
const START_MS = 30_000

/** Whether Swift can be started here. See `isComplete`. */
export function hasS3Server (t: Test): boolean {
  const isThere = spawnSync(PYTHON, ['-c', 'import swift']).status === 0
  return isComplete(t, isThere ? [] : ['OpenStack Swift'], 'python3-swift')
}

/** Starts the server, and stops it when the test ends. */
export async function startS3Server (t: Test): Promise<S3Server> {
  const swift = spawn(PYTHON, [PROGRAM, await makeFolder(t)])
  t.teardown(async () => {
    const exited = once(swift, 'exit')
    if (swift.kill('SIGKILL')) await within(exited, 'the end of Swift')
  })
  let [port, printed] = ['', '']
  swift.stdout.setEncoding('utf8').on('data', (text: string) => { port += text })
  swift.stderr.setEncoding('utf8').on('data', (text: string) => { printed += text })
  await until(() => {
    if (swift.exitCode !== null) throw new Error(`Swift ended:\n${printed}`)
    return port.endsWith('\n')
  }, 'Swift', START_MS)

  const environment = { AWS_ACCESS_KEY_ID: 'test:trivet', AWS_SECRET_ACCESS_KEY: 'secret' }
  const variables = new Map(Object.entries(environment))
  const readVariable = async (name: string) => variables.get(name)
  const query = `endpoint=http://127.0.0.1:${port.trim()}&region=${REGION}`
  let buckets = 0
  return {
    environment,
    async createBucket (prefix = 'kept/by-trivet') {
      const bucket = `files-${++buckets}`
      const client = createS3Client(await readBucket(`s3://${bucket}?${query}`, readVariable))
      ;(await client.send({ method: 'PUT' })).resume()
      const keys = async (parameters: S3Request['parameters'] = {}) => {
        return textsOf(await text(await client.send({ method: 'GET', parameters })), 'Key')
      }
      return {
        url: `s3://${bucket}/${prefix}?${query}`,
        list: async () => [...await keys(), ...await keys({ uploads: '' })]
      }
    }
  }
}
