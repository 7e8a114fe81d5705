// Each test file belongs to one command, by what it imports.

import { readFileSync } from 'node:fs'
import t from 'tap'
import { listImports, listNeeds, listTests, NEEDS } from './needs.mjs'
import { listRooms, listTestsOfRoom } from './rooms.mjs'

const PROGRAMS = 'test/servers/programs.ts'
const tests = listTests()

t.test('what a command needs is needed by a file of it', async (t) => {
  for (const need of Object.keys(NEEDS)) t.ok(tests.some((file) => listNeeds(file).includes(need)), need)
})

/** Whether a program is there: how the files of servers, and `PROGRAMS` itself, name that. */
const QUESTION = /\b(?:has[A-Z]\w+|isComplete|isInstalled)\b/

t.test('a file that belongs to test:all for a program asks whether it is there', async (t) => {
  for (const file of tests.filter((file) => listNeeds(file).join() === PROGRAMS)) {
    const paths = [...listImports(file)].filter((path) => !path.startsWith('test/servers/'))
    t.ok(paths.some((path) => QUESTION.test(readFileSync(path, 'utf8'))), file)
  }
})

t.test('the rooms have tests', async (t) => {
  for (const room of listRooms()) t.ok(listTestsOfRoom(room).length > 1, room)
  t.ok(listTestsOfRoom('tasks').includes('test/features/tasks/states.test.ts'))
  t.strictSame(listTestsOfRoom('http'), listTestsOfRoom('edges/http'))
  const postgres = listTestsOfRoom('postgres')
  t.ok(postgres.includes('test/platform/store/backends/postgres/broadcast.test.ts'))
  t.ok(postgres.includes('test/architecture.test.ts'))
  t.strictSame(listTestsOfRoom('none'), [])
})
