// Rules for compose files of this project. Each finds what breaks it.

import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'
import { readConfig } from '../../src/ops/config/config.ts'
import { ROWS } from '../../src/ops/config/settings.ts'
import type { Message } from '../helpers/request.ts'
import { runService } from '../helpers/service.ts'

export const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const VARIABLES = new Set(ROWS.map(([, { variable }]) => variable))

/** A compose file, and what is around it. */
export interface Composition {
  /** The folder from which its paths begin. */
  readonly folder: string
  readonly services: { readonly [name: string]: Message }
  readonly configs: { readonly [name: string]: Message }
  /** The settings of the catalog that its own image serves. */
  readonly settings: ReadonlySet<string>
}

export async function readComposition (path: string): Promise<Composition> {
  const { services, configs = {} } = parse(await readFile(join(ROOT, path), 'utf8'), { merge: true })
  const folder = join(ROOT, dirname(path))
  const { stdout } = await runService({}, { args: ['check', '--json', join(folder, 'catalog')] })
  const settings = JSON.parse(stdout).settings.map(({ name }: Message) => String(name))
  return { folder, services, configs, settings: new Set(settings) }
}

const isBuilt = ({ build }: Message) => build !== undefined

/** What is not named as a setting, in a service of this project. */
export function findUnknownVariables ({ services, settings }: Composition): string[] {
  return Object.entries(services).flatMap(([name, service]) => {
    const variables = isBuilt(service) ? Object.keys(service.environment ?? {}) : []
    const unknown = variables.filter((variable) => !VARIABLES.has(variable) && !settings.has(variable))
    return unknown.map((variable) => `${name}: ${variable}`)
  })
}

const SECRET = 'a secret of at least thirty-two characters'

/** As Compose fills variables in that are not set. A required one gets a secret. */
export function fillIn (text: string): string {
  return text.replaceAll(/\$\{\w+(?::([-?])([^}]*))?\}/g, (_, kind: string, value: string) => {
    return kind === '-' ? value : SECRET
  })
}

/** The problems of the settings of each service of this project. */
export function findSettingProblems ({ services }: Composition): string[] {
  return Object.entries(services).flatMap(([name, { build, environment = {} }]) => {
    const own = Object.entries<unknown>(environment).filter(([variable]) => VARIABLES.has(variable))
    if (build === undefined) return []
    try {
      readConfig(Object.fromEntries(own.map(([variable, value]) => [variable, fillIn(String(value))])))
      return []
    } catch (error) {
      return [`${name}: ${String(error)}`]
    }
  })
}

/** Files and folders that a service mounts, is built from or reads, and that do not exist. */
export async function findMissingFiles ({ folder, services, configs }: Composition): Promise<string[]> {
  const ignored = (await readFile(join(ROOT, '.gitignore'), 'utf8')).split('\n')
  const sourceOf = (volume: string | Message) => {
    return typeof volume === 'string' ? volume.split(':')[0] : volume.source
  }
  const mounted = Object.values(services).flatMap(({ volumes = [], build, env_file: variables = [] }) => [
    ...volumes.map(sourceOf),
    ...(build === undefined ? [] : [join(build.context ?? build, build.dockerfile ?? 'Dockerfile')]),
    ...[variables].flat()
  ])
  const files = [...mounted, ...Object.values(configs).map(({ file }) => file)].filter(
    // Others are named volumes.
    (path): path is string => typeof path === 'string' && /[./]/.test(path)
  )
  // What a reader makes, and git does not keep, such as a key.
  const isMadeByReader = (path: string) => ignored.includes(`${path.replace(/^\.\//, '')}/`)
  return files.filter((path) => !isMadeByReader(path) && !existsSync(join(folder, path)))
}

/** Whether the image that a service builds has a health check, itself or from the image of Trivet. */
async function hasHealthyImage (folder: string, { build }: Message): Promise<boolean> {
  if (build === undefined) return false
  const text = await readFile(join(folder, build.context ?? build, build.dockerfile ?? 'Dockerfile'), 'utf8')
  return /^HEALTHCHECK /m.test(text) ||
    (/^FROM trivet$/m.test(text) && /^HEALTHCHECK /m.test(await readFile(join(ROOT, 'Dockerfile'), 'utf8')))
}

export async function findUnhealthy ({ folder, services }: Composition): Promise<string[]> {
  const checked = await Promise.all(Object.entries(services).map(async ([name, service]) => {
    const isChecked = service.healthcheck?.test !== undefined || await hasHealthyImage(folder, service)
    return isChecked ? [] : [name]
  }))
  return checked.flat()
}

/** A service waits for another one that Compose can never call healthy, or that is not there. */
export function findEndlessWaits ({ services }: Composition): string[] {
  return Object.entries(services).flatMap(([name, { depends_on: needed = {} }]) => {
    const waits: ReadonlyArray<readonly [string, Message]> = Array.isArray(needed)
      ? needed.map((other) => [other, {}])
      : Object.entries(needed)
    return waits.filter(([other, { condition }]) => {
      const service = services[other]
      return service === undefined || (condition === 'service_healthy' && service.healthcheck === undefined)
    }).map(([other]) => `${name} waits for ${other}`)
  })
}

/** An image that is not built here can change under its name. */
export function findUntagged ({ services }: Composition): string[] {
  return Object.entries(services).filter(([, service]) => {
    return !isBuilt(service) && !/:[\w.-]*\d[\w.-]*$/.test(service.image ?? '')
  }).map(([name]) => name)
}
