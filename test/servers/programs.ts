// The one door to programs that Node does not bring. A test file that imports it, or the helper of a server
// that does, runs by `npm run test:all`. See test/runner/needs.mjs.

import { spawnSync } from 'node:child_process'
import type { Test } from 'tap'

/** Whether the programs that a test starts are installed, by their names or paths. See `isComplete`. */
export function hasPrograms (t: Test, programs: readonly string[], debianPackage: string): boolean {
  const missing = programs.filter((program) => spawnSync(program, ['-v']).error !== undefined)
  return isComplete(t, missing, debianPackage)
}

/**
 * Whether nothing is missing that a test needs. Otherwise the test fails if CI or TRIVET_TEST_REQUIRE_SERVERS
 * is set; if neither is, the test is skipped, and the report says so.
 */
export function isComplete (t: Test, missing: readonly string[], debianPackage: string): boolean {
  if (missing.length === 0) return true
  const reason =
    `SKIPPED, and so not verified: ${missing.join(' and ')} missing. Install the package ${debianPackage}`
  if (process.env.CI !== undefined || process.env.TRIVET_TEST_REQUIRE_SERVERS !== undefined) t.fail(reason)
  else {
    console.error(reason)
    t.pass(reason)
  }
  return false
}
