// The admin address of a service.

import type { FastifyInstance } from 'fastify'
import type { Test } from 'tap'
import { createService, type AppOptions } from '../../src/app/app.ts'
import { createLoadGuard } from '../../src/catalog/compiled/load-guard.ts'
import { writeCatalog, type Files } from './catalog-folder.ts'
import { until } from './deadline.ts'
import { QUIET } from './quiet-options.ts'
import type { Service } from './service.ts'

/** Builds the app of a catalog with its admin app. Neither listens. */
export async function buildMetered (
  t: Test, files: Files, options: AppOptions = {}
): Promise<{ readonly app: FastifyInstance, readonly readMetrics: () => Promise<string> }> {
  const catalog = await writeCatalog(t, files)
  const build = { version: '1.2.3', node: '20.19.0' }
  const own = { guard: createLoadGuard(), build }
  const { app, admin } = await createService({ catalog, ...QUIET, ...options }, own)
  if (admin === undefined) throw new Error('no admin app')
  t.teardown(async () => {
    await app.close()
    await admin.close()
  })
  return { app, readMetrics: async () => (await admin.inject('/metrics')).body }
}

/** The origin of the admin address of a started service. */
export async function adminOriginOf ({ stdout }: Service): Promise<string> {
  const find = () => /"url":"(http:\/\/[^"]+)\/metrics"/.exec(stdout())?.[1]
  await until(() => find() !== undefined, 'the admin address')
  return find() ?? ''
}

/** The lines of a metric that have a value, without comments. */
export function linesOf (text: string, metric: string): string[] {
  return text.split('\n').filter((line) => line.startsWith(`${metric}{`) || line.startsWith(`${metric} `))
}
