// Builds the outside judge, a Go program: see judge/main.go.
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { findProgram } from '@paylog/testing/findProgram'
import type { Test } from 'tap'

const run = promisify(execFile)
const source = fileURLToPath(new URL('./judge/main.go', import.meta.url))
/** Where Debian's golang-golang-x-mod-dev puts the sources. The build needs no network. */
const debianSources = '/usr/share/gocode'

export type Judge = (verifierKey: string, file: string) => Promise<{ readonly accepts: boolean; readonly says: string }>

/**
 * @param path the variable PATH
 * @returns undefined on a machine without Go or the sources of golang.org/x/mod
 */
export async function buildJudge(t: Test, path: string | undefined): Promise<Judge | undefined> {
  const go = await findProgram(['go'], path)
  if (go === undefined || !existsSync(join(debianSources, 'src/golang.org/x/mod/sumdb/tlog'))) return undefined
  const directory = t.testdir({})
  const program = join(directory, 'judge')
  // Go's cache in the user's home saves the next build most of its seconds.
  const env = { PATH: path, HOME: homedir(), GO111MODULE: 'off', GOPATH: debianSources }
  await run(go, ['build', '-o', program, source], { env })
  return async (verifierKey, file) => {
    const judged = run(program, [verifierKey, file])
    return await judged.then(
      ({ stdout }) => ({ accepts: true, says: stdout.trim() }),
      ({ stdout }: { stdout: string }) => ({ accepts: false, says: stdout.trim() }),
    )
  }
}
