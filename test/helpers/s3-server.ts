// A server with the interface of S3, in the process of a test. The package lacks two requests about uploads
// that are not complete: they are added here, and work on its files.

import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import S3rver from '@20minutes/s3rver'
import type { Test } from 'tap'

export interface S3Server {
  /** For `TRIVET_FILES_URL`. */
  readonly url: string
  /** The usual variables of the server's only account. */
  readonly environment: { readonly AWS_ACCESS_KEY_ID: string, readonly AWS_SECRET_ACCESS_KEY: string }
  /** The ids of the uploads that are not complete. */
  incomplete (): Promise<readonly string[]>
}

const BUCKET = 'files'

/** Starts the server with an empty bucket, and stops it when the test ends. */
export async function startS3Server (t: Test): Promise<S3Server> {
  const directory = await mkdtemp(join(tmpdir(), 'trivet-s3-'))
  const s3 = new S3rver({ silent: true, directory, configureBuckets: [{ name: BUCKET, configs: [] }] })
  await s3.configureBuckets()
  const serve = s3.callback()
  const uploads = join(directory, BUCKET, '._S3rver_uploads')
  const incomplete = async () => existsSync(uploads) ? await readdir(uploads) : []
  const server = createServer((request, response) => {
    const { searchParams } = new URL(request.url ?? '', 'http://localhost')
    const id = searchParams.get('uploadId')
    if (request.method === 'GET' && searchParams.has('uploads')) {
      list().then((xml) => response.end(xml), () => response.writeHead(500).end())
    } else if (request.method === 'DELETE' && id !== null) {
      rm(join(uploads, id), { recursive: true }).then(
        () => response.writeHead(204).end(), () => response.writeHead(404).end()
      )
    } else serve(request, response)
  }).listen(0, '127.0.0.1')

  async function list (): Promise<string> {
    const entries = (await incomplete()).map(async (id) => {
      const key = await readFile(join(uploads, id, 'key'), 'utf8')
      const { mtime } = await stat(join(uploads, id, 'key'))
      return `<Upload><Key>${key}</Key><UploadId>${id}</UploadId><Initiated>${mtime.toISOString()}</Initiated></Upload>`
    })
    return `<ListMultipartUploadsResult>${(await Promise.all(entries)).join('')}</ListMultipartUploadsResult>`
  }

  await once(server, 'listening')
  t.teardown(async () => {
    server.closeAllConnections()
    server.close()
    await rm(directory, { recursive: true, force: true })
  })
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : undefined
  return {
    url: `s3://${BUCKET}/kept/by-trivet?endpoint=http://127.0.0.1:${port}`,
    environment: { AWS_ACCESS_KEY_ID: 'S3RVER', AWS_SECRET_ACCESS_KEY: 'S3RVER' },
    incomplete
  }
}
