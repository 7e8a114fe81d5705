// Tells the frames of a stack that are an author's code from those of the service and of Node.

import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'

const FRAME = /^\s+at /
const PLACE = /:\d+:\d+\)?$/
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

/**
 * Returns the lines of a stack without the frames of the service and of Node. Frames of packages are left
 * only if no other frame is: then the error arose in a package of the author.
 */
export function toAuthorLines (stack: string): readonly string[] {
  const lines = stack.split('\n').filter((line) => !isFrame(line) || !isOwnFrame(line))
  const ofAuthor = lines.filter((line) => !isFrame(line) || !line.includes(PACKAGES_FOLDER))
  return ofAuthor.some((line) => isFrame(line) && PLACE.test(line)) ? ofAuthor : lines
}

/** Whether the frame is one of the service, or of Node. */
function isOwnFrame (line: string): boolean {
  return line.includes(OWN_FOLDER) || /[( ]node:[\w/]+:\d+:\d+\)?$/.test(line) || line.endsWith('(<anonymous>)')
}
