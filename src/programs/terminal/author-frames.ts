// Tells the frames of a stack that are an author's code from those of the service and of Node.

import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'

const FRAME = /^\s+at /
/** All of the service's code is below it, as sources and as a bundle. */
const [OWN_FOLDER = ''] = /^.*[\\/](?:src|dist)[\\/]/.exec(fileURLToPath(import.meta.url)) ?? []
/** The packages of the service. Those of the author may be in the same folder. */
const [PACKAGES_FOLDER = OWN_FOLDER] = /^.*?[\\/]node_modules[\\/]/.exec(
  createRequire(import.meta.url).resolve('pino')
) ?? []

/** @param line of a stack. */
export function isFrame (line: string): boolean {
  return FRAME.test(line)
}

export function isAuthorFrame (line: string): boolean {
  return isFrame(line) && !line.includes(OWN_FOLDER) && !line.includes(PACKAGES_FOLDER) &&
    !/[( ]node:[\w/]+:\d+:\d+\)?$/.test(line) && !line.endsWith('(<anonymous>)')
}
