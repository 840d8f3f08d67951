// A directory for the data of a system.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'

/** @returns a path at which nothing exists yet; it is removed at the end of the test */
export function dataDirectory(t: Test): string {
  const directory = mkdtempSync(join(tmpdir(), 'paylog-local-test-'))
  t.teardown(() => rmSync(directory, { recursive: true, force: true }))
  return join(directory, 'data')
}
