// An import that has come half way, to be stopped there and repeated.
import { waitFor } from '@paylog/testing/waitFor'
import type { Test } from 'tap'
import { someLine, importHarness } from './importRig.ts'
import { runOps } from './runOps.ts'

/** Good lines, and in the middle one that is reported as soon as all before it are settled. */
function halfwayLines(size: number): string {
  const lines = Array.from({ length: size }, (_, number) => someLine({ name: `Product ${number}` }))
  lines.splice(size / 2, 0, '{')
  return lines.map((line) => `${line}\n`).join('')
}

/** @param size how many products it is to add */
export async function startHalfwayImport(t: Test, size: number) {
  const harness = await importHarness(t)
  const path = harness.file(halfwayLines(size))
  const running = harness.start(path)
  await waitFor(() => running.output().includes(`line ${size / 2 + 1}: `), { what: 'the middle', timeoutMs: 30_000 })
  return { ...harness, size, path, running }
}

type HalfwayImport = Awaited<ReturnType<typeof startHalfwayImport>>

/** Runs it once more, and looks that every product is there once. */
export async function assertCompletes(t: Test, { size, additions, env, path }: HalfwayImport) {
  const before = await additions()
  const { code, stdout } = await runOps(['products', 'import', path], env)
  t.match(
    { code, stdout },
    {
      code: 2,
      stdout: `${size + 1} lines: ${size - before.size} added, 0 changed, ${before.size} unchanged, 1 rejected.\n`,
    },
  )
  const after = await additions()
  t.equal(after.size, size)
  t.same([...new Set(after.values())], [1], 'every product once')
}
