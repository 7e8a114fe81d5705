// The `import.meta` of a module.

import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Resolver } from './resolver.ts'

/** Creates the `import.meta` of a file, with the members that Node defines. */
export function createMeta (url: string, resolver: Pick<Resolver, 'resolve'>): object {
  const filename = fileURLToPath(url)
  return Object.assign(Object.create(null), {
    dirname: dirname(filename),
    filename,
    ...('main' in import.meta ? { main: false } : {}),
    resolve: (specifier: unknown) => resolver.resolve(`${specifier}`, url),
    url
  })
}
