// The test files of a room: all of its folder below test/, each file that runs a contract suite with it, and
// the test of the architecture.

import { readFileSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { listImports, listTests, PROJECT } from './needs.mjs'

const ARCHITECTURE = 'test/architecture.test.ts'

/** Lists the folders of src/ with tests of their own, those of few levels first. */
export function listRooms (tests = listTests()) {
  const folders = readdirSync(join(PROJECT, 'src'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ parentPath, name }) => join(parentPath, name).slice(join(PROJECT, 'src/').length))
  const depth = (room) => room.split('/').length
  return folders
    .filter((room) => tests.some((file) => file.startsWith(`test/${room}/`)))
    .sort((one, other) => depth(one) - depth(other) || (one < other ? -1 : 1))
}

/** Whether the file runs a contract suite, and imports a source of the room. */
function runsContract (file, room) {
  const paths = [...listImports(file)]
  if (!paths.some((path) => path.startsWith('test/contracts/'))) return false
  const folder = `src/${room}/`
  return paths.filter((path) => path === file || dirname(path) === dirname(file)).some((path) => {
    const sources = readFileSync(join(PROJECT, path), 'utf8').matchAll(/from '(\.[^']+)'/g)
    return [...sources].some(([, source]) => join(dirname(path), source).startsWith(folder))
  })
}

/** Lists the test files of a room, if there is one: `tasks` and `features/tasks` name the same one. */
export function listTestsOfRoom (name) {
  const tests = listTests()
  const room = listRooms(tests).find((path) => `/${path}`.endsWith(`/${name}`))
  if (room === undefined) return []
  const own = tests.filter((file) => file.startsWith(`test/${room}/`) || runsContract(file, room))
  return [...own, ARCHITECTURE]
}
