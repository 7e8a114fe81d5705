// A service in process, with a catalog of its own.

import type { FastifyInstance } from 'fastify'
import type { Test } from 'tap'
import { createApp, type AppOptions } from '../../src/app/app.ts'
import { writeCatalog, type Files } from './catalog-folder.ts'
import { QUIET } from './quiet-options.ts'

/**
 * Builds an app whose catalog is these files, and closes it when the test ends. The app does not listen,
 * watch or log.
 */
export async function buildApp (t: Test, files: Files, options: AppOptions = {}): Promise<FastifyInstance> {
  const catalog = await writeCatalog(t, files)
  const app = await createApp({ catalog, ...QUIET, ...options })
  t.teardown(async () => await app.close())
  return app
}

/** Makes the app listen on a free port of the loopback interface. Returns the URL of the endpoint. */
export async function listen (app: FastifyInstance, path = '/mcp'): Promise<string> {
  return await app.listen({ host: '127.0.0.1', port: 0 }) + path
}
