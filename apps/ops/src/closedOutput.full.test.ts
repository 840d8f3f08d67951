// Commands whose reader closes the pipe early, as in `… | head -1`.
import { spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { closeSync, openSync } from 'node:fs'
import { PassThrough } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { importHarness, someLine } from './testing/importHarness.ts'
import { startOps } from './testing/runOps.ts'

const { env, start, history } = await importHarness(t)
const main = fileURLToPath(new URL('main.ts', import.meta.url))

/** Imports 39 invalid lines and a product, while the readers of these outputs leave after the first line. */
async function importWithout(...outputs: ('stdout' | 'stderr')[]) {
  const id = randomUUID()
  const input = new PassThrough()
  const running = start('-', { input })
  input.write('{\n')
  await waitFor(() => running.output().includes('line 1: '), { timeoutMs: 30_000, what: 'the start of the report' })
  running.hangUp(...outputs)
  for (let line = 2; line < 40; line++) input.write('{\n')
  input.end(`${someLine({ id })}\n`)
  return { id, ended: await running.ended }
}

t.test('an import whose reader has gone continues and keeps its exit code', async (t) => {
  const { id, ended } = await importWithout('stdout', 'stderr')
  t.match(ended, { code: 2 })
  t.same(await history(id), ['ProductAdded'])
})

t.test('when only the reader of stdout has gone, stderr still works and shows no stack', async (t) => {
  const { id, ended } = await importWithout('stdout')
  t.match(ended, {
    code: 2,
    stderr: /^Importing: 40 lines, \d+\/s\n39 lines were rejected\. Correct the file and import it again\.\n$/,
  })

  const reading = startOps(t, ['streams', 'read', `product-${id}`, '--json'], env)
  reading.hangUp('stdout')
  t.match(await reading.ended, { code: 0, stdout: '', stderr: /^$/ })
})

t.test('an output that fails for another reason is an error', async (t) => {
  const full = openSync('/dev/full', 'w')
  t.teardown(() => closeSync(full))
  const { status, stderr } = spawnSync(process.execPath, [main, '--help'], {
    stdio: ['ignore', full, 'pipe'],
    encoding: 'utf8',
  })
  t.equal(status, 1)
  t.match(stderr, 'ENOSPC')
})
