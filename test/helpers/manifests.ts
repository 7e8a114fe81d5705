// The objects of deploy/kubernetes/base, and what a cluster makes of them.

import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseAllDocuments, parse } from 'yaml'
import type { Files } from './catalog-folder.ts'
import type { Message } from './request.ts'

export const BASE = fileURLToPath(new URL('../../deploy/kubernetes/base', import.meta.url))

/** An object of Kubernetes. Its members are those of its kind. */
export type Manifest = Message

export async function readKustomization (): Promise<Message> {
  return parse(await readFile(join(BASE, 'kustomization.yaml'), 'utf8'))
}

/** Every object in the resources of the kustomization. */
export async function readManifests (): Promise<Manifest[]> {
  const { resources } = await readKustomization()
  const texts = await Promise.all(
    resources.map(async (file: string) => await readFile(join(BASE, file), 'utf8'))
  )
  return texts.flatMap((text) => parseAllDocuments(text).map((document) => {
    if (document.errors[0] !== undefined) throw document.errors[0]
    return document.toJS()
  }))
}

export function findManifest (manifests: readonly Manifest[], kind: string, name = 'trivet'): Manifest {
  const found = manifests.find((one) => one.kind === kind && one.metadata.name === name)
  if (found === undefined) throw new Error(`no ${kind} is called ${name}`)
  return found
}

/** The files that the volume `catalog` of the Deployment has, with their paths. */
export async function readMountedCatalog (deployment: Manifest): Promise<Files> {
  const { configMapGenerator: [{ files }] } = await readKustomization()
  const sources = new Map<string, string>(files.map((one: string) => one.split('=')))
  const volume = deployment.spec.template.spec.volumes.find(({ name }: Message) => name === 'catalog')
  const mounted = volume.configMap.items.map(async ({ key, path }: Message) => {
    return [path, await readFile(join(BASE, sources.get(key) ?? 'no source'), 'utf8')]
  })
  return Object.fromEntries(await Promise.all(mounted))
}

/** Every file below a folder of the base, with its path from there. */
export async function listBase (folder = '.'): Promise<string[]> {
  const entries = await readdir(join(BASE, folder), { recursive: true, withFileTypes: true })
  return entries.filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(join(BASE, folder).length + 1)).toSorted()
}

/**
 * The environment of the only container, as Kubernetes makes it: with values from the Secret, and with the
 * value of an earlier variable for each `$(NAME)`.
 */
export function environmentOf (
  workload: Manifest, secret: { readonly [key: string]: string }
): { [variable: string]: string } {
  const environment: { [variable: string]: string } = {}
  for (const { name, value, valueFrom } of workload.spec.template.spec.containers[0].env) {
    environment[name] = valueFrom === undefined
      ? expand(value, environment)
      : secret[valueFrom.secretKeyRef.key] ?? ''
  }
  return environment
}

export function expand (text: string, environment: { readonly [variable: string]: string }): string {
  return text.replaceAll(/\$\((\w+)\)/g, (whole, name: string) => environment[name] ?? whole)
}
